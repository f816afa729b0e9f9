import { describe, expect, test } from "vitest";
import type { RecentCampaign } from "../../shared/domain/insight/dashboard.ts";
import { changeOf, figuresOf } from "../../shared/domain/insight/figures.ts";
import { reputationOf } from "../../shared/domain/insight/reputation.ts";
import { datesOf } from "../../shared/domain/insight/spans.ts";
import type { Sum } from "../../shared/domain/insight/sums.ts";
import { type Digest, warningsOf } from "../../shared/domain/reports/digest.ts";
import { letterOf } from "../../shared/pages/report-letter.ts";

const campaign = (name: string, status: RecentCampaign["status"]) =>
  ({ id: 1, siteId: 1, name, status, stats: { delivered: 1234, openRate: 0.5, clickRate: 0.005, recipients: 1300 } }) as RecentCampaign;

const well = { sent: 10_000, delivered: 9900, uniqueOpened: 4000, uniqueClicked: 500, bouncedHard: 50, complained: 1 };
const warnings = (sum: Sum, before: Sum = well, campaigns: RecentCampaign[] = []) =>
  warningsOf(figuresOf(sum), figuresOf(before), reputationOf(sum), campaigns);

describe("warnings", () => {
  test("there are none when all is well, or nothing was sent", () => {
    expect(warnings(well)).toEqual([]);
    expect(warnings({})).toEqual([]);
  });

  test.each<[what: string, sum: Sum, said: RegExp]>([
    ["bounces", { ...well, bouncedHard: 700 }, /^7 % of the mails bounced/],
    ["complaints", { ...well, complained: 30 }, /were reported as spam \(30\)/],
    ["people who leave", { ...well, unsubscribed: 200 }, /unsubscribed/],
    ["mails that were refused", { ...well, failed: 900 }, /^900 mails were refused/],
    ["mails of which nobody can tell", { ...well, uncertain: 3 }, /^Of 3 mails nobody can tell/],
    ["a provider that reports nothing", { sent: 500 }, /webhook/],
    ["fewer opens than before", { ...well, uniqueOpened: 1000 }, /^Fewer people open: 10.1 %, after 40.4 % before/],
  ])("there is one of %s, and no other", (_, sum, said) => {
    expect(warnings(sum)).toEqual([expect.stringMatching(said)]);
  });

  test("campaigns that did not go through are named", () => {
    const campaigns = [campaign("Spring", "held"), campaign("Fine", "sent")];
    expect(warnings(well, well, campaigns)).toEqual(["The campaign “Spring” is held."]);
  });
});

function digest(frequency: Digest["frequency"], span: Digest["span"], more: Partial<Digest> = {}): Digest {
  const [figures, previous] = [figuresOf(well), figuresOf({ ...well, sent: 8000 })];
  const chart = datesOf(span).map((date, i) => ({ date, delivered: i * 10, opened: i }));
  const change = changeOf(figures, previous);
  const reputation = reputationOf(well);
  const rest = {
    siteName: "Shop",
    past: span,
    contacts: { total: 42_000, previous: 40_000, change: 0.05 },
    campaigns: [campaign("Spring", "sent")],
    warnings: [],
  };
  return { frequency, span, figures, previous, change, chart, reputation, ...rest, ...more };
}
const about = { id: 7, url: "https://mail.example/api/v1/reports/schedules/7" };
const week = { from: "2026-11-16", to: "2026-11-22" };

describe("a mailed report", () => {
  test("says the same as html and as plain text", () => {
    const { subject, html, text } = letterOf(digest("weekly", week), about);
    expect(subject).toBe("Shop: your week, 10,000 sent, 40.4 % opened");
    const shown = html.replace(/<[^>]+>/g, " ").replace(/\s+/g, " ");
    for (const said of ["10,000", "25 % more", "99 % of those sent", "42,000", "5 % more", "Spring", "1,234", about.url, "the week before"])
      for (const form of [shown, text]) expect(form).toContain(said);
    expect(shown).toMatch(/16\s–\s22 November 2026/u);
    for (const date of datesOf(week)) expect(text).toContain(date);
  });

  test("tells its reader, who may know nothing of an interface, whom to ask for an end of it", () => {
    const { html, text } = letterOf(digest("weekly", week), about);
    for (const form of [html, text]) expect(form).toContain("or no more, ask whoever looks after the mail of Shop.");
  });

  test("has nothing in it that mail clients leave out", () => {
    const { html } = letterOf(digest("monthly", { from: "2026-10-01", to: "2026-10-31" }), about);
    expect(html).not.toMatch(/<(script|style|svg|link|form|img|iframe|video)\b|flex|grid|position:|url\(/);
    // One bar for each day, and under them as many columns.
    const [bars = "", labels = ""] = html.split('role="img"')[1]!.split("</td></tr></table></td></tr><tr>");
    expect(bars.match(/valign="bottom"/g)).toHaveLength(31);
    const columns = [...labels.matchAll(/colspan="(\d+)"/g)].map(([, n]) => Number(n));
    expect(columns.reduce((sum, n) => sum + n, 0)).toBe(31);
    expect(Buffer.byteLength(html)).toBeLessThan(60_000);
  });

  test("shows names as they are, and never as html", () => {
    const nasty = '<script>alert("x")</script>&';
    const told = digest(
      "daily",
      { from: week.from, to: week.from },
      { siteName: nasty, campaigns: [campaign(nasty, "sent")], warnings: [nasty] },
    );
    const { html, text } = letterOf(told, about);
    expect(html).not.toContain("<script");
    expect(html.split("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;").length).toBeGreaterThan(4);
    expect(text).toContain(nasty);
  });

  test("against a time without mail compares nothing", () => {
    const figures = figuresOf(well);
    const { text } = letterOf(digest("daily", { from: week.from, to: week.from }, { change: changeOf(figures, figuresOf({})) }), about);
    expect(text).toContain("Sent: 10,000, none the day before\n");
    expect(text).toContain("Delivered: 9,900, 99 % of those sent\n");
    expect(text).not.toContain("points");
  });
});
