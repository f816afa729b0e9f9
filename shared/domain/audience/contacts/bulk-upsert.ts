// Upserts up to 100 contacts in one request. An invalid row fails alone.
import * as z from "zod";
import type { CallerScope } from "../../../caller.ts";
import { Count, RecordId } from "../../../kernel/record-fields.ts";
import { validationMessages } from "../../../kernel/validation-messages.ts";
import * as sites from "../../identity/sites.ts";
import * as confirmations from "./confirmations.ts";
import { ContactRow } from "./contact-schema.ts";
import { type UpsertOptions, type UpsertOutcome, upsert } from "./upserts.ts";

export const maxRows = 100;

export const BulkResult = z.object({
  index: Count.describe("Position of the row in the request, from 0."),
  id: RecordId.nullable().describe("Id of the contact. `null` if the row failed."),
  email: z.string().describe("Email address of the row, or an empty text if it has none."),
  outcome: z.enum(["created", "updated", "failed"]).describe("What happened to the row."),
  error: z
    .string()
    .nullable()
    .describe("Why the row failed, in one sentence. `null` if it did not."),
});
export type BulkResult = z.output<typeof BulkResult>;

/** `rows` in the result are the parsed rows; an invalid row is undefined. */
export async function save(
  { caller, siteId: requestedSiteId }: { caller: CallerScope; siteId: number | undefined },
  rows: unknown[],
  options: UpsertOptions,
) {
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
  const parsed = rows.map((row) => ContactRow.safeParse(row, { error: validationMessages }));
  const validRows = parsed.flatMap(({ data }) => data ?? []);
  if (validRows.some(({ sendConfirmation }) => sendConfirmation))
    await confirmations.requireSender(caller.orgId);
  const outcomes = (await upsert({ caller, siteId }, validRows, options)).values();
  const results = parsed.map(({ data, error }, index): BulkResult => {
    const outcome: UpsertOutcome = data
      ? outcomes.next().value!
      : { outcome: "failed", error: issueMessage(error!.issues[0]!) };
    const { id = null, error: message = null } = { id: undefined, ...outcome };
    return {
      index,
      id,
      email: data?.email ?? emailOf(rows[index]),
      outcome: outcome.outcome,
      error: message,
    };
  });
  const count = (outcome: BulkResult["outcome"]) =>
    results.filter((result) => result.outcome === outcome).length;
  return {
    created: count("created"),
    updated: count("updated"),
    failed: count("failed"),
    results,
    rows: parsed.map(({ data }) => data),
  };
}

const issueMessage = ({ path, message }: { path: PropertyKey[]; message: string }): string =>
  path.length ? `${path.map(String).join(".")}: ${message}` : message;

const emailOf = (row: unknown): string => {
  const { email } = (typeof row === "object" && row !== null ? row : {}) as { email?: unknown };
  return typeof email === "string" ? email.slice(0, 320) : "";
};
