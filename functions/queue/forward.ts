import * as forwardEvents from "../../shared/domain/webhooks/forward-events.ts";
import { handleBatch } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleBatch(queues.forward, forwardEvents.forwardBatch);
export const { handler } = worker;
