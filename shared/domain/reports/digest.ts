// What a mailed report says: the figures of its days beside those before, the campaigns of that time, and what is not well.
import type { Caller } from "../../caller.ts";
import * as calendar from "../holidays/calendar.ts";
import * as contactCount from "../insight/contact-count.ts";
import { campaignsOf, type RecentCampaign } from "../insight/dashboard.ts";
import * as days from "../insight/days.ts";
import { type Change, changeOf, type Figures, figuresOf, percent } from "../insight/figures.ts";
import { within } from "../insight/overview.ts";
import { type Reputation, reputationOf, thresholds } from "../insight/reputation.ts";
import { datesOf, type Span, shifted } from "../insight/spans.ts";
import * as organizations from "../organizations.ts";
import * as sites from "../sites.ts";
import { before, type Frequency } from "./times.ts";

export interface Digest {
  siteName: string;
  frequency: Frequency;
  span: Span;
  past: Span;
  figures: Figures;
  previous: Figures;
  change: Change;
  /** Of each day of the chart, which begins earlier where a report is of one day only. */
  chart: { date: string; delivered: number; opened: number }[];
  /** Now, and when the days of the report began. */
  contacts: contactCount.ContactCount;
  campaigns: RecentCampaign[];
  reputation: Reputation;
  warnings: string[];
}

const fewestDays = 7;
const mostCampaigns = 5;

export async function gathered(orgId: number, siteId: number, frequency: Frequency, span: Span): Promise<Digest> {
  const who: Pick<Caller, "orgId"> = { orgId };
  const past = before[frequency](span);
  const chart: Span = { from: [span.from, shifted(span.to, 1 - fewestDays)].sort()[0]!, to: span.to };
  const [site, { timezone }, counted, contacts] = await Promise.all([
    sites.find(who, siteId),
    organizations.calendar(orgId),
    days.between(orgId, [siteId], { from: [past.from, chart.from].sort()[0]!, to: span.to }),
    contactCount.since(orgId, [siteId], span.from),
  ]);
  const sum = within(counted, span);
  const [figures, previous] = [figuresOf(sum), figuresOf(within(counted, past))];
  const campaigns = await campaignsOf(orgId, [siteId], mostCampaigns, ({ startedAt }) => isWithin(startedAt, span, timezone));
  const reputation = reputationOf(sum);
  return {
    siteName: sites.nameOf(site),
    frequency,
    span,
    past,
    figures,
    previous,
    change: changeOf(figures, previous),
    chart: datesOf(chart).map((date) => {
      const { delivered, opened } = figuresOf(counted.get(date) ?? {});
      return { date, delivered, opened };
    }),
    contacts,
    campaigns: campaigns.toSorted((a, b) => b.stats.openRate - a.stats.openRate || b.stats.recipients - a.stats.recipients),
    reputation,
    warnings: warningsOf(figures, previous, reputation, campaigns),
  };
}

function isWithin(startedAt: string | null | undefined, { from, to }: Span, timezone: string): boolean {
  if (!startedAt) return false;
  const at = new Date(startedAt);
  return at >= calendar.instantOf(from, 0, timezone) && at < calendar.instantOf(to, 24, timezone);
}

/** What somebody should look at; nothing when all is well. */
export function warningsOf(figures: Figures, previous: Figures, { score, factors }: Reputation, campaigns: RecentCampaign[]): string[] {
  const { sent, delivered, bounceRate, complaintRate, unsubscribeRate, failed, uncertain } = figures;
  const grave = score === "poor" || score === "fair";
  return [
    ...(grave ? factors.slice(0, bounceRate >= thresholds.fair.bounceRate && complaintRate >= thresholds.fair.complaintRate ? 2 : 1) : []),
    ...(unsubscribeRate >= 0.01 && figures.unsubscribed >= 5 ? [`${percent(unsubscribeRate)} of those who got mail unsubscribed.`] : []),
    ...(failed >= 10 && failed > sent * 0.05
      ? [`${failed.toLocaleString("en")} mails were refused, suppressed or dropped before they went out.`]
      : []),
    ...(uncertain > 0 ? [`Of ${uncertain.toLocaleString("en")} mails nobody can tell whether the provider took them.`] : []),
    ...(sent >= 20 && delivered === 0 ? ["No delivery was reported: see whether the provider's webhook is set up."] : []),
    ...(previous.delivered >= 100 && delivered >= 100 && figures.openRate < previous.openRate * 0.7
      ? [`Fewer people open: ${percent(figures.openRate)}, after ${percent(previous.openRate)} before.`]
      : []),
    ...campaigns.flatMap(({ name, status }) =>
      status === "failed" || status === "held" || status === "paused" ? [`The campaign “${name}” is ${status}.`] : [],
    ),
  ];
}
