import * as systemMail from "../../shared/domain/sending/system-mail.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleEach(queues.systemMail, systemMail.sendSystemMail);
export const { handler } = worker;
