// Holds scheduled mail until its time. Until then it can be cancelled.
import { readFileSync } from "node:fs";
import * as clock from "../../../shared/clock.ts";
import { toRendered } from "./inbox.ts";
import { writeAtomically } from "./root-keys.ts";
import type { AcceptedMail, Scheduled } from "./types.ts";

const checkMs = 250;

export type MailSchedule = ReturnType<typeof openSchedule>;

/** Without `file`, a restart loses the mails. */
export function openSchedule(file: string | undefined, deliver: (due: Scheduled) => void) {
  let waiting = file ? read(file) : [];

  /** Delivers the mails that are due. */
  function release(): void {
    const now = clock.now();
    const due = waiting.filter((mail) => mail.due <= now);
    if (!due.length) return;
    waiting = waiting.filter((mail) => mail.due > now);
    for (const mail of due) deliver(mail);
  }

  const timer = setInterval(release, checkMs).unref();
  return {
    add: (mail: Scheduled): void => void waiting.push(mail),
    of: (provider: string, account: string): Scheduled[] =>
      waiting.filter((mail) => mail.provider === provider && mail.account === account),
    remove(gone: Scheduled[]): void {
      waiting = waiting.filter((mail) => !gone.includes(mail));
    },
    release,
    stop(): void {
      clearInterval(timer);
      if (file)
        writeAtomically(
          file,
          JSON.stringify(
            waiting.map((mail) => ({ ...mail, drafts: mail.drafts.map(toRendered<AcceptedMail>) })),
          ),
        );
    },
  };
}

function read(file: string): Scheduled[] {
  try {
    const saved = JSON.parse(readFileSync(file, "utf8")) as Scheduled[];
    return saved.map((mail) => ({ ...mail, due: new Date(mail.due) }));
  } catch {
    // A broken or missing file is treated as an empty schedule.
    return [];
  }
}
