// The design of a visual email: blocks and a theme. It is stored as `designJson` of a template.
// Nothing in it is HTML: texts are spans, so no value of it can run in a page.

export type Align = "left" | "center" | "right";
/** What a block stands on: the email itself, a tint of the accent, or the accent. */
export type Fill = "none" | "soft" | "accent";

/** A piece of text. Lines are separated by "\n". */
export interface Span {
  text: string;
  bold?: true;
  italic?: true;
  href?: string;
}
export interface Paragraph {
  spans: Span[];
  /** A bullet of a list. */
  isItem?: true;
}

interface BlockBase {
  /** Unique within the design. */
  id: string;
  /** Blocks in columns stand on what the columns stand on. */
  fill: Fill;
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
}
export interface SocialBlock extends BlockBase {
  type: "social";
  align: Align;
  links: { name: string; href: string }[];
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
  | FooterBlock;

export type ColumnRatio = "1:1" | "1:2" | "2:1" | "1:1:1";
export interface ColumnsBlock extends BlockBase {
  type: "columns";
  ratio: ColumnRatio;
  /** As many as the ratio has parts. They stand below each other on phones. */
  columns: LeafBlock[][];
}
export type DesignBlock = LeafBlock | ColumnsBlock;
export type BlockType = DesignBlock["type"];
export type BlockOf<Type extends BlockType> = Extract<DesignBlock, { type: Type }>;
/** What only blocks of a type have. */
export type OwnFields<Type extends BlockType> = Omit<BlockOf<Type>, keyof BlockBase | "type">;

export type FontName = "system" | "arial" | "georgia" | "verdana" | "trebuchet" | "courier";

export interface Theme {
  font: FontName;
  /** Pixels. */
  width: EmailWidth;
  /** Colours as `#rrggbb`. */
  accent: string;
  /** Behind the email. */
  background: string;
  surface: string;
  text: string;
  corners: "square" | "soft" | "round";
  /** Above the email. Without a source there is none. */
  logo: { src: string; alt: string; href: string; width: number };
}
export type EmailWidth = 520 | 600 | 680;

export interface Design {
  editor: typeof editorName;
  version: typeof designVersion;
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
  minLogo: 40,
  maxLogo: 400,
};

export const columnRatios: Record<ColumnRatio, readonly number[]> = {
  "1:1": [50, 50],
  "1:2": [33.33, 66.67],
  "2:1": [66.67, 33.33],
  "1:1:1": [33.33, 33.33, 33.33],
};

export const fonts: Record<FontName, { label: string; family: string }> = {
  system: {
    label: "System",
    family: "-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif",
  },
  arial: { label: "Arial", family: "Arial, Helvetica, sans-serif" },
  georgia: { label: "Georgia", family: "Georgia, 'Times New Roman', serif" },
  verdana: { label: "Verdana", family: "Verdana, Geneva, sans-serif" },
  trebuchet: { label: "Trebuchet", family: "'Trebuchet MS', Helvetica, sans-serif" },
  courier: { label: "Courier", family: "'Courier New', Courier, monospace" },
};

export const corners: Record<Theme["corners"], number> = { square: 0, soft: 8, round: 24 };

export const defaultTheme: Theme = {
  font: "system",
  width: 600,
  accent: "#3b49c4",
  background: "#f3f4f7",
  surface: "#ffffff",
  text: "#23262d",
  corners: "soft",
  logo: { src: "", alt: "", href: "", width: 140 },
};

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

export const isColumns = (block: DesignBlock): block is ColumnsBlock => block.type === "columns";

/** All blocks, with those in columns. */
export const allBlocks = (blocks: readonly DesignBlock[]): DesignBlock[] =>
  blocks.flatMap((block) => (isColumns(block) ? [block, ...block.columns.flat()] : [block]));
