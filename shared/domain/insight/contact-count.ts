// How many contacts there are, and how many there were when a period began: their number less what the days since have brought.
import * as z from "zod";
import { ranges } from "../../keys.ts";
import * as counters from "../counters.ts";
import { growth } from "./figures.ts";
import type { Sum } from "./sums.ts";

export const ContactCount = z
  .object({
    total: z.int().describe("Now, whatever their status"),
    previous: z.int().describe("When the period before ended"),
    change: z.number().nullable().describe("By which part they grew since then (0.25: a quarter more); null where there were none"),
  })
  .meta({ id: "ContactCount" });
export type ContactCount = z.output<typeof ContactCount>;

export const total = (orgId: number, siteIds: number[]): Promise<number> =>
  counters.total(...siteIds.map((siteId) => ranges.contactCounts(orgId, siteId)));

/** `since`: what the days of the period have counted, today with them. */
export function countOf(now: number, { contacts = 0 }: Sum): ContactCount {
  const previous = now - contacts;
  return { total: now, previous, change: growth(now, previous) };
}
