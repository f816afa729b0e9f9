// Why contacts unsubscribe, by their own answer on the page behind the unsubscribe link. Answers
// are counted by site and day, so that no report reads the contacts.
import * as z from "zod";
import { queryAll, update, type Write } from "../../../adapters/dynamodb/table.ts";
import { addDays } from "../../../kernel/calendar-dates.ts";
import { addUp } from "../../../kernel/sharded-counters.ts";
import { counterShardOf, keys, ranges } from "../../../keys.ts";
import type { ContactItem } from "./contact-schema.ts";
import { leaveReasons } from "./preference-choices.ts";

export const LeaveReason = z
  .enum(leaveReasons)
  .describe(
    "`too_many`: too many emails. `not_relevant`: the emails are not relevant. `not_interested`: " +
      "no interest any more. `never_subscribed`: the contact says that it never subscribed. " +
      "`other`: another reason.",
  );
export type LeaveReason = z.output<typeof LeaveReason>;

// The longest reporting period, with a margin for time zones.
const keptDays = 92;
// Each update removes the counters of the 31 days before the kept 92. Older ones are never read.
const expiredDays = 31;

/** Short, such as `l261121_other`, so that the item stays small. */
const dayCounter = (reason: LeaveReason, date: string): string =>
  `l${date.slice(2).replaceAll("-", "")}_${reason}`;

/** `date`: the day of the organization. */
export function leaveReasonCountWrite(
  { orgId, siteId, id }: ContactItem,
  reason: LeaveReason,
  date: string,
): Write {
  const expired = Array.from({ length: expiredDays }, (_, i) => addDays(date, -keptDays - i));
  return update(keys.leaveReasonCount(orgId, siteId, counterShardOf(id)), {
    add: { [dayCounter(reason, date)]: 1 },
    remove: expired.map((day) => dayCounter(reason, day)),
  });
}

/** How often contacts of the site gave the reason on the dates. */
export async function readLeaveReasons(
  orgId: number,
  siteId: number,
  dates: string[],
): Promise<Record<LeaveReason, number>> {
  const items = await queryAll<Record<string, unknown>>(ranges.leaveReasonCounts(orgId, siteId));
  const totals = addUp(items);
  return countEach((reason) =>
    dates.reduce((sum, date) => sum + (totals[dayCounter(reason, date)] ?? 0), 0),
  );
}

export const countEach = (count: (reason: LeaveReason) => number): Record<LeaveReason, number> =>
  Object.fromEntries(leaveReasons.map((reason) => [reason, count(reason)])) as Record<
    LeaveReason,
    number
  >;
