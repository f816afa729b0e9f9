// Writes a design as MJML, the markup that becomes HTML for all mail programs. What people typed is
// escaped. Liquid is replaced by marks, because MJML must not touch it, and put back afterwards.
import { type Colors, colorsOf, type Surface, toDarkTheme } from "./colors.ts";
import {
  type BlockOf,
  type ButtonBlock,
  type ColumnsBlock,
  columnRatios,
  corners,
  type Design,
  type DesignBlock,
  type FooterBlock,
  fonts,
  type HeadingBlock,
  type ImageBlock,
  isColumns,
  type LeafBlock,
  type Paragraph,
  type SocialBlock,
  type Span,
  type TextBlock,
  type Theme,
} from "./design.ts";

export interface Mjml {
  source: string;
  /** Puts the Liquid back into what MJML made of the source. */
  restoreLiquid(html: string): string;
}

/** Margin at the sides in pixels. */
const sideMargin = 32;
const columnMargin = 12;

/** Pixels and unitless line heights, of the email and of its canvas. */
export const headingSizes: Record<HeadingBlock["level"], [size: number, line: number]> = {
  1: [30, 1.25],
  2: [22, 1.3],
  3: [17, 1.4],
};
export const textSizes: Record<TextBlock["size"] | "footer", [size: number, line: number]> = {
  small: [14, 1.55],
  normal: [16, 1.6],
  large: [19, 1.55],
  footer: [13, 1.6],
};
/** Pixels above and below a block. */
export const blockSpace: Record<
  Exclude<DesignBlock["type"], "spacer">,
  [above: number, below: number]
> = {
  heading: [14, 4],
  text: [6, 6],
  button: [12, 12],
  image: [8, 8],
  columns: [4, 4],
  divider: [16, 16],
  social: [8, 8],
  footer: [8, 8],
};
/** Pixels above and below blocks that share a background. */
export const bandSpace = 18;

export function toMjml(design: Design, subject: string): Mjml {
  const { theme, previewText } = design;
  const liquid: string[] = [];
  const encode = (text: string): string => encodeText(text, liquid);
  const writer = { theme, encode };
  const bands = toBands(design.blocks);
  const onSurface = bands.filter(({ surface }) => surface !== "page");
  const body = bands.map((band) =>
    writeBand(band, writer, {
      isFirst: band === onSurface[0],
      isLast: band === onSurface.at(-1),
    }),
  );
  const source = `<mjml lang="en">
<mj-head>
<mj-title>${encode(subject)}</mj-title>
${previewText ? `<mj-preview>${encode(previewText)}</mj-preview>` : ""}
<mj-raw><meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark"></mj-raw>
<mj-attributes>
<mj-all font-family="${fonts[theme.font].family}" />
<mj-section padding="0" />
<mj-wrapper padding="0" />
<mj-column padding="0" />
</mj-attributes>
<mj-style>${writeStyles(theme)}</mj-style>
</mj-head>
<mj-body width="${theme.width}px" background-color="${theme.background}" css-class="page">
${writeLogo(writer)}
${body.join("\n")}
${writeGap()}
</mj-body>
</mjml>`;
  return {
    source,
    restoreLiquid: (html) => html.replace(/\uE000(\d+)\uE001/g, (_, i) => liquid[Number(i)]!),
  };
}

interface Writer {
  theme: Theme;
  encode(text: string): string;
}

/** Where a piece of Liquid is in a text. */
interface LiquidPiece {
  start: number;
  end: number;
}

/** Finds `{{ … }}` and `{% … %}`, in a time that is linear in the length of the text. */
function findLiquid(text: string): LiquidPiece[] {
  const pieces: LiquidPiece[] = [];
  const unclosed = new Set<string>();
  let position = 0;
  for (const { index: start, 0: opening } of text.matchAll(/\{[{%]/g)) {
    if (start < position || unclosed.has(opening)) continue;
    const closing = text.indexOf(opening === "{{" ? "}}" : "%}", start + 2);
    if (closing === -1) {
      unclosed.add(opening);
      continue;
    }
    position = closing + 2;
    pieces.push({ start, end: position });
  }
  return pieces;
}

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for HTML and for attributes. Each piece of Liquid becomes a mark. */
function encodeText(text: string, liquid: string[]): string {
  const clean = text.replace(/[\uE000\uE001]/g, "");
  let marked = "";
  let position = 0;
  for (const { start, end } of findLiquid(clean)) {
    const n = liquid.push(clean.slice(start, end)) - 1;
    marked += `${clean.slice(position, start)}\uE000${n}\uE001`;
    position = end;
  }
  marked += clean.slice(position);
  return marked.replace(/[&<>"']/g, (char) => entities[char]!);
}

/** Blocks that follow each other on the same background. */
export interface Band {
  surface: Surface;
  blocks: DesignBlock[];
}

export function toBands(blocks: readonly DesignBlock[]): Band[] {
  const bands: Band[] = [];
  const lastOnSurface = blocks.findLastIndex(({ type }) => type !== "footer");
  for (const [i, block] of blocks.entries()) {
    const surface = i > lastOnSurface ? "page" : block.fill;
    const last = bands.at(-1);
    if (last?.surface === surface) last.blocks.push(block);
    else bands.push({ surface, blocks: [block] });
  }
  return bands;
}

interface BandPlace {
  isFirst: boolean;
  isLast: boolean;
}

const isAtEdge = (block: DesignBlock | undefined): boolean =>
  block?.type === "image" && block.width === "edge";

function writeBand({ surface, blocks }: Band, writer: Writer, place: BandPlace): string {
  const { background } = colorsOf(writer.theme, surface);
  const above = isAtEdge(blocks[0]) ? 0 : bandSpace;
  const below = isAtEdge(blocks.at(-1)) ? 0 : bandSpace;
  const radius = corners[writer.theme.corners] ? 12 : 0;
  const [top, bottom] = [place.isFirst ? radius : 0, place.isLast ? radius : 0];
  const fill =
    surface === "page"
      ? ""
      : `background-color="${background}"
border-radius="${top}px ${top}px ${bottom}px ${bottom}px"`;
  return `<mj-wrapper ${fill} css-class="on-${surface}" padding="${above}px 0 ${below}px">
${toSections(blocks)
  .map((section) => writeSection(section, surface, writer))
  .join("\n")}
</mj-wrapper>`;
}

/** Each columns block is a section. So are the blocks between two of them. */
function toSections(blocks: readonly DesignBlock[]): (ColumnsBlock | LeafBlock[])[] {
  const sections: (ColumnsBlock | LeafBlock[])[] = [];
  for (const block of blocks) {
    const last = sections.at(-1);
    if (isColumns(block)) sections.push(block);
    else if (Array.isArray(last)) last.push(block);
    else sections.push([block]);
  }
  return sections;
}

function writeSection(
  section: ColumnsBlock | LeafBlock[],
  surface: Surface,
  writer: Writer,
): string {
  const { theme } = writer;
  const look = { ...writer, colors: colorsOf(theme, surface) };
  if (Array.isArray(section)) {
    const context = { ...look, side: sideMargin, width: theme.width };
    return `<mj-section><mj-column>
${section.map((block) => writeLeaf(block, context)).join("\n")}
</mj-column></mj-section>`;
  }
  const [above, below] = blockSpace.columns;
  const outer = sideMargin - columnMargin;
  const shares = columnRatios[section.ratio];
  const columns = section.columns.map((column, i) => {
    const width = ((theme.width - 2 * outer) * shares[i]!) / 100;
    const context = { ...look, side: columnMargin, width };
    return `<mj-column width="${shares[i]}%">
${column.map((block) => writeLeaf(block, context)).join("\n")}
</mj-column>`;
  });
  return `<mj-section padding="${above}px ${outer}px ${below}px" css-class="columns">
${columns.join("\n")}
</mj-section>`;
}

interface LeafContext extends Writer {
  colors: Colors;
  /** Margin at the sides in pixels. */
  side: number;
  /** Pixels between the edges that the margins are in. */
  width: number;
}

type LeafWriter<Type extends LeafBlock["type"]> = (
  block: BlockOf<Type>,
  context: LeafContext,
  /** Attributes of the space around the block. The class attribute is still open. */
  padding: string,
) => string;

const leafWriters: { [Type in LeafBlock["type"]]: LeafWriter<Type> } = {
  heading: writeText,
  text: writeText,
  footer: writeText,
  button: writeButton,
  image: writeImage,
  social: writeSocial,
  spacer: ({ height }) => `<mj-spacer height="${height}px" />`,
  divider: (_, { colors }, padding) =>
    `<mj-divider ${padding} line" border-width="1px" border-color="${colors.line}" />`,
};

function writeLeaf(block: LeafBlock, context: LeafContext): string {
  const [above, below] = block.type === "spacer" ? [0, 0] : blockSpace[block.type];
  const padding = `padding="${above}px ${context.side}px ${below}px" css-class="side`;
  const write = leafWriters[block.type] as LeafWriter<LeafBlock["type"]>;
  return write(block, context, padding);
}

function writeButton(block: ButtonBlock, context: LeafContext, padding: string): string {
  const { colors, encode, theme } = context;
  const href = block.href ? `href="${encode(block.href)}"` : "";
  return `<mj-button ${padding}" ${href} align="${block.align}"
${block.isWide ? 'width="100%"' : ""} background-color="${colors.button}"
color="${colors.buttonText}" border-radius="${corners[theme.corners]}px" font-size="16px"
font-weight="600" line-height="1.2" inner-padding="14px 24px">${encode(block.label)}</mj-button>`;
}

/** Words instead of icons, because icons would be loaded from another host. */
function writeSocial(block: SocialBlock, context: LeafContext, padding: string): string {
  const links = block.links.filter(({ href, name }) => href && name);
  const spans = links.flatMap(({ name, href }, i): Span[] => [
    ...(i ? [{ text: "  ·  " }] : []),
    { text: name, href },
  ]);
  const footer: FooterBlock = { ...block, type: "footer", text: [{ spans }] };
  return links.length ? writeText(footer, context, padding) : "";
}

function writeImage(
  block: ImageBlock,
  { encode, side, width, theme }: LeafContext,
  padding: string,
): string {
  if (!block.src) return "";
  const alt = block.isDecorative ? "" : encode(block.alt);
  const link = block.href ? `href="${encode(block.href)}"` : "";
  const common = `src="${encode(block.src)}" alt="${alt}" ${link}`;
  if (block.width === "edge")
    return `<mj-image ${common} padding="0" width="${Math.floor(width)}px"
fluid-on-mobile="true" />`;
  const pixels = Math.floor(((width - 2 * side) * block.width) / 100);
  return `<mj-image ${common} ${padding}" align="${block.align}" width="${pixels}px"
border-radius="${Math.min(corners[theme.corners], 12)}px" />`;
}

type Written = HeadingBlock | TextBlock | FooterBlock;

function writeText(block: Written, context: LeafContext, padding: string): string {
  const { colors, theme } = context;
  const isHeading = block.type === "heading";
  const [size, line] = isHeading ? headingSizes[block.level] : textSizes[sizeOf(block)];
  const isQuiet = block.type === "footer";
  const color = isQuiet ? colors.quiet : colors.text;
  const html = isHeading
    ? `<h${block.level} style="margin:0;font-size:${size}px;line-height:${line};font-weight:700">` +
      `${writeSpans(block.text[0]?.spans ?? [], context)}</h${block.level}>`
    : writeParagraphs(block.text, context);
  if (!html) return "";
  return `<mj-text ${padding} ${isQuiet ? "quiet" : "text"}" align="${block.align}" color="${color}"
font-size="${size}px" line-height="${line}" font-family="${fonts[theme.font].family}">
${html}</mj-text>`;
}

const sizeOf = (block: TextBlock | FooterBlock) =>
  block.type === "footer" ? "footer" : block.size;

/** Bullets that follow each other are one list. */
function writeParagraphs(text: readonly Paragraph[], context: LeafContext): string {
  if (text.every(({ spans }) => spans.length === 0)) return "";
  return groupItems(text)
    .map((group, i, groups) => {
      const margin = i === groups.length - 1 ? "0" : "0 0 12px";
      const lines = group.map(({ spans }) => writeSpans(spans, context) || "&nbsp;");
      if (!group[0]!.isItem) return `<p style="margin:${margin}">${lines.join("")}</p>`;
      const items = lines.map((item) => `<li style="margin:0 0 4px">${item}</li>`).join("");
      return `<ul style="margin:${margin};padding:0 0 0 22px">${items}</ul>`;
    })
    .join("");
}

/** Paragraphs alone, and bullets that follow each other together. */
export function groupItems(text: readonly Paragraph[]): Paragraph[][] {
  const groups: Paragraph[][] = [];
  for (const paragraph of text) {
    const last = groups.at(-1);
    if (paragraph.isItem && last?.[0]?.isItem) last.push(paragraph);
    else groups.push([paragraph]);
  }
  return groups;
}

function writeSpans(spans: readonly Span[], { colors, encode }: LeafContext): string {
  return joinLiquid(spans)
    .map(({ text, bold, italic, href }) => {
      let html = encode(text).replaceAll("\n", "<br>");
      if (italic) html = `<em>${html}</em>`;
      if (bold) html = `<strong>${html}</strong>`;
      if (!href) return html;
      const style = `color:${colors.link};text-decoration:underline`;
      return `<a href="${encode(href)}" class="link" style="${style}">${html}</a>`;
    })
    .join("");
}

/** Tags would cut Liquid of which only a part is bold, so all of it looks like its start. */
export function joinLiquid(spans: readonly Span[]): Span[] {
  const all = spans.map(({ text }) => text).join("");
  const codes = findLiquid(all);
  const joined: Span[] = [];
  let position = 0;
  for (const span of spans) {
    const end = position + span.text.length;
    let from = position;
    for (const code of codes) {
      // The rest of Liquid that began in an earlier span belongs to that one.
      if (code.start < position && code.end > position) from = Math.min(code.end, end);
      // Liquid that begins here is taken whole.
      if (code.start >= position && code.start < end && code.end > end) {
        joined.push({ ...span, text: all.slice(from, code.end) });
        from = end;
      }
    }
    if (from < end) joined.push({ ...span, text: all.slice(from, end) });
    position = end;
  }
  return joined;
}

function writeLogo({ theme, encode }: Writer): string {
  const { src, alt, href, width } = theme.logo;
  if (!src) return writeGap();
  const link = href ? `href="${encode(href)}"` : "";
  return `<mj-section><mj-column><mj-image src="${encode(src)}" alt="${encode(alt)}" ${link}
width="${width}px" padding="28px ${sideMargin}px 20px" /></mj-column></mj-section>`;
}

const writeGap = (): string =>
  '<mj-section padding="24px 0 0"><mj-column></mj-column></mj-section>';

function writeStyles(theme: Theme): string {
  const narrow = `@media (max-width: 479px) {
.side { padding-left: 20px !important; padding-right: 20px !important }
.columns > table > tbody > tr > td { padding-left: 0 !important; padding-right: 0 !important }
}`;
  const dark = toDarkTheme(theme);
  if (!dark) return narrow;
  const surfaces = (["none", "soft", "page"] as const).map((surface) => {
    const { background, text, quiet, link, line } = colorsOf(dark, surface);
    const on = `.on-${surface}`;
    const fill =
      surface === "page" ? "" : `${on}, ${on} > table { background: ${background} !important }`;
    return `${fill}
${on} .text div { color: ${text} !important }
${on} .quiet div { color: ${quiet} !important }
${on} .link { color: ${link} !important }
${on} .line p { border-top-color: ${line} !important }`;
  });
  return `${narrow}
@media (prefers-color-scheme: dark) {
body, .page { background: ${dark.background} !important }
${surfaces.join("\n")}
}`;
}
