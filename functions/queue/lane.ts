import { consume } from "../../shared/consume.ts";
import * as handOver from "../../shared/domain/sending/hand-over.ts";
import * as laneRunner from "../../shared/domain/sending/lane-runner.ts";
import { queues } from "../../shared/queues.ts";

export const worker = consume(queues.lane, ({ orgId, configId }) =>
  laneRunner.run(orgId, configId, (...chunk) => handOver.chunk(orgId, configId, ...chunk)),
);
export const { handler } = worker;
