import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import { queues } from "../../../queues.ts";
import type { HostOwner } from "../../identity/tracking-hosts.ts";

/** Queues a check of the tracking domain of a site, without loading the worker. */
export const enqueueTrackingCheck = ({ orgId, siteId }: HostOwner): Promise<void> =>
  enqueue(queues.jobs, [{ job: "check-tracking-domain", orgId, siteId }], { group: orgId });
