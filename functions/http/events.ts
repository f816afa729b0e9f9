import * as z from "zod";
import * as history from "../../shared/domain/events/history.ts";
import { PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import { eventTypes } from "../../shared/providers/inbound/inbound.ts";

export const events = group("events", [
  route("GET /events", "What happened to mail, newest first", {
    level: "site",
    query: PageQuery.extend({ siteId: z.coerce.number().int().positive().optional(), type: z.enum(eventTypes).optional() }),
    returns: paged("events", history.EmailEvent),
    handle: ({ caller, query: { page, limit, cursor, ...filter } }) => history.list(caller, { page, limit, cursor }, filter),
  }),
]);
export const { handler } = events;
