// The MJML of blocks that MJML has no element for: tables of their own, inside of a text.
import type { Colors } from "../../../email/brand/colors.ts";
import type { Direction } from "../../../email/languages.ts";
import {
  isVariable,
  type MenuBlock,
  type ProductsBlock,
  type SocialBlock,
  sideOf,
  type TableBlock,
  type VideoBlock,
} from "./design.ts";
import type { Look } from "./look.ts";

export interface BlockWriter {
  look: Look;
  direction: Direction;
  colors: Colors;
  /** Pixels between the margins. */
  inner: number;
  /** Escapes what people typed. Liquid in it stays. */
  encode(text: string): string;
  /** Keeps markup and Liquid as they are. */
  keep(code: string): string;
}

const cellFont = (look: Look): string => `font-family:${look.font}`;

/** Links that wrap as a whole. */
export function writeLinkRow(
  { links }: MenuBlock | SocialBlock,
  { colors, encode }: BlockWriter,
  style: "menu" | "badges",
): string {
  const linkStyle =
    style === "menu"
      ? `color:${colors.link};font-weight:600;text-decoration:none;padding:6px 12px`
      : `color:${colors.buttonText};background-color:${colors.button};border-radius:14px;` +
        "font-weight:600;text-decoration:none;padding:5px 14px";
  const className = style === "menu" ? ' class="link"' : "";
  return links
    .filter(({ href, name }) => href && name)
    .map(
      ({ href, name }) =>
        `<a href="${encode(href)}"${className} style="display:inline-block;white-space:nowrap;` +
        `margin:3px 2px;${linkStyle}">${encode(name)}</a>`,
    )
    .join(" ");
}

/** The picture and a bar with a play sign, both one link. */
export function writeVideo(block: VideoBlock, writer: BlockWriter): string {
  const { look, colors, encode, inner } = writer;
  if (!block.src || !block.href) return "";
  const radius = look.radius.image;
  const width = Math.floor(inner);
  const href = encode(block.href);
  const linkStyle =
    `display:block;padding:12px 16px;color:${colors.buttonText};text-decoration:none;` +
    `font-size:15px;line-height:1.3;font-weight:600;${cellFont(look)}`;
  return (
    '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" ' +
    'style="border-collapse:separate"><tr><td style="padding:0;line-height:0;font-size:0">' +
    `<a href="${href}"><img src="${encode(block.src)}" alt="${encode(block.alt)}" ` +
    `width="${width}" style="display:block;width:100%;height:auto;border:0;` +
    `border-radius:${radius}px ${radius}px 0 0"></a></td></tr><tr>` +
    `<td align="center" bgcolor="${colors.button}" style="background-color:${colors.button};` +
    `border-radius:0 0 ${radius}px ${radius}px;text-align:center">` +
    `<a href="${href}" style="${linkStyle}">&#9654;&#65038;&nbsp; ${encode(block.label)}</a>` +
    "</td></tr></table>"
  );
}

export function writeTable({ rows, hasHeader }: TableBlock, writer: BlockWriter): string {
  if (!rows.length) return "";
  const { look, colors, encode, direction } = writer;
  const start = sideOf("left", direction);
  const padding = direction === "rtl" ? "8px 0 8px 12px" : "8px 12px 8px 0";
  const written = rows.map((row, i) => {
    const tag = hasHeader && i === 0 ? "th" : "td";
    const scope = tag === "th" ? ' scope="col"' : "";
    const weight = tag === "th" ? 700 : 400;
    const cells = row.map(
      (cell) =>
        `<${tag}${scope} align="${start}" class="cell" style="padding:${padding};` +
        `text-align:${start};vertical-align:top;font-size:15px;line-height:1.5;` +
        `font-weight:${weight};color:${colors.text};border-bottom:1px solid ${colors.line};` +
        `${cellFont(look)}">${encode(cell)}</${tag}>`,
    );
    return `<tr>${cells.join("")}</tr>`;
  });
  return (
    '<table width="100%" cellpadding="0" cellspacing="0" border="0" ' +
    `style="width:100%;border-collapse:collapse">${written.join("")}</table>`
  );
}

/** Items without the field are shown without it. */
export function writeProducts(block: ProductsBlock, writer: BlockWriter): string {
  const { look, colors, encode, keep, direction } = writer;
  const padding = direction === "rtl" ? "12px 0 12px 16px" : "12px 16px 12px 0";
  if (!isVariable(block.list)) return "";
  const read = (field: string) => (isVariable(field) ? `item.${field}` : undefined);
  const [image, title, price, link] = [block.image, block.title, block.price, block.link].map(read);
  const linked = (inside: string, style: string) =>
    link
      ? keep(`{% if ${link} %}<a href="{{ ${link} }}" class="link" style="${style}">{% endif %}`) +
        inside +
        keep(`{% if ${link} %}</a>{% endif %}`)
      : inside;
  const picture = image
    ? '<td width="96" valign="top" style="width:96px;padding:' +
      `${padding}">` +
      keep(`{% if ${image} %}`) +
      linked(
        keep(
          `<img src="{{ ${image} }}" alt="" width="96" style="display:block;width:96px;` +
            `height:auto;border:0;border-radius:${look.radius.thumbnail}px">`,
        ),
        "text-decoration:none",
      ) +
      `${keep("{% endif %}")}</td>`
    : "";
  const text = `font-size:16px;line-height:1.5;color:${colors.text};${cellFont(look)}`;
  const titleStyle = `color:${colors.text};text-decoration:none`;
  const words =
    `<td valign="top" class="cell" style="padding:12px 0;` +
    `text-align:${sideOf("left", direction)};${text}">` +
    (title ? `<strong>${linked(keep(`{{ ${title} }}`), titleStyle)}</strong>` : "") +
    (price ? `<br>${keep(`{{ ${price} }}`)}` : "") +
    "</td>";
  return (
    '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" ' +
    'style="width:100%;border-collapse:collapse">' +
    keep(`{% for item in ${encode(block.list)} limit: ${block.most} %}`) +
    `<tr>${picture}${words}</tr>${keep("{% endfor %}")}</table>`
  );
}
