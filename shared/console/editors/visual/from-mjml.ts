// Reads MJML as a design. What a block can show becomes that block; other markup becomes a block of
// HTML; what neither can show is left out and reported. Markup: https://documentation.mjml.io

import { DomUtils, parseDocument } from "htmlparser2";
import { type FontName, fonts } from "../../../email/brand/brand.ts";
import { type Language, languages } from "../../../email/languages.ts";
import { t } from "../../language/translate.ts";
import { ReadableError } from "../../parts/readable-error.ts";
import {
  type ColumnRatio,
  columnRatios,
  type Design,
  defaultTheme,
  designVersion,
  type EmailWidth,
  editorName,
  type Fill,
  limits,
  type Paragraph,
  type Span,
  type TextBlock,
  type Theme,
} from "./design.ts";
import { parseDesign } from "./parse-design.ts";

const { isTag, isText } = DomUtils;
type ChildNode = ReturnType<typeof parseDocument>["children"][number];
type Element = NonNullable<ReturnType<typeof DomUtils.findOne>>;

export interface ImportedDesign {
  design: Design;
  subject: string;
  /** What was left out or simplified, for people. */
  notes: string[];
}

/** A block as `parseDesign` reads it. */
type BlockJson = Record<string, unknown> & { type: string };

interface Context {
  theme: Theme;
  /** Attributes of `mj-attributes`, by element and by class. */
  defaults: Map<string, Attributes>;
  /** Pixels that the blocks have. */
  width: number;
  notes: Set<string>;
}
type Attributes = Record<string, string>;

export const maxMjmlLength = 500_000;

/** Throws `ReadableError` if the text is no MJML, or too large for a design. */
export function fromMjml(source: string): ImportedDesign {
  if (source.length > maxMjmlLength)
    throw new ReadableError(t("The file is too large: MJML may have at most 500,000 characters."));
  const { children } = parseDocument(source, { recognizeSelfClosing: true });
  const root = findElement(children, "mjml");
  const body = root && findElement(root.children, "mj-body");
  if (!body)
    throw new ReadableError(t("The file is no MJML: it has no mj-body element inside of mjml."));
  const head = elementsOf(findElement(root.children, "mj-head"));
  const defaults = readDefaults(head);
  const theme = readTheme(body, defaults);
  const context: Context = { theme, defaults, width: theme.width, notes: new Set() };
  if (head.some(({ name }) => name === "mj-style"))
    context.notes.add(t("Styles of the head were left out."));
  const blocks = elementsOf(body).flatMap((element) => readSection(element, context));
  const textIn = (name: string) => textOf(head.find((element) => element.name === name));
  const language = languages.find((one) => one === root.attribs.lang?.slice(0, 2).toLowerCase());
  const design = parseDesign({
    editor: editorName,
    version: designVersion,
    ...(language && { language: language satisfies Language }),
    previewText: textIn("mj-preview").slice(0, limits.previewText),
    theme,
    blocks,
  });
  if (!design)
    throw new ReadableError(
      t("The email is too large: a design has at most {blocks} blocks and 100,000 characters.", {
        blocks: limits.blocks,
      }),
    );
  if (design.blocks.length === 0)
    throw new ReadableError(t("The file has no content that a design can show."));
  return { design, subject: textIn("mj-title").slice(0, 200), notes: [...context.notes] };
}

const elementsOf = (parent: Element | undefined): Element[] => parent?.children.filter(isTag) ?? [];

const findElement = (nodes: ChildNode[], name: string): Element | undefined =>
  nodes.filter(isTag).find((node) => node.name === name);

const textOf = (element: Element | undefined): string =>
  element ? DomUtils.textContent(element).replace(/\s+/g, " ").trim() : "";

function readDefaults(head: readonly Element[]): Context["defaults"] {
  const defaults = new Map<string, Attributes>();
  for (const element of elementsOf(head.find(({ name }) => name === "mj-attributes"))) {
    const { name, attribs } = element;
    defaults.set(name === "mj-class" ? `.${attribs.name}` : name, attribs);
  }
  return defaults;
}

/** The attributes of an element, with what the head says about all such elements. */
function attributesOf({ name, attribs }: Element, defaults: Context["defaults"]): Attributes {
  const classes = (attribs["mj-class"] ?? "").split(/\s+/);
  const ofClasses = classes.map((one) => defaults.get(`.${one}`));
  return Object.assign({}, defaults.get("mj-all"), defaults.get(name), ...ofClasses, attribs);
}

function readTheme(body: Element, defaults: Context["defaults"]): Theme {
  const within = DomUtils.filter(isTag, body) as Element[];
  const mostUsed = (names: readonly string[], attribute: string) => {
    const counts = new Map<string, number>();
    for (const element of within)
      if (names.includes(element.name)) {
        const value = attributesOf(element, defaults)[attribute];
        if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
      }
    return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
  };
  const { "background-color": background, width } = attributesOf(body, defaults);
  const surfaces = ["mj-section", "mj-wrapper"];
  return {
    ...defaultTheme,
    font: toFontName(mostUsed(["mj-text"], "font-family")),
    width: toEmailWidth(pixelsOf(width) ?? 600),
    accent: toColor(mostUsed(["mj-button"], "background-color")) ?? defaultTheme.accent,
    background: toColor(background) ?? "#ffffff",
    surface: toColor(mostUsed(surfaces, "background-color")) ?? toColor(background) ?? "#ffffff",
    text: toColor(mostUsed(["mj-text"], "color")) ?? "#000000",
    corners: toCorners(mostUsed(["mj-button"], "border-radius")),
  };
}

const toEmailWidth = (pixels: number): EmailWidth =>
  ([520, 600, 680] as const).toSorted((a, b) => Math.abs(a - pixels) - Math.abs(b - pixels))[0]!;

function toFontName(families: string | undefined): FontName {
  const first = families?.split(",")[0]?.replace(/["']/g, "").trim().toLowerCase() ?? "";
  const known = Object.entries(fonts).find(
    ([name, { label }]) => first.startsWith(label.toLowerCase()) || first.startsWith(name),
  );
  if (known) return known[0] as FontName;
  if (first === "helvetica") return "arial";
  return /serif\s*$/.test(families ?? "") && !/sans-serif/.test(families ?? "")
    ? "georgia"
    : "system";
}

const toCorners = (radius: string | undefined): Theme["corners"] => {
  const pixels = pixelsOf(radius) ?? 3;
  if (pixels === 0) return "square";
  return pixels >= 16 ? "round" : "soft";
};

const pixelsOf = (value: string | undefined): number | undefined => {
  const match = /^(\d+(?:\.\d+)?)(px)?$/.exec(value?.trim() ?? "");
  return match ? Number(match[1]) : undefined;
};

const namedColors: Record<string, string> = { white: "#ffffff", black: "#000000" };

/** As `#rrggbb`. */
function toColor(value: string | undefined): string | undefined {
  const color = value?.trim().toLowerCase() ?? "";
  if (/^#[0-9a-f]{6}$/.test(color)) return color;
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/.exec(color);
  if (short)
    return `#${short
      .slice(1)
      .map((digit) => digit + digit)
      .join("")}`;
  return namedColors[color];
}

/** The blocks of an element of the body. */
function readSection(element: Element, context: Context): BlockJson[] {
  const { name } = element;
  if (name === "mj-wrapper" || name === "mj-body")
    return elementsOf(element).flatMap((section) => readSection(section, context));
  if (name === "mj-raw") return readHtml(innerHtml(element));
  if (name !== "mj-section" && name !== "mj-hero") {
    context.notes.add(t("{name} was left out.", { name }));
    return [];
  }
  const attributes = attributesOf(element, context.defaults);
  if (attributes["background-url"])
    context.notes.add(t("Pictures in the background were left out."));
  const fill = fillOf(attributes["background-color"], context.theme);
  return readColumns(element, context).map((block) => ({ ...block, fill }));
}

function fillOf(background: string | undefined, theme: Theme): Fill {
  const color = toColor(background);
  if (color === undefined || color === theme.surface || color === theme.background) return "none";
  return color === theme.accent ? "accent" : "soft";
}

function readColumns(section: Element, context: Context): BlockJson[] {
  if (section.name === "mj-hero") return readLeaves(section, context);
  const columns = elementsOf(section).flatMap((child) =>
    child.name === "mj-group" ? elementsOf(child) : [child],
  );
  const ratio = ratioOf(columns, context);
  if (!ratio) {
    if (columns.length > 3)
      context.notes.add(t("More than three columns now stand below each other."));
    return columns.flatMap((column) => readLeaves(column, context));
  }
  const shares = columnRatios[ratio];
  const read = columns.map((column, i) =>
    readLeaves(column, { ...context, width: (context.width * shares[i]!) / 100 }),
  );
  return [{ type: "columns", ratio, columns: read }];
}

function ratioOf(columns: readonly Element[], { defaults }: Context): ColumnRatio | undefined {
  if (columns.length === 3) return "1:1:1";
  if (columns.length !== 2) return undefined;
  const [left, right] = columns.map((column) => {
    const { width = "" } = attributesOf(column, defaults);
    return /^\d+(\.\d+)?(%|px)$/.test(width) ? Number.parseFloat(width) : undefined;
  });
  if (left === undefined || right === undefined || right === 0) return "1:1";
  if (left / right < 0.75) return "1:2";
  return left / right > 1.33 ? "2:1" : "1:1";
}

const leafReaders: Record<string, (element: Element, context: Context) => BlockJson[]> = {
  "mj-text": readText,
  "mj-button": readButton,
  "mj-image": readImage,
  "mj-divider": () => [leaf("divider", {})],
  "mj-spacer": (element, { defaults }) => {
    const height = pixelsOf(attributesOf(element, defaults).height) ?? 20;
    return [leaf("spacer", { height: clamp(height, limits.minSpace, limits.maxSpace) })];
  },
  "mj-social": (element, context) => {
    const links = readLinks(element, "mj-social-element");
    return [leaf("social", { links, style: "words", align: alignOf(element, context) })];
  },
  "mj-navbar": (element, context) => {
    const links = readLinks(element, "mj-navbar-link");
    return [leaf("menu", { links, align: alignOf(element, context) })];
  },
  "mj-table": readTable,
  "mj-raw": (element) => readHtml(innerHtml(element)),
};

function readLeaves(column: Element, context: Context): BlockJson[] {
  return elementsOf(column).flatMap((element) => {
    const read = leafReaders[element.name];
    if (read) return read(element, context);
    context.notes.add(t("{name} was left out.", { name: element.name }));
    return [];
  });
}

const leaf = (type: string, fields: object): BlockJson => ({ type, fill: "none", ...fields });

const clamp = (value: number, least: number, most: number): number =>
  Math.min(most, Math.max(least, value));

function alignOf(element: Element, { defaults }: Context, usual = "center") {
  const { align = usual } = attributesOf(element, defaults);
  return ["left", "center", "right"].includes(align) ? align : "left";
}

function readHtml(code: string): BlockJson[] {
  const trimmed = code.trim();
  return /[^\s]/.test(trimmed.replace(/<!--[\s\S]*?-->/g, ""))
    ? [leaf("html", { code: trimmed.slice(0, limits.code) })]
    : [];
}

function readButton(element: Element, context: Context): BlockJson[] {
  const { href = "", width = "" } = attributesOf(element, context.defaults);
  const label = textOf(element).slice(0, limits.label);
  const isWide = width === "100%";
  return [leaf("button", { label, href: toUrl(href), align: alignOf(element, context), isWide })];
}

function readImage(element: Element, context: Context): BlockJson[] {
  const attributes = attributesOf(element, context.defaults);
  const { src = "", alt, href = "", width, padding } = attributes;
  const share = ((pixelsOf(width) ?? context.width) / context.width) * 100;
  const isAtEdge = share > 97 && /^0(px)?$/.test(padding?.trim() ?? "");
  const nearest = [25, 50, 75, 100].toSorted((a, b) => Math.abs(a - share) - Math.abs(b - share));
  return [
    leaf("image", {
      src: toUrl(src),
      alt: (alt ?? "").slice(0, limits.alt),
      isDecorative: alt === "",
      href: toUrl(href),
      align: alignOf(element, context),
      width: isAtEdge ? "edge" : nearest[0],
    }),
  ];
}

const toUrl = (url: string): string => (url.length <= limits.url ? url.trim() : "");

const readLinks = (parent: Element, name: string) =>
  elementsOf(parent)
    .filter((element) => element.name === name)
    .slice(0, limits.links)
    .map((element) => {
      const { href = "", name: network = "" } = element.attribs;
      const text = textOf(element) || network.replace(/-noshare$/, "");
      const label = text && text[0]!.toUpperCase() + text.slice(1);
      return { name: label.slice(0, limits.label), href: toUrl(href) };
    });

/** Tables of more than plain texts stay HTML. */
function readTable(element: Element): BlockJson[] {
  const rows = DomUtils.getElementsByTagName("tr", element).map((row) =>
    elementsOf(row).filter(({ name }) => name === "td" || name === "th"),
  );
  const cells = rows.map((row) => row.map(textOf));
  const isPlain =
    rows.length > 0 &&
    rows.length <= limits.rows &&
    cells.every(
      (row) =>
        row.length === cells[0]!.length &&
        row.length <= limits.cells &&
        row.every((cell) => cell.length <= limits.cell),
    ) &&
    rows.flat().every((cell) => elementsOf(cell).length === 0);
  if (!isPlain) return readHtml(`<table width="100%">${innerHtml(element)}</table>`);
  const hasHeader = rows[0]!.every(({ name }) => name === "th");
  return [leaf("table", { rows: cells, hasHeader })];
}

const innerHtml = (element: Element): string =>
  DomUtils.getInnerHTML(element, { encodeEntities: "utf8" });

function textSizeOf(pixels: number): TextBlock["size"] {
  if (pixels < 13) return "small";
  return pixels > 17 ? "large" : "normal";
}

/**
 * Headings, paragraphs and lists. Large text in one paragraph is a heading. Text with other
 * elements in it stays HTML.
 */
function readText(element: Element, context: Context): BlockJson[] {
  const align = alignOf(element, context, "left");
  const size = pixelsOf(attributesOf(element, context.defaults)["font-size"]) ?? 13;
  const blocks: BlockJson[] = [];
  const html = innerHtml(element);
  const writer = new ParagraphWriter();
  const flush = () => {
    const text = writer.take();
    if (!text.length) return;
    const isFooter = /\{\{-?\s*(unsubscribeUrl|preferencesUrl)\b/.test(html);
    if (isFooter) blocks.push(leaf("footer", { align, text }));
    else if (size >= 22 && text.length === 1)
      blocks.push(leaf("heading", { level: size >= 28 ? 1 : 2, align, text }));
    else blocks.push(leaf("text", { align, text, size: textSizeOf(size) }));
  };
  for (const node of element.children) {
    const heading = isTag(node) ? /^h([1-6])$/.exec(node.name) : null;
    if (!heading) {
      if (!writer.write(node)) return readHtml(html);
      continue;
    }
    flush();
    if (!writer.write(node)) return readHtml(html);
    const text = writer.take();
    blocks.push(leaf("heading", { level: Math.min(3, Number(heading[1])), align, text }));
  }
  flush();
  return blocks;
}

const inlineElements = new Set([
  ...["a", "b", "br", "em", "font", "i", "s", "small", "span", "strong", "u"],
]);
const paragraphElements = new Set([
  "div",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "li",
  "ol",
  "p",
  "ul",
]);

/** Collects the paragraphs of HTML. */
class ParagraphWriter {
  #paragraphs: Paragraph[] = [];
  #spans: Span[] = [];
  #isItem = false;
  #isNumbered = false;

  /** False if a text cannot have such an element. */
  write(node: ChildNode, marks: Omit<Span, "text"> = {}): boolean {
    if (isText(node)) {
      this.#add(node.data.replace(/\s+/g, " "), marks);
      return true;
    }
    if (!isTag(node)) return true;
    const { name, attribs } = node;
    if (name === "br") this.#add("\n", marks);
    else if (paragraphElements.has(name)) {
      this.#endParagraph();
      this.#isItem = name === "li";
      this.#isNumbered = node.parent !== null && isTag(node.parent) && node.parent.name === "ol";
      if (!node.children.every((child) => this.write(child, marks))) return false;
      this.#endParagraph();
    } else if (inlineElements.has(name)) {
      const isBold = name === "b" || name === "strong";
      const isItalic = name === "i" || name === "em";
      const inner: Omit<Span, "text"> = {
        ...marks,
        ...(isBold && { bold: true as const }),
        ...(isItalic && { italic: true as const }),
        ...(name === "u" && { underline: true as const }),
        ...(name === "a" && attribs.href && { href: attribs.href }),
      };
      return node.children.every((child) => this.write(child, inner));
    } else return false;
    return true;
  }

  /** The paragraphs since the last call. */
  take(): Paragraph[] {
    this.#endParagraph();
    const paragraphs = this.#paragraphs;
    this.#paragraphs = [];
    return paragraphs;
  }

  #add(text: string, marks: Omit<Span, "text">): void {
    const isStart = this.#spans.length === 0 || this.#spans.at(-1)!.text.endsWith("\n");
    const shown = isStart ? text.replace(/^ /, "") : text;
    if (shown) this.#spans.push({ text: shown, ...marks });
  }

  #endParagraph(): void {
    const last = this.#spans.at(-1);
    if (last) last.text = last.text.trimEnd();
    const spans = this.#spans.filter(({ text }) => text);
    if (spans.length)
      this.#paragraphs.push({
        spans,
        ...(this.#isItem && { isItem: true as const }),
        ...(this.#isItem && this.#isNumbered && { isNumbered: true as const }),
      });
    this.#spans = [];
    this.#isItem = false;
  }
}
