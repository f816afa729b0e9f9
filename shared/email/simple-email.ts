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

// Mail programs drop style elements, so each element has its own style.
const styles = {
  page: "margin:0;background:#faf7f2",
  column:
    "max-width:34em;margin:0 auto;padding:24px 16px;" +
    "font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;color:#26211b",
  sender: "margin:0 0 16px;font-weight:700",
  sheet: "background:#ffffff;border:1px solid #e4dcd0;border-radius:8px;padding:24px",
  paragraph: "margin:0 0 16px",
  action: "margin:24px 0",
  button:
    "display:inline-block;padding:12px 20px;border-radius:6px;" +
    "background:#8f431d;color:#ffffff;text-decoration:none;font-weight:600",
  code: "font:600 20px/1.6 ui-monospace,Menlo,Consolas,monospace;word-break:break-all",
  note: "margin:16px 0 0;color:#635a50;font-size:14px;word-break:break-word",
};

function blockHtml(block: EmailBlock): Html {
  if (typeof block === "string") return html`<p style="${styles.paragraph}">${block}</p>`;
  if ("link" in block) {
    const button = html`<a href="${block.link}" style="${styles.button}">${block.label}</a>`;
    return html`<p style="${styles.action}">${button}</p>`;
  }
  if ("code" in block) {
    const code = html`<strong style="${styles.code}">${block.code}</strong>`;
    return html`<p style="${styles.action}">${block.label}:<br>${code}</p>`;
  }
  return html`<p style="${styles.note}">${block.note}</p>`;
}

const emailDocument = (sender: string, lang: string, blocks: EmailBlock[]): string =>
  html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light only">
<title>${sender}</title>
</head>
<body style="${styles.page}">
<div style="${styles.column}">
<p style="${styles.sender}">${sender}</p>
<div style="${styles.sheet}">${blocks.map(blockHtml)}</div>
</div>
</body>
</html>
`.html;
