import * as z from "zod";
import { contactSource } from "../../shared/domain/analytics/exports/contact-source.ts";
import { exportTypes } from "../../shared/domain/analytics/exports/export-source.ts";
import * as exported from "../../shared/domain/analytics/exports/exports.ts";
import * as contactListing from "../../shared/domain/audience/contacts/contact-listing.ts";
import { Contact } from "../../shared/domain/audience/contacts/contact-schema.ts";
import { SuppressionReason } from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as personalData from "../../shared/domain/privacy/personal-data.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import {
  Bom,
  bomMeaning,
  ExportResponse,
  formatMeaning,
  respondWithExport,
} from "../../shared/http/export-response.ts";
import { route } from "../../shared/http/route.ts";
import { validateEmailParam } from "../../shared/http/validate.ts";
import { RecordId } from "../../shared/kernel/record-fields.ts";
import { exportFormats } from "../../shared/kernel/table-export.ts";

const NewExport = z
  .object({
    type: z
      .enum(exportTypes)
      .describe(
        "What to export. The reports are those of GET /reports/<type>, for one site. " +
          "`campaign-audit` has the rows of GET /campaigns/:id/audit.",
      ),
    format: z.enum(exportFormats).default("csv").describe(formatMeaning),
    bom: z.boolean().default(false).describe(bomMeaning),
    ...contactListing.ContactFilter.shape,
    reason: SuppressionReason.optional().describe(
      "For `suppressions` only: entries with this reason. All other filters are for `contacts`.",
    ),
    campaignId: RecordId.optional().describe(
      "For `campaign-audit` only, and required there: id of the campaign. Until it has ended, " +
        "the export has the rows so far.",
    ),
  })
  .meta({ examples: [{ type: "contacts", format: "csv", status: "subscribed" }] });

const ExportedContacts = z.object({
  data: z
    .object({ contacts: z.array(Contact).describe("The contacts that match the filters.") })
    .describe("Result of the request."),
});

// The exports of contacts are here, because they would make the bundle of contacts too large.
export const exports = routeGroup("exports", [
  route("POST /exports", "Create an export", {
    operationId: "createExport",
    description:
      "Exports contacts, suppressions, a report or the audit of a campaign, of any size, to a " +
      "file. Read the progress and the download URL with GET /exports/:id. Callers that are " +
      "limited to sites cannot export suppressions, which are those of the whole organization.",
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
  route("GET /contacts/export", "Export contacts", {
    audit: "each",
    right: "audience:export",
    operationId: "exportContacts",
    description:
      "Returns up to 10,000 contacts as CSV or JSON. For more, returns 202 and an export " +
      "job: read it with GET /exports/:id. Takes the filters of GET /contacts.",
    level: "site",
    query: z.object({
      format: z.enum(exportFormats).default("csv").describe(formatMeaning),
      bom: Bom,
      ...contactListing.ContactFilter.shape,
    }),
    returns: ExportResponse,
    contentType: "text/csv; charset=utf-8",
    otherContent: { "application/json": ExportedContacts },
    deferredReturns: exported.Export,
    handle: ({ caller, query: { format, bom, ...filter }, request, reply }) =>
      respondWithExport(
        caller,
        { type: "contacts", format, filter, bom },
        { source: contactSource, request, reply },
      ),
  }),
  route("GET /contacts/:id/export", "Export all data of a contact", {
    audit: "each",
    right: "audience:export",
    operationId: "exportContactData",
    description:
      "Returns the contact with its topics, consents, score log, custom events, page views, " +
      "sends, events (also unmatched ones) and form submissions: up to 2,000 of each. For access " +
      "requests, such as under the GDPR.",
    level: "site",
    returns: personalData.PersonalData,
    handle: ({ caller, params, reply }) => {
      reply.headers["content-disposition"] = `attachment; filename="contact-${params.id}.json"`;
      return personalData.getPersonalData(caller, params.id);
    },
  }),
  route("GET /contacts/by-email/:email/export", "Export all data about an email address", {
    audit: "each",
    right: "audience:export",
    operationId: "exportPersonData",
    description:
      "For access requests of a person who may have no contact, such as a recipient of POST " +
      "/send. Returns all data of each contact with the address, and all sends to it in the last " +
      "90 days: up to 2,000 of each kind.",
    returns: personalData.AddressData,
    errors: { 400: "The email address is not valid." },
    handle: ({ caller, params, reply }) => {
      reply.headers["content-disposition"] = 'attachment; filename="person.json"';
      return personalData.getAddressData(caller, validateEmailParam(params));
    },
  }),
]);
export const { handler } = exports;
