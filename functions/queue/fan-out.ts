import * as fanOut from "../../shared/domain/campaigns/engine/fan-out.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleEach(queues.fanOut, ({ shard, ...key }) =>
  fanOut.runFanOut(key, shard),
);
export const { handler } = worker;
