import { consume } from "../../shared/consume.ts";
import * as fanOut from "../../shared/domain/broadcasts/fan-out.ts";
import { queues } from "../../shared/queues.ts";

export const worker = consume(queues.fanOut, ({ shard, ...key }) => fanOut.run(key, shard));
export const { handler } = worker;
