// Renders a report mail, as HTML and as plain text. The HTML uses tables and background colours
// only, which every mail client shows.
import { type Html, html } from "../../kernel/html.ts";
import { formatPercent } from "../../kernel/rates.ts";
import type { ReportDigest } from "./report-digest.ts";
import {
  adminNote,
  dateFormat,
  formatCount,
  formatSpan,
  frequencyWording,
  noonUtc,
  type ReportFigure,
  recipientNote,
  reportFigures,
  type ScheduleReference,
} from "./report-figures.ts";

export const renderReportEmail = (
  digest: ReportDigest,
  about: ScheduleReference,
): { subject: string; html: string; text: string } => ({
  subject: reportSubject(digest),
  html: reportHtml(digest, about).html,
  text: reportText(digest, about),
});

function reportSubject({ siteName, frequency, metrics }: ReportDigest): string {
  const { sent, delivered, openRate } = metrics;
  const text =
    sent || delivered
      ? `${formatCount(sent)} sent, ${formatPercent(openRate)} opened`
      : "nothing was sent";
  return `${siteName}: ${frequencyWording[frequency].title.toLowerCase()}, ${text}`;
}

const colours = {
  text: "#26211b",
  muted: "#635a50",
  line: "#e4dcd0",
  strong: "#8f431d",
  light: "#e0b393",
  good: "#1f6b3a",
  bad: "#a3281e",
};

/** Attributes of a table that only lays out its content. */
const layout = html`role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"`;

const font = "16px/1.5 system-ui,-apple-system,'Segoe UI',Arial,sans-serif";

const reportHtml = (digest: ReportDigest, about: ScheduleReference): Html => {
  const { siteName, frequency, range, warnings } = digest;
  const span = formatSpan[frequency](range);
  const figures = figuresTable(reportFigures(digest), frequencyWording[frequency].past);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light only">
<title>${siteName}: ${span}</title>
</head>
<body style="margin:0;background:#faf7f2;color:${colours.text}">
<div style="display:none;max-height:0;overflow:hidden">${preheader(digest)}</div>
<table ${layout} bgcolor="#faf7f2"><tr><td align="center" style="padding:24px 12px">
<table ${layout} style="max-width:600px;font:${font};color:${colours.text}">
<tr><td style="padding:0 4px 16px">
<p style="margin:0;font-weight:700">${siteName}</p>
<h1 style="margin:4px 0 0;font-size:26px;line-height:1.25">${frequencyWording[frequency].title}</h1>
<p style="margin:4px 0 0;color:${colours.muted}">${span}</p>
</td></tr>
${warnings.length > 0 && card(warningsHtml(warnings))}
${card(figures, "padding:8px 12px")}
${card(dayChart(digest))}
${card(campaignsTable(digest))}
<tr><td style="padding:12px 4px;color:${colours.muted};font-size:13px;line-height:1.5">
${recipientNote(digest)}<br><br>${adminNote(about)}
<a href="${about.url}" style="color:${colours.muted};word-break:break-all">${about.url}</a>
</td></tr>
</table>
</td></tr></table>
</body>
</html>`;
};

const cardStyle = `background:#ffffff;border:1px solid ${colours.line};border-radius:8px`;

const card = (content: Html, style = "padding:20px"): Html =>
  html`<tr><td style="padding:0 0 16px"><table ${layout} bgcolor="#ffffff" style="${cardStyle}">
<tr><td style="${style}">${content}</td></tr>
</table></td></tr>`;

const heading = (text: string): Html =>
  html`<h2 style="margin:0 0 12px;font-size:17px;line-height:1.3">${text}</h2>`;

const preheader = ({ metrics }: ReportDigest): string =>
  `${formatCount(metrics.delivered)} delivered, ${formatCount(metrics.opened)} opened, ` +
  `${formatCount(metrics.clicked)} clicked.`;

const warningsHtml = (warnings: string[]): Html => {
  const items = warnings.map(
    (text) => html`<li style="margin:0 0 8px;color:${colours.bad}">${text}</li>`,
  );
  return html`${heading("Needs attention")}
<ul style="margin:0;padding:0 0 0 20px">${items}</ul>`;
};

function trendColour(improved: boolean | undefined): string {
  if (improved === undefined) return colours.muted;
  return improved ? colours.good : colours.bad;
}

/** Two figures per row, on a phone too. */
function figuresTable(figures: ReportFigure[], previousPeriod: string): Html {
  const rows = figures.flatMap((figure, i) => (i % 2 ? [] : [[figure, figures[i + 1]!]]));
  return html`<table ${layout}>${rows.map(
    (row, i) => html`<tr>${row.map((figure) => figureCell(figure, i > 0))}</tr>`,
  )}</table>
<p style="margin:4px 8px 8px;font-size:13px;color:${colours.muted}">
Changes are against ${previousPeriod}.</p>`;
}

function figureCell({ name, value, share, change, good }: ReportFigure, hasLine: boolean): Html {
  const border = hasLine ? `border-top:1px solid ${colours.line}` : "";
  return html`<td width="50%" valign="top" style="padding:12px 8px;${border}">
<span style="font-size:14px;color:${colours.muted}">${name}</span><br>
<strong style="font-size:24px;line-height:1.3">${value}</strong>
${share !== undefined && html`<br><span style="font-size:14px">${share}</span>`}
${change !== "" && html`<br><span style="${changeStyle(good)}">${change}</span>`}
</td>`;
}

const changeStyle = (improved: boolean | undefined): string =>
  `font-size:13px;color:${trendColour(improved)}`;

const chartHeight = 96;

/** A bar for each day shows the delivered mails; its dark part shows the opened ones. */
function dayChart({ chart }: ReportDigest): Html {
  const maxCount = Math.max(
    1,
    ...chart.map(({ delivered, opened }) => Math.max(delivered, opened)),
  );
  const barHeight = (n: number): number =>
    n > 0 ? Math.max(2, Math.round((n / maxCount) * chartHeight)) : 0;
  const bars = chart.map(({ delivered, opened }) => {
    const [whole, dark] = [barHeight(Math.max(delivered, opened)), barHeight(opened)];
    return html`<td valign="bottom" align="center" style="padding:0 1px;height:${chartHeight}px">
${bar(whole - dark, colours.light)}${bar(dark, colours.strong)}
${whole === 0 && bar(1, colours.line)}</td>`;
  });
  const text =
    `Delivered and opened mails by day, from ${chart[0]!.date} to ${chart.at(-1)!.date}; at ` +
    `most ${formatCount(maxCount)} on a day`;
  return html`${heading("Day by day")}
<p style="margin:0 0 12px;font-size:13px;color:${colours.muted}">
<span style="color:${colours.light}">&#9632;</span> delivered &nbsp;
<span style="color:${colours.strong}">&#9632;</span> opened &nbsp;
highest: ${formatCount(maxCount)}</p>
<table role="img" aria-label="${text}" ${dataLayout} style="table-layout:fixed">
<tr>${bars}</tr>
<tr>${chartLabels(chart)}</tr>
</table>`;
}

/** Attributes of a table that shows data. */
const dataLayout = html`width="100%" cellpadding="0" cellspacing="0" border="0"`;

const bar = (height: number, colour: string): Html | false =>
  height > 0 &&
  html`<table ${layout}><tr><td height="${height}" bgcolor="${colour}"
style="height:${height}px;background:${colour};font-size:0;line-height:0">&nbsp;</td></tr></table>`;

// A month has no room for a label on each day.
function chartLabels(chart: ReportDigest["chart"]): Html[] {
  const every = chart.length > 10 ? 7 : 1;
  const shown = chart.filter((_, i) => i % every === 0 && (every === 1 || chart.length - i >= 5));
  const label = dateFormat(every > 1 ? { day: "numeric", month: "short" } : { weekday: "short" });
  return shown.map(({ date }, i) => {
    const wide = i === shown.length - 1 ? chart.length - i * every : every;
    const align = every > 1 ? "left" : "center";
    return html`<td colspan="${wide}" align="${align}" style="${labelStyle}">
${label.format(noonUtc(date))}</td>`;
  });
}

const smallMuted = `font-size:12px;color:${colours.muted}`;
const labelStyle = `${smallMuted};padding:4px 0 0;white-space:nowrap;overflow:hidden`;

function campaignsTable({ campaigns }: ReportDigest): Html {
  if (!campaigns.length)
    return html`${heading("Campaigns")}
<p style="margin:0;color:${colours.muted}">No campaign was started in this period.</p>`;
  const cell = `padding:8px 0 8px 8px;border-top:1px solid ${colours.line};font-size:14px`;
  const head = `padding:0 0 8px 8px;font-size:13px;font-weight:400;color:${colours.muted}`;
  const numberHeads = ["Delivered", "Opened", "Clicked"].map(
    (name) => html`<th align="right" style="${head}">${name}</th>`,
  );
  const numberCell = (text: string): Html =>
    html`<td align="right" valign="top" style="${cell}">${text}</td>`;
  const rows = campaigns.map(
    ({ name, stats }) => html`<tr>
<td style="${cell};padding-left:0;word-break:break-word">${name}</td>
${numberCell(formatCount(stats.delivered))}
${numberCell(formatPercent(stats.openRate))}
${numberCell(formatPercent(stats.clickRate))}
</tr>`,
  );
  return html`${heading("Campaigns")}
<table ${dataLayout}>
<tr><th align="left" style="${head};padding-left:0">Name</th>${numberHeads}</tr>
${rows}
</table>`;
}

function reportText(digest: ReportDigest, about: ScheduleReference): string {
  const { siteName, frequency, range, warnings, chart, campaigns } = digest;
  const maxCount = Math.max(1, ...chart.map(({ delivered }) => delivered));
  const line = ({ name, value, share, change }: ReportFigure): string =>
    `${name}: ` +
    `${[value, ...(share === undefined ? [] : [share]), ...(change ? [change] : [])].join(", ")}`;
  const sections = [
    [
      `${siteName}: ${frequencyWording[frequency].title.toLowerCase()}`,
      formatSpan[frequency](range),
    ],
    ...(warnings.length ? [["Needs attention", ...warnings.map((text) => `- ${text}`)]] : []),
    [
      ...reportFigures(digest).map(line),
      `(changes are against ${frequencyWording[frequency].past})`,
    ],
    [
      "Delivered and opened, day by day",
      ...chart.map(({ date, delivered, opened }) => {
        const text =
          `${date}  ` +
          `${"#".repeat(Math.min(30, Math.round((delivered / maxCount) * 30))).padEnd(30)}`;
        return `${text}  ${formatCount(delivered)}, ${formatCount(opened)} opened`;
      }),
    ],
    [
      "Campaigns",
      ...(campaigns.length
        ? campaigns.map(
            ({ name, stats }) =>
              `- ${name}: ${formatCount(stats.delivered)} delivered, ` +
              `${formatPercent(stats.openRate)} opened, ${formatPercent(stats.clickRate)} ` +
              "clicked",
          )
        : ["No campaign was started in this period."]),
    ],
    [recipientNote(digest)],
    [adminNote(about), about.url],
  ];
  return `${sections.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}
