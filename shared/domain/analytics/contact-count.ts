// The number of contacts now and at the start of a period, which is the number now minus the growth
// since then.
import * as z from "zod";
import { queryAll } from "../../adapters/dynamodb/table.ts";
import { Count } from "../../kernel/record-fields.ts";
import { ranges } from "../../keys.ts";
import { type ContactCounter, growthSince } from "../audience/contacts/contact-growth.ts";
import { relativeChange } from "./mail-metrics.ts";

export const ContactCount = z
  .object({
    total: Count.describe("Contacts now, of every status."),
    previous: Count.describe("Contacts at the end of the previous period."),
    change: z
      .number()
      .nullable()
      .describe("Growth since then as a fraction: 0.25 is 25 % more. `null` if there were none."),
  })
  .describe("Number of contacts, and its change against the previous period.")
  .meta({ id: "ContactCount" });
export type ContactCount = z.output<typeof ContactCount>;

/** `from` is the first day of the period, which ends now. */
export async function countSince(
  orgId: number,
  siteIds: number[],
  from: string,
): Promise<ContactCount> {
  const counters = await Promise.all(
    siteIds.map((siteId) => queryAll<ContactCounter>(ranges.contactCounts(orgId, siteId))),
  );
  const all = counters.flat();
  const total = all.reduce((sum, { count }) => sum + count, 0);
  const previous = total - all.reduce((sum, counter) => sum + growthSince(counter, from), 0);
  return { total, previous, change: relativeChange(total, previous) };
}
