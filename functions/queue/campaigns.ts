import * as broadcasts from "../../shared/domain/campaigns/engine/poll-broadcast.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleEach(queues.campaigns, ({ beat, ...key }) =>
  broadcasts.pollBroadcast(key, beat),
);
export const { handler } = worker;
