import * as holidaySchema from "../../shared/domain/campaigns/holiday-schema.ts";
import * as records from "../../shared/domain/campaigns/holidays.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { SiteFilter } from "../../shared/kernel/digits.ts";

const { Holiday, HolidayDetail } = holidaySchema;

export const holidays = routeGroup("holidays", [
  route("GET /holidays", "List holiday emails", {
    description: "Returns holiday emails, newest first.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
    }),
    returns: pagedSchema("holidays", Holiday),
    handle: ({ caller, query: { siteId, ...page } }) => records.list(caller, page, siteId),
  }),
  route("POST /holidays", "Schedule a holiday email", {
    description:
      "Sends one email on `date` to every contact that is active in a sequence of the site " +
      "on that day. It starts at 9:00 in the organization's time zone, or at once if it is " +
      "later than that today.",
    level: "site",
    body: holidaySchema.NewHoliday,
    returns: Holiday,
    status: 201,
    errors: {
      400: "The date is in the past.",
      404: "The site, the template or the sending config does not exist.",
    },
    handle: ({ caller, body }) => records.create(caller, body),
  }),
  route("GET /holidays/:id", "Get a holiday email", {
    description: "Returns the holiday email with its stats and its accounting.",
    level: "site",
    returns: HolidayDetail,
    handle: ({ caller, params }) => records.findHolidayDetail(caller, params.id),
  }),
  route("PUT /holidays/:id", "Update or cancel a holiday email", {
    description:
      'Updates the given fields while the status is `scheduled`. `status: "cancelled"` also ' +
      "stops a holiday email that is being sent.",
    level: "site",
    body: holidaySchema.HolidayChanges,
    returns: HolidayDetail,
    errors: { 409: "The holiday email is being sent, or has been sent or cancelled." },
    handle: ({ caller, params, body }) => records.updateHoliday(caller, params.id, body),
  }),
  route("DELETE /holidays/:id", "Delete a holiday email", {
    description: "Also deletes its sends, in the background.",
    level: "site",
    returns: Deleted,
    errors: { 409: "The holiday email is being sent: cancel it first (`holiday_running`)." },
    handle: async ({ caller, params: { id } }) => {
      await records.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
]);
export const { handler } = holidays;
