// Dispatches the due index: scheduled work, and work whose worker crashed or whose queue message
// was lost. Each kind of work has a function that resumes it.

import { equals } from "../adapters/dynamodb/conditions.ts";
import { getMany, transact, update } from "../adapters/dynamodb/table.ts";
import { enqueue } from "../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../clock.ts";
import type { CompressedValue } from "../kernel/compressed-values.ts";
import {
  type DueEntry,
  findDueShards,
  firstDueAt,
  readDuePages,
  toFailedSortKey,
} from "../kernel/due-index.ts";
import { inParallel } from "../kernel/parallel.ts";
import {
  type DueWorkKind,
  dueShards,
  dueWorkKinds,
  type GroupKind,
  indexes,
  type Key,
} from "../keys.ts";
import { queues } from "../queues.ts";
import * as dailyRollups from "./analytics/daily-rollups.ts";
import * as exports from "./analytics/exports/exports.ts";
import * as reportSchedules from "./analytics/report-schedules.ts";
import * as confirmations from "./audience/contacts/confirmations.ts";
import * as fieldConversions from "./audience/contacts/field-conversions.ts";
import * as deletedGroups from "./audience/groups/deleted-groups.ts";
import * as importJob from "./audience/imports/import-job.ts";
import * as mailLog from "./audience/mail-counts/mail-log.ts";
import * as softSuppressions from "./audience/suppressions/soft-suppressions.ts";
import * as entries from "./audit/entries.ts";
import { enqueueNote } from "./automation/change-notes.ts";
import * as contactActions from "./automation/contact-actions/contact-actions.ts";
import { enqueueLook } from "./automation/contact-watches.ts";
import * as sequenceTasks from "./automation/sequence-tasks.ts";
import { enqueueTask } from "./automation/step-actions/step-tasks.ts";
import { enqueueWatchStart } from "./automation/trigger-registrations.ts";
import { enqueueAudit } from "./campaigns/audit/audit-job.ts";
import * as broadcast from "./campaigns/engine/broadcast.ts";
import { enqueueRun as enqueueSeries } from "./campaigns/series/series.ts";
import type { ParkedEvent } from "./delivery-events/parked-events.ts";
import * as deletedForms from "./forms/deleted-forms.ts";
import * as submissions from "./forms/submissions.ts";
import { enqueueMailboxRead } from "./inbound/mailbox-reads.ts";
import { enqueueMerge } from "./privacy/merge-job.ts";
import * as enqueueCheck from "./senders/domains/enqueue-check.ts";
import { enqueueFiguresPull } from "./senders/postmaster-tools/pull-times.ts";
import { enqueuePull } from "./senders/suppression-pull-times.ts";
import * as lanes from "./sending/bulk/lanes.ts";
import type { DayId } from "./sending/daily-counters.ts";
import * as eraseMessages from "./sending/secure-messages/erase-messages.ts";
import type { SendItem } from "./sending/send-schema.ts";
import { sweepWindow } from "./sending/single/sweep-sends.ts";
import type { SweptWindow } from "./sending/single/sweep-windows.ts";
import { enqueueTrackingCheck } from "./sending/tracking-domains/enqueue-check.ts";
import { enqueueHour } from "./webhooks/event-hours.ts";
import { enqueueLeftEvents } from "./webhooks/record-events.ts";

interface DueWorkItem
  extends Key,
    Partial<Omit<SendItem, "provider">>,
    Partial<ParkedEvent>,
    CompressedValue {
  orgId: number;
  configId?: number;
  webhookId?: number;
  batch?: number;
  kind?: GroupKind | "SITE" | broadcast.BroadcastKind;
  group?: number;
  formId?: number;
  of?: DayId;
  noteId?: string;
  taskId?: string;
  duesk: string;
  /** The hour whose event files are to be written. */
  hour?: string;
  /** The address whose suppression ends. */
  email?: string;
  /** The name of the custom field that is converted. */
  name?: string;
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
  const taken = await take(item);
  if (!taken) return;
  try {
    await resumeByKind[kind]({ ...item, duesk: taken.duesk });
  } catch (error) {
    await markFailed(taken);
    throw error;
  }
}

/** An entry that this run has taken. */
interface TakenEntry extends Key {
  duesk: string;
  /** When the work was first due. */
  since: string;
}

/** Undefined when another run has taken the entry. */
async function take({ pk, sk, duesk }: DueWorkItem): Promise<TakenEntry | undefined> {
  const nextDueAt = addSeconds(retrySeconds).toISOString();
  const taken = { pk, sk, duesk: nextDueAt, since: firstDueAt(duesk) };
  return (await moveEntry({ pk, sk, duesk }, nextDueAt)) ? taken : undefined;
}

/** The entry keeps the time at which it was first due, so the health shows its age. */
const markFailed = (taken: TakenEntry): Promise<boolean> =>
  moveEntry(taken, toFailedSortKey(taken.duesk, taken.since));

/** False when the entry has changed. */
const moveEntry = ({ pk, sk, duesk }: DueEntry, to: string): Promise<boolean> =>
  transact(update({ pk, sk }, { set: { duesk: to } }, { if: equals("duesk", duesk) }));

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
      if (!lookUp.length) return;
      const message = { orgId, configId: sendingConfigId!, lookUp };
      await enqueue(queues.send, [message], { group: orgId }).catch(async (error: unknown) => {
        await inParallel(10, taken, async (entry) => entry && markFailed(entry));
        throw error;
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
    broadcast.enqueuePoll({ orgId, kind: kind as broadcast.BroadcastKind, id: id! }),
  SEND: ({ orgId, id }) => enqueue(queues.send, [{ orgId, sendId: id! }], { group: orgId }),
  SWEEP: (item) => sweepWindow(item as DueWorkItem & SweptWindow),
  EVENT: ({ orgId, event, provider }) =>
    enqueue(queues.providerEvents, [{ orgId, provider: provider!, events: [event!] }], {
      group: orgId,
    }),
  DELIVERY: ({ orgId, webhookId, batch }) =>
    enqueue(queues.forward, [{ orgId, webhookId: webhookId!, batch: batch! }], {
      group: webhookId!,
    }),
  OUTBOX: enqueueLeftEvents,
  EVENTHOUR: ({ orgId, siteId, hour }) => enqueueHour({ orgId, siteId: siteId!, hour: hour! }),
  SEQUENCE: ({ orgId, sequenceId }) => sequenceTasks.enqueueTask(orgId, sequenceId!),
  DAY: ({ of }) => dailyRollups.rollUpDay(...of!),
  REPORT: ({ orgId, id }) => reportSchedules.enqueueReport(orgId, id!),
  EXPORT: ({ orgId, id }) => exports.enqueueRun(orgId, id!),
  DOMAIN: ({ orgId, id }) => enqueueCheck.enqueueCheck(orgId, id!),
  SUBMISSION: ({ orgId, formId, contactId, sk }) =>
    formId === undefined
      ? confirmations.enqueueMails(orgId, [contactId!])
      : submissions.enqueueSubmission(orgId, formId, sk),
  FORM: ({ orgId, group }) => deletedForms.enqueueCleanup(orgId, group!),
  SECURE: ({ orgId, id }) => eraseMessages.eraseBody(orgId, id!),
  ACTION: ({ orgId, id }) => contactActions.enqueueRun(orgId, id!),
  IMPORT: ({ orgId, id }) => importJob.enqueueRun(orgId, id!),
  CONVERSION: ({ orgId, siteId, name }) =>
    fieldConversions.enqueueConversion({ orgId, siteId: siteId!, name: name! }),
  GROUP: ({ orgId, kind, group }) =>
    deletedGroups.enqueueCleanup(orgId, kind as GroupKind | "SITE", group!),
  AUDIT: ({ orgId }) => entries.enqueueChaining(orgId),
  CAMPAIGNAUDIT: ({ orgId, id }) => enqueueAudit(orgId, id!),
  NOTE: ({ orgId, noteId }) => enqueueNote(orgId, noteId!),
  WATCH: ({ orgId, siteId, contactId, sequenceId }) =>
    sequenceId ? enqueueWatchStart(orgId, sequenceId) : enqueueLook(orgId, siteId!, contactId!),
  MERGE: ({ orgId, id }) => enqueueMerge(orgId, id!),
  SERIES: ({ orgId, id }) => enqueueSeries(orgId, id!),
  STEPTASK: ({ orgId, taskId }) => enqueueTask({ orgId, taskId: taskId! }),
  SUPPRESSION: ({ orgId, email }) => softSuppressions.liftDue(orgId, email!),
  PULL: ({ orgId, id }) => enqueuePull(orgId, id!),
  POSTMASTER: ({ orgId }) => enqueueFiguresPull(orgId),
  MAILBOX: ({ orgId, configId }) => enqueueMailboxRead(orgId, configId!),
  TRACKINGDOMAIN: ({ orgId, siteId }) => enqueueTrackingCheck({ orgId, siteId: siteId! }),
  MAILLOG: ({ orgId, siteId }) => mailLog.enqueueFold({ orgId, siteId: siteId! }),
};
