// Reaching the people of a campaign or holiday: contacts are read collection by collection, asked whether they may be written to, and
// let into the lane by hundreds. Cursor, chunks, their place in the list and the numbers are one transaction: dead anywhere, whoever
// goes on reaches everybody once.
import { after, now } from "../../clock.ts";
import { get, Unmet, write } from "../../doors/table.ts";
import { Problem } from "../../errors.ts";
import { queues } from "../../queues.ts";
import * as allowance from "../allowance.ts";
import * as lanes from "../sending/lanes.ts";
import * as sources from "../sending/sources.ts";
import * as staging from "../sending/staging.ts";
import * as batches from "./batches.ts";
import { addressOf, type Broadcast, type Key, kick, reach, sourceOf } from "./broadcast.ts";
import * as cursors from "./cursors.ts";
import * as log from "./log.ts";
import * as plans from "./plan.ts";
import { shooter } from "./shots.ts";
import * as states from "./states.ts";

const workSeconds = queues.fanOut.timeoutSeconds - 60;

/** One collection, until it is done, stopped, or the time is up. Safe to repeat; left alone while somebody is at it. */
export async function run(key: Key, shard: string): Promise<void> {
  const until = after(workSeconds);
  const broadcast = await get<Broadcast>(addressOf(key));
  if (broadcast?.status !== "sending") return;
  const cursor = await cursors.take(key, shard);
  if (!cursor) return;
  try {
    await work({ key, plan: await plans.read(key), until }, cursor);
  } catch (error) {
    // Nothing that waiting would mend: the sending config is gone, the credits are used up.
    if (!(error instanceof Problem) || ["upstream", "limited", "unavailable"].includes(error.kind)) throw error;
    await (error.kind === "unpaid" ? states.pauseBecause : states.failBecause)(broadcast, error.message);
  }
}

export interface Job {
  key: Key;
  plan: plans.Plan;
  until: Date;
}

async function work(job: Job, first: cursors.Cursor): Promise<void> {
  const { key, plan, until } = job;
  const shotOf = await shooter(key, plan);
  let cursor = first;
  // Whoever had it before may have died before the lane was told.
  if (cursor.n) await lanes.arrived(key.orgId, plan.configId);
  try {
    for await (const batch of batches.from(job, cursor)) {
      if ((await sources.stateOf(key.orgId, sourceOf(key))) !== "going") break;
      if (!(await commit(job, cursor, batch, shotOf))) return;
      cursor = cursors.moved(cursor, batch.place);
      if (batch.people.size) await lanes.arrived(key.orgId, plan.configId);
      if (now() >= until) break;
    }
  } catch (error) {
    await cursors.giveBack(key, cursor);
    throw error;
  }
  if (cursor.done) return told(key);
  await cursors.giveBack(key, cursor);
  if (now() >= until) await reach(key, [cursor.shard]);
}

/** Whoever is the last of all, or the last but those who moved, says so: the next thing need not wait for somebody to look. */
async function told(key: Key): Promise<void> {
  const open = (await cursors.list(key)).filter(({ done }) => !done);
  if (open.every(({ shard }) => shard === cursors.late)) await kick(key);
}

type Shooter = Awaited<ReturnType<typeof shooter>>;

/** False when somebody else has moved the cursor. Throws 402. */
async function commit(job: Job, cursor: cursors.Cursor, batch: batches.Batch, shotOf: Shooter): Promise<boolean> {
  const { key } = job;
  const shares = await Promise.all(
    [...batch.people].map(async ([part, contacts]) => ({ shot: await shotOf(part), contacts, held: part === undefined })),
  );
  const n = shares.reduce((sum, { contacts }) => sum + contacts.length, 0);
  const reference = `${key.kind}:${key.id}:${cursor.shard}:${cursor.n}`;
  try {
    const listed = { siteId: job.plan.siteId, n };
    if (n) await allowance.spend(key.orgId, n, reference, (spending) => letIn(job, cursor, batch, shares, spending), { listed });
    else await letIn(job, cursor, batch, [], { writes: [], cost: undefined });
    return true;
  } catch (error) {
    if (error instanceof Unmet) return false;
    throw error;
  }
}

async function letIn(
  { key, plan }: Job,
  cursor: cursors.Cursor,
  batch: batches.Batch,
  shares: staging.Batch[],
  { writes: paying, cost }: allowance.Spending,
): Promise<void> {
  const source = sourceOf(key);
  const tallies = [...batch.tallies].map(([part, some]) => ({
    source: part?.id === undefined ? source : { ...source, part: part.id },
    tallies: some,
  }));
  const { blocks, writes } = shares.length
    ? await staging.stagedTogether(staging.charged(shares, cost), tallies)
    : { blocks: [], writes: sources.counting(key.orgId, cursor.n, tallies) };
  const sizes = shares.map(({ contacts }, i): [number, number] => [blocks[i]!, contacts.length]);
  await write(
    cursors.moving(key, cursor, batch.place),
    ...writes,
    ...log.noting(key, cursor, { siteId: plan.siteId, at: plan.at, blocks: sizes }),
    ...paying,
  );
}
