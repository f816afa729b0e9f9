import * as singles from "../../shared/domain/sending/single-sends.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleEach(queues.send, ({ orgId, sendId }) =>
  singles.handOverSingle(orgId, sendId),
);
export const { handler } = worker;
