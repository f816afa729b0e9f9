import * as z from "zod";
import { exportTypes } from "../../shared/domain/analytics/exports/export-source.ts";
import * as exported from "../../shared/domain/analytics/exports/exports.ts";
import * as pages from "../../shared/domain/audience/contacts/contact-listing.ts";
import { SuppressionReason } from "../../shared/domain/audience/suppressions/suppressions.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { bomMeaning, formatMeaning } from "../../shared/http/export-response.ts";
import { route } from "../../shared/http/route.ts";
import { exportFormats } from "../../shared/kernel/table-export.ts";

const NewExport = z
  .object({
    type: z
      .enum(exportTypes)
      .describe("What to export. The reports are those of GET /reports/<type>, for one site."),
    format: z.enum(exportFormats).default("csv").describe(formatMeaning),
    bom: z.boolean().default(false).describe(bomMeaning),
    ...pages.ContactFilter.shape,
    reason: SuppressionReason.optional().describe(
      "For `suppressions` only: entries with this reason. All other filters are for `contacts`.",
    ),
  })
  .meta({ examples: [{ type: "contacts", format: "csv", status: "subscribed" }] });

export const exports = routeGroup("exports", [
  route("POST /exports", "Create an export", {
    operationId: "createExport",
    description:
      "Exports contacts, suppressions or a report of any size to a file. Read the progress " +
      "and the download URL with GET /exports/:id.",
    level: "site",
    body: NewExport,
    returns: exported.Export,
    status: 202,
    handle: ({ caller, body: { type, format, bom, ...filter } }) =>
      exported.start(caller, { type, format, filter, bom }),
  }),
  route("GET /exports/:id", "Get an export", {
    description: "Returns the progress and, when the export is complete, a download URL.",
    level: "site",
    returns: exported.Export,
    handle: ({ caller, params }) => exported.find(caller, params.id),
  }),
]);
export const { handler } = exports;
