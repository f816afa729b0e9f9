import * as pollBroadcast from "../../shared/domain/campaigns/engine/poll-broadcast.ts";
import { runSeries } from "../../shared/domain/campaigns/series/run-series.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleEach(queues.campaigns, ({ orgId, kind, id, beat }) =>
  kind === "series" ? runSeries(orgId, id) : pollBroadcast.pollBroadcast({ orgId, kind, id }, beat),
);
export const { handler } = worker;
