// The look of the mails that we write ourselves: one column that reads well on a phone, in a dark room, and as plain text.
import { type Html, html } from "../http/html.ts";

/** A paragraph, a link to press, something to copy, or words that matter less. */
export type Block = string | { link: string; label: string } | { copy: string; label: string } | { small: string };

export interface Letter {
  /** Above it all: who writes. */
  sender: string;
  /** The language of the blocks. */
  lang?: string;
  blocks: Block[];
}

/** Both say the same; whatever comes in is text and stays text. */
export const letter = ({ sender, lang = "en", blocks }: Letter): { html: string; text: string } => ({
  html: page(sender, lang, blocks),
  text: `${blocks.map(plain).join("\n\n")}\n`,
});

function plain(block: Block): string {
  if (typeof block === "string") return block;
  if ("link" in block) return block.link;
  return "copy" in block ? `${block.label}: ${block.copy}` : block.small;
}

function shown(block: Block): Html {
  if (typeof block === "string") return html`<p style="margin:0 0 16px">${block}</p>`;
  if ("link" in block)
    return html`<p style="margin:24px 0"><a href="${block.link}" style="display:inline-block;padding:12px 20px;border-radius:6px;background:#8f431d;color:#ffffff;text-decoration:none;font-weight:600">${block.label}</a></p>`;
  if ("copy" in block)
    return html`<p style="margin:24px 0">${block.label}:<br><strong style="font:600 20px/1.6 ui-monospace,Menlo,Consolas,monospace;word-break:break-all">${block.copy}</strong></p>`;
  return html`<p style="margin:16px 0 0;color:#635a50;font-size:14px;word-break:break-word">${block.small}</p>`;
}

const page = (sender: string, lang: string, blocks: Block[]): string =>
  html`<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light only"><title>${sender}</title></head><body style="margin:0;background:#faf7f2"><div style="max-width:34em;margin:0 auto;padding:24px 16px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;color:#26211b"><p style="margin:0 0 16px;font-weight:700">${sender}</p><div style="background:#ffffff;border:1px solid #e4dcd0;border-radius:8px;padding:24px">${blocks.map(shown)}</div></div></body></html>`
    .html;
