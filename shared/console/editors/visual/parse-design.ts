// Reads `designJson` of a template. Every API client can write it, so nothing in it is trusted: a
// design is built anew from the known fields only, within the limits.
import { corners, type FontName, fonts } from "../../../email/brand/brand.ts";
import { inkNames } from "../../../email/brand/colors.ts";
import { languages } from "../../../email/languages.ts";
import {
  type Align,
  type BlockType,
  type ColumnRatio,
  type ConditionOperator,
  columnRatios,
  createId,
  type Design,
  type DesignBlock,
  defaultTheme,
  designVersion,
  editorName,
  type Fill,
  type ImageWidth,
  isUsableImage,
  isUsableLink,
  isVariable,
  isWide,
  type LeafBlock,
  limits,
  type OwnFields,
  type Paragraph,
  type ShowIf,
  type Span,
  type Theme,
} from "./design.ts";
import { operatorNames } from "./show-if.ts";

type Json = Record<string, unknown>;

/** Undefined if the design is of another editor or version, or beyond the limits. */
export function parseDesign(json: unknown): Design | undefined {
  if (!isObject(json) || json.editor !== editorName || json.version !== designVersion)
    return undefined;
  const budget = { blocks: limits.blocks, characters: limits.characters };
  try {
    return {
      editor: editorName,
      version: designVersion,
      ...parseLanguage(json.language),
      previewText: parseText(json.previewText, limits.previewText),
      theme: parseTheme(json.theme),
      blocks: parseList(json.blocks, limits.blocks).map((block) => parseBlock(block, budget)),
    };
  } catch (error) {
    if (error instanceof UnreadableDesign) return undefined;
    throw error;
  }
}

/** An unknown language counts as none. */
function parseLanguage(value: unknown): Pick<Design, "language"> {
  const language = languages.find((one) => one === value);
  return language === undefined ? {} : { language };
}

/** The design is not one that this editor saves. */
class UnreadableDesign extends Error {}

function refuse(): never {
  throw new UnreadableDesign();
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const parseObject = (value: unknown): Json => (isObject(value) ? value : refuse());

function parseList(value: unknown, most: number): unknown[] {
  return Array.isArray(value) && value.length <= most ? value : refuse();
}

/** Private-use characters mark Liquid while an email is compiled. */
const parseText = (value: unknown, most: number): string =>
  typeof value === "string" && value.length <= most
    ? value.replace(/[\uE000\uE001]/g, "")
    : refuse();

const parseLink = (value: unknown): string => {
  const link = parseText(value, limits.url).trim();
  return isUsableLink(link) ? link : "";
};

const parseImage = (value: unknown): string => {
  const source = parseText(value, limits.url).trim();
  return isUsableImage(source) ? source : "";
};

function parseChoice<Choice>(value: unknown, choices: readonly Choice[]): Choice {
  return choices.find((choice) => choice === value) ?? refuse();
}

const parseBoolean = (value: unknown): boolean => parseChoice(value, [true, false]);

const parseNumber = (value: unknown, least: number, most: number): number =>
  typeof value === "number" && value >= least && value <= most ? Math.round(value) : refuse();

const parseColor = (value: unknown): string => {
  const color = parseText(value, 7).toLowerCase();
  return /^#[0-9a-f]{6}$/.test(color) ? color : refuse();
};

const keysOf = <Key extends string>(record: Record<Key, unknown>): Key[] =>
  Object.keys(record) as Key[];

function parseTheme(value: unknown): Theme {
  const theme = { ...defaultTheme, ...parseObject(value) } as Json;
  const logo = { ...defaultTheme.logo, ...parseObject(theme.logo) } as Json;
  return {
    ...(theme.usesBrand === true && { usesBrand: true as const }),
    font: parseChoice<FontName>(theme.font, keysOf(fonts)),
    width: parseChoice(theme.width, [520, 600, 680] as const),
    accent: parseColor(theme.accent),
    background: parseColor(theme.background),
    surface: parseColor(theme.surface),
    text: parseColor(theme.text),
    corners: parseChoice(theme.corners, keysOf(corners)),
    logo: {
      src: parseImage(logo.src),
      alt: parseText(logo.alt, limits.alt),
      href: parseLink(logo.href),
      width: parseNumber(logo.width, limits.minLogo, limits.maxLogo),
    },
  };
}

/** What is left of the limits. */
interface Budget {
  blocks: number;
  characters: number;
}

const parseAlign = (value: unknown): Align => parseChoice(value, ["left", "center", "right"]);

type FieldParser<Type extends BlockType> = (json: Json, budget: Budget) => OwnFields<Type>;

const fieldParsers: { [Type in BlockType]: FieldParser<Type> } = {
  heading: ({ level, align, text }, budget) => ({
    level: parseChoice(level, [1, 2, 3] as const),
    align: parseAlign(align),
    text: parseParagraphs(text, budget).slice(0, 1),
  }),
  text: ({ size, align, text }, budget) => ({
    size: parseChoice(size, ["small", "normal", "large"] as const),
    align: parseAlign(align),
    text: parseParagraphs(text, budget),
  }),
  button: ({ label, href, align, isWide }) => ({
    label: parseText(label, limits.label),
    href: parseLink(href),
    align: parseAlign(align),
    isWide: parseBoolean(isWide),
  }),
  image: ({ src, alt, isDecorative, href, align, width }) => ({
    src: parseImage(src),
    alt: parseText(alt, limits.alt),
    isDecorative: parseBoolean(isDecorative),
    href: parseLink(href),
    align: parseAlign(align),
    width: parseChoice<ImageWidth>(width, ["edge", 25, 50, 75, 100]),
  }),
  divider: () => ({}),
  spacer: ({ height, phoneHeight }) => ({
    height: parseNumber(height, limits.minSpace, limits.maxSpace),
    ...(phoneHeight !== undefined && {
      phoneHeight: parseNumber(phoneHeight, 0, limits.maxSpace),
    }),
  }),
  social: ({ align, usesBrand, links, style = "words" }) => ({
    ...(usesBrand === true && { usesBrand }),
    align: parseAlign(align),
    links: parseLinks(links),
    style: parseChoice(style, ["words", "badges"] as const),
  }),
  menu: ({ align, links }) => ({ align: parseAlign(align), links: parseLinks(links) }),
  video: ({ src, alt, href, label }) => ({
    src: parseImage(src),
    alt: parseText(alt, limits.alt),
    href: parseLink(href),
    label: parseText(label, limits.label),
  }),
  table: ({ rows, hasHeader }) => ({
    rows: parseRows(rows),
    hasHeader: parseBoolean(hasHeader),
  }),
  products: ({ list, most, image, title, price, link }) => ({
    list: parseVariable(list),
    most: parseNumber(most, 1, limits.products),
    image: parseVariable(image),
    title: parseVariable(title),
    price: parseVariable(price),
    link: parseVariable(link),
  }),
  html: ({ code }, budget) => {
    const parsed = parseText(code, Math.min(limits.code, budget.characters));
    budget.characters -= parsed.length;
    return { code: parsed };
  },
  snippet: ({ name }) => ({ name: parseSnippetName(name) }),
  footer: ({ align, text }, budget) => ({
    align: parseAlign(align),
    text: parseParagraphs(text, budget),
  }),
  columns: (json, budget) => {
    const ratio = parseChoice<ColumnRatio>(json.ratio, keysOf(columnRatios));
    const columns = parseList(json.columns, 3).map((column) =>
      parseList(column, limits.blocks).map((block) => parseLeaf(block, budget)),
    );
    return columns.length === columnRatios[ratio].length ? { ratio, columns } : refuse();
  },
};

const parseLinks = (links: unknown) =>
  parseList(links, limits.links).map((link) => {
    const { name, href } = parseObject(link);
    return { name: parseText(name, limits.label), href: parseLink(href) };
  });

function parseRows(value: unknown): string[][] {
  const rows = parseList(value, limits.rows).map((row) =>
    parseList(row, limits.cells).map((cell) => parseText(cell, limits.cell)),
  );
  return rows.every((row) => row.length === rows[0]!.length) ? rows : refuse();
}

/** A variable, or nothing. */
const parseVariable = (value: unknown): string => {
  const path = parseText(value, limits.variable).trim();
  return path === "" || isVariable(path) ? path : refuse();
};

const parseSnippetName = (value: unknown): string => {
  const name = parseText(value, 60);
  return name === "" || /^[\p{L}\p{N}][\p{L}\p{N} _.-]*$/u.test(name) ? name : refuse();
};

function parseShowIf(value: unknown): ShowIf {
  const { match, conditions } = parseObject(value);
  return {
    match: parseChoice(match, ["all", "any"] as const),
    conditions: parseList(conditions, limits.conditions).map((condition) => {
      const { field, operator, value: given } = parseObject(condition);
      return {
        field: parseVariable(field),
        operator: parseChoice<ConditionOperator>(operator, keysOf(operatorNames)),
        value: parseText(given, limits.value),
      };
    }),
  };
}

function parseBlock(value: unknown, budget: Budget): DesignBlock {
  if (--budget.blocks < 0) refuse();
  const json = parseObject(value);
  const type = parseChoice(json.type, keysOf(fieldParsers));
  const fill = parseChoice<Fill>(json.fill, ["none", "soft", "accent"]);
  const showIf = json.showIf === undefined ? {} : { showIf: parseShowIf(json.showIf) };
  const fields = fieldParsers[type](json, budget);
  return { id: createId(), fill, type, ...showIf, ...fields } as DesignBlock;
}

function parseLeaf(value: unknown, budget: Budget): LeafBlock {
  if (["columns", "snippet"].includes(String(parseObject(value).type))) refuse();
  const block = parseBlock(value, budget);
  return isWide(block) ? refuse() : block;
}

function parseParagraphs(value: unknown, budget: Budget): Paragraph[] {
  return parseList(value, limits.paragraphs).map((paragraph) => {
    const { spans, isItem, isNumbered } = parseObject(paragraph);
    return {
      spans: parseList(spans, limits.spans).map((span) => parseSpan(span, budget)),
      ...(isItem === true && { isItem, ...(isNumbered === true && { isNumbered }) }),
    };
  });
}

function parseSpan(value: unknown, budget: Budget): Span {
  const { text, bold, italic, underline, ink, href } = parseObject(value);
  const parsed = parseText(text, budget.characters);
  budget.characters -= parsed.length;
  const link = href === undefined ? "" : parseLink(href);
  return {
    text: parsed,
    ...(bold === true && { bold }),
    ...(italic === true && { italic }),
    ...(underline === true && { underline }),
    ...(ink !== undefined && { ink: parseChoice(ink, inkNames) }),
    ...(link && { href: link }),
  };
}
