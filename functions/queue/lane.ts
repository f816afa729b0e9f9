import "../../shared/domain/reactions.ts";
import * as laneRunner from "../../shared/domain/sending/bulk/lane-runner.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleEach(queues.lane, ({ orgId, configId }) =>
  laneRunner.runLane(orgId, configId),
);
export const { handler } = worker;
