import { consumeBatch } from "../../shared/consume.ts";
import * as forward from "../../shared/domain/webhooks/forward.ts";
import { queues } from "../../shared/queues.ts";

export const worker = consumeBatch(queues.forward, forward.batch);
export const { handler } = worker;
