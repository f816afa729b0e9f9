import * as z from "zod";
import { EmailEvent } from "../../shared/domain/delivery-events/email-event.ts";
import * as history from "../../shared/domain/delivery-events/send-history.ts";
import * as why from "../../shared/domain/delivery-events/why.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { QueryId } from "../../shared/kernel/digits.ts";
import { EmailAddress } from "../../shared/kernel/email-fields.ts";
import { eventTypes } from "../../shared/providers/inbound/inbound-adapter.ts";

export const events = routeGroup("events", [
  route("GET /events", "List email events", {
    description: "Returns events of sends, in the order in which they were recorded, newest first.",
    level: "site",
    query: PageQuery.extend({
      siteId: QueryId.optional().describe(
        "Only items of this site. Defaults to the site of the API key, else to all sites of " +
          "the organization.",
      ),
      type: z.enum(eventTypes).optional().describe("Only events of this type."),
      email: EmailAddress.optional().describe(
        "Only events of the sends of the last 90 days to this email address, ignoring case: the " +
          "newest send first, and its newest event first. A page ends after 200 sends were " +
          "looked at: continue with its `nextCursor`.",
      ),
    }),
    returns: pagedSchema("events", EmailEvent),
    handle: ({ caller, query: { page, limit, cursor, ...filter } }) =>
      history.listEvents(caller, { page, limit, cursor }, filter),
  }),
  route("GET /why", "Explain why an email did not arrive", {
    operationId: "explainSend",
    description:
      "Answers for one email address and site, with the reason, the evidence and what to do " +
      "next: whether the address is suppressed, unsubscribed or left out, what holds its latest " +
      "email, or what the recipient's server answered. Looks at the sends of the last 90 days.",
    level: "site",
    query: z.object({
      email: EmailAddress.describe("Email address of the recipient, ignoring case."),
      siteId: QueryId.optional().describe(
        "Site of the email. Defaults to the site of the API key, else to the organization's only " +
          "site.",
      ),
    }),
    returns: why.Why,
    handle: ({ caller, query }) => why.answerWhy(caller, query),
  }),
]);
export const { handler } = events;
