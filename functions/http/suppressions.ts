import * as z from "zod";
import { Export } from "../../shared/domain/exports.ts";
import * as exports from "../../shared/domain/suppression-exports.ts";
import * as imports from "../../shared/domain/suppression-imports.ts";
import * as pages from "../../shared/domain/suppression-pages.ts";
import * as suppression from "../../shared/domain/suppressions.ts";
import { canonical, EmailAddress } from "../../shared/email.ts";
import { tooLarge, unsupported } from "../../shared/errors.ts";
import { begun, Exported } from "../../shared/http/exporting.ts";

import { Deleted, PageQuery, paged, type Request, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import { checked } from "../../shared/http/validate.ts";
import { readable } from "../../shared/json.ts";

const { Suppression, Reason, NewSuppression } = suppression;

const Imported = z.object({
  imported: z.int(),
  skipped: z.int().describe("Suppressed already, or twice in the import"),
  failed: z.int(),
  errors: z
    .array(z.object({ row: z.int().describe("From 1; in CSV the line"), message: z.string() }))
    .describe("Of the first 100 that failed"),
});

const Rows = z
  .object({
    emails: z.array(z.string()).optional().describe("Or `suppressions`"),
    suppressions: z.array(NewSuppression).optional(),
  })
  .meta({ examples: [{ emails: ["ada@example.com", "grace@example.com"] }] });

const Check = z.object({
  email: z.string(),
  suppressed: z.boolean(),
  reason: Reason.nullable(),
  marketingOnly: z.boolean().describe("It unsubscribed: transactional mail still reaches it"),
  detail: z.string().nullable(),
  source: z.string().nullable(),
  createdAt: z.string().nullable(),
});

const nothing = { reason: null, detail: null, source: null, createdAt: null };

/** A path parameter is checked like any other input. */
const named = ({ email }: { email: string }): string => (checked(z.object({ email: EmailAddress }), { email }) as { email: string }).email;

const ofType = ({ headers }: Request): string => (headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
const readers: Record<string, (body: Buffer) => imports.Row[]> = {
  "application/json": (body) => imports.fromJson(readable(body)),
  "text/csv": (body) => imports.fromCsv(body.toString("utf8")),
};
const maxImportBytes = 10 * 1024 * 1024;
function rowsOf(request: Request): imports.Row[] {
  const read = readers[ofType(request)];
  if (!read) throw unsupported(`The Content-Type must be one of ${Object.keys(readers).join(", ")}`);
  if (request.rawBody.length > maxImportBytes) throw tooLarge("An import may have at most 10 MB: split it");
  return read(request.rawBody);
}

export const suppressions = group("suppressions", [
  route("GET /suppressions", "Suppressed addresses, newest first", {
    level: "site",
    query: PageQuery.extend({ reason: Reason.optional() }),
    returns: paged("suppressions", Suppression),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await pages.list(caller.orgId, query);
      return { suppressions: items, pagination };
    },
  }),
  route("POST /suppressions", "Suppress an address; one that is suppressed already stays as it is", {
    body: NewSuppression,
    returns: Suppression,
    status: 201,
    handle: async ({ caller, body, reply }) => {
      const source = caller.kind === "api_key" ? "api" : "session";
      const { suppression: entry, added } = await suppression.suppress(caller.orgId, { ...body, source });
      if (!added) reply.warnings.push("The address was suppressed already: nothing was changed");
      return entry;
    },
  }),
  route("DELETE /suppressions/:email", "Let an address have mail again", {
    returns: Deleted,
    handle: async ({ caller, params }) => {
      await suppression.remove(caller.orgId, params.email);
      return { id: canonical(params.email), deleted: true as const };
    },
  }),
  route("GET /suppressions/check/:email", "Is an address suppressed, and why", {
    level: "site",
    returns: Check,
    errors: { 400: "The address is not a valid one" },
    handle: async ({ caller, params }) => {
      const email = canonical(named(params));
      const found = await suppression.find(caller.orgId, email);
      return { ...(found ?? nothing), email, suppressed: found !== undefined, marketingOnly: found?.reason === "unsubscribe" };
    },
  }),
  route(
    "POST /suppressions/import",
    "Suppress up to 10,000 addresses, from `{emails}` or `{suppressions: [{email, reason, detail}]}` or from CSV with columns of these names; a bad row fails alone",
    {
      raw: { "application/json": Rows, "text/csv": z.string() },
      returns: Imported,
      errors: { 400: "The body cannot be read, or has too many rows", 415: "Neither JSON nor CSV" },
      handle: ({ caller, request }) => imports.add(caller.orgId, rowsOf(request)),
    },
  ),
  route(
    "GET /suppressions/export",
    "The list as CSV or JSON; more than 10,000 entries in parts, by cursor, or as a file that is written by and by",
    {
      level: "site",
      query: z.object({
        format: z.enum(["csv", "json"]).default("csv"),
        reason: Reason.optional(),
        limit: z.coerce.number().int().min(1).max(exports.maxRows).optional().describe("Absent, with no cursor: the whole list"),
        cursor: z.string().max(500).optional().describe("Of the last part: header X-Next-Cursor, and nextCursor in JSON"),
      }),
      returns: Exported,
      type: "text/csv; charset=utf-8",
      later: Export,
      handle: async ({ caller, query, reply }) => {
        const { rows, next } = await exports.rows(caller.orgId, query);
        const { format, reason, limit, cursor } = query;
        if (next !== undefined && limit === undefined && cursor === undefined)
          return begun(caller, { type: "suppressions", format, filter: { reason } }, reply);
        if (next !== undefined) reply.headers["x-next-cursor"] = next;
        reply.headers["content-disposition"] = `attachment; filename="suppressions.${query.format}"`;
        if (query.format === "csv") return exports.csv(rows);
        reply.headers["content-type"] = "application/json; charset=utf-8";
        return JSON.stringify({ data: { suppressions: rows, nextCursor: next ?? null } });
      },
    },
  ),
]);
export const { handler } = suppressions;
