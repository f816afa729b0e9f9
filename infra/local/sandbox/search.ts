// What the searches of the sandbox providers find: mails of the account, after the delay with which
// the real provider indexes them.
import * as clock from "../../../shared/clock.ts";
import type { CapturedMail, SandboxCall } from "./types.ts";

export function searchSent(
  { sent }: Pick<SandboxCall, "sent">,
  delaySeconds: number,
  matches: (mail: CapturedMail) => boolean,
): CapturedMail[] {
  const newest = clock.addSeconds(-delaySeconds);
  return sent((mail) => mail.at <= newest && matches(mail));
}

export const queryOf = ({ request }: Pick<SandboxCall, "request">): URLSearchParams =>
  new URLSearchParams(request.query);

/** Addresses are searched without regard to case. */
export const isTo =
  (...emails: string[]) =>
  ({ to }: CapturedMail): boolean =>
    emails.some((email) => email.toLowerCase() === to.email.toLowerCase());
