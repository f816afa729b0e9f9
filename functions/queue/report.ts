import * as sendReport from "../../shared/domain/analytics/send-report.ts";
import { forwardMail } from "../../shared/domain/inbound/forward-mail.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleEach(queues.report, (message) =>
  "reportId" in message
    ? sendReport.sendDueReport(message.orgId, message.reportId)
    : forwardMail(message.orgId, message.inboundEmailId, message.sendId),
);
export const { handler } = worker;
