import * as z from "zod";
import * as holiday from "../../shared/domain/holidays/holiday.ts";
import * as records from "../../shared/domain/holidays.ts";
import { Deleted, PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

const { Holiday, HolidayDetail } = holiday;

export const holidays = group("holidays", [
  route("GET /holidays", "List holiday mails", {
    level: "site",
    query: PageQuery.extend({ siteId: z.coerce.number().int().positive().optional() }),
    returns: paged("holidays", Holiday),
    handle: ({ caller, query: { siteId, ...page } }) => records.list(caller, page, siteId),
  }),
  route("POST /holidays", "Schedule one mail on one day to everybody who is active in a sequence of the site", {
    level: "site",
    body: holiday.NewHoliday,
    returns: Holiday,
    status: 201,
    errors: { 400: "The day is over", 404: "There is no such site, template or sending config" },
    handle: ({ caller, body }) => records.create(caller, body),
  }),
  route("GET /holidays/:id", "One holiday mail with its stats and where everybody stands", {
    level: "site",
    returns: HolidayDetail,
    handle: ({ caller, params }) => records.detail(caller, params.id),
  }),
  route("PUT /holidays/:id", "Change a holiday mail while it is scheduled, or cancel it", {
    level: "site",
    body: holiday.HolidayChanges,
    returns: HolidayDetail,
    errors: { 409: "It is on its way already, or over" },
    handle: ({ caller, params, body }) => records.change(caller, params.id, body),
  }),
  route("DELETE /holidays/:id", "Delete a holiday mail and, in the background, its sends", {
    level: "site",
    returns: Deleted,
    errors: { 409: "Mail of it is on its way: cancel it first (`holiday_running`)" },
    handle: async ({ caller, params: { id } }) => {
      await records.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
]);
export const { handler } = holidays;
