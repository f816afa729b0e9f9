import { lookUpSends } from "../../shared/domain/sending/look-up-sends.ts";
import { handOverSingle } from "../../shared/domain/sending/single/hand-over.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleEach(queues.send, (message) =>
  "lookUp" in message
    ? lookUpSends(message.orgId, message.configId, message.lookUp)
    : handOverSingle(message.orgId, message.sendId),
);
export const { handler } = worker;
