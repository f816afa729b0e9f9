// What provider events do to sends and counters, exactly once each, through kills and redelivery. A run (one batch of messages)
// writes its events on their sends, each with the run's name; it ends with one transaction per site that puts the run's page and
// moves the counters. An event is counted if, and only if, its run has a page. A message that comes again and finds its events
// under a run without a page voids that page, so that it can never come, and takes the events over.
import { randomBytes } from "node:crypto";
import { now } from "../../clock.ts";
import type { Received } from "../../consume.ts";
import { getMany, insertMany, updateMany } from "../../doors/table.ts";
import { Problem } from "../../errors.ts";
import { keys, sha256 } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import type { InboundEvent } from "../../queues.ts";
import * as chunks from "../sending/chunks.ts";
import { sourceOf } from "../sending/sources.ts";
import { isOfCopy } from "./copies.ts";
import { effects, type Happened } from "./effects.ts";
import * as pages from "./pages.ts";
import { type Arrival, type Decision, decide, type FurtherEntry, mayHaveFurther, nameOf, type TimelineItem } from "./timeline-item.ts";
import * as unmatched from "./unmatched.ts";

export interface Message {
  orgId: number;
  provider: string;
  events: InboundEvent[];
}

/** Works on the whole batch; answers with the error of each message, undefined for those that are done. */
export async function batch(messages: Received<Message>[]): Promise<unknown[]> {
  const errors: unknown[] = messages.map(() => undefined);
  const together = Map.groupBy(messages.keys(), (i) => runOf(messages[i]!));
  await inParallel(20, [...together.values()], async (indexes) => {
    const { orgId } = messages[indexes[0]!]!.body;
    const arrivals = indexes.flatMap((i) => arrivalsOf(messages[i]!));
    await organization(orgId, arrivals).catch((error: unknown) => {
      for (const i of indexes) errors[i] = passing(error);
    });
  });
  return errors;
}

// One that nothing can be made of would take all with it that come with it, as often as it comes, so it ends up alone.
const attemptsTogether = 2;
const runOf = ({ messageId, attempt, body: { orgId } }: Received<Message>): string =>
  attempt > attemptsTogether ? `${orgId} ${messageId}` : `${orgId}`;

// What happened cannot be refused: whatever is in its way, the message comes again, and in the end lies where somebody looks.
const passing = (error: unknown): unknown => (error instanceof Problem ? new Error(error.message, { cause: error }) : error);

// A parked event comes with ever new messages: what brought it is then itself.
const arrivalsOf = ({ messageId, body: { events, provider } }: Received<Message>): Arrival[] =>
  events.map((event) => ({ event, by: event.parked ? `parked-${event.id}` : sha256(messageId).slice(0, 12), provider }));

/** One send on its way through a run. */
interface Track {
  item: TimelineItem;
  /** It has no item yet, only a line in a chunk. */
  isNew: boolean;
  arrivals: Arrival[];
  run: string;
  decision?: Decision | undefined;
}

async function organization(orgId: number, arrivals: Arrival[]): Promise<void> {
  const bySend = Map.groupBy(
    arrivals.filter(({ event }) => event.sendId !== undefined),
    ({ event }) => event.sendId!,
  );
  const tracks = await tracked(orgId, bySend);
  const known = new Set(tracks.map(({ item }) => item.id));
  const [matched, strangers] = parted(arrivals, ({ event }) => event.sendId !== undefined && known.has(event.sendId));
  for (const track of tracks) track.arrivals = track.arrivals.filter(({ event }) => !isOfCopy(event, track.item));
  await Promise.all([written(orgId, tracks), unmatched.keep(orgId, strangers)]);
  const happened = tracks.flatMap(happenings);
  await Promise.all(effects.map((effect) => effect(orgId, happened)));
  await pages.close(
    orgId,
    tracks.flatMap(({ decision, item, run }) => (decision ? [{ decision, item, run }] : [])),
  );
  await unmatched.release(
    orgId,
    matched.map(({ event }) => event),
  );
}

const parted = <T>(all: T[], wanted: (one: T) => boolean): [T[], T[]] => [all.filter(wanted), all.filter((one) => !wanted(one))];

async function tracked(orgId: number, bySend: Map<number, Arrival[]>): Promise<Track[]> {
  const sendIds = [...bySend.keys()];
  const found = await getMany<TimelineItem>(
    sendIds.map((id) => keys.send(orgId, id)),
    { consistent: true },
  );
  const lines = await chunks.lines(
    orgId,
    sendIds.filter((_, i) => !found[i]),
    { consistent: true },
  );
  const made = new Map(lines.map((line) => [line.id, { ...line, v: 0, ...(sourceOf(line) && { early: true as const }) }]));
  const stem = `${now().toISOString()}#${randomBytes(6).toString("base64url")}`;
  const pageOf = pages.split([...found.flatMap((item) => item ?? []), ...lines]);
  return sendIds.flatMap((id, i) => {
    const item = found[i] ?? made.get(id);
    if (!item) return [];
    // The site too: whoever reads several sites in turn must know where it stands.
    const run = `${stem}#${item.siteId}#${pageOf(item)}`;
    return [{ item, isNew: !found[i], arrivals: bySend.get(id)!, run }];
  });
}

const mostRaces = 8;

/** Writes every send, those that lost a race again from what is then there. */
async function written(orgId: number, tracks: Track[]): Promise<void> {
  let open = tracks;
  for (let race = 0; open.length; race++) {
    if (race > mostRaces) throw new Error(`${open.length} sends kept changing while their events were written`);
    if (race) await reload(orgId, open);
    const beside = await besides(orgId, open);
    const lost = await lostRuns(orgId, open, beside);
    for (const track of open) track.decision = decide(track.item, track.arrivals, track.run, lost, beside.get(track.item.id) ?? new Map());
    open = await writeOnce(
      orgId,
      open.filter(({ decision }) => decision),
    );
  }
}

async function reload(orgId: number, tracks: Track[]): Promise<void> {
  const items = await getMany<TimelineItem>(
    tracks.map(({ item }) => keys.send(orgId, item.id)),
    { consistent: true },
  );
  for (const [i, track] of tracks.entries()) {
    track.item = items[i] ?? track.item;
    track.isNew = !items[i];
  }
}

/** Answers with those that lost a race. */
async function writeOnce(orgId: number, tracks: Track[]): Promise<Track[]> {
  const late = await furtherWritten(orgId, tracks);
  const open = tracks.flatMap((track) => (track.decision?.set && !late.has(track) ? [{ track, set: track.decision.set }] : []));
  const [made, changed] = [open.filter(({ track }) => track.isNew), open.filter(({ track }) => !track.isNew)];
  const [inserted, updated] = await Promise.all([
    insertMany(made.map(({ track: { item }, set }) => ({ address: keys.send(orgId, item.id), item: { ...item, ...set } }))),
    updateMany(changed.map(({ track: { item }, set }) => ({ address: keys.send(orgId, item.id), set, while: ["v", item.v] as const }))),
  ]);
  return [...late, ...[...made.filter((_, i) => !inserted[i]), ...changed.filter((_, i) => !updated[i])].map(({ track }) => track)];
}

/** Answers with those that met another run's. */
async function furtherWritten(orgId: number, tracks: Track[]): Promise<Set<Track>> {
  const all = tracks.flatMap((track) =>
    track.decision!.further.map((one) => ({ track, ...one, address: keys.sendEvent(orgId, track.item.id, nameOf(one.entry)) })),
  );
  const [made, taken] = [all.filter(({ isNew }) => isNew), all.filter(({ from }) => from !== undefined)];
  const [inserted, updated] = await Promise.all([
    insertMany(made.map(({ address, entry }) => ({ address, item: entry }))),
    updateMany(taken.map(({ address, entry: { run }, from }) => ({ address, set: { run }, while: ["run", from!] as const }))),
  ]);
  return new Set([...made.filter((_, i) => !inserted[i]), ...taken.filter((_, i) => !updated[i])].map(({ track }) => track));
}

type Besides = Map<number, Map<string, FurtherEntry>>;

/** Runs that brought an event which now comes again with the same message, and that have not counted it and never will. */
async function lostRuns(orgId: number, tracks: Track[], beside: Besides): Promise<Set<string>> {
  const suspects = new Map<string, number>();
  for (const { item, arrivals, run } of tracks)
    for (const entry of [...(item.events ?? []), ...(beside.get(item.id)?.values() ?? [])])
      if (entry.run !== run && arrivals.some(({ event, by }) => by === entry.by && nameOf(event) === nameOf(entry)))
        suspects.set(entry.run, item.siteId);
  const lost = await inParallel(8, [...suspects], async ([run, siteId]) => ((await pages.abandoned(orgId, siteId, run)) ? [run] : []));
  return new Set(lost.flat());
}

async function besides(orgId: number, tracks: Track[]): Promise<Besides> {
  const wanted = tracks.flatMap(({ item, arrivals }) =>
    mayHaveFurther(item, arrivals.length) ? arrivals.map(({ event }) => ({ id: item.id, name: nameOf(event) })) : [],
  );
  const found = await getMany<FurtherEntry>(
    wanted.map(({ id, name }) => keys.sendEvent(orgId, id, name)),
    { consistent: true },
  );
  const bySend: Besides = new Map();
  for (const [i, { id, name }] of wanted.entries()) if (found[i]) bySend.set(id, (bySend.get(id) ?? new Map()).set(name, found[i]));
  return bySend;
}

/** Of all that a run counts, and so also of what it took over from one that died, whichever message brought it. */
function happenings({ item, arrivals, decision }: Track): Happened[] {
  if (!decision) return [];
  const send = { ...item, ...decision.set };
  const [{ provider }] = arrivals as [Arrival];
  return decision.counted.map((entry) => ({ send, entry, provider }));
}
