import "../../shared/domain/reactions.ts";
import { applyBatch } from "../../shared/domain/delivery-events/apply-events.ts";
import { handleBatch } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleBatch(queues.providerEvents, applyBatch);
export const { handler } = worker;
