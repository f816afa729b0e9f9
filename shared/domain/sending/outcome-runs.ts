// Counts the outcomes of single sends together. Each send is stored with its outcome, marked with
// the run that will count it. A moment later the run commits: one transaction writes its page and
// changes the daily counters. An outcome is counted if, and only if, its run has a page. A worker
// that finds a send of a run without a page, such as after a crash, writes a tombstone as that
// page, so that the run can never commit, and counts the send itself.
import { measureUnits } from "../../adapters/dynamodb/capacity.ts";
import { get, getMany, put, transact } from "../../adapters/dynamodb/table.ts";
import { epochSeconds } from "../../clock.ts";
import { randomBase62 } from "../../ids.ts";
import * as log from "../../kernel/log.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { keys } from "../../keys.ts";
import { queues } from "../../queues.ts";
import * as dailyCounters from "./daily-counters.ts";
import type { SingleSendItem } from "./single-send-item.ts";

/** An outcome that is stored with the mark of a run. */
export interface StoredOutcome {
  send: SingleSendItem;
  /** The day of the organization on which it counts, such as 2026-11-21. */
  date: string;
  counts: dailyCounters.DayCounts;
}

interface Run {
  orgId: number;
  id: string;
  outcomes: StoredOutcome[];
  /** Number of outcomes that are being stored. */
  pending: number;
  joined: number;
  isClosed: boolean;
  /** An outcome may be stored with the mark of the run without being in `outcomes`. */
  isIncomplete: boolean;
  countAlone: CountAlone;
  ended: PromiseWithResolvers<void>;
}

/** The page of a run. `void`: a tombstone. */
interface RunPage {
  void?: true;
  expires: number;
}

/** Daily counters can be this late. */
const openMilliseconds = 5000;
// Each outcome adds at most one item to the transaction, which takes 100 items.
const maxOutcomes = 90;
/** Much longer than a sweep can be late. */
const pageSeconds = 365 * 24 * 3600;

const openRuns = new Map<number, Run>();
const lastOutcomes = createLruCache<number>(10_000);
const unfinishedRuns = new Set<Run>();

/**
 * Whether this process has had another outcome of the organization a moment ago. The page of a run
 * costs more than a single outcome saves.
 */
export function areOutcomesFrequent(orgId: number): boolean {
  const time = performance.now();
  const last = lastOutcomes.get(String(orgId));
  lastOutcomes.set(String(orgId), time, 1);
  return openRuns.has(orgId) || (last !== undefined && time - last < openMilliseconds);
}

/** Counts one send by itself, in place of a run that did not commit. */
type CountAlone = (orgId: number, send: SingleSendItem) => Promise<void>;

/**
 * Stores an outcome with `store` and counts it a moment later. `store` gets the run that it must
 * mark the send with, and returns undefined if it did not store the outcome. Returns whether it
 * did.
 */
export async function countInRun(
  orgId: number,
  store: (run: string) => Promise<StoredOutcome | undefined>,
  countAlone: CountAlone,
): Promise<boolean> {
  const run = joinRun(orgId, countAlone);
  try {
    const outcome = await store(run.id);
    if (outcome) run.outcomes.push(outcome);
    return outcome !== undefined;
  } catch (error) {
    // The outcome may be stored although the response was lost.
    run.isIncomplete = true;
    throw error;
  } finally {
    run.pending--;
    endIfComplete(run);
  }
}

/** Commits all runs of this process now. Returns whether there were any. */
export const commitAllRuns = (): Promise<boolean> => commitRuns([...unfinishedRuns]);

/** Commits the runs that no outcome is joining at the moment. */
export const commitIdleRuns = (): Promise<boolean> =>
  commitRuns([...openRuns.values()].filter(({ pending }) => !pending));

async function commitRuns(runs: Run[]): Promise<boolean> {
  for (const run of runs) close(run);
  await Promise.all(runs.map(({ ended }) => ended.promise));
  return runs.length > 0;
}

function joinRun(orgId: number, countAlone: CountAlone): Run {
  const run = openRuns.get(orgId) ?? openRun(orgId, countAlone);
  run.pending++;
  run.joined++;
  if (run.joined === maxOutcomes) close(run);
  return run;
}

function openRun(orgId: number, countAlone: CountAlone): Run {
  const run: Run = {
    orgId,
    id: randomBase62(12),
    outcomes: [],
    pending: 0,
    joined: 0,
    isClosed: false,
    isIncomplete: false,
    countAlone,
    ended: Promise.withResolvers(),
  };
  openRuns.set(orgId, run);
  unfinishedRuns.add(run);
  setTimeout(() => close(run), openMilliseconds);
  return run;
}

/** No further outcome joins the run. */
function close(run: Run): void {
  if (run.isClosed) return;
  run.isClosed = true;
  if (openRuns.get(run.orgId) === run) openRuns.delete(run.orgId);
  endIfComplete(run);
}

function endIfComplete(run: Run): void {
  if (!run.isClosed || run.pending) return;
  measureUnits(() => commit(run))
    .then(({ usage: { readUnits, writeUnits } }) => {
      const facts = { queue: queues.send.name, orgId: run.orgId, sends: run.outcomes.length };
      log.info("outcomes", { ...facts, readUnits, writeUnits });
    })
    // The sweep finds the sends, and each is counted alone.
    .catch((error: unknown) => log.error("outcomes not counted", error, { orgId: run.orgId }))
    .finally(() => {
      unfinishedRuns.delete(run);
      run.ended.resolve();
    });
}

async function commit({ orgId, id, outcomes, isIncomplete, countAlone }: Run): Promise<void> {
  if (!outcomes.length) return;
  const page = { expires: epochSeconds() + pageSeconds } satisfies RunPage;
  const isCommitted =
    !isIncomplete &&
    (await transact(
      put(keys.outcomeRun(orgId, id), page, { ifAbsent: true }),
      ...counterWrites(orgId, outcomes),
    ));
  if (!isCommitted) for (const { send } of outcomes) await countAlone(orgId, send);
}

function counterWrites(orgId: number, outcomes: StoredOutcome[]) {
  const days = Map.groupBy(outcomes, ({ send, date }) => `${send.siteId} ${date}`);
  return [...days.values()].flatMap((ofDay) => {
    const [{ send, date }] = ofDay as [StoredOutcome];
    return dailyCounters.dayCounterWrites(
      orgId,
      { siteId: send.siteId, date, shardSeed: send.id },
      ofDay.map(({ send: { sendingConfigId: configId }, counts }) => ({ configId, counts })),
    );
  });
}

/** Makes sure that the run never commits. Returns false if it has committed. */
export async function abandonRun(orgId: number, run: string): Promise<boolean> {
  const key = keys.outcomeRun(orgId, run);
  const tombstone = { void: true, expires: epochSeconds() + pageSeconds } satisfies RunPage;
  if (await transact(put(key, tombstone, { ifAbsent: true }))) return true;
  return Boolean((await get<RunPage>(key))?.void);
}

/** Returns those of the runs that have committed. */
export async function listCommittedRuns(orgId: number, runs: string[]): Promise<Set<string>> {
  const found = await getMany<RunPage>(
    runs.map((run) => keys.outcomeRun(orgId, run)),
    { consistent: true },
  );
  return new Set(runs.filter((_, i) => found[i] && !found[i].void));
}
