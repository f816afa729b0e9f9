// One provider call of a chunk, through all its attempts. An attempt is claimed before the provider is asked, and closed by a RESULT
// item that says of every line what became of it.
import { type Packed, packed, unpacked } from "../../bodies.ts";
import { after, epochSeconds, now } from "../../clock.ts";
import { absent, all, equals } from "../../conditions.ts";
import { get, getMany, put, queryAll, claim as tryWrite, update, write } from "../../doors/table.ts";
import { canonical, domainOf } from "../../email.ts";
import { randomText } from "../../ids.ts";
import { keys, ranges } from "../../keys.ts";
import type { Outcome } from "../../providers/provider.ts";
import * as suppressions from "../suppressions.ts";
import * as chunks from "./chunks.ts";
import type { Claim, Waiting } from "./lanes.ts";
import type { Carrier, Line, Load } from "./loads.ts";
import * as pace from "./pace.ts";
import * as provider from "./provider-call.ts";
import * as reachable from "./reachable.ts";
import * as slowDomains from "./slow-domains.ts";
import * as sources from "./sources.ts";
import * as warmUp from "./warm-up.ts";

const keepSeconds = 60 * 24 * 3600;

export interface Result {
  attempt: number;
  outcomes: [i: number, outcome: Outcome][];
  /** Lines that the provider may have, though it did not say so: from now on each is asked for under a key of its own. */
  doubt: number[];
}

/** How far a call has come. */
export interface State {
  earlier: Claim | undefined;
  results: Result[];
  /** The last attempt was claimed and not closed. */
  died: boolean;
  /** Lines that no attempt has settled. */
  open: Line[];
  doubt: Set<number>;
}

export async function stateOf({ orgId, waiting }: Load, lines: Line[], n: number): Promise<State> {
  const earlier = waiting[`c${n}`];
  const results = earlier ? await resultsOf({ orgId, waiting }, n) : [];
  const died = earlier !== undefined && results.at(-1)?.attempt !== earlier.attempt;
  const settled = new Set(results.flatMap(({ outcomes }) => outcomes.filter(([, { status }]) => status !== "held").map(([i]) => i)));
  const open = lines.filter(({ i }) => !settled.has(i));
  return { earlier, results, died, open, doubt: new Set(died ? open.map(({ i }) => i) : results.at(-1)?.doubt) };
}

/** Of every attempt that was closed. */
export async function resultsOf({ orgId, waiting }: Pick<Load, "orgId" | "waiting">, n: number): Promise<Result[]> {
  const items = await queryAll<Packed>(ranges.results(orgId, waiting.block, waiting.chunk, n), { consistent: true });
  return Promise.all(items.map((item) => unpacked<Result>(item)));
}

export interface Answer {
  /** Absent: the question is still open, and will be put again just so. */
  result?: Result;
  wait?: pace.Wait | undefined;
  /** The provider took something, or refused it. */
  moved: boolean;
  /** Mail servers of some lines are waited for, so long; everyone else has been asked for. */
  asideSeconds?: number | undefined;
}

/** Asks for the lines that are open. `hopelessSince`: since when both this mail waits and the provider takes nothing. */
export async function attempt(load: Load, n: number, state: State, hopelessSince: string | undefined): Promise<Answer> {
  const { carrier, orgId } = load;
  if (!carrier) return { result: refusing(load, state.open, state.doubt), moved: true };
  const { waitSeconds, lane } = await pace.turn(orgId, carrier.config, state.open.length);
  if (waitSeconds > 0) return { wait: { why: "turn", seconds: waitSeconds }, moved: false };
  const slow = state.died ? { lines: [] } : slowOf(load, lane, state);
  if (slow.lines.length === state.open.length) return { asideSeconds: slow.seconds, moved: false };
  const daySeconds = state.died ? 0 : await warmUp.take(orgId, carrier.config, state.open.length - slow.lines.length);
  if (daySeconds > 0) return { wait: { why: "turn", seconds: daySeconds }, moved: false };
  const claim = state.died ? state.earlier : await claimed(load, carrier, n, state, slow.lines);
  if (!claim) return { wait: { why: "turn", seconds: 1 }, moved: false };
  return { ...(await ask({ load, carrier, n, state, claim }, hopelessSince)), ...(claim.later && { asideSeconds: slow.seconds ?? 1 }) };
}

const patienceSeconds = 24 * 3600;

/** Lines whose mail servers are waited for, but for those that may have gone already, and not for ever. */
function slowOf({ waiting }: Load, lane: object, { open, doubt }: State): { lines: Line[]; seconds?: number } {
  if ((waiting.since ?? waiting.at) < after(-patienceSeconds).toISOString()) return { lines: [] };
  const ends = open.flatMap((line) => {
    const until = doubt.has(line.i) ? undefined : slowDomains.waitedFor(lane, domainOf(line.to));
    return until === undefined ? [] : [{ line, until }];
  });
  if (!ends.length) return { lines: [] };
  const first = Math.min(...ends.map(({ until }) => until));
  return { lines: ends.map(({ line }) => line), seconds: (first - now().getTime()) / 1000 };
}

export const refusing = ({ refusal }: Load, lines: Line[], doubt = new Set<number>()): Result => ({
  attempt: 0,
  outcomes: lines.map(({ i }) => [i, doubt.has(i) ? provider.lost : { status: "refused", error: refusal }]),
  doubt: [],
});

/** Says that the provider is being asked, and for whom not; undefined when somebody else did, or a line was cancelled meanwhile. */
async function claimed(
  load: Load,
  carrier: Carrier,
  n: number,
  { earlier, results, open, doubt }: State,
  slow: Line[],
): Promise<Claim | undefined> {
  const { orgId, waiting, callSize } = load;
  const claim: Claim = {
    by: randomText(8),
    attempt: 1 + (results.at(-1)?.attempt ?? 0),
    key: doubt.size ? earlier?.key : provider.keyTerm(carrier.provider, carrier.config),
    alone: doubt.size ? true : undefined,
    skip: await leftOut(load, carrier, open),
    later: slow.length ? slow.map(({ i }) => i) : undefined,
  };
  const unchanged = all(
    earlier ? equals(`c${n}`, earlier) : absent(`c${n}`),
    waiting.cancels === undefined ? absent("cancels") : equals("cancels", waiting.cancels),
  );
  const starting =
    load.source && !earlier ? sources.counting(orgId, waiting.block, [{ source: load.source, tallies: { sending: open.length } }]) : [];
  const mine = await tryWrite(
    update(placeOf(load), { set: { [`c${n}`]: claim, callSize }, add: { moves: 1 } }, { if: unchanged }),
    ...starting,
  );
  // The SDK may have asked twice, and been told of its own first time.
  if (!mine && (await get<Waiting>(placeOf(load)))?.[`c${n}`]?.by !== claim.by) return undefined;
  waiting[`c${n}`] = claim;
  return claim;
}

const placeOf = ({ waiting: { pk, sk } }: Load) => ({ pk, sk });

/** Who was cancelled or suppressed since the mail was accepted, and whose mail cannot be rendered. */
async function leftOut(load: Load, { flaw }: Carrier, open: Line[]): Promise<Claim["skip"]> {
  const refused = await (load.source ? unreachable(load, load.source, open) : turnedAway(load, open));
  return Object.fromEntries(open.flatMap((line, k) => [[String(line.i), refused[k] ?? flaw(line)]]).filter(([, reason]) => reason));
}

async function unreachable({ orgId, head }: Load, source: sources.Source, open: Line[]): Promise<(string | undefined)[]> {
  const [state, obstacles] = await Promise.all([
    sources.stateOf(orgId, source),
    reachable.obstacles(orgId, head.siteId, open, head.capDays),
  ]);
  return state === "cancelled" ? open.map(() => "cancelled") : obstacles;
}

async function turnedAway({ orgId, waiting }: Load, open: Line[]): Promise<(string | undefined)[]> {
  const emails = open.map(({ to }) => to);
  const [suppressed, made] = await Promise.all([
    suppressions.among(orgId, emails, "transactional"),
    waiting.cancels
      ? getMany(
          open.map((line) => keys.send(orgId, chunks.idOf(waiting.block, line))),
          { consistent: true },
        )
      : [],
  ]);
  return open.map((line, k) => (made[k] ? "cancelled" : suppressed.has(canonical(line.to)) ? "suppressed" : undefined));
}

interface Question {
  load: Load;
  carrier: Carrier;
  n: number;
  state: State;
  claim: Claim;
}

/** Puts the question, unless it may have been heard and cannot be put again, and writes down what was answered. */
async function ask(question: Question, hopelessSince: string | undefined): Promise<Answer> {
  const { load, carrier, n, claim } = question;
  const { open, doubt, died } = question.state;
  const canAsk = provider.askable(claim.key, carrier.config);
  const asked = open.filter(({ i }) => !(i in claim.skip) && !claim.later?.includes(i) && (canAsk || !doubt.has(i)));
  const told = await outcomesOf(question, asked);
  const wait = waitFor(told.outcomes);
  const allHeld = asked.length > 0 && told.outcomes.every(({ status }) => status === "held");
  if (told.together && allHeld && (died || told.outcomes.some(provider.doubtful))) return { wait, moved: false };
  const inDoubt = asked.filter(({ i }, k) => doubt.has(i) || provider.doubtful(told.outcomes[k]!)).map(({ i }) => i);
  const byLine = new Map(
    asked.map(({ i }, k) => [i, provider.bounded(told.outcomes[k]!, carrier.config, hopelessSince, inDoubt.includes(i))]),
  );
  const outcomes = open.map(({ i }): [number, Outcome] => [i, byLine.get(i) ?? unasked(claim, i, doubt.has(i))]);
  const result: Result = { attempt: claim.attempt, outcomes, doubt: inDoubt.filter((i) => byLine.get(i)?.status === "held") };
  await close(load, n, result);
  return { result, wait, moved: told.outcomes.some(({ status }) => status === "accepted" || status === "refused") };
}

function unasked({ skip, later, key }: Claim, i: number, inDoubt: boolean): Outcome {
  if (i in skip && !inDoubt) return { status: "refused", error: skip[i]! };
  if (later?.includes(i)) return { status: "held", why: "pace", error: "Its mail server is waited for" };
  return key ? provider.unanswered : provider.lost;
}

/** A provider that does not answer is as good as one that says it has trouble. */
function waitFor(outcomes: Outcome[]): pace.Wait | undefined {
  const held = outcomes.find((outcome) => outcome.status === "held");
  if (held) return provider.waitOf(held);
  return outcomes.some(({ status }) => status === "uncertain") ? { why: "fault", seconds: 1 } : undefined;
}

async function outcomesOf({ load, carrier, n, claim }: Question, asked: Line[]): Promise<{ outcomes: Outcome[]; together: boolean }> {
  const { provider: to, credentials } = carrier;
  const mailing = carrier.mailing(asked);
  // It must say the same as before; a line that cannot be rendered any more makes that impossible just now.
  const same = mailing.recipients.length === asked.length;
  if (!same) return { outcomes: asked.map(() => provider.unclear), together: true };
  if (!claim.alone && provider.fits(to, mailing)) {
    const key = `pm-${load.waiting.block}-${load.waiting.chunk}-${n}-${claim.attempt}`;
    const outcomes = await to.send({ mailing, credentials, idempotencyKey: key });
    if (!outcomes.some((outcome) => outcome.status === "held" && outcome.why === "batch")) return { outcomes, together: true };
    // Whoever takes up from here must not try the batch again: some of it will have gone out.
    await write(update(placeOf(load), { set: { [`c${n}`]: { ...claim, alone: true } }, add: { moves: 1 } }));
  }
  return { outcomes: await provider.oneByOne(to, credentials, mailing), together: false };
}

async function close({ orgId, waiting }: Load, n: number, result: Result): Promise<void> {
  const address = keys.result(orgId, waiting.block, waiting.chunk, n, result.attempt);
  await write(put(address, { ...(await packed(address, result)), expires: epochSeconds() + keepSeconds }));
}
