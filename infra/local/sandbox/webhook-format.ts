// What the webhooks of several providers have in common.
import type { SandboxAccount, SimulatedEvent, WebhookPost, WebhookProfile } from "./types.ts";

/** A webhook secret that stands in the webhook URL, because the provider signs nothing. */
export const querySecret = (provider: string) => (account: SandboxAccount) =>
  account.deriveHex(`${provider} query secret`, 32);

/** The event as the provider posts it. */
export function formatEvent({ events, toEvent }: WebhookProfile, event: SimulatedEvent): object {
  const [name, fields] = events[event.kind]!;
  return toEvent(event, name, fields?.(event) ?? {});
}

type Headers = Record<string, string>;

/** `headers` runs for each attempt where it is a function. */
export const jsonPost = (
  body: string | object | undefined,
  headers: Headers | ((attempt: number) => Headers),
): WebhookPost => ({
  body: typeof body === "string" ? body : JSON.stringify(body),
  headers: (attempt) => ({
    "content-type": "application/json",
    ...(typeof headers === "function" ? headers(attempt) : headers),
  }),
});

/** `Ada <ada@x>` */
export const formatMailbox = ({ email, name }: { email: string; name?: string | undefined }) =>
  name ? `${name} <${email}>` : email;
