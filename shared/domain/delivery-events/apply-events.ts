// Applies delivery events to sends and counters exactly once, despite crashes and redelivery. A run
// (one pass over queued events) stores its events in their sends, marked with the run id. It then
// commits: one transaction per site writes the run's event page and changes the counters. An event
// is counted if, and only if, its run has a page. When a redelivered message finds its events under
// a run without a page, it writes a tombstone as that page, so that the run can never commit, and
// takes the events over.
import { randomBytes } from "node:crypto";
import { getMany, insertMany, update, updateMany, write } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { Problem } from "../../errors.ts";
import { inParallel } from "../../kernel/parallel.ts";
import type { QueueMessage } from "../../kernel/queue-worker.ts";
import { retryLosers } from "../../kernel/retry-on-conflict.ts";
import { keys, sha256 } from "../../keys.ts";
import type { ProviderEventsMessage, QueuedEvent } from "../../queues.ts";
import { isStoredSend } from "../identity/open-charges.ts";
import * as chunks from "../sending/bulk/chunks.ts";
import * as links from "../sending/clicked-links.ts";
import type { SendItem } from "../sending/sends.ts";
import * as pages from "./event-pages.ts";
import {
  eventReactions,
  type MailAddressReport,
  suppressReported,
  toMailReport,
} from "./event-reactions.ts";
import { findAddresseeOfCopy, isAboutBlindCopy } from "./events-of-copies.ts";
import { identifySends } from "./match-by-message.ts";
import * as parkedEvents from "./parked-events.ts";
import {
  eventKey,
  mayHaveOverflow,
  type OverflowEvent,
  planUpdate,
  type SendUpdate,
  type SendWithEvents,
  toSendEvent,
} from "./send-events.ts";

/** Applies a batch of queue messages. Returns one error per message, `undefined` for success. */
export async function applyBatch(
  messages: QueueMessage<ProviderEventsMessage>[],
): Promise<unknown[]> {
  const errors: unknown[] = messages.map(() => undefined);
  const groups = Map.groupBy(messages.keys(), (i) => groupKey(messages[i]!));
  await inParallel(20, [...groups.values()], async (positions) => {
    const group = positions.map((i) => messages[i]!);
    await applyEvents(group[0]!.body.orgId, group).catch((error: unknown) => {
      for (const i of positions) errors[i] = asRetryable(error);
    });
  });
  return errors;
}

// A message that always fails would fail its whole group on each delivery. From the third attempt
// on, each message is processed alone.
const groupedAttempts = 2;
const groupKey = ({
  messageId,
  attempt,
  body: { orgId },
}: QueueMessage<ProviderEventsMessage>): string =>
  attempt > groupedAttempts ? `${orgId} ${messageId}` : `${orgId}`;

// Events are never rejected. After any error SQS delivers the message again, and finally moves it
// to the dead-letter queue.
const asRetryable = (error: unknown): unknown =>
  error instanceof Problem ? new Error(error.message, { cause: error }) : error;

/** A redelivery has the same `messageId`. */
type EventsMessage = Pick<QueueMessage<ProviderEventsMessage>, "messageId" | "body">;

/** Applies events of one organization in one run. Safe to repeat with the same message ids. */
export async function applyEvents(orgId: number, received: EventsMessage[]): Promise<void> {
  const messages = await identifySends(orgId, received);
  const loaded = await loadSends(orgId, messages);
  const known = new Set(loaded.map(({ send }) => send.id));
  const isMatched = ({ sendId }: QueuedEvent) => sendId !== undefined && known.has(sendId);
  const unmatched = messages.flatMap(({ body: { events, provider } }) =>
    events.filter((event) => !isMatched(event)).map((event) => ({ orgId, provider, event })),
  );
  const aboutCopies = loaded.flatMap((update) => update.aboutCopies);
  const [updates] = await Promise.all([
    writeSends(orgId, loaded),
    parkedEvents.parkEvents(orgId, unmatched),
    suppressReported(orgId, aboutCopies),
  ]);
  await Promise.all(eventReactions.map((react) => react(orgId, updates)));
  await pages.commitRuns(orgId, updates);
  const matched = messages.flatMap(({ body }) => body.events.filter(isMatched));
  await parkedEvents.deleteParked(orgId, matched);
}

interface LoadedSend extends SendUpdate {
  /** Events about the copies of the mail. */
  aboutCopies: MailAddressReport[];
}

/** Loads the sends of the events, each with the events that arrived for it. */
async function loadSends(orgId: number, messages: EventsMessage[]): Promise<LoadedSend[]> {
  const arrived = messages.flatMap(({ messageId, body: { provider, events } }) => {
    const messageKey = sha256(messageId).slice(0, 12);
    return events.map((event) => ({ event, messageKey, provider }));
  });
  const arrivedBySend = Map.groupBy(arrived, ({ event }) => event.sendId);
  const sendIds = [...arrivedBySend.keys()].filter((id) => id !== undefined);
  const found = await loadItems(orgId, sendIds);
  const lines = await chunks.getChunkSends(
    orgId,
    sendIds.filter((_, i) => !found[i]),
    { consistent: true },
  );
  const fromLines = new Map(
    lines.map((line) => [
      line.id,
      { ...line, v: 0, ...(!line.sentAt && { early: true as const }) },
    ]),
  );
  const runPrefix = `${now().toISOString()}#${randomBytes(6).toString("base64url")}`;
  const sends = new Map(
    [...found.flatMap((send) => send ?? []), ...lines].map((send) => [send.id, send]),
  );
  const pageOf = pages.pageOfSend([...sends.values()]);
  const linkOf = await numberClickedLinks(
    orgId,
    arrived.map(({ event }) => event),
    sends,
  );
  return sendIds.flatMap((id, i) => {
    const send = found[i] ?? fromLines.get(id);
    if (!send) return [];
    // The run id contains the site id, so that a cursor over several sites is unambiguous.
    const run = `${runPrefix}#${send.siteId}#${pageOf(send)}`;
    const arrivedForSend = arrivedBySend
      .get(id)!
      .filter(({ event }) => !isAboutBlindCopy(event, send))
      .map((one) => {
        const { event, provider } = one;
        return { ...one, copyTo: findAddresseeOfCopy({ ...event, provider }, send) };
      });
    const aboutSend = arrivedForSend.filter(({ copyTo }) => copyTo === undefined);
    const aboutCopies = arrivedForSend.flatMap(({ copyTo: email, event, provider }) =>
      email ? [toMailReport(event, email, { send, provider })] : [],
    );
    return {
      aboutCopies,
      send,
      isNew: !found[i],
      run,
      provider: aboutSend[0]?.provider ?? send.provider,
      providerMessageId: aboutSend.find(({ event }) => event.providerMessageId)?.event
        .providerMessageId,
      // Each retry of a parked event is a new SQS message, so its own id is the message key.
      events: aboutSend.map(({ event, messageKey }) =>
        toSendEvent(event, {
          messageKey: event.parked ? `parked-${event.id}` : messageKey,
          run,
          link: linkOf(event),
        }),
      ),
      countedEvents: [],
      counterChanges: {},
      overflow: [],
    };
  });
}

/** Returns a function that gives the number of the link of a click in a campaign's mail. */
async function numberClickedLinks(
  orgId: number,
  events: QueuedEvent[],
  sends: Map<number, SendItem>,
): Promise<(event: QueuedEvent) => number | undefined> {
  const clicks = events.flatMap((event) => {
    const send = event.sendId === undefined ? undefined : sends.get(event.sendId);
    if (event.type !== "click" || !event.data.url || !send?.campaignId) return [];
    const url = links.normalizeLink(event.data.url, send);
    return [{ event, campaignId: send.campaignId, url }];
  });
  const byCampaign = [...Map.groupBy(clicks, ({ campaignId }) => campaignId)];
  const numbers = new Map<QueuedEvent, number>();
  await inParallel(8, byCampaign, async ([campaignId, ofCampaign]) => {
    const urls = [...new Set(ofCampaign.map(({ url }) => url))];
    const numbered = await links.numberLinks(orgId, campaignId, urls);
    for (const { event, url } of ofCampaign) numbers.set(event, numbered.get(url)!);
  });
  return (event) => numbers.get(event);
}

async function loadItems(
  orgId: number,
  sendIds: number[],
): Promise<(SendWithEvents | undefined)[]> {
  const items = await getMany<SendWithEvents>(
    sendIds.map((id) => keys.send(orgId, id)),
    { consistent: true },
  );
  const sends = items.map((item) => (isStoredSend(item) ? item : undefined));
  return chunks.addAcceptedFields(orgId, sends, { consistent: true });
}

/** Writes the events of every send. After a conflict, reads the send again and retries. */
async function writeSends(orgId: number, updates: SendUpdate[]): Promise<SendUpdate[]> {
  const written: SendUpdate[] = [];
  await retryLosers("The mail", updates, async (remaining, attempt) => {
    const current = attempt > 1 ? await reloadSends(orgId, remaining) : remaining;
    const planned = await planUpdates(orgId, current);
    const conflicting = await tryWriteSends(orgId, planned);
    for (const update of planned)
      if (!conflicting.has(update))
        written.push({ ...update, send: { ...update.send, ...update.changes } });
    return [...conflicting];
  });
  return written;
}

/** Plans the updates of the sends. Leaves out sends without a new event. */
async function planUpdates(orgId: number, updates: SendUpdate[]): Promise<SendUpdate[]> {
  const overflow = await loadOverflow(orgId, updates);
  const [abandonedRuns, full] = await Promise.all([
    listAbandonedRuns(orgId, updates, overflow),
    listFullSends(orgId, updates),
  ]);
  return updates.flatMap((update) => {
    const overflowOfSend = overflow.get(update.send.id) ?? new Map();
    const events = full.has(update.send.id)
      ? dropRepeatable(update, overflowOfSend)
      : update.events;
    return planUpdate({ ...update, events }, abandonedRuns, overflowOfSend) ?? [];
  });
}

async function reloadSends(orgId: number, updates: SendUpdate[]): Promise<SendUpdate[]> {
  const items = await loadItems(
    orgId,
    updates.map(({ send }) => send.id),
  );
  return updates.map((update, i) => ({
    ...update,
    send: items[i] ?? update.send,
    isNew: !items[i],
  }));
}

/** Returns the updates that another run prevented. */
async function tryWriteSends(orgId: number, updates: SendUpdate[]): Promise<Set<SendUpdate>> {
  const conflicting = await writeOverflow(orgId, updates);
  const remaining = updates.filter((update) => update.changes && !conflicting.has(update));
  const created = remaining.filter(({ isNew }) => isNew);
  const changed = remaining.filter(({ isNew }) => !isNew);
  const [inserted, updated] = await Promise.all([
    insertMany(
      created.map(({ send, changes }) => ({
        key: keys.send(orgId, send.id),
        item: { ...send, ...changes },
      })),
    ),
    updateMany(
      changed.map(({ send, changes }) => ({
        key: keys.send(orgId, send.id),
        set: changes!,
        ifEquals: { v: send.v },
      })),
    ),
  ]);
  return new Set([
    ...conflicting,
    ...created.filter((_, i) => !inserted[i]),
    ...changed.filter((_, i) => !updated[i]),
  ]);
}

/** Writes overflow events. Returns the updates of which another run changed an overflow event. */
async function writeOverflow(orgId: number, updates: SendUpdate[]): Promise<Set<SendUpdate>> {
  const all = updates.flatMap((update) =>
    update.overflow.map((write) => ({
      update,
      ...write,
      key: keys.overflowEvent(orgId, update.send.id, eventKey(write.event)),
    })),
  );
  const created = all.filter(({ isNew }) => isNew);
  const takenOver = all.filter(({ takenFrom }) => takenFrom !== undefined);
  const [inserted, updated] = await Promise.all([
    insertMany(created.map(({ key, event }) => ({ key, item: event }))),
    updateMany(
      takenOver.map(({ key, event: { run }, takenFrom }) => ({
        key,
        set: { run },
        ifEquals: { run: takenFrom! },
      })),
    ),
  ]);
  await countOverflow(
    orgId,
    created.filter((_, i) => inserted[i]).map(({ update }) => update.send.id),
  );
  const failed = [
    ...created.filter((_, i) => !inserted[i]),
    ...takenOver.filter((_, i) => !updated[i]),
  ];
  return new Set(failed.map(({ update }) => update));
}

/** Limit of overflow events of one send. A crash between write and count lets a few more in. */
const maxOverflowEvents = 1000;

async function countOverflow(orgId: number, sendIds: number[]): Promise<void> {
  const bySend = [...Map.groupBy(sendIds, (id) => id)];
  await inParallel(8, bySend, ([id, events]) =>
    write(update(keys.sendEventCount(orgId, id), { add: { count: events.length } })),
  );
}

/** Returns the ids of the sends that have reached the limit of overflow events. */
async function listFullSends(orgId: number, updates: SendUpdate[]): Promise<Set<number>> {
  const ids = updates
    .filter(({ send, events }) => mayHaveOverflow(send, events.length))
    .map(({ send }) => send.id);
  const counts = await getMany<{ count: number }>(ids.map((id) => keys.sendEventCount(orgId, id)));
  return new Set(ids.filter((_, i) => (counts[i]?.count ?? 0) >= maxOverflowEvents));
}

/**
 * Drops new opens, clicks and deferrals of a full send. Keeps events that may change its status,
 * and events that are stored already.
 */
function dropRepeatable({ send, events }: SendUpdate, overflow: Map<string, OverflowEvent>) {
  const stored = new Set([...(send.events ?? []).map(eventKey), ...overflow.keys()]);
  return events.filter((event) => !repeatable.has(event.type) || stored.has(eventKey(event)));
}
const repeatable = new Set<string>(["open", "click", "deferred"]);

type OverflowBySend = Map<number, Map<string, OverflowEvent>>;

/** Returns the runs that stored one of these events from the same message and will never commit. */
async function listAbandonedRuns(
  orgId: number,
  updates: SendUpdate[],
  overflow: OverflowBySend,
): Promise<Set<string>> {
  const siteByRun = new Map<string, number>();
  for (const { send, events, run } of updates)
    for (const stored of [...(send.events ?? []), ...(overflow.get(send.id)?.values() ?? [])])
      if (
        stored.run !== run &&
        events.some((event) => event.by === stored.by && eventKey(event) === eventKey(stored))
      )
        siteByRun.set(stored.run, send.siteId);
  const abandonedRuns = await inParallel(8, [...siteByRun], async ([run, siteId]) =>
    (await pages.abandonRun(orgId, siteId, run)) ? [run] : [],
  );
  return new Set(abandonedRuns.flat());
}

async function loadOverflow(orgId: number, updates: SendUpdate[]): Promise<OverflowBySend> {
  const candidates = updates.flatMap(({ send, events }) =>
    mayHaveOverflow(send, events.length)
      ? events.map((event) => ({ id: send.id, key: eventKey(event) }))
      : [],
  );
  const found = await getMany<OverflowEvent>(
    candidates.map(({ id, key }) => keys.overflowEvent(orgId, id, key)),
    { consistent: true },
  );
  const bySend: OverflowBySend = new Map();
  for (const [i, { id, key }] of candidates.entries())
    if (found[i]) bySend.set(id, (bySend.get(id) ?? new Map()).set(key, found[i]));
  return bySend;
}
