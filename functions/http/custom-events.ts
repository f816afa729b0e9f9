import "../../shared/domain/conversion-reactions.ts";
import "../../shared/domain/reactions.ts";
import * as z from "zod";
import type { Caller } from "../../shared/caller.ts";
import * as customEventListing from "../../shared/domain/audience/tracking/custom-event-listing.ts";
import * as customEventNames from "../../shared/domain/audience/tracking/custom-event-names.ts";
import * as custom from "../../shared/domain/audience/tracking/custom-events.ts";
import * as recordCustomEvents from "../../shared/domain/audience/tracking/record-custom-events.ts";
import { forbidden } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { QueryId, SiteFilter } from "../../shared/kernel/digits.ts";
import { isObject } from "../../shared/kernel/json.ts";
import { permits } from "../../shared/rights.ts";

const siteId = QueryId.optional();

export const customEvents = routeGroup("custom-events", [
  route("POST /events/custom", "Create a custom event", {
    audit: "counted",
    operationId: "createCustomEvent",
    description:
      "Records an event of a contact. Segments can count it, scoring rules can give points " +
      "for it, sequences with the trigger `custom_event` start, and it can be the `conversion` " +
      "of a campaign. With an `id`, the request is safe to repeat. With `events` it takes up to " +
      "100 events, each with its own result: the status is 201 even if some of them failed.",
    level: "site",
    body: z.union([custom.NewCustomEvent, custom.NewCustomEvents]),
    returns: z.union([custom.CustomEvent, custom.CustomEventResults]),
    status: 201,
    errors: {
      403: "`createContact` needs the right to write contacts.",
      404: "The contact does not exist, and `createContact` is not true.",
    },
    handle: async ({ caller, body }) => {
      requireRightToCreate(caller, body);
      return "events" in body
        ? recordCustomEvents.createMany(caller, body)
        : recordCustomEvents.create(caller, body);
    },
  }),
  route("GET /events/custom", "List custom events", {
    right: "audience:read",
    operationId: "listCustomEvents",
    description:
      "Returns custom events, the latest `occurredAt` first. A page may have fewer items than " +
      "`limit` and still a `nextCursor`.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
      contactId: siteId.describe(customEventListing.totalNote),
      eventName: custom.EventName.optional().describe("Only events with this name."),
    }),
    returns: pagedSchema("events", custom.CustomEvent),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await customEventListing.list(caller, query);
      return { events: items, pagination };
    },
  }),
  route("GET /events/custom/names", "List custom event names", {
    right: "audience:read",
    operationId: "listCustomEventNames",
    level: "site",
    description:
      "Returns the names of all custom events that were ever recorded. A site can have " +
      `${customEventNames.maxEventNamesPerSite} names. Events of unknown visitors do not count ` +
      "until the visitor is identified.",
    query: z.object({
      siteId: SiteFilter,
    }),
    returns: z.object({
      names: z.array(z.string()).describe("Names of the custom events, each once."),
      uses: z
        .array(customEventNames.EventNameUse)
        .describe("Each name of each site, with its last use."),
    }),
    handle: ({ caller, query }) => customEventNames.listNames(caller, query.siteId),
  }),
  route("DELETE /events/custom/names/:eventName", "Delete a custom event name", {
    operationId: "deleteCustomEventName",
    level: "site",
    description:
      "Frees a place for another name. Recorded events and the counts of contacts stay. The " +
      "next event of this name adds the name again.",
    query: z.object({ siteId: siteId.describe("Site of the custom event.") }),
    returns: Deleted,
    errors: { 404: "The site has no custom event of this name." },
    handle: async ({ caller, params: { eventName }, query }) => {
      await customEventNames.remove(caller, query.siteId, eventName);
      return { id: eventName, deleted: true as const };
    },
  }),
]);
export const { handler } = customEvents;

/** A contact has more than an event: a key for events only may not create one. */
function requireRightToCreate(caller: Caller, body: object): void {
  const events: unknown[] = "events" in body ? (body.events as unknown[]) : [body];
  const creates = events.some((event) => isObject(event) && event.createContact === true);
  if (creates && !permits(caller.scopes, { right: "audience:write", scope: "contacts:write" }))
    throw forbidden("createContact needs the scope contacts:write", { code: "scope_missing" });
}
