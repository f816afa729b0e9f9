// How many contacts there are, and how many there were when a period began: their number less what the days since have brought.
import * as z from "zod";
import { queryAll } from "../../doors/table.ts";
import { ranges } from "../../keys.ts";
import { type Counter, grownSince } from "../contacts/growth.ts";
import { growth } from "./figures.ts";

export const ContactCount = z
  .object({
    total: z.int().describe("Now, whatever their status"),
    previous: z.int().describe("When the period before ended"),
    change: z.number().nullable().describe("By which part they grew since then (0.25: a quarter more); null where there were none"),
  })
  .meta({ id: "ContactCount" });
export type ContactCount = z.output<typeof ContactCount>;

/** `from`: the first day of the period, which lasts until now. */
export async function since(orgId: number, siteIds: number[], from: string): Promise<ContactCount> {
  const counters = await Promise.all(siteIds.map((siteId) => queryAll<Counter>(ranges.contactCounts(orgId, siteId))));
  const all = counters.flat();
  const total = all.reduce((sum, { count }) => sum + count, 0);
  const previous = total - all.reduce((sum, counter) => sum + grownSince(counter, from), 0);
  return { total, previous, change: growth(total, previous) };
}
