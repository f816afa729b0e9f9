// A mailed report, as it looks: tables and background colours only, which is what every mail client shows; and the same as plain text.

import { percent } from "../domain/insight/figures.ts";
import type { Digest } from "../domain/reports/digest.ts";
import type { Frequency } from "../domain/reports/times.ts";
import { type Html, html } from "../http/html.ts";

export interface About {
  /** Of the schedule. */
  id: number;
  /** Where it can be changed or ended. */
  url: string;
}

const words: Record<Frequency, { title: string; past: string; when: string }> = {
  daily: { title: "Your day", past: "the day before", when: "every day" },
  weekly: { title: "Your week", past: "the week before", when: "every Monday" },
  monthly: { title: "Your month", past: "the month before", when: "on the first of every month" },
};

export const letterOf = (digest: Digest, about: About): { subject: string; html: string; text: string } => ({
  subject: subjectOf(digest),
  html: pageOf(digest, about).html,
  text: textOf(digest, about),
});

const count = (n: number): string => n.toLocaleString("en");

function subjectOf({ siteName, frequency, figures }: Digest): string {
  const { sent, delivered, openRate } = figures;
  const said = sent || delivered ? `${count(sent)} sent, ${percent(openRate)} opened` : "nothing was sent";
  return `${siteName}: ${words[frequency].title.toLowerCase()}, ${said}`;
}

const dated = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options });
const noon = (date: string): Date => new Date(`${date}T12:00:00Z`);

const spanText: Record<Frequency, (span: Digest["span"]) => string> = {
  daily: ({ from }) => dated({ weekday: "long", day: "numeric", month: "long", year: "numeric" }).format(noon(from)),
  weekly: ({ from, to }) => dated({ day: "numeric", month: "long", year: "numeric" }).formatRange(noon(from), noon(to)),
  monthly: ({ from }) => dated({ month: "long", year: "numeric" }).format(noon(from)),
};

interface Figure {
  name: string;
  value: string;
  /** What part it is of what. */
  share?: string;
  change: string;
  /** Whether the change is a good one; undefined: neither. */
  good?: boolean | undefined;
}

function figuresOf({ figures, change, contacts, frequency }: Digest): Figure[] {
  const { past } = words[frequency];
  const more = (by: number | null): string =>
    by === null ? `none ${past}` : Math.abs(by) < 0.0005 ? `as many as ${past}` : `${percent(Math.abs(by))} ${by > 0 ? "more" : "fewer"}`;
  const points = (by: number | null): string =>
    by === null
      ? ""
      : Math.abs(by) < 0.00005
        ? `as ${past}`
        : `${Number((Math.abs(by) * 100).toFixed(2))} points ${by > 0 ? "up" : "down"}`;
  const better = (by: number | null, up = true): boolean | undefined => (by === null || Math.abs(by) < 0.00005 ? undefined : by > 0 === up);
  return [
    { name: "Sent", value: count(figures.sent), change: figures.sent || change.sent !== null ? more(change.sent) : "nothing yet" },
    {
      name: "Delivered",
      value: count(figures.delivered),
      share: `${percent(figures.deliveryRate)} of those sent`,
      change: points(change.deliveryRate),
      good: better(change.deliveryRate),
    },
    {
      name: "Opened by people",
      value: count(figures.opened),
      share: `${percent(figures.openRate)} of those delivered`,
      change: points(change.openRate),
      good: better(change.openRate),
    },
    {
      name: "Clicked",
      value: count(figures.clicked),
      share: `${percent(figures.clickRate)} of those delivered`,
      change: points(change.clickRate),
      good: better(change.clickRate),
    },
    {
      name: "Bounced",
      value: count(figures.bounced),
      share: `${percent(figures.bounceRate)} of those sent`,
      change: points(change.bounceRate),
      good: better(change.bounceRate, false),
    },
    {
      name: "Reported as spam",
      value: count(figures.complained),
      share: `${percent(figures.complaintRate)} of those delivered`,
      change: points(change.complaintRate),
      good: better(change.complaintRate, false),
    },
    { name: "Unsubscribed", value: count(figures.unsubscribed), change: more(change.unsubscribed) },
    { name: "Contacts now", value: count(contacts.total), change: contacts.change === null ? "" : more(contacts.change) },
  ];
}

const ink = { text: "#26211b", muted: "#635a50", line: "#e4dcd0", strong: "#8f431d", light: "#e0b393", good: "#1f6b3a", bad: "#a3281e" };

const pageOf = (digest: Digest, about: About): Html => {
  const { siteName, frequency, span, warnings } = digest;
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light only"><title>${siteName}: ${spanText[frequency](span)}</title></head><body style="margin:0;background:#faf7f2;color:${ink.text}"><div style="display:none;max-height:0;overflow:hidden">${preview(digest)}</div><table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#faf7f2"><tr><td align="center" style="padding:24px 12px"><table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Arial,sans-serif;color:${ink.text}"><tr><td style="padding:0 4px 16px"><p style="margin:0;font-weight:700">${siteName}</p><h1 style="margin:4px 0 0;font-size:26px;line-height:1.25">${words[frequency].title}</h1><p style="margin:4px 0 0;color:${ink.muted}">${spanText[frequency](span)}</p></td></tr>${warnings.length > 0 && box(warned(warnings))}${box(gridOf(figuresOf(digest), words[frequency].past), "padding:8px 12px")}${box(chartOf(digest))}${box(campaignsOf(digest))}<tr><td style="padding:12px 4px;color:${ink.muted};font-size:13px;line-height:1.5">${why(digest)}<br><br>${how(about)} <a href="${about.url}" style="color:${ink.muted};word-break:break-all">${about.url}</a></td></tr></table></td></tr></table></body></html>`;
};

/** For whoever gets it. */
const why = ({ siteName, frequency }: Digest): string =>
  `Each thing counts on the day on which it became known. This report comes ${words[frequency].when}, because somebody set it up for this address. To get it less often, or no more, ask whoever looks after the mail of ${siteName}.`;

/** For whoever is asked. */
const how = ({ id }: About): string => `For them: it is report schedule ${id}, changed by PUT and ended by DELETE at`;

const box = (content: Html, style = "padding:20px"): Html =>
  html`<tr><td style="padding:0 0 16px"><table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#ffffff" style="background:#ffffff;border:1px solid ${ink.line};border-radius:8px"><tr><td style="${style}">${content}</td></tr></table></td></tr>`;

const heading = (text: string): Html => html`<h2 style="margin:0 0 12px;font-size:17px;line-height:1.3">${text}</h2>`;

const preview = ({ figures }: Digest): string =>
  `${count(figures.delivered)} delivered, ${count(figures.opened)} opened, ${count(figures.clicked)} clicked.`;

const warned = (warnings: string[]): Html =>
  html`${heading("Look at this")}<ul style="margin:0;padding:0 0 0 20px">${warnings.map((text) => html`<li style="margin:0 0 8px;color:${ink.bad}">${text}</li>`)}</ul>`;

/** Two beside each other, on a phone too. */
function gridOf(figures: Figure[], past: string): Html {
  const rows = figures.flatMap((figure, i) => (i % 2 ? [] : [[figure, figures[i + 1]!]]));
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">${rows.map(
    (row, i) =>
      html`<tr>${row.map(
        ({ name, value, share, change, good }) =>
          html`<td width="50%" valign="top" style="padding:12px 8px;${i ? `border-top:1px solid ${ink.line}` : ""}"><span style="font-size:14px;color:${ink.muted}">${name}</span><br><strong style="font-size:24px;line-height:1.3">${value}</strong>${share !== undefined && html`<br><span style="font-size:14px">${share}</span>`}${change !== "" && html`<br><span style="font-size:13px;color:${good === undefined ? ink.muted : good ? ink.good : ink.bad}">${change}</span>`}</td>`,
      )}</tr>`,
  )}</table><p style="margin:4px 8px 8px;font-size:13px;color:${ink.muted}">Changes are against ${past}.</p>`;
}

const chartHeight = 96;

/** A bar for each day: all of it was delivered, the dark part of it opened. */
function chartOf({ chart }: Digest): Html {
  const most = Math.max(1, ...chart.map(({ delivered, opened }) => Math.max(delivered, opened)));
  const high = (n: number): number => (n > 0 ? Math.max(2, Math.round((n / most) * chartHeight)) : 0);
  const bars = chart.map(({ delivered, opened }) => {
    const [whole, dark] = [high(Math.max(delivered, opened)), high(opened)];
    return html`<td valign="bottom" align="center" style="padding:0 1px;height:${chartHeight}px">${bar(whole - dark, ink.light)}${bar(dark, ink.strong)}${whole === 0 && bar(1, ink.line)}</td>`;
  });
  const said = `Delivered and opened mails by day, from ${chart[0]!.date} to ${chart.at(-1)!.date}; at most ${count(most)} on a day`;
  return html`${heading("Day by day")}<p style="margin:0 0 12px;font-size:13px;color:${ink.muted}"><span style="color:${ink.light}">&#9632;</span> delivered &nbsp; <span style="color:${ink.strong}">&#9632;</span> opened &nbsp; highest: ${count(most)}</p><table role="img" aria-label="${said}" width="100%" cellpadding="0" cellspacing="0" border="0" style="table-layout:fixed"><tr>${bars}</tr><tr>${labelsOf(chart)}</tr></table>`;
}

const bar = (height: number, colour: string): Html | false =>
  height > 0 &&
  html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td height="${height}" bgcolor="${colour}" style="height:${height}px;background:${colour};font-size:0;line-height:0">&nbsp;</td></tr></table>`;

// Of a month not every day has room for its name.
function labelsOf(chart: Digest["chart"]): Html[] {
  const every = chart.length > 10 ? 7 : 1;
  const shown = chart.filter((_, i) => i % every === 0 && (every === 1 || chart.length - i >= 5));
  const label = dated(every > 1 ? { day: "numeric", month: "short" } : { weekday: "short" });
  return shown.map(({ date }, i) => {
    const wide = i === shown.length - 1 ? chart.length - i * every : every;
    return html`<td colspan="${wide}" align="${every > 1 ? "left" : "center"}" style="padding:4px 0 0;font-size:12px;color:${ink.muted};white-space:nowrap;overflow:hidden">${label.format(noon(date))}</td>`;
  });
}

function campaignsOf({ campaigns }: Digest): Html {
  if (!campaigns.length) return html`${heading("Campaigns")}<p style="margin:0;color:${ink.muted}">None was started in this time.</p>`;
  const cell = `padding:8px 0 8px 8px;border-top:1px solid ${ink.line};font-size:14px`;
  const head = `padding:0 0 8px 8px;font-size:13px;font-weight:400;color:${ink.muted}`;
  return html`${heading("Campaigns")}<table width="100%" cellpadding="0" cellspacing="0" border="0"><tr><th align="left" style="${head};padding-left:0">Name</th><th align="right" style="${head}">Delivered</th><th align="right" style="${head}">Opened</th><th align="right" style="${head}">Clicked</th></tr>${campaigns.map(
    ({ name, stats }) =>
      html`<tr><td style="${cell};padding-left:0;word-break:break-word">${name}</td><td align="right" valign="top" style="${cell}">${count(stats.delivered)}</td><td align="right" valign="top" style="${cell}">${percent(stats.openRate)}</td><td align="right" valign="top" style="${cell}">${percent(stats.clickRate)}</td></tr>`,
  )}</table>`;
}

function textOf(digest: Digest, about: About): string {
  const { siteName, frequency, span, warnings, chart, campaigns } = digest;
  const most = Math.max(1, ...chart.map(({ delivered }) => delivered));
  const line = ({ name, value, share, change }: Figure): string =>
    `${name}: ${[value, ...(share === undefined ? [] : [share]), ...(change ? [change] : [])].join(", ")}`;
  const sections = [
    [`${siteName}: ${words[frequency].title.toLowerCase()}`, spanText[frequency](span)],
    ...(warnings.length ? [["Look at this", ...warnings.map((text) => `- ${text}`)]] : []),
    [...figuresOf(digest).map(line), `(changes are against ${words[frequency].past})`],
    [
      "Delivered and opened, day by day",
      ...chart.map(({ date, delivered, opened }) => {
        const said = `${date}  ${"#".repeat(Math.min(30, Math.round((delivered / most) * 30))).padEnd(30)}`;
        return `${said}  ${count(delivered)}, ${count(opened)} opened`;
      }),
    ],
    [
      "Campaigns",
      ...(campaigns.length
        ? campaigns.map(
            ({ name, stats }) =>
              `- ${name}: ${count(stats.delivered)} delivered, ${percent(stats.openRate)} opened, ${percent(stats.clickRate)} clicked`,
          )
        : ["None was started in this time."]),
    ],
    [why(digest)],
    [how(about), about.url],
  ];
  return `${sections.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}
