import * as z from "zod";
import * as pages from "../../shared/domain/contacts/pages.ts";
import { formats } from "../../shared/domain/exports/formats.ts";
import { kinds } from "../../shared/domain/exports/sources.ts";
import * as exported from "../../shared/domain/exports.ts";
import { Reason } from "../../shared/domain/suppressions.ts";
import { route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

const NewExport = z
  .object({
    type: z.enum(kinds).describe("Reports are of the site of siteId, as GET /reports/<type> lists them"),
    format: z.enum(formats).default("csv"),
    ...pages.Filter.shape,
    reason: Reason.optional().describe("Of suppressions; every other filter is of contacts"),
  })
  .meta({ examples: [{ type: "contacts", format: "csv", status: "subscribed" }] });

export const exports = group("exports", [
  route("POST /exports", "Export contacts, suppressions or a report, however many, to a file", {
    level: "site",
    body: NewExport,
    returns: exported.Export,
    status: 202,
    handle: ({ caller, body: { type, format, ...filter } }) => exported.start(caller, { type, format, filter }),
  }),
  route("GET /exports/:id", "How far an export is, and where to download it", {
    level: "site",
    returns: exported.Export,
    handle: ({ caller, params }) => exported.find(caller, params.id),
  }),
]);
export const { handler } = exports;
