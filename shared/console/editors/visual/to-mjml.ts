// Writes a design as MJML, the markup that becomes HTML for all mail programs. What people typed is
// escaped. Liquid is replaced by marks, because MJML must not touch it, and put back afterwards.
import type { Colors, InkName, Surface } from "../../../email/brand/colors.ts";
import { type Direction, directionOf } from "../../../email/languages.ts";
import {
  allBlocks,
  type BlockOf,
  type ButtonBlock,
  type ColumnsBlock,
  columnRatios,
  type Design,
  type DesignBlock,
  type FooterBlock,
  type HeadingBlock,
  type ImageBlock,
  isWide,
  type LeafBlock,
  type Paragraph,
  type SocialBlock,
  type Span,
  sideOf,
  type TextBlock,
  type Theme,
  type WideBlock,
} from "./design.ts";
import { brandLook, type Look, themeLook } from "./look.ts";
import { writeCondition } from "./show-if.ts";
import {
  type BlockWriter,
  writeLinkRow,
  writeProducts,
  writeTable,
  writeVideo,
} from "./write-more-blocks.ts";

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
  menu: [8, 8],
  video: [8, 8],
  table: [8, 8],
  products: [4, 4],
  html: [6, 6],
  snippet: [0, 0],
  footer: [8, 8],
};
/** Pixels above and below blocks that share a background. */
export const bandSpace = 18;

export function toMjml(design: Design, subject: string, { hasLogo = true } = {}): Mjml {
  const { theme, previewText, language = "en" } = design;
  const liquid: string[] = [];
  const direction = directionOf(language);
  const writer = createWriter({ theme, direction }, liquid);
  const { encode } = writer;
  const bands = toBands(design.blocks);
  const onSurface = bands.filter(({ surface }) => surface !== "page");
  const body = bands.map((band) =>
    writeBand(band, writer, {
      isFirst: band === onSurface[0],
      isLast: band === onSurface.at(-1),
    }),
  );
  const source = `<mjml lang="${language}" dir="${direction}">
<mj-head>
<mj-title>${encode(subject)}</mj-title>
${previewText ? `<mj-preview>${encode(previewText)}</mj-preview>` : ""}
<mj-raw><meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark"></mj-raw>
<mj-attributes>
<mj-all font-family="${writer.look.font}" />
<mj-section padding="0" direction="${direction}" />
<mj-wrapper padding="0" direction="${direction}" />
<mj-column padding="0" direction="${direction}" />
</mj-attributes>
<mj-style>${writeStyles(writer.look, design.blocks)}</mj-style>
</mj-head>
<mj-body width="${theme.width}px" background-color="${writer.look.background}" css-class="page">
${hasLogo ? writeLogo(writer) : writeGap()}
${body.join("\n")}
${writeGap()}
</mj-body>
</mjml>`;
  return { source, restoreLiquid: restore(liquid) };
}

/** The MJML of a design, for other editors. Liquid in attributes has single quotes. */
export function exportMjml(design: Design, subject: string): string {
  const { source, restoreLiquid } = toMjml(design, subject);
  const inTags = source.replace(/<[^<>]*>/g, (tag) =>
    tag.replace(/\uE000\d+\uE001/g, (mark) => restoreLiquid(mark).replaceAll('"', "'")),
  );
  return `${restoreLiquid(inTags)}\n`;
}

const restore = (liquid: string[]) => (html: string) =>
  html.replace(/\uE000(\d+)\uE001/g, (_, i) => liquid[Number(i)] ?? "");

/** The blocks of a snippet. What MJML makes of them stands between `snippetMarks`. */
export function snippetToMjml({ theme, blocks, language = "en" }: Design): Mjml {
  const liquid: string[] = [];
  const direction = directionOf(language);
  const writer = createWriter({ theme, direction }, liquid);
  const sections = toSections(blocks).map((section) =>
    writeSection(section, sectionSurface(section), writer),
  );
  const source = `<mjml><mj-head><mj-attributes>
<mj-all font-family="${writer.look.font}" />
<mj-section padding="0" direction="${direction}" />
<mj-column padding="0" direction="${direction}" />
</mj-attributes></mj-head><mj-body width="${theme.width}px">
<mj-raw>${snippetMarks[0]}</mj-raw>
${sections.join("\n")}
<mj-raw>${snippetMarks[1]}</mj-raw>
</mj-body></mjml>`;
  return { source, restoreLiquid: restore(liquid) };
}

export const snippetMarks = ["\uE002", "\uE003"] as const;

/** Blocks of a snippet stand on what the snippet stands on. */
const sectionSurface = (section: WideBlock | LeafBlock[]): Surface =>
  Array.isArray(section) && section.every(({ type }) => type === "footer") ? "page" : "none";

interface Writer {
  theme: Theme;
  direction: Direction;
  look: Look;
  /** Escapes what people typed. Liquid in it stays. */
  encode(text: string): string;
  /** Keeps markup and Liquid as they are. */
  keep(code: string): string;
}

function createWriter(
  { theme, direction }: Pick<Writer, "theme" | "direction">,
  liquid: string[],
): Writer {
  // Kept code can contain values of the brand, which are kept, too.
  const keep = (code: string) => {
    const whole = restore(liquid)(code).replace(/[\uE000-\uE003]/g, "");
    return `\uE000${liquid.push(whole) - 1}\uE001`;
  };
  return {
    theme,
    direction,
    look: theme.usesBrand ? brandLook(keep) : themeLook(theme),
    encode: (text) => encodeText(text, liquid),
    keep,
  };
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
  const { background } = writer.look.colors(surface);
  const above = isAtEdge(blocks[0]) ? 0 : bandSpace;
  const below = isAtEdge(blocks.at(-1)) ? 0 : bandSpace;
  const radius = writer.look.radius.email;
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
function toSections(blocks: readonly DesignBlock[]): (WideBlock | LeafBlock[])[] {
  const sections: (WideBlock | LeafBlock[])[] = [];
  for (const block of blocks) {
    const last = sections.at(-1);
    if (isWide(block)) sections.push(block);
    else if (Array.isArray(last)) last.push(block);
    else sections.push([block]);
  }
  return sections;
}

function writeSection(section: WideBlock | LeafBlock[], surface: Surface, writer: Writer): string {
  if (Array.isArray(section)) return writeLeaves(section, surface, writer);
  if (section.type === "columns")
    return writeShown(section, writeColumns(section, surface, writer), writer);
  const { name } = section;
  const tag = name ? `<mj-raw>${writer.keep(`{% render '${name}' %}`)}</mj-raw>` : "";
  return writeShown(section, tag, writer);
}

/** Around what is not shown to everybody. */
function writeShown({ showIf }: DesignBlock, mjml: string, { keep }: Writer): string {
  const condition = mjml && writeCondition(showIf);
  if (!condition) return mjml;
  const { before, after } = condition;
  return `<mj-raw>${keep(before)}</mj-raw>\n${mjml}\n<mj-raw>${keep(after)}</mj-raw>`;
}

function writeLeaves(section: LeafBlock[], surface: Surface, writer: Writer): string {
  const { theme } = writer;
  const context = {
    ...{ ...writer, colors: writer.look.colors(surface) },
    ...{ surface, side: sideMargin, width: theme.width },
  };
  return `<mj-section><mj-column>
${section.map((block) => writeLeaf(block, context)).join("\n")}
</mj-column></mj-section>`;
}

function writeColumns(section: ColumnsBlock, surface: Surface, writer: Writer): string {
  const { theme } = writer;
  const inherited = { ...writer, colors: writer.look.colors(surface), surface };
  const [above, below] = blockSpace.columns;
  const outer = sideMargin - columnMargin;
  const shares = columnRatios[section.ratio];
  const columns = section.columns.map((column, i) => {
    const width = ((theme.width - 2 * outer) * shares[i]!) / 100;
    const context = { ...inherited, side: columnMargin, width };
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
  surface: Surface;
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
  menu: (block, context, padding) =>
    writeOwn(block, writeLinkRow(block, toBlockWriter(context), "menu"), { context, padding }),
  video: (block, context, padding) =>
    writeOwn(block, writeVideo(block, toBlockWriter(context)), { context, padding }),
  table: (block, context, padding) =>
    writeOwn(block, writeTable(block, toBlockWriter(context)), { context, padding }),
  products: (block, context, padding) =>
    writeOwn(block, writeProducts(block, toBlockWriter(context)), { context, padding }),
  html: (block, context, padding) =>
    writeOwn(block, block.code.trim() && context.keep(block.code), { context, padding }),
  spacer: ({ height, phoneHeight }) =>
    phoneHeight === undefined || phoneHeight === height
      ? `<mj-spacer height="${height}px" />`
      : `<mj-spacer height="${height}px" css-class="space-${phoneHeight}" />`,
  divider: (_, { colors }, padding) =>
    `<mj-divider ${padding} line" border-width="1px" border-color="${colors.line}" />`,
};

function writeLeaf(block: LeafBlock, context: LeafContext): string {
  const [above, below] = block.type === "spacer" ? [0, 0] : blockSpace[block.type];
  const padding = `padding="${above}px ${context.side}px ${below}px" css-class="side`;
  const write = leafWriters[block.type] as LeafWriter<LeafBlock["type"]>;
  return writeShown(block, write(block, context, padding), context);
}

const toBlockWriter = ({ side, width, ...writer }: LeafContext): BlockWriter => ({
  ...writer,
  inner: width - 2 * side,
});

interface OwnMarkup {
  context: LeafContext;
  padding: string;
}

/** Markup of its own, in the place of a text. */
function writeOwn(
  block: LeafBlock,
  html: string,
  { context: { colors, look, direction }, padding }: OwnMarkup,
): string {
  const align = sideOf("align" in block ? block.align : "left", direction);
  return html
    ? `<mj-text ${padding} text" align="${align}" color="${colors.text}" font-size="15px"
line-height="1.6" font-family="${look.font}">
${html}</mj-text>`
    : "";
}

function writeButton(block: ButtonBlock, context: LeafContext, padding: string): string {
  const { colors, encode, look, direction } = context;
  const href = block.href ? `href="${encode(block.href)}"` : "";
  return `<mj-button ${padding} button" ${href} align="${sideOf(block.align, direction)}"
${block.isWide ? 'width="100%"' : ""} background-color="${colors.button}"
color="${colors.buttonText}" border-radius="${look.radius.button}px" font-size="16px"
font-weight="600" line-height="1.2" inner-padding="14px 24px">${encode(block.label)}</mj-button>`;
}

/** Words instead of icons, because icons would be loaded from another host. */
function writeSocial(block: SocialBlock, context: LeafContext, padding: string): string {
  const { theme, surface, keep } = context;
  if (block.usesBrand && theme.usesBrand) {
    const links = block.style === "badges" ? "badges" : "social";
    const output = `{{ brandLook.${surface}.${links} | raw }}`;
    return writeOwn(block, keep(output), { context, padding });
  }
  if (block.style === "badges") {
    const badges = writeLinkRow(block, toBlockWriter(context), "badges");
    return writeOwn(block, badges, { context, padding });
  }
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
  { encode, side, width, look, direction }: LeafContext,
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
  // Columns are wider on a phone, where they stand below each other.
  const fluid = block.width === 100 ? 'fluid-on-mobile="true"' : "";
  return `<mj-image ${common} ${padding}" align="${sideOf(block.align, direction)}"
width="${pixels}px" ${fluid}
border-radius="${look.radius.image}px" />`;
}

type Written = HeadingBlock | TextBlock | FooterBlock;

function writeText(block: Written, context: LeafContext, padding: string): string {
  const { colors, look, direction } = context;
  const isHeading = block.type === "heading";
  const [size, line] = isHeading ? headingSizes[block.level] : textSizes[sizeOf(block)];
  const isQuiet = block.type === "footer";
  const color = isQuiet ? colors.quiet : colors.text;
  const html = isHeading
    ? `<h${block.level} style="margin:0;font-size:${size}px;line-height:${line};font-weight:700">` +
      `${writeSpans(block.text[0]?.spans ?? [], context)}</h${block.level}>`
    : writeParagraphs(block.text, context) + writeBrandFooter(block, context);
  if (!html) return "";
  return `<mj-text ${padding} ${isQuiet ? "quiet" : "text"}"
align="${sideOf(block.align, direction)}" color="${color}"
font-size="${size}px" line-height="${line}" font-family="${look.font}">
${html}</mj-text>`;
}

/** The legal notice of the brand. */
const writeBrandFooter = ({ type }: Written, { theme, keep }: LeafContext): string =>
  type === "footer" && theme.usesBrand ? keep("{{ brandLook.footer | raw }}") : "";

const sizeOf = (block: TextBlock | FooterBlock) =>
  block.type === "footer" ? "footer" : block.size;

/** Items that follow each other are one list. */
function writeParagraphs(text: readonly Paragraph[], context: LeafContext): string {
  if (text.every(({ spans }) => spans.length === 0)) return "";
  const listPadding = context.direction === "rtl" ? "0 22px 0 0" : "0 0 0 22px";
  return groupItems(text)
    .map((group, i, groups) => {
      const margin = i === groups.length - 1 ? "0" : "0 0 12px";
      const lines = group.map(({ spans }) => writeSpans(spans, context) || "&nbsp;");
      const { isItem, isNumbered } = group[0]!;
      if (!isItem) return `<p style="margin:${margin}">${lines.join("")}</p>`;
      const items = lines.map((item) => `<li style="margin:0 0 4px">${item}</li>`).join("");
      const list = isNumbered ? "ol" : "ul";
      return `<${list} style="margin:${margin};padding:${listPadding}">${items}</${list}>`;
    })
    .join("");
}

/** Paragraphs alone, and items of one list together. */
export function groupItems(text: readonly Paragraph[]): Paragraph[][] {
  const groups: Paragraph[][] = [];
  for (const paragraph of text) {
    const last = groups.at(-1);
    const [first] = last ?? [];
    const goesOn = first?.isItem && first.isNumbered === paragraph.isNumbered;
    if (paragraph.isItem && goesOn) last!.push(paragraph);
    else groups.push([paragraph]);
  }
  return groups;
}

function writeSpans(spans: readonly Span[], { colors, encode }: LeafContext): string {
  return joinLiquid(spans)
    .map(({ text, bold, italic, underline, ink, href }) => {
      let html = encode(text).replaceAll("\n", "<br>");
      if (italic) html = `<em>${html}</em>`;
      if (bold) html = `<strong>${html}</strong>`;
      if (underline) html = `<span style="text-decoration:underline">${html}</span>`;
      if (ink) html = `<span class="ink-${ink}" style="color:${colors.inks[ink]}">${html}</span>`;
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

function writeLogo({ theme, look, encode, keep }: Writer): string {
  if (theme.usesBrand)
    return `<mj-section><mj-column><mj-text padding="0 ${sideMargin}px" align="center"
color="${look.colors("page").text}">
${keep("{{ brandLook.logo | raw }}")}</mj-text></mj-column></mj-section>`;
  const { src, alt, href, width } = theme.logo;
  if (!src) return writeGap();
  const link = href ? `href="${encode(href)}"` : "";
  return `<mj-section><mj-column><mj-image src="${encode(src)}" alt="${encode(alt)}" ${link}
width="${width}px" padding="28px ${sideMargin}px 20px" /></mj-column></mj-section>`;
}

const writeGap = (): string =>
  '<mj-section padding="24px 0 0"><mj-column></mj-column></mj-section>';

/** Widths of columns and pictures in snippets, which MJML does not see. */
const snippetWidths = `@media (min-width: 480px) {
${["100", "50", "33-33", "66-67"]
  .map((width) => {
    const percent = `${width.replace("-", ".")}%`;
    return `.mj-column-per-${width} { width: ${percent} !important; max-width: ${percent} }`;
  })
  .join("\n")}
}
@media (max-width: 479px) {
table.mj-full-width-mobile { width: 100% !important }
td.mj-full-width-mobile { width: auto !important }
}
`;

/** The colours of words that the texts have. */
function inksIn(blocks: readonly DesignBlock[]): InkName[] {
  const texts = allBlocks(blocks).flatMap((block) => ("text" in block ? block.text : []));
  return [...new Set(texts.flatMap(({ spans }) => spans.flatMap(({ ink }) => ink ?? [])))];
}

function writeStyles({ dark }: Look, blocks: readonly DesignBlock[]): string {
  const phoneHeights = allBlocks(blocks).flatMap((block) =>
    block.type === "spacer" ? (block.phoneHeight ?? []) : [],
  );
  const spaces = [...new Set(phoneHeights)].map(
    (height) =>
      `.space-${height} > div { height: ${height}px !important; ` +
      `line-height: ${height}px !important; overflow: hidden }\n`,
  );
  const widths = blocks.some(({ type }) => type === "snippet") ? snippetWidths : "";
  const narrow = `${widths}@media (max-width: 479px) {
.side { padding-left: 20px !important; padding-right: 20px !important }
.columns > table > tbody > tr > td { padding-left: 0 !important; padding-right: 0 !important }
${spaces.join("")}}`;
  if (!dark) return narrow;
  const usedInks = inksIn(blocks);
  const surfaces = (["none", "soft", "page"] as const).map((surface) => {
    const { background, text, quiet, link, line, button, buttonText, inks } = dark.colors(surface);
    const on = `.on-${surface}`;
    const inkRules = usedInks.map(
      (ink) => `\n${on} .ink-${ink} { color: ${inks[ink]} !important }`,
    );
    const fill =
      surface === "page" ? "" : `${on}, ${on} > table { background: ${background} !important }`;
    return `${fill}
${on} .text div, ${on} .cell { color: ${text} !important }
${on} .cell { border-color: ${line} !important }
${on} .quiet div { color: ${quiet} !important }
${on} .link { color: ${link} !important }
${on} .button td, ${on} .button a, ${on} .button p { background: ${button} !important }
${on} .button a, ${on} .button p { color: ${buttonText} !important }
${on} .line p { border-top-color: ${line} !important }${inkRules.join("")}`;
  });
  return `${narrow}
@media (prefers-color-scheme: dark) {
body, .page { background: ${dark.background} !important }
${surfaces.join("\n")}
}`;
}
