// The look of the mails of playbooks: one column of tables, which every mail program draws, as wide as a phone or a page; and the same
// words as plain text. The way out and the postal address are added when it is sent.
import type { Block, Mail } from "./playbook.ts";

/** Liquid in what comes from outside would be read as ours. */
const harmless = (text: string): string => text.replace(/[{}[\]]/g, "").trim();

export interface House {
  company: string;
  /** Without a slash at its end. */
  url: string;
}

export interface Written {
  subject: string;
  html: string;
  text: string;
}

export function written({ subject, preview, blocks }: Mail, { company, url }: House): Written {
  const said = (text: string) => text.replaceAll("[[company]]", harmless(company)).replaceAll("[[url]]", harmless(url));
  return {
    subject: said(subject),
    html: page(
      escaped(said(subject)),
      escaped(said(preview)),
      escaped(harmless(company)),
      blocks.map((block) => shown(block, said)).join("\n"),
    ),
    text: `${blocks.map((block) => plain(block, said)).join("\n\n")}\n`,
  };
}

type Said = (text: string) => string;

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** What stands in Liquid's braces is no text yet. */
const escaped = (text: string): string =>
  text.replace(/(\{\{.*?\}\}|\{%.*?%\})|[&<>"]/g, (char, liquid?: string) => liquid ?? entities[char]!);

const font = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const words = `margin:0 0 18px;${font};font-size:16px;line-height:1.6;color:#2b2f36`;

function shown(block: Block, said: Said): string {
  if (typeof block === "string") return `<p style="${words}">${escaped(said(block)).replaceAll("\n", "<br>")}</p>`;
  if ("heading" in block)
    return `<h1 style="margin:0 0 18px;${font};font-size:26px;line-height:1.3;font-weight:700;color:#14171c">${escaped(said(block.heading))}</h1>`;
  if ("list" in block)
    return `<ul style="margin:0 0 18px;padding:0 0 0 22px">${block.list.map((item) => `<li style="${words};margin:0 0 8px">${escaped(said(item))}</li>`).join("")}</ul>`;
  return `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:6px 0 24px"><tr><td style="border-radius:8px;background:#1f5eff"><a href="${escaped(said(block.href))}" style="display:inline-block;padding:14px 26px;${font};font-size:16px;line-height:1.2;font-weight:600;color:#ffffff;text-decoration:none;border-radius:8px">${escaped(said(block.button))}</a></td></tr></table>`;
}

function plain(block: Block, said: Said): string {
  if (typeof block === "string") return said(block);
  if ("heading" in block) return said(block.heading).toUpperCase();
  if ("list" in block) return block.list.map((item) => `- ${said(item)}`).join("\n");
  return `${said(block.button)}: ${said(block.href)}`;
}

const page = (title: string, preview: string, company: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>${title}</title>
<style>@media (max-width: 480px) { .card { padding: 28px 20px !important; border-radius: 0 !important; } .page { padding: 20px 0 24px !important; } .name { padding: 0 20px 14px !important; } }</style>
</head>
<body style="margin:0;padding:0;background:#f3f4f7">
<div style="display:none;max-height:0;overflow:hidden;opacity:0">${preview}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f3f4f7"><tr><td class="page" align="center" style="padding:32px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px"><tr><td class="name" style="padding:0 8px 16px;${font};font-size:15px;line-height:1.4;font-weight:700;color:#14171c">${company}</td></tr>
<tr><td class="card" style="padding:40px;background:#ffffff;border-radius:12px">
${body}
</td></tr></table>
</td></tr></table>
</body>
</html>`;
