// Queues mail about changes that a thief of an account would make, so that their owners notice.
import type { NoticeEvent, NoticeSubject } from "../queues.ts";
import * as log from "./log.ts";
import { queueSystemMail } from "./system-mail-queue.ts";

/**
 * Tells all owners of the organization, or the person whose login changed. Never throws: the change
 * is made, and its response may have a secret that is shown once.
 */
export async function queueNotice(event: NoticeEvent, subject: NoticeSubject): Promise<void> {
  try {
    await queueSystemMail({ mail: "notice", event, ...subject });
  } catch (error) {
    log.error("security notice not queued", error, { event });
  }
}
