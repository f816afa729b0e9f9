import * as sendReport from "../../shared/domain/analytics/send-report.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleEach(queues.report, ({ orgId, reportId }) =>
  sendReport.sendDueReport(orgId, reportId),
);
export const { handler } = worker;
