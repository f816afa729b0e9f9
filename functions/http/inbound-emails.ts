import * as z from "zod";
import {
  InboundEmail,
  InboundEmailDetail,
  inboundKinds,
} from "../../shared/domain/inbound/inbound-email.ts";
import * as inboundSettings from "../../shared/domain/inbound/inbound-settings.ts";
import * as listInbound from "../../shared/domain/inbound/list-inbound.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { SiteFilter } from "../../shared/kernel/digits.ts";
import { EmailAddress } from "../../shared/kernel/email-fields.ts";

export const inboundEmails = routeGroup("inbound-emails", [
  route("GET /inbound-emails", "List inbound emails", {
    description:
      "Returns email that people sent to the sites, such as replies, newest first and without " +
      "its content. It is kept for 60 days.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
      kind: z.enum(inboundKinds).optional().describe("Only email of this kind."),
      email: EmailAddress.optional().describe("Only email from this address."),
    }),
    returns: pagedSchema("inboundEmails", InboundEmail),
    handle: ({ caller, query: { siteId, kind, email, ...request } }) =>
      listInbound.list(caller, request, { siteId, kind, email }),
  }),
  route("GET /inbound-emails/:id", "Get an inbound email", {
    description: "Returns the email with its text, HTML, headers and links to its files.",
    right: "sending:content",
    level: "site",
    returns: InboundEmailDetail,
    handle: ({ caller, params }) => listInbound.find(caller, params.id),
  }),
  route("GET /inbound-settings/:siteId", "Get the inbound settings of a site", {
    operationId: "getInboundSettings",
    description: "Returns the URLs to enter at providers, so that they pass on received email.",
    level: "site",
    returns: inboundSettings.InboundSettings,
    handle: ({ caller, params }) => inboundSettings.getSettings(caller, params.siteId),
  }),
  route("PUT /inbound-settings/:siteId", "Update the inbound settings of a site", {
    operationId: "updateInboundSettings",
    description: "Updates the given fields.",
    needsVerifiedEmail: true,
    level: "site",
    body: inboundSettings.InboundSettingsChanges,
    returns: inboundSettings.InboundSettings,
    errors: { 409: "Someone else changed the settings at the same time: try again." },
    handle: ({ caller, params, body }) =>
      inboundSettings.changeSettings(caller, params.siteId, body),
  }),
]);
export const { handler } = inboundEmails;
