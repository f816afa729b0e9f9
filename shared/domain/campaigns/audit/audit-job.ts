// The stored audit of a campaign, which is also the job that makes it. The transaction that ends a
// campaign stores the job, and POST /campaigns/:id/audit starts it again.
import { put, type Write } from "../../../adapters/dynamodb/table.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../../../clock.ts";
import {
  type JobAttributes,
  type JobStarter,
  startedJobAttributes,
} from "../../../kernel/job-index.ts";
import type { Leased } from "../../../kernel/leases.ts";
import { dueShardOf, indexAttributes, indexes, keys } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import { emptyAuditHash } from "./audit-hash.ts";
import type { CandidateOutcome } from "./audit-rows.ts";

export interface AuditJob extends Leased, JobAttributes {
  orgId: number;
  /** Id of the campaign. */
  id: number;
  siteId: number;
  /** Name of the campaign when the job started. */
  name: string;
  status: "queued" | "running" | "completed" | "failed";
  error?: string;
  progress: AuditProgress;
  /** How often it started again, because its rows did not match the counters. */
  restarts: number;
  /** No row is read before this time. */
  startsAt: string;
  latest?: AuditResult;
  /** The result that later ones are compared with. */
  baseline?: AuditResult;
  updatedAt: string;
}

export interface AuditProgress {
  /** Position of the last page. */
  after?: string;
  hash: string;
  pages: number;
  counts: Partial<Record<CandidateOutcome, number>>;
}

export interface AuditResult extends Pick<AuditProgress, "hash" | "pages" | "counts"> {
  at: string;
  /** What contradicts each other, as sentences. */
  problems: string[];
}

interface AuditedCampaign {
  orgId: number;
  id: number;
  siteId: number;
  name: string;
}

export const emptyProgress: AuditProgress = { hash: emptyAuditHash, pages: 0, counts: {} };

/** Later than the queue message, which usually starts the job. */
const graceSeconds = 60;

export const auditDueAttributes = (id: number, seconds: number) =>
  indexAttributes(indexes.due("CAMPAIGNAUDIT", dueShardOf(id)), addSeconds(seconds).toISOString());

/** Attributes that let the job run from its start. Without `startedBy`, the service starts it. */
export function startAttributes(
  { orgId, id, siteId, name }: AuditedCampaign,
  startedBy?: JobStarter,
) {
  const time = now().toISOString();
  return {
    name,
    status: "queued",
    progress: emptyProgress,
    restarts: 0,
    startsAt: time,
    updatedAt: time,
    ...(startedBy && { startedBy }),
    ...auditDueAttributes(id, graceSeconds),
    ...startedJobAttributes(orgId, { type: "campaign_audit", id, siteId, createdAt: time }),
  } as const;
}

/** The caller enqueues the job after the commit. */
export const createAuditWrite = (campaign: AuditedCampaign): Write =>
  put(keys.campaignAudit(campaign.orgId, campaign.id), {
    orgId: campaign.orgId,
    id: campaign.id,
    siteId: campaign.siteId,
    ...startAttributes(campaign),
  } satisfies AuditJob);

export const enqueueAudit = (orgId: number, id: number, delaySeconds = 0): Promise<void> =>
  enqueue(queues.jobs, [{ job: "campaign-audit", orgId, campaignId: id }], {
    group: orgId,
    delaySeconds,
  });
