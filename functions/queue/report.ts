import { consume } from "../../shared/consume.ts";
import * as mailing from "../../shared/domain/reports/mailing.ts";
import { queues } from "../../shared/queues.ts";

export const worker = consume(queues.report, ({ orgId, reportId }) => mailing.run(orgId, reportId));
export const { handler } = worker;
