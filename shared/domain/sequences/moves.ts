// Making moves: many in one transaction, with all they count. Where one of them lost to somebody else, the others are made without it.
import { claim, getMany, type Write } from "../../doors/table.ts";
import type { ContactItem } from "../contacts/contact.ts";
import * as engagement from "../contacts/engagement.ts";
import type { EnrollmentItem } from "./enrollment.ts";
import { countersOf, counting, isEnding, type Move, moving } from "./move.ts";
import { cohortsOf, gathering, mostCohorts } from "./waiting.ts";

// A transaction takes 100 writes.
const mostWrites = 100;

/** Of one sequence. As many to a group as a transaction holds, beside `further` writes. */
export function grouped(moves: Move[], further: number): Move[][] {
  const groups: { moves: Move[]; writes: number; counters: Set<number> }[] = [];
  for (const move of moves) {
    const [writes, counters] = [moving(move).length, countersOf(move)];
    const last = groups.at(-1);
    const together = last?.counters.union(counters) ?? counters;
    if (last && last.writes + writes + together.size + mostCohorts + further <= mostWrites) {
      last.moves.push(move);
      last.writes += writes;
      last.counters = together;
    } else groups.push({ moves: [move], writes, counters });
  }
  return groups.map((group) => group.moves);
}

const writesOf = (moves: Move[]): Write[] => [
  ...moves.flatMap(moving),
  ...gathering(moves.map(({ cohort }) => cohort)),
  ...counting(moves),
];

const mostTries = 8;

/** Makes the moves, all together; answers with them as they then are, undefined when one of them lost. */
export type Attempt = (moves: Move[]) => Promise<Move[] | undefined>;

/** With further writes in the same transaction. */
export async function together(some: Move[], further: Write[] = []): Promise<Move[] | undefined> {
  const cohorts = cohortsOf(some.flatMap(({ item, to }) => (isEnding(to) || to.held ? [] : [{ item, at: to.at }])));
  const moves = some.map((move) => ({ ...move, cohort: cohorts.get(move.item) }));
  return (await claim(...writesOf(moves), ...further)) ? moves : undefined;
}

/** One group, all together. Tried again without those who have fallen out. Answers with those that were made. */
export async function make(group: Move[], attempt: Attempt = together): Promise<Move[]> {
  let open = group;
  for (let tries = 1; open.length; tries++) {
    if (tries > mostTries) throw new Error("Enrollments kept changing while they were moved");
    const made = await attempt(open);
    if (made) return made;
    open = await asRead(open);
  }
  return [];
}

/** Nobody has moved them meanwhile, and the contacts of those who leave are where they were. */
async function asRead(moves: Move[]): Promise<Move[]> {
  const [items, people] = await Promise.all([
    getMany<EnrollmentItem>(
      moves.map(({ item }) => item),
      { consistent: true },
    ),
    getMany<ContactItem>(
      moves.flatMap(({ to }) => (isEnding(to) && to.contact ? [to.contact] : [])),
      { consistent: true },
    ),
  ]);
  const there = new Set(people.flatMap((contact) => contact?.id ?? []));
  return moves.filter(({ item, to }, i) => items[i]?.v === item.v && (!isEnding(to) || !to.contact || there.has(item.contactId)));
}

/** The contacts of enrollments of one organization, by id, wherever they are by now. */
export async function contactsOf(orgId: number, items: EnrollmentItem[]): Promise<Map<number, ContactItem>> {
  const found = await engagement.contactsOf(
    orgId,
    items.map(({ siteId, contactId, email: toEmail }) => ({ siteId, contactId, toEmail })),
  );
  return new Map(items.flatMap(({ contactId }, i) => (found[i]?.id === contactId ? [[contactId, found[i]]] : [])));
}
