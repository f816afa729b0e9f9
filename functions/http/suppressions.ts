import "../../shared/domain/reactions.ts";
import * as z from "zod";
import { Export } from "../../shared/domain/analytics/exports/exports.ts";
import {
  maxRows as maxExportedRows,
  readRows,
  toCsv,
} from "../../shared/domain/audience/suppressions/suppression-exports.ts";
import {
  importRows,
  maxRows,
  rowsFromCsv,
  rowsFromJson,
  type SuppressionRow,
} from "../../shared/domain/audience/suppressions/suppression-imports.ts";
import * as suppressionPages from "../../shared/domain/audience/suppressions/suppression-pages.ts";
import * as suppression from "../../shared/domain/audience/suppressions/suppressions.ts";
import { removeAtProviders } from "../../shared/domain/delivery-events/provider-suppressions.ts";
import { tooLarge, unsupported } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Bom, ExportResponse, startExport } from "../../shared/http/export-response.ts";
import {
  type ApiRequest,
  Cursor,
  Deleted,
  PageQuery,
  pagedSchema,
  route,
} from "../../shared/http/route.ts";
import { validateEmailParam } from "../../shared/http/validate.ts";
import { digits } from "../../shared/kernel/digits.ts";
import { exactlyOneOf } from "../../shared/kernel/either-or.ts";
import { EmailAddress, normalizeEmail } from "../../shared/kernel/email-fields.ts";
import { safeJsonText } from "../../shared/kernel/json.ts";
import { Count, Timestamp } from "../../shared/kernel/record-fields.ts";

const { Suppression, SuppressionReason, NewSuppression } = suppression;

const maxImportBytes = 10 * 1024 * 1024;

const ImportResult = z.object({
  imported: Count.describe("Number of email addresses added."),
  skipped: Count.describe(
    "Rows whose address was already suppressed or repeated, and soft bounces of an export.",
  ),
  failed: Count.describe("Number of rows that failed."),
  errors: z
    .array(
      z.object({
        row: Count.describe("Number of the row, from 1. For CSV: number of the line."),
        message: z.string().describe("Why the row failed, in one sentence."),
      }),
    )
    .describe("The first 100 rows that failed."),
});

const SuppressionRows = exactlyOneOf(
  z.object({
    emails: z
      .array(EmailAddress)
      .max(maxRows)
      .optional()
      .describe("Email addresses. Give either this or `suppressions`."),
    suppressions: z
      .array(NewSuppression)
      .max(maxRows)
      .optional()
      .describe("Email addresses with reasons. Give either this or `emails`."),
  }),
  ["emails", "suppressions"],
).meta({ examples: [{ emails: ["ada@example.com", "grace@example.com"] }] });

const ExportedSuppressions = z.object({
  data: z
    .object({
      suppressions: z.array(Suppression).describe("The suppressions that match the filter."),
      nextCursor: z
        .string()
        .nullable()
        .describe("Cursor of the next part. `null`: this is the last one."),
    })
    .describe("Result of the request."),
});

const SuppressionCheck = z.object({
  email: z.string().describe("Email address of the request, in lower case."),
  suppressed: z.boolean().describe("Whether the address is suppressed."),
  reason: SuppressionReason.nullable().describe("Why it is suppressed, or `null`."),
  marketingOnly: z
    .boolean()
    .describe(
      "Whether only marketing email is blocked, because of an unsubscription or soft bounces.",
    ),
  bounceType: Suppression.shape.bounceType,
  liftsAt: Suppression.shape.liftsAt,
  detail: z
    .string()
    .nullable()
    .describe("Further explanation, such as the bounce message, or `null`."),
  source: z
    .string()
    .nullable()
    .describe(
      "Who added it: `api`, `session`, `import`, or the provider that reported it. `null` if " +
        "it is not suppressed.",
    ),
  createdAt: Timestamp.nullable().describe("When the address was suppressed, or `null`."),
});

const emptySuppression = { reason: null, detail: null, source: null, createdAt: null };

const contentType = ({ headers }: ApiRequest): string =>
  (headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
const parserByContentType: Record<
  string,
  (body: Buffer) => SuppressionRow[] | Promise<SuppressionRow[]>
> = {
  "application/json": (body) => rowsFromJson(safeJsonText(body)),
  "text/csv": (body) => rowsFromCsv(body),
};
async function parseRows(request: ApiRequest): Promise<SuppressionRow[]> {
  const read = parserByContentType[contentType(request)];
  if (!read)
    throw unsupported(
      `The Content-Type must be one of ${Object.keys(parserByContentType).join(", ")}`,
    );
  if (request.rawBody.length > maxImportBytes)
    throw tooLarge("An import can have at most 10 MB: split it");
  return read(request.rawBody);
}

export const suppressions = routeGroup("suppressions", [
  route("GET /suppressions", "List suppressions", {
    description:
      "Returns suppressed email addresses, newest first. Callers that are limited to sites get " +
      "the addresses of contacts of these sites, without a total: ask GET " +
      "/suppressions/check/:email about any other.",
    level: "site",
    query: PageQuery.extend({
      reason: SuppressionReason.optional().describe("Only entries with this reason."),
    }),
    returns: pagedSchema("suppressions", Suppression),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await suppressionPages.list(caller, query);
      return { suppressions: items, pagination };
    },
  }),
  route("POST /suppressions", "Suppress an email address", {
    audit: "counted",
    description:
      "Contacts with this address get the status `suppressed` in every site. An address that " +
      "is already suppressed stays as it is, except that `unsubscribe` and soft bounces give way " +
      "to a reason that blocks more or longer.",
    body: NewSuppression,
    returns: Suppression,
    status: 201,
    handle: async ({ caller, body, reply }) => {
      const source = caller.kind === "api_key" ? "api" : "session";
      const { suppression: entry, added } = await suppression.suppress(caller.orgId, {
        ...body,
        source,
      });
      if (!added) reply.warnings.push("The address was already suppressed, so nothing changed");
      return entry;
    },
  }),
  route("DELETE /suppressions/:email", "Remove an email address from the suppressions", {
    description: "Contacts with this address get back the status they had before.",
    query: z.object({
      alsoAtProvider: z
        .enum(["true", "false"])
        .default("false")
        .describe(
          "`true`: also removes it from the suppression lists of the providers of your sending " +
            "configs. Otherwise they go on refusing email to it, and the daily pull of a " +
            "connected provider's list adds it again. `warnings` of the response names those " +
            "that did not do it.",
        ),
    }),
    returns: Deleted,
    handle: async ({ caller, params, query, reply }) => {
      await suppression.remove(caller.orgId, params.email);
      if (query.alsoAtProvider === "true")
        reply.warnings.push(...(await removeAtProviders(caller.orgId, params.email)));
      return { id: normalizeEmail(params.email), deleted: true as const };
    },
  }),
  route("GET /suppressions/check/:email", "Check whether an email address is suppressed", {
    operationId: "checkSuppression",
    level: "site",
    returns: SuppressionCheck,
    errors: { 400: "The email address is not valid." },
    handle: async ({ caller, params }) => {
      const email = normalizeEmail(validateEmailParam(params));
      const found = await suppression.find(caller.orgId, email);
      return {
        ...(found ?? emptySuppression),
        email,
        suppressed: found !== undefined,
        marketingOnly: found !== undefined && suppression.isMarketingOnly(found),
      };
    },
  }),
  route("POST /suppressions/import", "Import suppressions", {
    operationId: "importSuppressions",
    description:
      "Suppresses up to 10,000 email addresses from JSON or CSV. A row that is not valid " +
      "fails alone. Safe to repeat.",
    rawBodyTypes: {
      "application/json": SuppressionRows,
      "text/csv": z
        .string()
        .max(maxImportBytes)
        .describe(
          "CSV with a header that names the columns: `email`, and `reason` and `detail` if you " +
            "have them.",
        ),
    },
    returns: ImportResult,
    errors: {
      400: "The body cannot be read, or has more than 10,000 rows.",
      415: "The `Content-Type` must be `application/json` or `text/csv`.",
    },
    handle: async ({ caller, request }) => importRows(caller.orgId, await parseRows(request)),
  }),
  route("GET /suppressions/export", "Export suppressions", {
    audit: "each",
    right: "audience:export",
    operationId: "exportSuppressions",
    description:
      "Returns CSV or JSON. Without `limit` and `cursor`, a list of more than 10,000 entries " +
      "returns 202 and an export job: read it with GET /exports/:id. With them, returns part " +
      "after part. Callers that are limited to sites get 403.",
    query: z.object({
      format: z.enum(["csv", "json"]).default("csv").describe("Format of the response."),
      bom: Bom,
      reason: SuppressionReason.optional().describe("Only entries with this reason."),
      limit: digits(z.int().min(1).max(maxExportedRows))
        .optional()
        .describe(
          "Number of entries per part. If both this and `cursor` are omitted, the whole list " +
            "is returned.",
        ),
      cursor: Cursor.describe(
        "Cursor of the previous part: header `X-Next-Cursor`, or `nextCursor` in JSON.",
      ),
    }),
    returns: ExportResponse,
    contentType: "text/csv; charset=utf-8",
    otherContent: { "application/json": ExportedSuppressions },
    deferredReturns: Export,
    handle: async ({ caller, query, reply }) => {
      const { rows, next } = await readRows(caller.orgId, query);
      const { format, bom, reason, limit, cursor } = query;
      if (next !== undefined && limit === undefined && cursor === undefined)
        return startExport(
          caller,
          { type: "suppressions", format, bom, filter: { reason } },
          reply,
        );
      const nextCursor = next === undefined ? null : reply.sealCursor(next);
      if (nextCursor) reply.headers["x-next-cursor"] = nextCursor;
      reply.headers["content-disposition"] = `attachment; filename="suppressions.${query.format}"`;
      if (query.format === "csv") return toCsv(rows, bom);
      reply.headers["content-type"] = "application/json; charset=utf-8";
      return JSON.stringify({ data: { suppressions: rows, nextCursor } });
    },
  }),
]);
export const { handler } = suppressions;
