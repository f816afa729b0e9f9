import * as z from "zod";
import * as custom from "../../shared/domain/custom-events.ts";
import * as eventNames from "../../shared/domain/event-names.ts";
import { PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

const siteId = z.coerce.number().int().positive().optional();

export const customEvents = group("custom-events", [
  route("POST /events/custom", "Record a custom event for a contact: counted for segments, and scored by the rules of its site", {
    level: "site",
    body: custom.NewCustomEvent,
    returns: custom.CustomEvent,
    status: 201,
    errors: { 404: "There is no such contact; an event makes none" },
    handle: ({ caller, body }) => custom.create(caller, body),
  }),
  route("GET /events/custom", "List custom events, newest first", {
    level: "site",
    query: PageQuery.extend({ siteId, contactId: siteId, eventName: custom.EventName.optional() }),
    returns: paged("events", custom.CustomEvent),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await custom.list(caller, query);
      return { events: items, pagination };
    },
  }),
  route("GET /events/custom/names", "Names of the custom events that ever happened", {
    level: "site",
    query: z.object({ siteId }),
    returns: z.object({ names: z.array(z.string()) }),
    handle: async ({ caller, query }) => ({ names: await eventNames.list(caller, query.siteId) }),
  }),
]);
export const { handler } = customEvents;
