// The layout of mails that the service writes itself: one column, as HTML and as plain text.
import { type Html, html } from "../kernel/html.ts";
import { type Brand, type BrandLogo, fonts } from "./brand/brand.ts";
import { colorsOf } from "./brand/colors.ts";
import { radiiOf } from "./brand/look.ts";
import { directionOf } from "./languages.ts";

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
  /** The brand of the site that sends the email. Absent: the look of the service. */
  brand?: Brand | undefined;
}

/** Renders the same content as HTML and as plain text. Blocks are text and are escaped. */
export const renderSimpleEmail = ({
  sender,
  lang = "en",
  blocks,
  brand,
}: SimpleEmail): { html: string; text: string } => ({
  html: emailDocument({ sender, lang, blocks, brand }),
  text: `${[...blocks.map(blockText), ...listNotices(brand)].join("\n\n")}\n`,
});

const listNotices = (brand: Brand | undefined): string[] =>
  [...(brand?.socialLinks ?? []).map(({ name, url }) => `${name}: ${url}`), brand?.footerText]
    .map((text) => text?.trim() ?? "")
    .filter(Boolean);

function blockText(block: EmailBlock): string {
  if (typeof block === "string") return block;
  if ("link" in block) return block.link;
  return "code" in block ? `${block.label}: ${block.code}` : block.note;
}

// Mail programs drop style elements, so each element has its own style.
const defaultLook = {
  page: "#faf7f2",
  sheet: "#ffffff",
  text: "#26211b",
  quiet: "#635a50",
  around: "#635a50",
  aroundLink: "#8f431d",
  line: "#e4dcd0",
  button: "#8f431d",
  buttonText: "#ffffff",
  font: "system-ui,-apple-system,'Segoe UI',sans-serif",
  radius: { email: 8, button: 6 },
};
type EmailLook = typeof defaultLook;

function lookOf(brand: Brand | undefined): EmailLook {
  if (!brand) return defaultLook;
  const sheet = colorsOf(brand.colors, "none");
  const page = colorsOf(brand.colors, "page");
  return {
    ...sheet,
    ...{ page: page.background, sheet: sheet.background },
    ...{ around: page.quiet, aroundLink: page.link },
    font: fonts[brand.font].family,
    radius: radiiOf(brand.corners),
  };
}

const styleOf = ({ radius, ...look }: EmailLook) => ({
  page: `margin:0;background:${look.page}`,
  column:
    `max-width:34em;margin:0 auto;padding:24px 16px;font:16px/1.5 ${look.font};` +
    `color:${look.text}`,
  sender: `margin:0 0 16px;font-weight:700;color:${look.around}`,
  sheet:
    `background:${look.sheet};border:1px solid ${look.line};` +
    `border-radius:${radius.email}px;padding:24px`,
  paragraph: "margin:0 0 16px",
  action: "margin:24px 0",
  button:
    `display:inline-block;padding:12px 20px;border-radius:${radius.button}px;` +
    `background:${look.button};color:${look.buttonText};text-decoration:none;font-weight:600`,
  code: "font:600 20px/1.6 ui-monospace,Menlo,Consolas,monospace;word-break:break-all",
  note: `margin:16px 0 0;color:${look.quiet};font-size:14px;word-break:break-word`,
  around: `margin:16px 0 0;color:${look.around};font-size:13px;text-align:center`,
  aroundLink: `color:${look.aroundLink}`,
});
type Styles = ReturnType<typeof styleOf>;

function blockHtml(block: EmailBlock, styles: Styles): Html {
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

function emailDocument({ sender, lang = "en", blocks, brand }: SimpleEmail): string {
  const styles = styleOf(lookOf(brand));
  const content = blocks.map((block) => blockHtml(block, styles));
  return html`<!doctype html>
<html lang="${lang}" dir="${directionOf(lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light only">
<title>${sender}</title>
</head>
<body style="${styles.page}">
<div style="${styles.column}">
<p style="${styles.sender}">${brand?.logo ? logoHtml(brand.logo) : sender}</p>
<div style="${styles.sheet}">${content}</div>
${brand && footerHtml(brand, styles)}</div>
</body>
</html>
`.html;
}

function logoHtml({ url, alt, link, width }: BrandLogo): Html {
  const style = `width:${width}px;max-width:100%;height:auto;border:0`;
  const image = html`<img src="${url}" alt="${alt}" width="${width}" style="${style}">`;
  return link ? html`<a href="${link}">${image}</a>` : image;
}

function footerHtml({ socialLinks, footerText }: Brand, styles: Styles): Html {
  const links = socialLinks.map(
    ({ name, url }) => html`<a href="${url}" style="${styles.aroundLink}">${name}</a> &nbsp; `,
  );
  const lines = (footerText?.trim() ?? "").split(/\r?\n/).filter(Boolean);
  const text = lines.map((line, i) => [i > 0 && html`<br>`, line]);
  return html`${links.length > 0 && html`<p style="${styles.around}">${links}</p>`}${
    lines.length > 0 && html`<p style="${styles.around}">${text}</p>`
  }`;
}
