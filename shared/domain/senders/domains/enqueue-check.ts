import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import { queues } from "../../../queues.ts";

/**
 * Queues a check of the DNS records of a domain. Kept apart so that callers do not load the worker.
 */
export const enqueueCheck = (orgId: number, domainId: number): Promise<void> =>
  enqueue(queues.jobs, [{ job: "check-domain", orgId, domainId }], { group: orgId });
