// What the due index finds: work that is scheduled, and work whose worker died or whose message never came. Each kind is brought on
// its way again by whoever knows it.
import { after, now } from "../../clock.ts";
import { equals } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import { claim, getMany, query, update } from "../../doors/table.ts";
import { type Address, type DueWork, dueShards, dueWork, type GroupKind, shelves } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import { queues } from "../../queues.ts";
import * as broadcasts from "../broadcasts/broadcast.ts";
import * as deadGroups from "../contacts/dead-groups.ts";
import type { Of } from "../days.ts";
import * as domains from "../domains/due.ts";
import type { Parked } from "../events/unmatched.ts";
import * as exports from "../exports.ts";
import * as deadForms from "../forms/dead-forms.ts";
import * as submissions from "../forms/submissions.ts";
import * as imports from "../imports.ts";
import * as folds from "../insight/folds.ts";
import * as reports from "../reports/due.ts";
import * as secureMessages from "../secure-messages/due.ts";
import type { SendItem } from "../sends.ts";
import * as chores from "../sequences/chores.ts";
import * as lanes from "./lanes.ts";

interface DueItem extends Address, Partial<Omit<SendItem, "provider">>, Partial<Parked> {
  orgId: number;
  configId?: number;
  webhookId?: number;
  page?: number;
  kind?: GroupKind | broadcasts.Kind;
  group?: number;
  formId?: number;
  of?: Of;
  duesk: string;
}

/** One message per shard: the tick itself stays short however much is due. */
export const drainAll = (): Promise<void> =>
  enqueue(
    queues.drain,
    dueWork.flatMap((what) => Array.from({ length: dueShards }, (_, shard) => ({ what, shard }))),
  );

// Far enough away that the queue has had its chance; a tick that overlaps another finds nothing left.
const againSeconds = 300;

/** Brings on its way whatever is due in one shard, page by page until the shard is empty. */
export async function drain(what: DueWork, shard: number): Promise<void> {
  const until = after(queues.drain.timeoutSeconds - 15);
  for (let taken = 1; taken > 0 && now() < until; ) taken = await drainPage(what, shard);
}

async function drainPage(what: DueWork, shard: number): Promise<number> {
  const time = now().toISOString();
  const { items } = await query<Address & { duesk: string }>(shelves.due(what, shard), { limit: 100 });
  const due = items.filter(({ duesk }) => duesk <= time);
  // The index is only for finding: what is decided is decided on the item itself.
  const found = (await getMany<DueItem>(due, { consistent: true })).flatMap((item) => (item && item.duesk <= time ? [item] : []));
  const taken = await inParallel(10, found, (item) => take(what, item));
  return taken.filter(Boolean).length;
}

async function take(what: DueWork, item: DueItem): Promise<boolean> {
  const later = after(againSeconds).toISOString();
  const mine = await claim(update({ pk: item.pk, sk: item.sk }, { set: { duesk: later } }, { if: equals("duesk", item.duesk) }));
  if (mine) await onItsWay[what](item);
  return mine;
}

const onItsWay: Record<DueWork, (item: DueItem) => Promise<void>> = {
  LANE: ({ orgId, configId }) => lanes.wake(orgId, configId!),
  BROADCAST: ({ orgId, kind, id }) => broadcasts.kick({ orgId, kind: kind as broadcasts.Kind, id: id! }),
  SEND: ({ orgId, id }) => enqueue(queues.send, [{ orgId, sendId: id! }], { group: orgId }),
  EVENT: ({ orgId, event, provider }) =>
    enqueue(queues.providerEvents, [{ orgId, provider: provider!, events: [event!] }], { group: orgId }),
  DELIVERY: ({ orgId, webhookId, page }) => enqueue(queues.forward, [{ orgId, webhookId: webhookId!, page: page! }], { group: webhookId! }),
  SEQUENCE: ({ orgId, sequenceId }) => chores.workSoon(orgId, sequenceId!),
  DAY: ({ of }) => folds.fold(...of!),
  REPORT: ({ orgId, id }) => reports.runSoon(orgId, id!),
  EXPORT: ({ orgId, id }) => exports.runSoon(orgId, id!),
  DOMAIN: ({ orgId, id }) => domains.checkSoon(orgId, id!),
  SUBMISSION: ({ orgId, formId, sk: place }) => submissions.takeUpSoon(orgId, formId!, place),
  FORM: ({ orgId, group }) => deadForms.sweepSoon(orgId, group!),
  SECURE: ({ orgId, id }) => secureMessages.erase(orgId, id!),
  IMPORT: ({ orgId, id }) => imports.runSoon(orgId, id!),
  GROUP: ({ orgId, kind, group }) => deadGroups.sweepSoon(orgId, kind as GroupKind, group!),
};
