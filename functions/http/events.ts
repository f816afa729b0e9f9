import * as z from "zod";
import * as contactTimeline from "../../shared/domain/analytics/contact-timeline.ts";
import { answerWhyOf } from "../../shared/domain/campaigns/audit/why-of-campaign.ts";
import { EmailEvent } from "../../shared/domain/delivery-events/email-event.ts";
import * as sendHistory from "../../shared/domain/delivery-events/send-history.ts";
import {
  listUnmatchedEvents,
  UnmatchedEvent,
} from "../../shared/domain/delivery-events/unmatched-events.ts";
import * as why from "../../shared/domain/delivery-events/why.ts";
import {
  InboundEmail,
  InboundEmailDetail,
  inboundKinds,
} from "../../shared/domain/inbound/inbound-email.ts";
import * as inboundSettings from "../../shared/domain/inbound/inbound-settings.ts";
import * as listInbound from "../../shared/domain/inbound/list-inbound.ts";
import { Send } from "../../shared/domain/sending/send-schema.ts";
import * as sentContent from "../../shared/domain/sending/sent-content.ts";
import { Resolution, resolveSend } from "../../shared/domain/sending/uncertain-sends.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { QueryId, SiteFilter } from "../../shared/kernel/digits.ts";
import { EmailAddress } from "../../shared/kernel/email-fields.ts";
import { eventTypes } from "../../shared/providers/inbound/inbound-adapter.ts";

export const events = routeGroup("events", [
  route("GET /events", "List email events", {
    description: "Returns events of sends, in the order in which they were recorded, newest first.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
      type: z.enum(eventTypes).optional().describe("Only events of this type."),
      email: EmailAddress.optional().describe(
        "Only events of the sends of the last 90 days to this email address, ignoring case: the " +
          "newest send first, and its newest event first. A page ends after 200 sends were " +
          "looked at: continue with its `nextCursor`.",
      ),
    }),
    returns: pagedSchema("events", EmailEvent),
    handle: ({ caller, query: { page, limit, cursor, ...filter } }) =>
      sendHistory.listEvents(caller, { page, limit, cursor }, filter),
  }),
  // Here, because the function of the sends has to answer POST /send quickly after a cold start.
  route("GET /sends/:id/content", "Get the content of a send", {
    right: "sending:content",
    description:
      "Returns what was sent to the recipient, for 60 days after the email was accepted, also " +
      "before it is handed over and for a template that was deleted since. It is rendered again " +
      "from what was stored, with the same result. Only this differs: links that act for the " +
      "recipient or show the email (the unsubscribe link, `browserUrl`, the link to a secure " +
      "message and `contactToken`) have `hidden` as their token, and what the provider adds to " +
      "track opens and clicks is missing. Copies that were suppressed after the email was " +
      "accepted are still listed. A secure message is not revealed.",
    level: "site",
    returns: sentContent.SentContent,
    errors: {
      404: "The send does not exist, or its content is no longer stored.",
      409: "The email cannot be rendered: the message says why.",
    },
    handle: ({ caller, params }) => sentContent.findSentContent(caller, params.id),
  }),
  // Here too, because it loads what counts outcomes.
  route("POST /sends/:id/resolve", "Settle an uncertain send", {
    description:
      "Settles a send that is `uncertain`, by what you know: your provider's dashboard, or the " +
      "recipient. An event of the provider settles it too, and most providers are also asked; " +
      "see the status `uncertain` in the guide. `GET /sends?status=uncertain` lists what is " +
      "left. A repeat with the same outcome changes nothing more.",
    level: "site",
    body: Resolution,
    returns: Send,
    errors: {
      404: "The send does not exist.",
      409:
        "The send is not uncertain, or it cannot be sent again: 72 hours are not over, its " +
        "campaign is paused or cancelled, or its content is no longer stored.",
    },
    handle: ({ caller, params, body }) => resolveSend(caller, params.id, body),
  }),
  route("GET /events/unmatched", "List unmatched events", {
    operationId: "listUnmatchedEvents",
    description:
      "Returns events of providers whose send was not found, newest first, with the reason. They " +
      "are kept for 7 days, at most 1,000 of a day. A bounce, complaint or unsubscription among " +
      "them has taken effect for its address.",
    query: PageQuery,
    returns: pagedSchema("events", UnmatchedEvent),
    handle: ({ caller, query }) => listUnmatchedEvents(caller, query),
  }),
  route("GET /contacts/:id/timeline", "Get a contact's timeline", {
    operationId: "getContactTimeline",
    description:
      "Returns what happened to the contact, newest first: its creation, tags and lists that it " +
      "has, consent, forms, custom events, page views, score, sequences, and the emails of the " +
      "last 90 days to its address with their events. Emails need the right `sending:read`. Of " +
      "an address with more than 200 emails, a page has the events of the 200 before its cursor.",
    level: "site",
    query: PageQuery.pick({ limit: true, cursor: true }),
    returns: z.object({
      entries: z.array(contactTimeline.TimelineEntry).describe("What happened, newest first."),
      nextCursor: z
        .string()
        .nullable()
        .describe("Pass it as `cursor` to get older entries. `null` at the end."),
    }),
    handle: ({ caller, params, query }) => contactTimeline.listTimeline(caller, params.id, query),
  }),
  route("GET /why", "Explain why an email did not arrive", {
    operationId: "explainSend",
    description:
      "Answers for one email address and site, with the reason, the evidence and what to do " +
      "next: whether the address is suppressed, unsubscribed or left out, what holds its latest " +
      "email, or what the recipient's server answered. Looks at the sends of the last 90 days. " +
      "With `campaignId`, answers about that campaign.",
    level: "site",
    query: z.object({
      email: EmailAddress.describe("Email address of the recipient, ignoring case."),
      siteId: QueryId.optional().describe(
        "Site of the email. Defaults to the site of the API key, else to the organization's only " +
          "site.",
      ),
      campaignId: QueryId.optional().describe(
        "Answers about this campaign: its email to the address, or why it left the address out.",
      ),
    }),
    returns: why.Why,
    errors: { 404: "The site or the campaign does not exist." },
    handle: ({ caller, query }) => answerWhyOf(caller, query),
  }),
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
    handle: async ({ caller, params, body, reply }) => {
      const settings = await inboundSettings.changeSettings(caller, params.siteId, body);
      reply.warnings.push(...(await inboundSettings.listWarnings(caller, settings)));
      return settings;
    },
  }),
]);
export const { handler } = events;
