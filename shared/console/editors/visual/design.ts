// The design of a visual email: blocks and a theme. It is stored as `designJson` of a template.
// Nothing in it is HTML: texts are spans, so no value of it can run in a page.

import {
  type Brand,
  type Corners,
  defaultBrand,
  type FontName,
} from "../../../email/brand/brand.ts";
import type { InkName, Palette } from "../../../email/brand/colors.ts";
import type { Direction, Language } from "../../../email/languages.ts";

/** In a right-to-left email, "left" and "right" change sides: "left" is where a line begins. */
export type Align = "left" | "center" | "right";
/** What a block stands on: the email itself, a tint of the accent, or the accent. */
export type Fill = "none" | "soft" | "accent";

/** A piece of text. Lines are separated by "\n". */
export interface Span {
  text: string;
  bold?: true;
  italic?: true;
  underline?: true;
  /** Absent: the colour of the block. */
  ink?: InkName;
  href?: string;
}
export interface Paragraph {
  spans: Span[];
  /** An item of a list. */
  isItem?: true;
  /** The item has a number instead of a bullet. */
  isNumbered?: true;
}

interface BlockBase {
  /** Unique within the design. */
  id: string;
  /** Blocks in columns stand on what the columns stand on. */
  fill: Fill;
  /** The recipients that see the block. Absent: all. */
  showIf?: ShowIf | undefined;
}

export type ConditionOperator =
  | "is"
  | "is-not"
  | "contains"
  | "is-filled"
  | "is-empty"
  | "is-more"
  | "is-less";
export interface ShowCondition {
  /** A variable of the email, such as `firstName` or `event.total`. */
  field: string;
  operator: ConditionOperator;
  /** Not used by `is-filled` and `is-empty`. */
  value: string;
}
export interface ShowIf {
  match: "all" | "any";
  conditions: ShowCondition[];
}
export interface HeadingBlock extends BlockBase {
  type: "heading";
  level: 1 | 2 | 3;
  align: Align;
  /** One paragraph. */
  text: Paragraph[];
}
export interface TextBlock extends BlockBase {
  type: "text";
  size: "small" | "normal" | "large";
  align: Align;
  text: Paragraph[];
}
export interface ButtonBlock extends BlockBase {
  type: "button";
  label: string;
  href: string;
  align: Align;
  isWide: boolean;
}
export interface ImageBlock extends BlockBase {
  type: "image";
  src: string;
  alt: string;
  /** It says nothing that the text does not say, so screen readers skip it. */
  isDecorative: boolean;
  href: string;
  align: Align;
  /** Percent of the width, or "edge": without a margin. */
  width: ImageWidth;
}
export type ImageWidth = "edge" | 25 | 50 | 75 | 100;
export interface DividerBlock extends BlockBase {
  type: "divider";
}
export interface SpacerBlock extends BlockBase {
  type: "spacer";
  /** Pixels. */
  height: number;
  /** Pixels on phones. Absent: the same. */
  phoneHeight?: number | undefined;
}
export interface SocialBlock extends BlockBase {
  type: "social";
  align: Align;
  /** Shows the links of the brand, if the theme uses the brand. */
  usesBrand?: true | undefined;
  links: { name: string; href: string }[];
  /** How the links look. */
  style: "words" | "badges";
}
/** Links in a row, such as those to the parts of a shop. */
export interface MenuBlock extends BlockBase {
  type: "menu";
  align: Align;
  links: { name: string; href: string }[];
}
/** A picture of the video that leads to it, because mail programs play none. */
export interface VideoBlock extends BlockBase {
  type: "video";
  src: string;
  alt: string;
  href: string;
  label: string;
}
export interface TableBlock extends BlockBase {
  type: "table";
  /** All rows have the same number of cells. */
  rows: string[][];
  hasHeader: boolean;
}
/** A row for each item of a list variable. */
export interface ProductsBlock extends BlockBase {
  type: "products";
  /** The variable, such as `event.items`. */
  list: string;
  most: number;
  /** Names of the fields of an item. Empty: not shown. */
  image: string;
  title: string;
  price: string;
  link: string;
}
/** HTML that somebody wrote. The canvas shows it as text. */
export interface HtmlBlock extends BlockBase {
  type: "html";
  code: string;
}
/** Small and quiet. At the end it stands below the email's surface. */
export interface FooterBlock extends BlockBase {
  type: "footer";
  align: Align;
  text: Paragraph[];
}
export type LeafBlock =
  | HeadingBlock
  | TextBlock
  | ButtonBlock
  | ImageBlock
  | DividerBlock
  | SpacerBlock
  | SocialBlock
  | MenuBlock
  | VideoBlock
  | TableBlock
  | ProductsBlock
  | HtmlBlock
  | FooterBlock;

export type ColumnRatio = "1:1" | "1:2" | "2:1" | "1:1:1";
export interface ColumnsBlock extends BlockBase {
  type: "columns";
  ratio: ColumnRatio;
  /** As many as the ratio has parts. They stand below each other on phones. */
  columns: LeafBlock[][];
}
/** The block shows a snippet of the site, and follows its changes. */
export interface SnippetBlock extends BlockBase {
  type: "snippet";
  /** Empty: none is chosen yet. */
  name: string;
}
/** Blocks that cannot be in columns. */
export type WideBlock = ColumnsBlock | SnippetBlock;
export type DesignBlock = LeafBlock | WideBlock;
export type BlockType = DesignBlock["type"];
export type BlockOf<Type extends BlockType> = Extract<DesignBlock, { type: Type }>;
/** What only blocks of a type have. */
export type OwnFields<Type extends BlockType> = Omit<BlockOf<Type>, keyof BlockBase | "type">;

export interface Theme extends Palette {
  /** Font, colours, corners and logo are those of the brand, and follow its changes. */
  usesBrand?: true;
  font: FontName;
  /** Pixels. */
  width: EmailWidth;
  corners: Corners;
  /** Above the email. Without a source there is none. */
  logo: { src: string; alt: string; href: string; width: number };
  /** The legal notice of the brand, below each footer. Not stored. */
  footerNote?: string;
}
export type EmailWidth = 520 | 600 | 680;

export interface Design {
  editor: typeof editorName;
  version: typeof designVersion;
  /** The language of the email. Absent: English. */
  language?: Language;
  /** What inboxes show after the subject. */
  previewText: string;
  theme: Theme;
  blocks: DesignBlock[];
}

/** Designs of other editors have another name, or none. */
export const editorName = "pennymail";
export const designVersion = 1;

export const limits = {
  /** Blocks, with those in columns. */
  blocks: 150,
  /** Characters of all texts together. */
  characters: 100_000,
  paragraphs: 200,
  spans: 500,
  label: 200,
  url: 2000,
  alt: 500,
  previewText: 200,
  links: 12,
  minSpace: 8,
  maxSpace: 120,
  conditions: 5,
  variable: 100,
  value: 200,
  code: 20_000,
  rows: 30,
  cells: 5,
  cell: 200,
  products: 20,
  minLogo: 40,
  maxLogo: 400,
};

export const columnRatios: Record<ColumnRatio, readonly number[]> = {
  "1:1": [50, 50],
  "1:2": [33.33, 66.67],
  "2:1": [66.67, 33.33],
  "1:1:1": [33.33, 33.33, 33.33],
};

export const defaultTheme: Theme = {
  ...defaultBrand.colors,
  font: defaultBrand.font,
  width: 600,
  corners: defaultBrand.corners,
  logo: { src: "", alt: "", href: "", width: 140 },
};

/** The design as it looks with the brand, if it uses it. Not for storing. */
export function applyBrand(design: Design, brand: Brand): Design {
  const { theme } = design;
  if (!theme.usesBrand) return design;
  const { colors, font, corners, logo } = brand;
  const { url = "", alt = "", link, width = defaultTheme.logo.width } = logo ?? {};
  const links = brand.socialLinks.map((one) => ({ name: one.name, href: one.url }));
  const show = <Block extends DesignBlock>(block: Block): Block =>
    block.type === "social" && block.usesBrand ? { ...block, links } : block;
  return {
    ...design,
    theme: {
      ...{ ...theme, ...colors, font, corners },
      logo: { src: url, alt, href: link ?? "", width },
      footerNote: brand.footerText?.trim() ?? "",
    },
    blocks: mapBlocks(design.blocks, show),
  };
}

/** The design with its own copy of the brand, which it does not follow any more. */
export function copyBrand(design: Design, brand: Brand): Design {
  const shown = applyBrand(design, brand);
  const { usesBrand: _, footerNote, ...theme } = shown.theme;
  const copyNote = <Block extends DesignBlock>(block: Block): Block =>
    block.type === "footer" && footerNote
      ? { ...block, text: [...block.text, { spans: [{ text: footerNote }] }] }
      : block;
  return { ...shown, theme, blocks: mapBlocks(shown.blocks, copyNote) };
}

/** Changes blocks, also those in columns. */
const mapBlocks = (
  blocks: readonly DesignBlock[],
  change: <Block extends DesignBlock>(block: Block) => Block,
): DesignBlock[] =>
  blocks.map((block) =>
    isColumns(block)
      ? { ...block, columns: block.columns.map((column) => column.map(change)) }
      : change(block),
  );

/** The side of the email. */
export function sideOf(align: Align, direction: Direction): Align {
  if (align === "center" || direction === "ltr") return align;
  return align === "left" ? "right" : "left";
}

/** The class of a paragraph on the canvas. */
export const itemClass = (isItem?: boolean, isNumbered?: boolean): string | undefined =>
  isItem ? `rich-item${isNumbered ? " is-numbered" : ""}` : undefined;

/** A text without marks. Each line is a paragraph. */
export const toParagraphs = (text: string): Paragraph[] =>
  text.split("\n").map((line) => ({ spans: line ? [{ text: line }] : [] }));

export const plainTextOf = (text: readonly Paragraph[]): string =>
  text.map(({ spans }) => spans.map((span) => span.text).join("")).join("\n");

let ids = 0;
/** Differs from every id of a parsed design, because those get new ids too. */
export const createId = (): string => `b${++ids}`;

/** Whether mail programs follow the link. Liquid decides when the email is sent. */
export const isUsableLink = (href: string): boolean =>
  /^(https?:\/\/|mailto:|tel:|\{\{|\{%)/i.test(href);

/** Whether mail programs can load the image. */
export const isUsableImage = (src: string): boolean => /^(https?:\/\/|\{\{|\{%)/i.test(src);

/** Adds the scheme that people leave out. Returns "" for what is no link. */
export function toLink(typed: string): string {
  const text = typed.trim().slice(0, limits.url);
  if (text === "" || isUsableLink(text)) return text;
  if (/^[^\s@:/]+@[^\s@:/]+\.[a-z]{2,}$/i.test(text)) return `mailto:${text}`;
  return /^[\w-]+(\.[\w-]+)+([/?#:]|$)/.test(text) ? `https://${text}` : "";
}

export const isWide = (block: DesignBlock): block is WideBlock =>
  block.type === "columns" || block.type === "snippet";

/** Whether Liquid can read such a variable. */
export const isVariable = (path: string): boolean => /^[\w-]+(\.[\w-]+)*$/.test(path);

export const isColumns = (block: DesignBlock): block is ColumnsBlock => block.type === "columns";

/** All blocks, with those in columns. */
export const allBlocks = (blocks: readonly DesignBlock[]): DesignBlock[] =>
  blocks.flatMap((block): DesignBlock[] =>
    isColumns(block) ? [block, ...block.columns.flat()] : [block],
  );
