import { enqueue } from "../../doors/queue.ts";
import { queues } from "../../queues.ts";

/** Has the DNS records of a domain looked at, by a worker. */
export const checkSoon = (orgId: number, domainId: number): Promise<void> =>
  enqueue(queues.checkDomain, [{ orgId, domainId }], { group: orgId });
