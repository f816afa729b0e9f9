// Queues mail to our own users. Kept apart from system-mail.ts, which loads all providers.

import { enqueue } from "../adapters/sqs/enqueue.ts";
import { config } from "../config.ts";
import { queues, type SystemMail } from "../queues.ts";
import * as log from "./log.ts";

let missingSenderReported = false;

/** Queues a mail, or logs a warning once per process if no system sender is configured. */
export async function queueSystemMail(mail: SystemMail): Promise<void> {
  if (config.systemSender) return enqueue(queues.systemMail, [mail]);
  if (!missingSenderReported)
    log.warn("SYSTEM_SENDER is not set: mail to users, such as password resets, is not sent", {
      mail: mail.mail,
    });
  missingSenderReported = true;
}
