// Renders playbook mail as HTML and plain text: one column of tables, which every mail client
// displays. The unsubscribe link and the postal address are added when the mail is sent.
import type { PlaybookBlock, PlaybookMail } from "./playbook-source.ts";

/**
 * Removes the delimiters of Liquid and placeholders from user input, so that it cannot act as
 * either.
 */
const stripLiquid = (text: string): string => text.replace(/[{}[\]]/g, "").trim();

export interface PlaybookCompany {
  company: string;
  /** Without a trailing slash. */
  url: string;
}

export interface PlaybookMailContent {
  subject: string;
  html: string;
  text: string;
}

export function renderMail(
  { subject, preview, blocks }: PlaybookMail,
  { company, url }: PlaybookCompany,
): PlaybookMailContent {
  const fillIn = (text: string) =>
    text.replaceAll("[[company]]", stripLiquid(company)).replaceAll("[[url]]", stripLiquid(url));
  return {
    subject: fillIn(subject),
    html: htmlDocument({
      title: escapeHtml(fillIn(subject)),
      preview: escapeHtml(fillIn(preview)),
      company: escapeHtml(stripLiquid(company)),
      body: blocks.map((block) => blockToHtml(block, fillIn)).join("\n"),
    }),
    text: `${blocks.map((block) => blockToText(block, fillIn)).join("\n\n")}\n`,
  };
}

type PlaceholderFiller = (text: string) => string;

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** Leaves Liquid tags and outputs as they are. */
const escapeHtml = (text: string): string =>
  text.replace(
    /(\{\{.*?\}\}|\{%.*?%\})|[&<>"]/g,
    (char, liquid?: string) => liquid ?? entities[char]!,
  );

const font =
  "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
// Mail programs drop style elements, so each element has its own style.
const paragraphStyle = `margin:0 0 18px;${font};font-size:16px;line-height:1.6;color:#2b2f36`;
const boldStyle = `${font};font-weight:700;color:#14171c`;
const headingStyle = `margin:0 0 18px;${boldStyle};font-size:26px;line-height:1.3`;
const buttonStyle =
  `display:inline-block;padding:14px 26px;${font};font-size:16px;line-height:1.2;` +
  "font-weight:600;color:#ffffff;text-decoration:none;border-radius:8px";
const companyStyle = `padding:0 8px 16px;${boldStyle};font-size:15px;line-height:1.4`;
const tableStart = '<table role="presentation" cellpadding="0" cellspacing="0" border="0"';

function blockToHtml(block: PlaybookBlock, fillIn: PlaceholderFiller): string {
  if (typeof block === "string")
    return `<p style="${paragraphStyle}">${escapeHtml(fillIn(block)).replaceAll("\n", "<br>")}</p>`;
  if ("heading" in block)
    return `<h1 style="${headingStyle}">${escapeHtml(fillIn(block.heading))}</h1>`;
  if ("list" in block) {
    const items = block.list.map(
      (item) => `<li style="${paragraphStyle};margin:0 0 8px">${escapeHtml(fillIn(item))}</li>`,
    );
    return `<ul style="margin:0 0 18px;padding:0 0 0 22px">${items.join("")}</ul>`;
  }
  const href = escapeHtml(fillIn(block.href));
  const label = escapeHtml(fillIn(block.button));
  return `${tableStart} style="margin:6px 0 24px"><tr>
<td style="border-radius:8px;background:#1f5eff">
<a href="${href}" style="${buttonStyle}">${label}</a>
</td></tr></table>`;
}

function blockToText(block: PlaybookBlock, fillIn: PlaceholderFiller): string {
  if (typeof block === "string") return fillIn(block);
  if ("heading" in block) return fillIn(block.heading).toUpperCase();
  if ("list" in block) return block.list.map((item) => `- ${fillIn(item)}`).join("\n");
  return `${fillIn(block.button)}: ${fillIn(block.href)}`;
}

interface HtmlParts {
  title: string;
  preview: string;
  company: string;
  body: string;
}
const htmlDocument = ({ title, preview, company, body }: HtmlParts): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>${title}</title>
<style>
@media (max-width: 480px) {
.card { padding: 28px 20px !important; border-radius: 0 !important; }
.page { padding: 20px 0 24px !important; }
.name { padding: 0 20px 14px !important; }
}
</style>
</head>
<body style="margin:0;padding:0;background:#f3f4f7">
<div style="display:none;max-height:0;overflow:hidden;opacity:0">${preview}</div>
${tableStart} width="100%" style="background:#f3f4f7"><tr>
<td class="page" align="center" style="padding:32px 12px">
${tableStart} width="100%" style="max-width:600px">
<tr><td class="name" style="${companyStyle}">${company}</td></tr>
<tr><td class="card" style="padding:40px;background:#ffffff;border-radius:12px">
${body}
</td></tr></table>
</td></tr></table>
</body>
</html>`;
