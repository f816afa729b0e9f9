// Dispatches the due index: scheduled work, and work whose worker crashed or whose queue message
// was lost. Each kind of work has a function that resumes it.

import { equals } from "../adapters/dynamodb/conditions.ts";
import { getMany, transact, update } from "../adapters/dynamodb/table.ts";
import { enqueue } from "../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../clock.ts";
import type { CompressedValue } from "../kernel/compressed-values.ts";
import { type DueEntry, findDueShards, readDuePages } from "../kernel/due-index.ts";
import { inParallel } from "../kernel/parallel.ts";
import {
  type DueWorkKind,
  dueShards,
  dueWorkKinds,
  type GroupKind,
  indexes,
  isAccountShareKey,
  type Key,
} from "../keys.ts";
import { queues } from "../queues.ts";
import * as rollups from "./analytics/daily-rollups.ts";
import * as exports from "./analytics/exports/exports.ts";
import * as reports from "./analytics/report-schedules.ts";
import * as deadGroups from "./audience/groups/deleted-groups.ts";
import * as imports from "./audience/imports/import-job.ts";
import * as mailLog from "./audience/mail-counts/mail-log.ts";
import * as auditLog from "./audit/entries.ts";
import * as contactActions from "./automation/contact-actions/contact-actions.ts";
import * as sequenceTasks from "./automation/sequence-tasks.ts";
import { shardOf } from "./billing/watched-shares.ts";
import { enqueueAudit } from "./campaigns/audit/audit-job.ts";
import * as broadcasts from "./campaigns/engine/broadcast.ts";
import type { ParkedEvent } from "./delivery-events/parked-events.ts";
import * as deletedForms from "./forms/deleted-forms.ts";
import * as submissions from "./forms/submissions.ts";
import * as domains from "./senders/domains/enqueue-check.ts";
import * as lanes from "./sending/bulk/lanes.ts";
import type { DayId } from "./sending/daily-counters.ts";
import * as secureMessages from "./sending/secure-messages/erase-messages.ts";
import type { SendItem } from "./sending/sends.ts";
import { sweepSends } from "./sending/sweep-sends.ts";
import { enqueueLeftEvents } from "./webhooks/record-events.ts";

interface DueWorkItem
  extends Key,
    Partial<Omit<SendItem, "provider">>,
    Partial<ParkedEvent>,
    CompressedValue {
  orgId: number;
  configId?: number;
  webhookId?: number;
  page?: number;
  kind?: GroupKind | "SITE" | broadcasts.BroadcastKind;
  group?: number;
  formId?: number;
  of?: DayId;
  duesk: string;
}

/**
 * Looks at the first entry of each shard and sends a drain message for the shards that have due
 * work.
 * An idle minute costs 0.5 read units per shard and no message.
 */
export async function drainAll(): Promise<void> {
  const shards = dueWorkKinds.flatMap((kind) =>
    Array.from({ length: dueShards }, (_, shard) => ({ what: kind, shard })),
  );
  const due = await findDueShards(shards, ({ what, shard }) => indexes.due(what, shard));
  await enqueue(queues.drain, due);
}

// The queue has delivered the message by then. Until then an overlapping run of the schedule does
// not find the work again.
const retrySeconds = 300;

/**
 * Resumes all due work in one shard, page by page. Entries that fail or that another worker has
 * taken do not stop the others. Throws the first error at the end, so that the queue repeats the
 * message.
 */
export async function drain(kind: DueWorkKind, shard: number): Promise<void> {
  const until = addSeconds(queues.drain.timeoutSeconds - 15);
  const errors: unknown[] = [];
  for await (const due of readDuePages(indexes.due(kind, shard), 100)) {
    errors.push(...(await resumeAll(kind, due)));
    if (now() >= until) break;
  }
  if (errors.length) throw errors[0];
}

/** Returns the errors of those that failed. */
async function resumeAll(kind: DueWorkKind, due: DueEntry[]): Promise<unknown[]> {
  const time = now().toISOString();
  // The index is eventually consistent, so the items are read again.
  const read = await getMany<DueWorkItem>(due, { consistent: true });
  const found = read.flatMap((item) => (item && item.duesk <= time ? [item] : []));
  const errors: unknown[] = [];
  if (kind === "UNCERTAIN") return resumeLookUps(found);
  await inParallel(10, found, (item) =>
    takeAndResume(kind, item).catch((error: unknown) => errors.push(error)),
  );
  return errors;
}

async function takeAndResume(kind: SingleWorkKind, item: DueWorkItem): Promise<void> {
  if (await take(item)) await resumeByKind[kind](item);
}

/** False when another run has taken the entry. */
function take(item: DueWorkItem): Promise<boolean> {
  const nextDueAt = addSeconds(retrySeconds).toISOString();
  return transact(
    update(
      { pk: item.pk, sk: item.sk },
      { set: { duesk: nextDueAt } },
      { if: equals("duesk", item.duesk) },
    ),
  );
}

/** One message for the uncertain sends of each sending config, because providers answer batches. */
async function resumeLookUps(found: DueWorkItem[]): Promise<unknown[]> {
  const byConfig = Map.groupBy(
    found,
    ({ orgId, sendingConfigId }) => `${orgId} ${sendingConfigId}`,
  );
  const errors: unknown[] = [];
  await inParallel(10, [...byConfig.values()], async (items) => {
    try {
      const taken = await inParallel(10, items, take);
      const lookUp = items.filter((_, i) => taken[i]).map(({ id }) => id!);
      const { orgId, sendingConfigId } = items[0]!;
      if (lookUp.length)
        await enqueue(queues.send, [{ orgId, configId: sendingConfigId!, lookUp }], {
          group: orgId,
        });
    } catch (error) {
      errors.push(error);
    }
  });
  return errors;
}

/** Work whose entries are resumed one by one. */
type SingleWorkKind = Exclude<DueWorkKind, "UNCERTAIN">;

const resumeByKind: Record<SingleWorkKind, (item: DueWorkItem) => Promise<void>> = {
  LANE: ({ orgId, configId }) => lanes.wakeLane(orgId, configId!),
  BROADCAST: ({ orgId, kind, id }) =>
    broadcasts.enqueuePoll({ orgId, kind: kind as broadcasts.BroadcastKind, id: id! }),
  SEND: (item) =>
    isAccountShareKey(item)
      ? sweepSends(item.orgId, shardOf(item))
      : enqueue(queues.send, [{ orgId: item.orgId, sendId: item.id! }], { group: item.orgId }),
  EVENT: ({ orgId, event, provider }) =>
    enqueue(queues.providerEvents, [{ orgId, provider: provider!, events: [event!] }], {
      group: orgId,
    }),
  DELIVERY: ({ orgId, webhookId, page }) =>
    enqueue(queues.forward, [{ orgId, webhookId: webhookId!, page: page! }], { group: webhookId! }),
  OUTBOX: enqueueLeftEvents,
  SEQUENCE: ({ orgId, sequenceId }) => sequenceTasks.enqueueTask(orgId, sequenceId!),
  DAY: ({ of }) => rollups.rollUpDay(...of!),
  REPORT: ({ orgId, id }) => reports.enqueueReport(orgId, id!),
  EXPORT: ({ orgId, id }) => exports.enqueueRun(orgId, id!),
  DOMAIN: ({ orgId, id }) => domains.enqueueCheck(orgId, id!),
  SUBMISSION: ({ orgId, formId, sk }) => submissions.enqueueSubmission(orgId, formId!, sk),
  FORM: ({ orgId, group }) => deletedForms.enqueueCleanup(orgId, group!),
  SECURE: ({ orgId, id }) => secureMessages.eraseBody(orgId, id!),
  ACTION: ({ orgId, id }) => contactActions.enqueueRun(orgId, id!),
  IMPORT: ({ orgId, id }) => imports.enqueueRun(orgId, id!),
  GROUP: ({ orgId, kind, group }) =>
    deadGroups.enqueueCleanup(orgId, kind as GroupKind | "SITE", group!),
  AUDIT: ({ orgId }) => auditLog.enqueueChaining(orgId),
  CAMPAIGNAUDIT: ({ orgId, id }) => enqueueAudit(orgId, id!),
  MAILLOG: ({ orgId, siteId }) => mailLog.enqueueFold({ orgId, siteId: siteId! }),
};
