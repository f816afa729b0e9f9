// Up to 100 contacts in one request: what is wrong with a row is told for that row.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { faults } from "../../faults.ts";
import * as sites from "../sites.ts";
import { ContactRow } from "./contact.ts";
import { type Options, type Outcome, upsert } from "./upserts.ts";

export const maxRows = 100;

export const BulkResult = z.object({
  index: z.int().describe("From 0, in the order given"),
  id: z.int().nullable(),
  email: z.string(),
  outcome: z.enum(["created", "updated", "failed"]),
  error: z.string().nullable(),
});
export type BulkResult = z.output<typeof BulkResult>;

/** created + updated + failed = rows. `rows`: as they were read, undefined where something is wrong with one. */
export async function save(who: Pick<Caller, "orgId" | "siteId">, given: number | undefined, rows: unknown[], options: Options) {
  const siteId = await sites.resolve(who, given);
  const read = rows.map((row) => ContactRow.safeParse(row, { error: faults }));
  const good = read.flatMap(({ data }) => data ?? []);
  const outcomes = (await upsert(who, siteId, good, options)).values();
  const results = read.map(({ data, error }, index): BulkResult => {
    const outcome: Outcome = data ? outcomes.next().value! : { outcome: "failed", error: sentence(error!.issues[0]!) };
    const { id = null, error: why = null } = { id: undefined, ...outcome };
    return { index, id, email: data?.email ?? saidEmail(rows[index]), outcome: outcome.outcome, error: why };
  });
  const count = (outcome: BulkResult["outcome"]) => results.filter((one) => one.outcome === outcome).length;
  return { created: count("created"), updated: count("updated"), failed: count("failed"), results, rows: read.map(({ data }) => data) };
}

const sentence = ({ path, message }: { path: PropertyKey[]; message: string }): string =>
  path.length ? `${path.map(String).join(".")}: ${message}` : message;

const saidEmail = (row: unknown): string => {
  const { email } = (typeof row === "object" && row !== null ? row : {}) as { email?: unknown };
  return typeof email === "string" ? email.slice(0, 320) : "";
};
