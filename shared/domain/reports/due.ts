import { enqueue } from "../../doors/queue.ts";
import { queues } from "../../queues.ts";

/** Its report is to be mailed. */
export const runSoon = (orgId: number, reportId: number): Promise<void> => enqueue(queues.report, [{ orgId, reportId }], { group: orgId });
