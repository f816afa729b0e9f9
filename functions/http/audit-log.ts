// The audit log and the request log of an organization.
import * as z from "zod";
import * as auditList from "../../shared/domain/audit/audit-list.ts";
import * as requestList from "../../shared/domain/audit/request-list.ts";
import { maxLinks, usualLinks, Verification, verify } from "../../shared/domain/audit/verify.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Cursor, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { digits, QueryId } from "../../shared/kernel/digits.ts";
import { formatTable } from "../../shared/kernel/table-export.ts";

const maxExportedEntries = 1000;

const shortPages = "A page may have fewer entries than `limit`, or none, and still a `nextCursor`.";

export const auditLog = routeGroup("audit-log", [
  route("GET /audit-log", "List the audit log", {
    operationId: "listAuditEntries",
    description:
      "Returns who changed what, when and from where, newest first: every call that changed " +
      "something, and logins, failed logins, password resets and other events of accounts. " +
      "Entries are kept for 400 days and have no secrets. Frequent calls by API keys, such as " +
      "those that send email or update contacts, are counted per key, operation and minute. " +
      shortPages,
    query: PageQuery.extend(auditList.AuditFilter.shape),
    returns: pagedSchema("entries", auditList.AuditEntry),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await auditList.list(caller, query);
      return { entries: items, pagination };
    },
  }),
  route("GET /audit-log/verify", "Verify the audit log", {
    operationId: "verifyAuditLog",
    description:
      "Checks that no entry was removed or changed after it was chained: each link of the chain " +
      "has the hashes of up to 90 entries and the hash of the link before. Begins with the " +
      "oldest link. Repeat it with `nextCursor` until that is `null`. Someone who can write " +
      "the whole table could also make a new chain: keep `end` elsewhere to notice that.",
    query: z.object({
      limit: digits(z.int().min(1).max(maxLinks))
        .default(usualLinks)
        .describe("Number of links to check."),
      cursor: Cursor,
    }),
    returns: Verification,
    handle: ({ caller, query }) => verify(caller, query),
  }),
  route("GET /audit-log/export", "Export the audit log", {
    operationId: "exportAuditLog",
    description:
      "Returns CSV or JSON lines, newest first, part after part: the header `X-Next-Cursor` is " +
      "the cursor of the next part. It is missing on the last part.",
    query: z.object({
      format: z
        .enum(["csv", "jsonl"])
        .default("csv")
        .describe(
          "`csv`, or `jsonl`: one JSON object per line, with the fields of GET /audit-log.",
        ),
      ...auditList.AuditFilter.shape,
      limit: digits(z.int().min(1).max(maxExportedEntries))
        .default(maxExportedEntries)
        .describe("Number of entries per part."),
      cursor: Cursor.describe("Cursor of the previous part: header `X-Next-Cursor`."),
    }),
    audit: "each",
    returns: z.string(),
    contentType: "text/csv; charset=utf-8",
    otherContent: {
      "application/x-ndjson": z.string().describe("One JSON object per line."),
    },
    handle: async ({ caller, query, reply }) => {
      const { format, ...request } = query;
      const { items, pagination } = await auditList.list(caller, request);
      const next = pagination.nextCursor;
      if (next !== null) reply.headers["x-next-cursor"] = reply.sealCursor(next);
      reply.headers["content-disposition"] = `attachment; filename="audit-log.${format}"`;
      if (format === "jsonl") {
        reply.headers["content-type"] = "application/x-ndjson; charset=utf-8";
        return items.map((entry) => `${JSON.stringify(entry)}\n`).join("");
      }
      return formatTable({ format, shape: auditList.exportTable, rows: items });
    },
  }),
  route("GET /request-log", "List the request log", {
    operationId: "listRequests",
    description:
      "Returns requests of the last 30 days that were made with API keys, newest first. A " +
      "request appears within about 20 seconds. If a server stops, requests of its last seconds " +
      `can be missing. ${shortPages}`,
    query: PageQuery.extend({
      keyId: QueryId.optional().describe("Only requests with this API key."),
      status: z
        .enum(requestList.statusClasses)
        .optional()
        .describe("Only responses of this class of status codes."),
      method: z
        .enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
        .optional()
        .describe("Only this method."),
      path: z
        .string()
        .min(1)
        .max(300)
        .optional()
        .describe(
          "Only requests whose path starts with this, such as `/api/v1/contacts`, or the path of " +
            "an endpoint: `/api/v1/contacts/{id}`.",
        ),
      from: z.iso
        .datetime({ offset: true })
        .optional()
        .describe("Only requests from this time on."),
      to: z.iso.datetime({ offset: true }).optional().describe("Only requests before this time."),
    }),
    returns: pagedSchema("requests", requestList.RequestEntry),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await requestList.list(caller, query);
      return { requests: items, pagination };
    },
  }),
]);
export const { handler } = auditLog;
