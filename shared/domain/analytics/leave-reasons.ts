// Why contacts unsubscribed, by their own answers: of a site in a period, or of a campaign.
import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import { listDates } from "../../kernel/calendar-dates.ts";
import { Count, RecordId, RecordSiteId } from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import { countEach, LeaveReason, readLeaveReasons } from "../audience/contacts/leave-reason.ts";
import { leaveReasons } from "../audience/contacts/preference-choices.ts";
import type { StoredCampaign } from "../campaigns/stored-campaign.ts";
import * as organizations from "../identity/organizations.ts";
import * as sites from "../identity/sites.ts";
import { getSourceTotals } from "../sending/mail-sources.ts";
import { dateRangeFields } from "./overview.ts";
import { type AnalyticsPeriod, periodEndingOn } from "./periods.ts";

export const LeaveReasons = z
  .object({
    siteId: RecordSiteId,
    campaignId: RecordId.nullable().describe("Campaign of the answers. `null`: all of the site."),
    from: dateRangeFields.from.nullable().describe("First day. `null` for a campaign."),
    to: dateRangeFields.to.nullable().describe("Last day. `null` for a campaign."),
    answers: Count.describe("Number of answers. Not everybody who leaves gives one."),
    reasons: z
      .array(z.object({ reason: LeaveReason, count: Count.describe("Answers with this reason.") }))
      .describe("Every reason, most frequent first."),
  })
  .meta({ id: "LeaveReasons" });
export type LeaveReasons = z.output<typeof LeaveReasons>;

interface LeaveReasonQuery {
  period: AnalyticsPeriod;
  siteId?: number | undefined;
  campaignId?: number | undefined;
}

/** Throws 404 for an unknown site or campaign. */
export async function getLeaveReasons(
  caller: CallerScope,
  { period, siteId: requestedSiteId, campaignId }: LeaveReasonQuery,
): Promise<LeaveReasons> {
  const { orgId } = caller;
  if (campaignId !== undefined) {
    const { siteId } = await records.find<StoredCampaign>("CAMPAIGN", caller, campaignId);
    const { all } = await getSourceTotals(orgId, { kind: "campaign", id: campaignId });
    const counts = countEach((reason) => all.events[`left.${reason}`] ?? 0);
    return { siteId, campaignId, from: null, to: null, ...toReasons(counts) };
  }
  const [siteId, { today }] = await Promise.all([
    sites.resolveSiteId(caller, requestedSiteId),
    organizations.getCalendar(orgId),
  ]);
  const span = periodEndingOn(period, today);
  const counts = await readLeaveReasons(orgId, siteId, listDates(span));
  return { siteId, campaignId: null, ...span, ...toReasons(counts) };
}

const toReasons = (
  counts: Record<LeaveReason, number>,
): Pick<LeaveReasons, "answers" | "reasons"> => ({
  answers: leaveReasons.reduce((sum, reason) => sum + counts[reason], 0),
  reasons: leaveReasons
    .map((reason) => ({ reason, count: counts[reason] }))
    .toSorted((a, b) => b.count - a.count),
});
