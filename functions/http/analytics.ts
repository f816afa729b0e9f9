import * as z from "zod";
import type { Caller } from "../../shared/caller.ts";
import * as contactReports from "../../shared/domain/analytics/contact-reports.ts";
import * as dashboards from "../../shared/domain/analytics/dashboard.ts";
import * as deliverabilities from "../../shared/domain/analytics/deliverability.ts";
import { Export } from "../../shared/domain/analytics/exports/exports.ts";
import { exportSources } from "../../shared/domain/analytics/exports/sources.ts";
import { getLeaveReasons, LeaveReasons } from "../../shared/domain/analytics/leave-reasons.ts";
import * as overviews from "../../shared/domain/analytics/overview.ts";
import { ChartInterval } from "../../shared/domain/analytics/periods.ts";
import * as reportSchedules from "../../shared/domain/analytics/report-schedules.ts";
import * as sequenceReports from "../../shared/domain/analytics/sequence-reports.ts";
import {
  getTopicStatistics,
  TopicStatistics,
} from "../../shared/domain/analytics/topic-statistics.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Bom, respondWithExport } from "../../shared/http/export-response.ts";
import {
  type ApiReply,
  type ApiRequest,
  Deleted,
  PageQuery,
  pagedSchema,
  route,
} from "../../shared/http/route.ts";
import { QueryId, SiteFilter } from "../../shared/kernel/digits.ts";
import { formatTable } from "../../shared/kernel/table-export.ts";

const siteId = QueryId.optional();
const ReportQuery = PageQuery.extend({
  siteId: siteId.describe(
    "Site of the report. Defaults to the site of the API key, else to the organization's " +
      "only site; required otherwise.",
  ),
  format: z
    .enum(["json", "csv"])
    .default("json")
    .describe(
      "`csv` returns the whole report in the same order. For more than 10,000 rows it " +
        "returns 202 and an export job, whose file is not ordered.",
    ),
  bom: Bom,
});
type ReportQuery = z.output<typeof ReportQuery>;

/** For reports that return contacts. */
const contactRights = { right: "audience:read", exportRight: "audience:export" } as const;
const csv = "text/csv; charset=utf-8";
const csvAlternative = { alternativeContentType: csv, deferredReturns: Export };

interface ReportRequest {
  caller: Caller;
  query: ReportQuery;
  request: ApiRequest;
  reply: ApiReply;
}

/** Returns one page as JSON, or the whole report as CSV. */
async function respondAsJsonOrCsv<T>(
  kind: keyof typeof exportSources,
  { caller, query, request, reply }: ReportRequest,
  list: () => Promise<T>,
): Promise<T> {
  if (query.format === "json") return list();
  const answer = await respondWithExport(
    caller,
    { type: kind, format: "csv", bom: query.bom, filter: { siteId: query.siteId } },
    { source: exportSources[kind], request, reply },
  );
  if (typeof answer === "string" || answer instanceof Uint8Array) reply.alternativeBody = answer;
  // The response is the CSV text, or the export job if the text is too long.
  return answer as T;
}

const contactReportRoute = (
  report: contactReports.ContactReport,
  summary: string,
  { operationId, description }: { operationId: string; description: string },
) =>
  route(`GET /reports/${report}`, summary, {
    operationId,
    description,
    level: "site",
    ...contactRights,
    query: ReportQuery,
    returns: pagedSchema("contacts", contactReports.ReportedContact),
    ...csvAlternative,
    handle: (input) =>
      respondAsJsonOrCsv(report, input, async () => {
        const { siteId, format: _, bom: __, ...page } = input.query;
        return contactReports.list(input.caller, page, { report, siteId });
      }),
  });

export const analytics = routeGroup("analytics", [
  route("GET /dashboard/overview", "Get the dashboard", {
    description:
      "Returns contacts, sends and rates of a period, their change against the period " +
      "before, and the five latest campaigns.",
    level: "site",
    query: z.object(overviews.periodQueryFields),
    returns: dashboards.Dashboard,
    handle: ({ caller, query }) => dashboards.getDashboard(caller, query),
  }),
  route("GET /analytics/overview", "Get analytics for a period", {
    description:
      "Returns totals and a series by day, week or month, with the period before to compare.",
    level: "site",
    query: z.object({ ...overviews.periodQueryFields, interval: ChartInterval }),
    returns: overviews.Overview,
    handle: ({ caller, query }) => overviews.getOverview(caller, query),
  }),
  route("GET /analytics/deliverability", "Get deliverability", {
    operationId: "getDeliverability",
    description:
      "Returns the delivery funnel, bounces with their reasons, trends by day, results by " +
      "recipient domain and by sending config, and reputation.",
    level: "site",
    query: z.object(overviews.periodQueryFields),
    returns: deliverabilities.Deliverability,
    handle: ({ caller, query }) => deliverabilities.getDeliverability(caller, query),
  }),
  route("GET /analytics/topics", "Get statistics of topics", {
    operationId: "getTopicStatistics",
    description:
      "Returns each topic of a site with its subscribers, and how often contacts left it in the " +
      "period, by day, week or month.",
    level: "site",
    query: z.object({
      ...overviews.periodQueryFields,
      siteId: siteId.describe(
        "Site of the topics. Defaults to the site of the API key, else to the organization's " +
          "only site; required otherwise.",
      ),
      interval: ChartInterval,
    }),
    returns: TopicStatistics,
    handle: ({ caller, query }) => getTopicStatistics(caller, query),
  }),
  route("GET /analytics/leave-reasons", "Get the reasons for unsubscribing", {
    operationId: "getLeaveReasons",
    description:
      "Returns how often contacts gave each reason on the page behind the unsubscribe link: of a " +
      "site in the period, or of a campaign since it was sent. Each email counts one answer.",
    level: "site",
    query: z.object({
      period: overviews.periodQueryFields.period,
      siteId: siteId.describe(
        "Site of the answers. Defaults to the site of the API key, else to the organization's " +
          "only site; required otherwise, unless `campaignId` is given.",
      ),
      campaignId: QueryId.optional().describe("Campaign of the answers, instead of a site."),
    }),
    returns: LeaveReasons,
    handle: ({ caller, query }) => getLeaveReasons(caller, query),
  }),
  contactReportRoute("multi-sequence", "List contacts in several sequences", {
    operationId: "listMultiSequenceContacts",
    description:
      "Returns contacts that are active in more than one sequence, ordered by email address.",
  }),
  route("GET /reports/stalled-enrollments", "List stalled enrollments", {
    operationId: "listStalledEnrollments",
    description:
      "Returns active enrollments without progress for 24 hours or more, newest sequence first.",
    level: "site",
    ...contactRights,
    query: ReportQuery,
    returns: pagedSchema("enrollments", sequenceReports.StalledEnrollment),
    ...csvAlternative,
    handle: (input) =>
      respondAsJsonOrCsv("stalled-enrollments", input, async () => {
        const { siteId, format: _, bom: __, ...page } = input.query;
        return sequenceReports.listStalled(input.caller, siteId, page);
      }),
  }),
  route("GET /reports/sequence-funnel", "List the funnel of each sequence", {
    operationId: "listSequenceFunnels",
    description:
      "Returns active, completed, cancelled and failed enrollments per sequence, newest " +
      "sequence first.",
    level: "site",
    query: ReportQuery.extend({
      format: z
        .enum(["json", "csv"])
        .default("json")
        .describe("`csv` returns the whole report in the same order."),
    }),
    returns: pagedSchema("sequences", sequenceReports.SequenceFunnel),
    alternativeContentType: csv,
    handle: async ({ caller, query: { siteId, format, bom, ...page }, reply }) => {
      if (format === "json") return sequenceReports.listFunnels(caller, siteId, page);
      reply.headers["content-disposition"] = 'attachment; filename="sequence-funnel.csv"';
      reply.alternativeBody = formatTable({
        format: "csv",
        shape: funnelExport,
        rows: await sequenceReports.listAllFunnels(caller, siteId),
        bom,
      });
      return reply.alternativeBody as never;
    },
  }),
  contactReportRoute("unengaged-contacts", "List unengaged contacts", {
    operationId: "listUnengagedContacts",
    description:
      "Returns subscribed contacts that got 5 or more emails and opened and clicked none, " +
      "ordered by email address.",
  }),
  contactReportRoute("no-sequences", "List contacts in no sequence", {
    operationId: "listContactsWithoutSequences",
    description:
      "Returns subscribed contacts that are active in no sequence, ordered by email address.",
  }),
  route("GET /reports/schedules", "List report schedules", {
    operationId: "listReportSchedules",
    description: "Returns report schedules, newest first.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
    }),
    returns: pagedSchema("schedules", reportSchedules.ReportSchedule),
    handle: async ({ caller, query: { siteId, ...page } }) => {
      const { items, pagination } = await reportSchedules.list(caller, page, siteId);
      return { schedules: items, pagination };
    },
  }),
  route("POST /reports/schedules", "Create a report schedule", {
    needsVerifiedEmail: true,
    operationId: "createReportSchedule",
    level: "site",
    description:
      "Emails a summary of a site's email every day, week or month: totals, days and " +
      "campaigns. The lists under /reports are not emailed. The report goes through the " +
      "organization's oldest verified sending config and counts towards the plan. It is not " +
      "a send of the site: it is in no list, statistic or event of the site. GET /sends/:id " +
      "with `lastSendId` returns its status.",
    body: reportSchedules.NewReportSchedule,
    returns: reportSchedules.ReportSchedule,
    status: 201,
    handle: ({ caller, body }) => reportSchedules.create(caller, body),
  }),
  route("GET /reports/schedules/:id", "Get a report schedule", {
    operationId: "getReportSchedule",
    level: "site",
    returns: reportSchedules.ReportSchedule,
    handle: ({ caller, params }) => reportSchedules.find(caller, params.id),
  }),
  route("PUT /reports/schedules/:id", "Update a report schedule", {
    operationId: "updateReportSchedule",
    description: "Updates the given fields.",
    level: "site",
    body: reportSchedules.ReportScheduleChanges,
    returns: reportSchedules.ReportSchedule,
    handle: ({ caller, params, body }) => reportSchedules.change(caller, params.id, body),
  }),
  route("DELETE /reports/schedules/:id", "Delete a report schedule", {
    operationId: "deleteReportSchedule",
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await reportSchedules.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
]);
export const { handler } = analytics;

const funnelExport = {
  jsonName: "sequences",
  columns: [...sequenceReports.funnelColumns],
  cells: (row: Record<string, unknown>) =>
    sequenceReports.funnelColumns.map((column) => row[column] as string | number),
};
