// The chores of a sequence, collection by collection and page by page, with a note of how far it came; and once more after the last
// worker who could not know of it has come to its end.
import { after, now } from "../../clock.ts";
import { equals } from "../../conditions.ts";
import { claim, get, query, queryAll, remove, update, updateMany, writeMany } from "../../doors/table.ts";
import { unlessMissing } from "../../errors.ts";
import { type Address, keys, type Range, ranges, shards } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import { queues } from "../../queues.ts";
import * as held from "../sending/held.ts";
import * as lanes from "../sending/lanes.ts";
import * as chores from "./chores.ts";
import { type Chore, workSoon } from "./chores.ts";
import type { EnrollmentItem } from "./enrollment.ts";
import * as flows from "./flows.ts";
import { contactsOf } from "./moves.ts";
import { find } from "./record.ts";
import { dueAt } from "./waiting.ts";

// Who read the sequence as it was before has done what it was about to do by then.
const lastCallSeconds = 600;
const [workSeconds, leaseSeconds] = [queues.advance.timeoutSeconds - 20, queues.advance.timeoutSeconds * 2];

/** Works until all is done or its time is up; then another message goes on. */
export async function work(orgId: number, sequenceId: number): Promise<void> {
  const address = keys.sequenceChore(orgId, sequenceId);
  const chore = await get<Chore>(address);
  if (!chore) return;
  const mine = { if: equals("since", chore.since) };
  const until = after(workSeconds);
  // Ticks need not bring what is under way.
  if (!(await claim(update(address, { set: chores.dueAt(sequenceId, after(leaseSeconds)) }, mine)))) return;
  const rounds = roundsOf[chore.what];
  const places = Object.fromEntries(await inParallel(8, shards, async (home) => [home, await rounds[chore.round]!(chore, home, until)]));
  const round = chore.round + 1;
  if (!Object.values(places).every((place) => place === swept)) {
    if (await claim(update(address, { set: { places } }, mine))) await workSoon(orgId, sequenceId);
  } else if (round < rounds.length) {
    const at = round === 1 ? after(lastCallSeconds, new Date(chore.since)) : now();
    await claim(update(address, { set: { round, ...chores.dueAt(sequenceId, at) }, remove: ["places"] }, mine));
  } else await end(chore);
}

async function end({ orgId, sequenceId, since, what }: Chore): Promise<void> {
  if (what === "remove") await writeMany((await queryAll<Address>(ranges.sequenceCounts(orgId, sequenceId))).map((one) => remove(one)));
  await claim(remove(keys.sequenceChore(orgId, sequenceId), { if: equals("since", since) }));
}

/** Answers with how far it came. */
type Round = (chore: Chore, home: string, until: Date) => Promise<string>;

const swept = "~";
const pageSize = 100;

const sweeping =
  <T extends Address>(
    rangeOf: (orgId: number, sequenceId: number, home: string) => Range,
    handle: (chore: Chore, page: T[]) => Promise<void>,
  ): Round =>
  async (chore, home, until) => {
    const range = rangeOf(chore.orgId, chore.sequenceId, home);
    let place = chore.places?.[home] ?? "";
    while (place !== swept && now() < until) {
      const page: { items: T[]; next?: string } = await query<T>(range, { limit: pageSize, after: place || undefined, consistent: true });
      await handle(chore, page.items);
      place = page.next ?? swept;
    }
    return place;
  };

/** Whoever is held, or at a step that is gone, goes on now: how, is decided there. */
async function release({ orgId, sequenceId }: Chore, page: EnrollmentItem[]): Promise<void> {
  const sequence = await find({ orgId }, sequenceId).catch(unlessMissing);
  if (sequence?.status !== "active" || !page.length) return;
  const live = new Set((await flows.of(orgId, sequence)).steps.map(({ id }) => id));
  const stuck = page.filter(({ held: isHeld, stepId }) => isHeld || (stepId !== undefined && !live.has(stepId)));
  const at = now().toISOString();
  await updateMany(
    stuck.map((item) => ({ address: item, set: { at, held: false, v: item.v + 1, ...dueAt(item, at) }, while: ["v", item.v] })),
  );
}

/** Mail that was ready when the sequence was paused. */
async function releaseMail(chore: Chore): Promise<void> {
  const { orgId, sequenceId } = chore;
  const sequence = await find({ orgId }, sequenceId).catch(unlessMissing);
  if (sequence?.status === "active") await eachHeld(chore, held.release);
}

/** All of it, and every lane hears of it. */
async function eachHeld({ orgId, sequenceId: id }: Chore, end: typeof held.discard): Promise<void> {
  const waiting = await queryAll<{ configId: number }>(ranges.held(orgId, "sequence", id), { consistent: true });
  const [first, ...others] = new Set(waiting.map(({ configId }) => configId));
  if (first !== undefined) await end(orgId, { kind: "sequence", id }, first);
  for (const configId of others) await lanes.arrived(orgId, configId);
}

/** They leave without a trace: the sequence is gone. */
async function evict({ orgId, sequenceId }: Chore, page: EnrollmentItem[]): Promise<void> {
  const people = await contactsOf(orgId, page);
  await inParallel(8, page, async (item) => {
    const contact = people.get(item.contactId);
    const leaving =
      contact && update(contact, { leave: { sequences: new Set([sequenceId]) }, add: { v: 1 } }, { if: equals("id", contact.id) });
    // Who moved meanwhile is met again: the last time round, by whoever is still to come.
    await claim(remove(item), ...(leaving ? [leaving] : []));
  });
}

const forget = async (_: Chore, page: Address[]): Promise<void> => writeMany(page.map((one) => remove(one)));

/** What belongs to no collection, in the round of the first. */
const beside =
  (what: (chore: Chore) => Promise<void>, round: Round): Round =>
  async (chore, home, until) => {
    if (home === shards[0]) await what(chore);
    return round(chore, home, until);
  };
const releases = beside(releaseMail, sweeping<EnrollmentItem>(ranges.enrollments, release));
const evicts = beside((chore) => eachHeld(chore, held.discard), sweeping<EnrollmentItem>(ranges.enrollments, evict));

const roundsOf: Record<Chore["what"], Round[]> = {
  release: [releases, releases],
  remove: [evicts, evicts, sweeping<Address>(ranges.finishedEnrollments, forget)],
};
