// The layout of mails that the service writes itself: one column, as HTML and as plain text.
import { type Html, html } from "../kernel/html.ts";

/** A paragraph, a button, a code to copy, or a note in small print. */
export type EmailBlock =
  | string
  | { link: string; label: string }
  | { code: string; label: string }
  | { note: string };

export interface SimpleEmail {
  /** The sender's name, above the content. */
  sender: string;
  /** The language of the blocks. */
  lang?: string;
  blocks: EmailBlock[];
}

/** Renders the same content as HTML and as plain text. Blocks are text and are escaped. */
export const renderSimpleEmail = ({
  sender,
  lang = "en",
  blocks,
}: SimpleEmail): { html: string; text: string } => ({
  html: emailDocument(sender, lang, blocks),
  text: `${blocks.map(blockText).join("\n\n")}\n`,
});

function blockText(block: EmailBlock): string {
  if (typeof block === "string") return block;
  if ("link" in block) return block.link;
  return "code" in block ? `${block.label}: ${block.code}` : block.note;
}

function blockHtml(block: EmailBlock): Html {
  if (typeof block === "string") return html`<p style="margin:0 0 16px">${block}</p>`;
  if ("link" in block)
    return html`<p style="margin:24px 0"><a href="${block.link}" style="display:inline-block;padding:12px 20px;border-radius:6px;background:#8f431d;color:#ffffff;text-decoration:none;font-weight:600">${block.label}</a></p>`;
  if ("code" in block)
    return html`<p style="margin:24px 0">${block.label}:<br><strong style="font:600 20px/1.6 ui-monospace,Menlo,Consolas,monospace;word-break:break-all">${block.code}</strong></p>`;
  return html`<p style="margin:16px 0 0;color:#635a50;font-size:14px;word-break:break-word">${block.note}</p>`;
}

const emailDocument = (sender: string, lang: string, blocks: EmailBlock[]): string =>
  html`<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light only"><title>${sender}</title></head><body style="margin:0;background:#faf7f2"><div style="max-width:34em;margin:0 auto;padding:24px 16px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;color:#26211b"><p style="margin:0 0 16px;font-weight:700">${sender}</p><div style="background:#ffffff;border:1px solid #e4dcd0;border-radius:8px;padding:24px">${blocks.map(blockHtml)}</div></div></body></html>`
    .html;
