// A chunk on its way to the provider, call by call. A call is claimed before it is made; the first write after the answer is one
// RESULT item; only then are the sends inserted. Whatever dies in between is taken up from what was written.
import { now } from "../../clock.ts";
import { absent, all, exists } from "../../conditions.ts";
import { claim, getMany, insertMany, remove, update, updateMany, write } from "../../doors/table.ts";
import { type Address, keys } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import type { Outcome } from "../../providers/provider.ts";
import * as engagement from "../contacts/engagement.ts";
import type { SendItem } from "../sends.ts";
import * as calls from "./calls.ts";
import * as chunks from "./chunks.ts";
import { close } from "./closing.ts";
import * as held from "./held.ts";
import type { Verdict, Waiting } from "./lanes.ts";
import * as lanes from "./lanes.ts";
import { type Line, type Load, prepare } from "./loads.ts";
import { marks } from "./provider-call.ts";
import * as sources from "./sources.ts";

/**
 * Hands over what is left of a chunk; takes it out of the lane when nothing is. `heldSince`: since when the provider has taken nothing;
 * `beside`: how many chunks share the calls that may be in flight.
 */
export async function chunk(
  orgId: number,
  configId: number,
  waiting: Waiting,
  mayGoOn: () => boolean,
  heldSince?: string,
  beside = 1,
): Promise<Verdict> {
  const state = waiting.source ? await sources.stateOf(orgId, waiting.source) : "going";
  if (state === "paused") return heldBack(orgId, waiting);
  const load = await prepare(orgId, configId, waiting);
  if (!load) return lapsed(orgId, waiting);
  // Neither mail that came a moment ago nor a provider that failed a moment ago is given up.
  const first = waiting.since ?? waiting.at;
  const hopelessSince = heldSince && heldSince > first ? heldSince : heldSince && first;
  if (!waiting.callSize) await insertRefused(load);
  const begun = (n: number) => waiting[`c${n}`] !== undefined;
  const open = load.calls.flatMap((lines, n) => (waiting[`d${n}`] || (state === "cancelled" && !begun(n)) ? [] : [{ lines, n }]));
  const told: Told[] = [];
  const failures: unknown[] = [];
  await inParallel(Math.max(1, Math.floor(widthOf(load) / beside)), open, async ({ lines, n }) => {
    if (failures.length || told.some(({ wait, done, asideSeconds }) => wait || !(done || asideSeconds)) || !mayGoOn()) return;
    // Calls in flight are waited for when one fails: nobody else may take the lane while they are.
    await callOnce(load, lines, n, hopelessSince).then(
      (verdict) => told.push({ ...verdict, n }),
      (error) => failures.push(error),
    );
  });
  if (failures.length) throw failures[0];
  const done = told.filter((verdict) => verdict.done).length === open.length;
  if (done) await end(load, told, state);
  const wait = told.find((verdict) => verdict.wait)?.wait;
  const aside = told.flatMap(({ asideSeconds = [] }) => asideSeconds);
  const isAside =
    !wait && told.length === open.length && aside.length && (await lanes.setAside(orgId, configId, waiting, Math.min(...aside)));
  return { done: done || Boolean(isAside), wait, moved: told.some(({ moved }) => moved) };
}

/** A verdict on one call, with all that was ever answered to it. */
interface Told extends Verdict {
  n: number;
  results?: calls.Result[] | undefined;
}

async function end(load: Load, told: Told[], state: sources.State): Promise<void> {
  const { orgId, waiting } = load;
  const known = new Map(told.map(({ n, results }) => [n, results]));
  const results = await inParallel(4, [...load.calls.keys()], async (n) => {
    if (known.has(n)) return known.get(n)!;
    if (waiting[`c${n}`]) return calls.resultsOf(load, n);
    // Done without having begun: there was nobody to ask. Neither: it was cancelled.
    return waiting[`d${n}`] ? [calls.refusing(load, load.calls[n]!)] : [];
  });
  const last = state === "cancelled" ? await held.cancelling(orgId, waiting.source!, placeOf(waiting)) : undefined;
  await close(load, results.flat(), last);
}

async function heldBack(orgId: number, waiting: Waiting): Promise<Verdict> {
  await held.hold(orgId, waiting);
  return { done: true, moved: true };
}

/** Nobody knows any more for whom it is: a campaign or sequence was paused for months, say. Those behind it must not wait for it. */
async function lapsed(orgId: number, waiting: Waiting): Promise<Verdict> {
  const { source } = waiting;
  await claim(...(source ? await held.cancelling(orgId, source, waiting) : [remove(waiting, { if: lanes.asRead(waiting) })]));
  return { done: true, moved: true };
}

/** Calls that take as long by their pace as by the provider gain nothing from each other. */
const widthOf = ({ carrier, callSize }: Load): number =>
  !carrier || callSize / (carrier.config.ratePerSecond ?? Number.POSITIVE_INFINITY) > 0.5 ? 1 : carrier.width;

const placeOf = ({ pk, sk }: Waiting): Address => ({ pk, sk });

/** Those who will never be sent to are recorded at once. */
const insertRefused = ({ orgId, waiting, head, lines }: Load) =>
  insertSends(
    orgId,
    lines.filter(({ error }) => error).map((line) => chunks.sendOf(head, waiting.block, line)),
  );

const insertSends = (orgId: number, sends: SendItem[]) =>
  insertMany(sends.map((send) => ({ address: keys.send(orgId, send.id), item: send })));

/** One call, from wherever an earlier attempt left it. */
async function callOnce(load: Load, lines: Line[], n: number, hopelessSince: string | undefined): Promise<Omit<Told, "n">> {
  const { orgId, waiting, source } = load;
  // What has not begun does not begin any more when its campaign was stopped meanwhile.
  if (source && !waiting[`c${n}`] && (await sources.stateOf(orgId, source)) !== "going") return { done: false, moved: false };
  const state = await calls.stateOf(load, lines, n);
  const { result, wait, moved, asideSeconds }: calls.Answer = state.open.length
    ? await calls.attempt(load, n, state, hopelessSince)
    : { moved: true };
  if (state.open.length && !result) return { done: false, wait, moved, asideSeconds };
  // What an earlier attempt was told may not all have been written: it is written again, and found there.
  const results = [...state.results, ...(result ? [result] : [])];
  const tallies = await record(load, lines, results);
  const done = !result?.outcomes.some(([, { status }]) => status === "held");
  if (done && source) await tell(load, source, lines, n, tallies);
  else if (done && load.calls.length > 1) await write(update(placeOf(waiting), { set: { [`d${n}`]: true }, add: { moves: 1 } }));
  return { done, wait, moved, asideSeconds: done ? undefined : asideSeconds, results };
}

/** The call is done and its mails are counted where they stand, together and once. */
async function tell({ orgId, waiting }: Load, source: sources.Source, lines: Line[], n: number, tallies: sources.Tallies): Promise<void> {
  const begun = waiting[`c${n}`] !== undefined;
  const done = update(
    placeOf(waiting),
    { set: { [`d${n}`]: true }, add: { doneLines: lines.length, moves: 1 } },
    { if: all(exists, absent(`d${n}`)) },
  );
  await claim(
    done,
    ...sources.counting(orgId, waiting.block + n, [{ source, tallies: { ...tallies, ...(begun && { sending: -lines.length }) } }]),
  );
}

async function record({ orgId, waiting, head, carrier }: Load, lines: Line[], results: calls.Result[]): Promise<sources.Tallies> {
  const byIndex = new Map(lines.map((line) => [line.i, line]));
  const sentAt = now().toISOString();
  const settled = results.flatMap(({ outcomes }) => outcomes).filter(([, { status }]) => status !== "held");
  const meant = settled.map(([i, outcome]) => ({
    ...chunks.sendOf(head, waiting.block, byIndex.get(i)!),
    ...(carrier && { provider: carrier.provider.key }),
    ...marks(outcome, sentAt),
  }));
  const contacts = await engagement.contactsOf(orgId, meant);
  const sends = meant.map((send, i) => ({ ...send, contactId: send.contactId ?? contacts[i]?.id }));
  const gone = sends.filter(({ status }) => status === "sent");
  const theirs = contacts.filter((_, i) => sends[i]!.status === "sent");
  // Each is safe to repeat, and neither looks at the other.
  const [isNew] = await Promise.all([insertSends(orgId, sends), engagement.sent(orgId, gone, theirs)]);
  const there = await getMany<SendItem>(
    sends.flatMap(({ id }, i) => (isNew[i] ? [] : [keys.send(orgId, id)])),
    { consistent: true },
  );
  const found = new Map(there.flatMap((send) => (send ? [[send.id, send]] : [])));
  await addTo(
    orgId,
    gone.filter(({ id }) => found.has(id) && !found.get(id)!.sentAt),
  );
  const tallies: sources.Tallies = {};
  for (const [k, [, outcome]] of settled.entries())
    for (const [name, n] of Object.entries(tallyOf(outcome, found.get(sends[k]!.id))))
      tallies[name as sources.Tally] = (tallies[name as sources.Tally] ?? 0) + n;
  return tallies;
}

/** An event that came first has shown that the mail went, whatever the provider said. Who left meanwhile was not accepted after all. */
function tallyOf(outcome: Outcome, there: SendItem | undefined): sources.Tallies {
  if (outcome.status === "accepted" || there?.early) return { sent: 1 };
  if (outcome.status === "uncertain") return { uncertain: 1 };
  const reason = outcome.error as sources.LeftOut;
  if (sources.leftOut.includes(reason)) return { accepted: -1, [reason]: 1 };
  return outcome.error === "cancelled" ? { cancelled: 1 } : { failed: 1 };
}

/** An event may have inserted a send first: what it says stands, what the provider answered is added. */
const addTo = (orgId: number, sends: SendItem[]) =>
  updateMany(
    sends.map(({ id, contactId, provider, providerMessageId, sentAt }) => ({
      address: keys.send(orgId, id),
      set: { contactId, provider, providerMessageId, sentAt },
      while: ["id", id],
    })),
  );
