// Texts of a design as ProseMirror edits them. Its schema knows no HTML but paragraphs, breaks,
// list items and what a span can have, so pasted pages lose everything else.
import { type Mark, type Node, Schema } from "prosemirror-model";
import { type InkName, inkNames } from "../../../email/brand/colors.ts";
import { fieldNode, toNodes } from "../field-node.ts";
import { isUsableLink, itemClass, type Paragraph, type Span } from "./design.ts";

const paragraph = {
  content: "inline*",
  attrs: { isItem: { default: false }, isNumbered: { default: false } },
  parseDOM: [
    { tag: "ol > li", attrs: { isItem: true, isNumbered: true } },
    { tag: "li", attrs: { isItem: true } },
    { tag: "p" },
    { tag: "h1" },
    { tag: "h2" },
    { tag: "h3" },
    { tag: "div" },
  ],
  toDOM: ({ attrs }: Node) =>
    ["p", { class: itemClass(attrs.isItem, attrs.isNumbered) ?? null }, 0] as const,
};

const createSchema = (doc: string) =>
  new Schema({
    nodes: {
      doc: { content: doc },
      paragraph: { ...paragraph, toDOM: (node) => [...paragraph.toDOM(node)] },
      text: { group: "inline" },
      field: fieldNode,
      lineBreak: {
        inline: true,
        group: "inline",
        selectable: false,
        parseDOM: [{ tag: "br" }],
        toDOM: () => ["br"],
        leafText: () => "\n",
      },
    },
    marks: {
      link: {
        attrs: { href: {} },
        inclusive: false,
        parseDOM: [
          {
            tag: "a[href]",
            getAttrs: (element) => {
              const href = element.getAttribute("href") ?? "";
              return isUsableLink(href) ? { href } : false;
            },
          },
        ],
        toDOM: ({ attrs }) => ["a", { href: attrs.href, rel: "noreferrer" }, 0],
      },
      ink: {
        attrs: { name: {} },
        parseDOM: [
          {
            tag: "span[data-ink]",
            getAttrs: (element) => {
              const name = inkNames.find((ink) => ink === element.getAttribute("data-ink"));
              return name ? { name } : false;
            },
          },
        ],
        toDOM: ({ attrs }) => [
          "span",
          { "data-ink": attrs.name, style: `color: var(--ink-${attrs.name})` },
          0,
        ],
      },
      bold: {
        parseDOM: [{ tag: "strong" }, { tag: "b" }],
        toDOM: () => ["strong", 0],
      },
      italic: {
        parseDOM: [{ tag: "em" }, { tag: "i" }],
        toDOM: () => ["em", 0],
      },
      underline: {
        parseDOM: [{ tag: "u" }],
        toDOM: () => ["u", 0],
      },
    },
  });

/** Of texts, and of headings, which are one paragraph. */
export const schemas = { many: createSchema("paragraph+"), one: createSchema("paragraph") };

export function toDocument(schema: Schema, text: readonly Paragraph[]): Node {
  const paragraphs = text.length ? text : [{ spans: [] }];
  return schema.node(
    "doc",
    null,
    paragraphs.map(({ spans, isItem, isNumbered }: Paragraph) =>
      schema.node(
        "paragraph",
        { isItem: isItem ?? false, isNumbered: isNumbered ?? false },
        spans.flatMap((span) => toInline(schema, span)),
      ),
    ),
  );
}

function toInline(schema: Schema, { text, ...span }: Span): Node[] {
  const { bold, italic, underline, ink, link } = schema.marks;
  const marks: Mark[] = [
    ...(span.href ? [link!.create({ href: span.href })] : []),
    ...(span.ink ? [ink!.create({ name: span.ink })] : []),
    ...(span.bold ? [bold!.create()] : []),
    ...(span.italic ? [italic!.create()] : []),
    ...(span.underline ? [underline!.create()] : []),
  ];
  return text
    .split("\n")
    .flatMap((line, i) => [
      ...(i ? [schema.nodes.lineBreak!.create(null, null, marks)] : []),
      ...toNodes(schema, line, marks),
    ]);
}

export function fromDocument(doc: Node): Paragraph[] {
  return doc.content.content.map((node) => ({
    spans: joinEqual(node.content.content.map(toSpan)),
    ...(node.attrs.isItem && { isItem: true as const }),
    ...(node.attrs.isItem && node.attrs.isNumbered && { isNumbered: true as const }),
  }));
}

function toSpan(node: Node): Span {
  const find = (name: string) => node.marks.find(({ type }) => type.name === name);
  const href: string | undefined = find("link")?.attrs.href;
  const ink: InkName | undefined = find("ink")?.attrs.name;
  return {
    text: node.isText ? node.text! : node.type.spec.leafText!(node),
    ...(find("bold") && { bold: true }),
    ...(find("italic") && { italic: true }),
    ...(find("underline") && { underline: true }),
    ...(ink && { ink }),
    ...(href && { href }),
  };
}

/** Text of spans that look the same. */
function joinEqual(spans: Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last && lookOf(last) === lookOf(span)) last.text += span.text;
    else joined.push({ ...span });
  }
  return joined;
}

const lookOf = ({ text: _, ...look }: Span): string => JSON.stringify(look);
