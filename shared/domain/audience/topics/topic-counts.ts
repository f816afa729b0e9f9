// Counters of topics: how many contacts differ from the default of each topic, and how many left it
// on each day. One item per site and shard has all topics, so the transaction of a change takes one
// write for them.
import { queryAll, update, type Write } from "../../../adapters/dynamodb/table.ts";
import { addDays } from "../../../kernel/calendar-dates.ts";
import { addUp } from "../../../kernel/sharded-counters.ts";
import { keys, ranges } from "../../../keys.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";
import { membershipShardOf } from "../groups/membership-writes.ts";

// The longest reporting period, with a margin for time zones.
const keptDays = 92;
// Each update removes the counters of the 31 days before the kept 92. Older ones may stay and are
// never read.
const expiredDays = 31;

const switchedCounter = (topicId: number): string => `t${topicId}`;
/** Short, such as `l261121_7`, so that the item stays small. */
const leftCounter = (topicId: number, date: string): string =>
  `l${date.slice(2).replaceAll("-", "")}_${topicId}`;

export interface TopicChange {
  id: number;
  /** Whether the contact now differs from the default of the topic. */
  isSwitched: boolean;
  /** Whether the contact leaves the topic. */
  leaves: boolean;
}

type CountedContact = Pick<ContactItem, "orgId" | "siteId" | "sk" | "home">;

/** `changes` of contacts of one shard. `date`: the day of the organization. */
export function topicCountWrites(
  contact: CountedContact,
  changes: TopicChange[],
  date: string,
): Write[] {
  if (!changes.length) return [];
  const leaving = changes.filter(({ leaves }) => leaves);
  const add = addUp([
    ...changes.map(({ id, isSwitched }) => ({ [switchedCounter(id)]: isSwitched ? 1 : -1 })),
    ...leaving.map(({ id }) => ({ [leftCounter(id, date)]: 1 })),
  ]);
  const expired = Array.from({ length: expiredDays }, (_, i) => addDays(date, -keptDays - i));
  const left = new Set(leaving.map(({ id }) => id));
  const remove = [...left].flatMap((id) => expired.map((day) => leftCounter(id, day)));
  return [update(keyOf(contact), { add, remove })];
}

/** For the transaction that removes the contact. */
export function removedTopicCountWrites(contact: ContactItem): Write[] {
  const add = Object.fromEntries(
    [...(contact.switchedTopics ?? [])].map((id) => [switchedCounter(id), -1]),
  );
  return Object.keys(add).length ? [update(keyOf(contact), { add })] : [];
}

/** The same as changes, for a transaction that changes the counters of another contact as well. */
export const removedTopicChanges = ({ switchedTopics = new Set() }: ContactItem): TopicChange[] =>
  [...switchedTopics].map((id) => ({ id, isSwitched: false, leaves: false }));

const keyOf = (contact: CountedContact) =>
  keys.topicCount(contact.orgId, contact.siteId, membershipShardOf(contact));

export interface TopicTotals {
  /** How many contacts differ from the default of the topic. */
  switched(topicId: number): number;
  /** How many contacts left the topic on the date. */
  left(topicId: number, date: string): number;
}

export async function readTopicTotals(orgId: number, siteId: number): Promise<TopicTotals> {
  const totals = addUp(await queryAll<Record<string, unknown>>(ranges.topicCounts(orgId, siteId)));
  return {
    switched: (topicId) => totals[switchedCounter(topicId)] ?? 0,
    left: (topicId, date) => totals[leftCounter(topicId, date)] ?? 0,
  };
}
