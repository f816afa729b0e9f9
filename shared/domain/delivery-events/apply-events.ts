// Applies delivery events to sends and counters exactly once, despite crashes and redelivery. A
// round (one pass over queued events) stores its events in their sends, marked with the id of the
// round. It then commits: one transaction per site writes the commit, which lists the events, and
// changes the counters. An event is counted if, and only if, its round has a commit. When an event
// is delivered again and its send has it under a round without a commit, the new round writes a
// tombstone in the place of that commit, so that the old round can never commit, and takes the
// events over. The ids of the events identify them, because a message that is redriven from a
// dead-letter queue gets a new id.
import { randomBytes } from "node:crypto";
import { getMany, insertMany, updateMany } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { Problem } from "../../errors.ts";
import { inParallel } from "../../kernel/parallel.ts";
import type { QueueMessage } from "../../kernel/queue-worker.ts";
import { retryLosers } from "../../kernel/retry-on-conflict.ts";
import { keys } from "../../keys.ts";
import type { ProviderEventsMessage, QueuedEvent } from "../../queues.ts";
import { addAcceptedFields, getChunkSends } from "../sending/bulk/chunk-sends.ts";
import * as clickedLinks from "../sending/clicked-links.ts";
import type { SendItem } from "../sending/send-schema.ts";
import * as eventCommits from "./event-commits.ts";
import { eventReactions, suppressReported, toMailReport } from "./event-reactions.ts";
import { findAddresseeOfCopy, isAboutBlindCopy } from "./events-of-copies.ts";
import { identifySends } from "./match-by-message.ts";
import {
  dropRepeatable,
  listFullSends,
  loadOverflow,
  type OverflowBySend,
  writeOverflow,
} from "./overflow-events.ts";
import * as parkedEvents from "./parked-events.ts";
import {
  isSameEvent,
  planUpdate,
  type SendUpdate,
  type SendWithEvents,
  toSendEvent,
} from "./send-events.ts";
import type { MailReport } from "./soft-bounces.ts";

/** Applies a batch of queue messages. Returns one error per message, `undefined` for success. */
export async function applyBatch(
  messages: QueueMessage<ProviderEventsMessage>[],
): Promise<unknown[]> {
  const errors: unknown[] = messages.map(() => undefined);
  const groups = Map.groupBy(messages.keys(), (i) => groupKey(messages[i]!, i));
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
const groupKey = (
  { attempt, body: { orgId } }: QueueMessage<ProviderEventsMessage>,
  position: number,
): string => (attempt > groupedAttempts ? `${orgId} ${position}` : `${orgId}`);

// Events are never rejected. After any error SQS delivers the message again, and finally moves it
// to the dead-letter queue.
const asRetryable = (error: unknown): unknown =>
  error instanceof Problem ? new Error(error.message, { cause: error }) : error;

type EventsMessage = Pick<QueueMessage<ProviderEventsMessage>, "body">;

/** Applies events of one organization in one round. Safe to repeat. */
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
  await eventCommits.commitRounds(orgId, updates);
  const matched = messages.flatMap(({ body }) => body.events.filter(isMatched));
  await parkedEvents.deleteParked(orgId, matched);
}

interface LoadedSend extends SendUpdate {
  /** Events about the copies of the mail. */
  aboutCopies: MailReport[];
}

/** Loads the sends of the events, each with the events that arrived for it. */
async function loadSends(orgId: number, messages: EventsMessage[]): Promise<LoadedSend[]> {
  const arrived = messages.flatMap(({ body: { provider, events } }) =>
    events.map((event) => ({ event, provider })),
  );
  const arrivedBySend = Map.groupBy(arrived, ({ event }) => event.sendId);
  const sendIds = [...arrivedBySend.keys()].filter((id) => id !== undefined);
  const found = await loadItems(orgId, sendIds);
  const lines = await getChunkSends(
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
  const roundPrefix = `${now().toISOString()}#${randomBytes(6).toString("base64url")}`;
  const sends = new Map(
    [...found.flatMap((send) => send ?? []), ...lines].map((send) => [send.id, send]),
  );
  const commitOf = eventCommits.commitOfSend([...sends.values()]);
  const linkOf = await numberClickedLinks(
    orgId,
    arrived.map(({ event }) => event),
    sends,
  );
  return sendIds.flatMap((id, i) => {
    const send = found[i] ?? fromLines.get(id);
    if (!send) return [];
    // The round id contains the site id, so that a cursor over several sites is unambiguous.
    const round = `${roundPrefix}#${send.siteId}#${commitOf(send)}`;
    const arrivedForSend = arrivedBySend
      .get(id)!
      .filter(({ event }) => !isAboutBlindCopy(event, send))
      .map((one) => {
        const { event, provider } = one;
        return { ...one, copyTo: findAddresseeOfCopy({ ...event, provider }, send) };
      });
    const aboutSend = arrivedForSend.filter(({ copyTo }) => copyTo === undefined);
    const aboutCopies = arrivedForSend.flatMap(({ copyTo: email, event, provider }) =>
      email ? [toMailReport({ ...event, at: event.timestamp }, email, { send, provider })] : [],
    );
    return {
      aboutCopies,
      send,
      isNew: !found[i],
      round,
      provider: aboutSend[0]?.provider ?? send.provider,
      providerMessageId: aboutSend.find(({ event }) => event.providerMessageId)?.event
        .providerMessageId,
      events: aboutSend.map(({ event }) => toSendEvent(event, { round, link: linkOf(event) })),
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
    const url = clickedLinks.normalizeLink(event.data.url, send);
    return [{ event, campaignId: send.campaignId, url }];
  });
  const byCampaign = [...Map.groupBy(clicks, ({ campaignId }) => campaignId)];
  const numbers = new Map<QueuedEvent, number>();
  await inParallel(8, byCampaign, async ([campaignId, ofCampaign]) => {
    const urls = [...new Set(ofCampaign.map(({ url }) => url))];
    const numbered = await clickedLinks.numberLinks(orgId, campaignId, urls);
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
  return addAcceptedFields(orgId, items, { consistent: true });
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
  const [abandonedRounds, full] = await Promise.all([
    listAbandonedRounds(orgId, updates, overflow),
    listFullSends(orgId, updates),
  ]);
  return updates.flatMap((update) => {
    const overflowOfSend = overflow.get(update.send.id) ?? new Map();
    const events = full.has(update.send.id)
      ? dropRepeatable(update, overflowOfSend)
      : update.events;
    return planUpdate({ ...update, events }, abandonedRounds, overflowOfSend) ?? [];
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

/** Returns the updates that another round prevented. */
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

/** Returns the rounds that stored one of these events and will never commit. */
async function listAbandonedRounds(
  orgId: number,
  updates: SendUpdate[],
  overflow: OverflowBySend,
): Promise<Set<string>> {
  const siteByRound = new Map<string, number>();
  for (const { send, events, round } of updates)
    for (const stored of [...(send.events ?? []), ...(overflow.get(send.id)?.values() ?? [])])
      if (stored.round !== round && events.some((event) => isSameEvent(event, stored)))
        siteByRound.set(stored.round, send.siteId);
  const abandonedRounds = await inParallel(8, [...siteByRound], async ([round, siteId]) =>
    (await eventCommits.abandonRound(orgId, siteId, round)) ? [round] : [],
  );
  return new Set(abandonedRounds.flat());
}
