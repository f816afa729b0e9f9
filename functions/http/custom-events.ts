import "../../shared/domain/reactions.ts";
import * as z from "zod";
import * as eventNames from "../../shared/domain/audience/tracking/custom-event-names.ts";
import * as custom from "../../shared/domain/audience/tracking/custom-events.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { QueryId } from "../../shared/kernel/digits.ts";

const siteId = QueryId.optional();

export const customEvents = routeGroup("custom-events", [
  route("POST /events/custom", "Create a custom event", {
    audit: "counted",
    operationId: "createCustomEvent",
    description:
      "Records an event of a contact. Segments can count it, scoring rules can give points " +
      "for it, and sequences with the trigger `custom_event` start.",
    level: "site",
    body: custom.NewCustomEvent,
    returns: custom.CustomEvent,
    status: 201,
    errors: { 404: "The contact does not exist. Custom events do not create contacts." },
    handle: ({ caller, body }) => custom.create(caller, body),
  }),
  route("GET /events/custom", "List custom events", {
    right: "audience:read",
    operationId: "listCustomEvents",
    description:
      "Returns custom events, newest first. A page may have fewer items than `limit` and " +
      "still a `nextCursor`.",
    level: "site",
    query: PageQuery.extend({
      siteId: siteId.describe(
        "Only items of this site. Defaults to the site of the API key, else to all sites of " +
          "the organization.",
      ),
      contactId: siteId.describe(custom.totalNote),
      eventName: custom.EventName.optional().describe("Only events with this name."),
    }),
    returns: pagedSchema("events", custom.CustomEvent),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await custom.list(caller, query);
      return { events: items, pagination };
    },
  }),
  route("GET /events/custom/names", "List custom event names", {
    right: "audience:read",
    operationId: "listCustomEventNames",
    level: "site",
    description:
      "Returns the names of all custom events that were ever recorded. A site can have " +
      `${eventNames.maxEventNamesPerSite} names. Events of unknown visitors do not count until ` +
      "the visitor is identified.",
    query: z.object({
      siteId: siteId.describe(
        "Only items of this site. Defaults to the site of the API key, else to all sites of " +
          "the organization.",
      ),
    }),
    returns: z.object({
      names: z.array(z.string()).describe("Names of the custom events, each once."),
      uses: z.array(eventNames.EventNameUse).describe("Each name of each site, with its last use."),
    }),
    handle: ({ caller, query }) => eventNames.listNames(caller, query.siteId),
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
      await eventNames.remove(caller, query.siteId, eventName);
      return { id: eventName, deleted: true as const };
    },
  }),
]);
export const { handler } = customEvents;
