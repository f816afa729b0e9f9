// The content of a mailed report: metrics, change, chart, campaigns and warnings.
import { addDays, type DateRange, listDates } from "../../kernel/calendar-dates.ts";
import { formatPercent } from "../../kernel/rates.ts";
import { instantOf } from "../../kernel/time-zones.ts";
import * as organizations from "../identity/organizations.ts";
import * as sites from "../identity/sites.ts";
import * as contactCount from "./contact-count.ts";
import * as dailyTotals from "./daily-totals.ts";
import { listRecentCampaigns, type RecentCampaign } from "./dashboard.ts";
import { compareMetrics, type MailMetrics, type MetricsChange, toMetrics } from "./mail-metrics.ts";
import { sumWithin } from "./overview.ts";
import { comparedRange, type ReportFrequency } from "./report-dates.ts";
import { type Reputation, rateReputation, reputationThresholds } from "./reputation.ts";

export interface ReportDigest {
  siteName: string;
  frequency: ReportFrequency;
  range: DateRange;
  previousRange: DateRange;
  metrics: MailMetrics;
  previousMetrics: MailMetrics;
  change: MetricsChange;
  /** At least seven days, also in a daily report. */
  chart: { date: string; delivered: number; opened: number }[];
  contacts: contactCount.ContactCount;
  campaigns: RecentCampaign[];
  reputation: Reputation;
  warnings: string[];
}

const minChartDays = 7;
const maxCampaigns = 5;

export async function buildDigest({
  orgId,
  siteId,
  frequency,
  range,
}: {
  orgId: number;
  siteId: number;
  frequency: ReportFrequency;
  range: DateRange;
}): Promise<ReportDigest> {
  const previousRange = comparedRange[frequency](range);
  const chart: DateRange = {
    from: [range.from, addDays(range.to, 1 - minChartDays)].sort()[0]!,
    to: range.to,
  };
  const [site, { timezone }, totalsByDate, contacts] = await Promise.all([
    sites.find({ orgId }, siteId),
    organizations.getCalendar(orgId),
    dailyTotals.getTotalsByDate(orgId, [siteId], {
      from: [previousRange.from, chart.from].sort()[0]!,
      to: range.to,
    }),
    contactCount.countSince(orgId, [siteId], range.from),
  ]);
  const sum = sumWithin(totalsByDate, range);
  const [metrics, previousMetrics] = [
    toMetrics(sum),
    toMetrics(sumWithin(totalsByDate, previousRange)),
  ];
  const campaigns = await listRecentCampaigns(orgId, {
    siteIds: [siteId],
    limit: maxCampaigns,
    filter: ({ startedAt }) => startedWithin(startedAt, range, timezone),
  });
  const reputation = rateReputation(sum);
  return {
    siteName: sites.displayNameOf(site),
    frequency,
    range,
    previousRange,
    metrics,
    previousMetrics,
    change: compareMetrics(metrics, previousMetrics),
    chart: listDates(chart).map((date) => {
      const { delivered, opened } = toMetrics(totalsByDate.get(date) ?? {});
      return { date, delivered, opened };
    }),
    contacts,
    campaigns: campaigns.toSorted(
      (a, b) => b.stats.openRate - a.stats.openRate || b.stats.recipients - a.stats.recipients,
    ),
    reputation,
    warnings: listWarnings({ metrics, previousMetrics, reputation, campaigns }),
  };
}

function startedWithin(
  startedAt: string | null | undefined,
  { from, to }: DateRange,
  timezone: string,
): boolean {
  if (!startedAt) return false;
  const at = new Date(startedAt);
  return at >= instantOf(from, 0, timezone) && at < instantOf(to, 24, timezone);
}

/** Problems that need attention. */
export function listWarnings({
  metrics,
  previousMetrics,
  reputation,
  campaigns,
}: Pick<ReportDigest, "metrics" | "previousMetrics" | "reputation" | "campaigns">): string[] {
  const { sent, delivered, unsubscribeRate, uncertain } = metrics;
  const refused = metrics.failed - metrics.bounced;
  return [
    ...reputationWarnings(reputation),
    ...(unsubscribeRate >= 0.01 && metrics.unsubscribed >= 5
      ? [`${formatPercent(unsubscribeRate)} of the recipients unsubscribed.`]
      : []),
    ...(refused >= 10 && refused > sent * 0.05
      ? [
          `${refused.toLocaleString("en")} mails were refused, suppressed or dropped ` +
            "before they went out.",
        ]
      : []),
    ...(uncertain > 0
      ? [
          `For ${uncertain.toLocaleString("en")} mails it is unknown whether the provider ` +
            "accepted them.",
        ]
      : []),
    ...(sent >= 20 && delivered === 0
      ? ["No deliveries were reported: check that the provider's webhook is set up."]
      : []),
    ...openRateWarnings(metrics, previousMetrics),
    ...campaigns.flatMap(({ name, status }) =>
      status === "failed" || status === "held" || status === "paused"
        ? [`The campaign “${name}” is ${status}.`]
        : [],
    ),
  ];
}

/** The worst factor of a poor reputation, or the two worst if both rates are bad. */
function reputationWarnings({ score, factors, bounceRate, complaintRate }: Reputation): string[] {
  if (score !== "poor" && score !== "fair") return [];
  const { fair } = reputationThresholds;
  const areBothBad = bounceRate >= fair.bounceRate && complaintRate >= fair.complaintRate;
  return factors.slice(0, areBothBad ? 2 : 1);
}

function openRateWarnings(current: MailMetrics, previous: MailMetrics): string[] {
  const isComparable = previous.delivered >= 100 && current.delivered >= 100;
  if (!isComparable || current.openRate >= previous.openRate * 0.7) return [];
  return [
    `Fewer people open: ${formatPercent(current.openRate)}, after ` +
      `${formatPercent(previous.openRate)} before.`,
  ];
}
