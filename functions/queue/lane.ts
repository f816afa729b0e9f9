import { consume } from "../../shared/consume.ts";
import * as handOver from "../../shared/domain/sending/hand-over.ts";
import * as lanes from "../../shared/domain/sending/lanes.ts";
import { queues } from "../../shared/queues.ts";

export const worker = consume(queues.lane, ({ orgId, configId }) =>
  lanes.run(orgId, configId, (...chunk) => handOver.chunk(orgId, configId, ...chunk)),
);
export const { handler } = worker;
