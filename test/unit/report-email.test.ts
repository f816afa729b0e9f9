import { describe, expect, test } from "vitest";
import type { RecentCampaign } from "../../shared/domain/analytics/dashboard.ts";
import { compareMetrics, toMetrics } from "../../shared/domain/analytics/mail-metrics.ts";
import { listWarnings, type ReportDigest } from "../../shared/domain/analytics/report-digest.ts";
import { renderReportEmail } from "../../shared/domain/analytics/report-email.ts";
import { rateReputation } from "../../shared/domain/analytics/reputation.ts";
import { listDates } from "../../shared/kernel/calendar-dates.ts";
import type { CounterTotals } from "../../shared/kernel/sharded-counters.ts";

const campaign = (name: string, status: RecentCampaign["status"]) =>
  ({
    id: 1,
    siteId: 1,
    name,
    status,
    stats: { delivered: 1234, openRate: 0.5, clickRate: 0.005, recipients: 1300 },
  }) as RecentCampaign;

const healthy = {
  sent: 10_000,
  delivered: 9900,
  uniqueOpened: 4000,
  uniqueClicked: 500,
  bouncedHard: 50,
  complained: 1,
};
const warnings = (
  sum: CounterTotals,
  before: CounterTotals = healthy,
  campaigns: RecentCampaign[] = [],
) =>
  listWarnings({
    metrics: toMetrics(sum),
    previousMetrics: toMetrics(before),
    reputation: rateReputation(sum),
    campaigns,
  });

describe("warnings", () => {
  test("are empty if all is well or nothing was sent", () => {
    expect(warnings(healthy)).toEqual([]);
    expect(warnings({})).toEqual([]);
  });

  test.each<[problem: string, sum: CounterTotals, warning: RegExp]>([
    ["bounces", { ...healthy, bouncedHard: 700 }, /^7 % of the mails bounced/],
    ["complaints", { ...healthy, complained: 30 }, /were reported as spam \(30\)/],
    ["unsubscribes", { ...healthy, unsubscribed: 200 }, /unsubscribed/],
    ["refused emails", { ...healthy, failed: 900 }, /^900 mails were refused/],
    ["emails with an unknown outcome", { ...healthy, uncertain: 3 }, /^For 3 mails it is unknown/],
    ["a provider without webhooks", { sent: 500 }, /webhook/],
    [
      "a falling open rate",
      { ...healthy, uniqueOpened: 1000 },
      /^Fewer people open: 10.1 %, after 40.4 % before/,
    ],
  ])("name %s and nothing else", (_, sum, warning) => {
    expect(warnings(sum)).toEqual([expect.stringMatching(warning)]);
  });

  test("name campaigns that are held", () => {
    const campaigns = [campaign("Spring", "held"), campaign("Fine", "sent")];
    expect(warnings(healthy, healthy, campaigns)).toEqual(["The campaign “Spring” is held."]);
  });
});

function digest(
  frequency: ReportDigest["frequency"],
  range: ReportDigest["range"],
  more: Partial<ReportDigest> = {},
): ReportDigest {
  const [metrics, previousMetrics] = [toMetrics(healthy), toMetrics({ ...healthy, sent: 8000 })];
  const chart = listDates(range).map((date, i) => ({ date, delivered: i * 10, opened: i }));
  const change = compareMetrics(metrics, previousMetrics);
  const reputation = rateReputation(healthy);
  const rest = {
    siteName: "Shop",
    previousRange: range,
    contacts: { total: 42_000, previous: 40_000, change: 0.05 },
    campaigns: [campaign("Spring", "sent")],
    warnings: [],
  };
  return {
    frequency,
    range,
    metrics,
    previousMetrics,
    change,
    chart,
    reputation,
    ...rest,
    ...more,
  };
}
const about = { id: 7, url: "https://mail.example/api/v1/reports/schedules/7" };
const week = { from: "2026-11-16", to: "2026-11-22" };

describe("a mailed report", () => {
  test("says the same in HTML and plain text", () => {
    const { subject, html, text } = renderReportEmail(digest("weekly", week), about);
    expect(subject).toBe("Shop: weekly report, 10,000 sent, 40.4 % opened");
    const shown = html.replace(/<[^>]+>/g, " ").replace(/\s+/g, " ");
    for (const words of [
      "10,000",
      "25 % more",
      "99 % of those sent",
      "42,000",
      "5 % more",
      "Spring",
      "1,234",
      about.url,
      "the week before",
    ])
      for (const form of [shown, text]) expect(form).toContain(words);
    expect(shown).toMatch(/16\s–\s22 November 2026/u);
    for (const date of listDates(week)) expect(text).toContain(date);
  });

  test("tells its reader how to stop it", () => {
    const { html, text } = renderReportEmail(digest("weekly", week), about);
    for (const form of [html, text])
      expect(form).toContain("To change or stop it, ask the person who manages email for Shop.");
  });

  test("has no HTML that mail clients remove", () => {
    const { html } = renderReportEmail(
      digest("monthly", { from: "2026-10-01", to: "2026-10-31" }),
      about,
    );
    expect(html).not.toMatch(
      /<(script|style|svg|link|form|img|iframe|video)\b|flex|grid|position:|url\(/,
    );
    // One bar for each day, above as many labels.
    const [bars = "", labels = ""] = html
      .split('role="img"')[1]!
      .split(/<\/td><\/tr><\/table>\s*<\/td><\/tr>\s*<tr>/);
    expect(bars.match(/valign="bottom"/g)).toHaveLength(31);
    const columns = [...labels.matchAll(/colspan="(\d+)"/g)].map(([, n]) => Number(n));
    expect(columns.reduce((sum, n) => sum + n, 0)).toBe(31);
    expect(Buffer.byteLength(html)).toBeLessThan(60_000);
  });

  test("escapes names", () => {
    const nasty = '<script>alert("x")</script>&';
    const report = digest(
      "daily",
      { from: week.from, to: week.from },
      { siteName: nasty, campaigns: [campaign(nasty, "sent")], warnings: [nasty] },
    );
    const { html, text } = renderReportEmail(report, about);
    expect(html).not.toContain("<script");
    expect(
      html.split("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;").length,
    ).toBeGreaterThan(4);
    expect(text).toContain(nasty);
  });

  test("has no comparison with a period without mail", () => {
    const figures = toMetrics(healthy);
    const { text } = renderReportEmail(
      digest(
        "daily",
        { from: week.from, to: week.from },
        { change: compareMetrics(figures, toMetrics({})) },
      ),
      about,
    );
    expect(text).toContain("Sent: 10,000, none the day before\n");
    expect(text).toContain("Delivered: 9,900, 99 % of those sent\n");
    expect(text).not.toContain("points");
  });
});
