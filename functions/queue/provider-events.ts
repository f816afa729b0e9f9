import { consumeBatch } from "../../shared/consume.ts";
import { batch } from "../../shared/domain/events/apply.ts";
import { queues } from "../../shared/queues.ts";

export const worker = consumeBatch(queues.providerEvents, batch);
export const { handler } = worker;
