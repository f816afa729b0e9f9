import * as z from "zod";
import type { Caller } from "../../shared/caller.ts";
import { whole } from "../../shared/domain/exports/formats.ts";
import type { Kind } from "../../shared/domain/exports/sources.ts";
import { Export } from "../../shared/domain/exports.ts";
import * as dashboards from "../../shared/domain/insight/dashboard.ts";
import * as deliverabilities from "../../shared/domain/insight/deliverability.ts";
import * as overviews from "../../shared/domain/insight/overview.ts";
import { Interval } from "../../shared/domain/insight/spans.ts";
import * as schedules from "../../shared/domain/report-schedules.ts";
import * as contactReports from "../../shared/domain/reports/contacts.ts";
import * as sequenceReports from "../../shared/domain/reports/sequences.ts";
import { exporting } from "../../shared/http/exporting.ts";
import { Deleted, type Extra, PageQuery, paged, type Request, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

const siteId = z.coerce.number().int().positive().optional();
const ReportQuery = PageQuery.extend({
  siteId,
  format: z
    .enum(["json", "csv"])
    .default("json")
    .describe(
      "csv: all of it, in the same order; more than 10,000 rows are written to a file by and by (202), in no order that means anything",
    ),
});
type ReportQuery = z.output<typeof ReportQuery>;

const csv = { otherType: "text/csv; charset=utf-8", later: Export };

interface Asked {
  caller: Caller;
  query: ReportQuery;
  request: Request;
  reply: Extra;
}

/** As JSON a page of it, as CSV the whole. */
async function reported<T>(kind: Kind, { caller, query, request, reply }: Asked, list: () => Promise<T>): Promise<T> {
  if (query.format === "json") return list();
  const answer = await exporting(caller, { type: kind, format: "csv", filter: { siteId: query.siteId } }, request, reply);
  if (typeof answer === "string" || answer instanceof Uint8Array) reply.other = answer;
  // What is answered is the text, or where it is too long the export.
  return answer as T;
}

const contactReport = (report: contactReports.ContactReport, summary: string) =>
  route(`GET /reports/${report}`, summary, {
    level: "site",
    query: ReportQuery,
    returns: paged("contacts", contactReports.ReportedContact),
    ...csv,
    handle: (asked) =>
      reported(report, asked, async () => {
        const { siteId, format: _, ...page } = asked.query;
        return contactReports.list(asked.caller, report, siteId, page);
      }),
  });

export const insight = group("insight", [
  route("GET /dashboard/overview", "Contacts, sends and open rate, against the period before, and the latest campaigns", {
    level: "site",
    query: z.object(overviews.asked),
    returns: dashboards.Dashboard,
    handle: ({ caller, query }) => dashboards.dashboard(caller, query),
  }),
  route("GET /analytics/overview", "Figures of a period by day, week or month, and those of the period before", {
    level: "site",
    query: z.object({ ...overviews.asked, interval: Interval }),
    returns: overviews.Overview,
    handle: ({ caller, query }) => overviews.overview(caller, query),
  }),
  route(
    "GET /analytics/deliverability",
    "How mail arrives: funnel, bounces and their reasons, by day, mailbox provider and sending config; reputation",
    {
      level: "site",
      query: z.object(overviews.asked),
      returns: deliverabilities.Deliverability,
      handle: ({ caller, query }) => deliverabilities.deliverability(caller, query),
    },
  ),
  contactReport("multi-sequence", "Contacts that are active in several sequences, by address"),
  route("GET /reports/stalled-enrollments", "Active enrollments without progress for 24 hours or more; the newest sequence first", {
    level: "site",
    query: ReportQuery,
    returns: paged("enrollments", sequenceReports.StalledEnrollment),
    ...csv,
    handle: (asked) =>
      reported("stalled-enrollments", asked, async () => {
        const { siteId, format: _, ...page } = asked.query;
        return sequenceReports.listStalled(asked.caller, siteId, page);
      }),
  }),
  route("GET /reports/sequence-funnel", "How many are active in each sequence, completed it, were cancelled or failed; the newest first", {
    level: "site",
    query: ReportQuery.extend({ format: z.enum(["json", "csv"]).default("json").describe("csv: all of it, in the same order") }),
    returns: paged("sequences", sequenceReports.SequenceFunnel),
    otherType: csv.otherType,
    handle: async ({ caller, query: { siteId, format, ...page }, reply }) => {
      if (format === "json") return sequenceReports.funnel(caller, siteId, page);
      reply.headers["content-disposition"] = 'attachment; filename="sequence-funnel.csv"';
      reply.other = whole("csv", funnelShape, await sequenceReports.wholeFunnel(caller, siteId));
      return reply.other as never;
    },
  }),
  contactReport("unengaged-contacts", "Subscribed contacts that got 5 or more mails and never opened or clicked one, by address"),
  contactReport("no-sequences", "Subscribed contacts that are in no sequence, by address"),
  route("GET /reports/schedules", "List report schedules", {
    level: "site",
    query: PageQuery.extend({ siteId }),
    returns: paged("schedules", schedules.ReportSchedule),
    handle: async ({ caller, query: { siteId, ...page } }) => {
      const { items, pagination } = await schedules.list(caller, page, siteId);
      return { schedules: items, pagination };
    },
  }),
  route(
    "POST /reports/schedules",
    "Have a summary of a site's mail sent every day, week or month: figures, days and campaigns. None of the lists under /reports is mailed",
    {
      level: "site",
      body: schedules.NewReportSchedule,
      returns: schedules.ReportSchedule,
      status: 201,
      handle: ({ caller, body }) => schedules.create(caller, body),
    },
  ),
  route("GET /reports/schedules/:id", "One report schedule", {
    level: "site",
    returns: schedules.ReportSchedule,
    handle: ({ caller, params }) => schedules.find(caller, params.id),
  }),
  route("PUT /reports/schedules/:id", "Change a report schedule", {
    level: "site",
    body: schedules.ReportScheduleChanges,
    returns: schedules.ReportSchedule,
    handle: ({ caller, params, body }) => schedules.change(caller, params.id, body),
  }),
  route("DELETE /reports/schedules/:id", "Delete a report schedule", {
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await schedules.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
]);
export const { handler } = insight;

const funnelShape = {
  plural: "sequences",
  columns: [...sequenceReports.funnelColumns],
  cells: (row: Record<string, unknown>) => sequenceReports.funnelColumns.map((column) => row[column] as string | number),
};
