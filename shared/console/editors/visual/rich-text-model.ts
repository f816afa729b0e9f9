// Texts of a design as ProseMirror edits them. Its schema knows no HTML but paragraphs, breaks,
// bold, italic and links, so pasted pages lose everything else.
import { type Mark, type Node, Schema } from "prosemirror-model";
import { isUsableLink, type Paragraph, type Span } from "./design.ts";

const paragraph = {
  content: "inline*",
  attrs: { isItem: { default: false } },
  parseDOM: [
    { tag: "li", attrs: { isItem: true } },
    { tag: "p" },
    { tag: "h1" },
    { tag: "h2" },
    { tag: "h3" },
    { tag: "div" },
  ],
  toDOM: (node: Node) => ["p", node.attrs.isItem ? { class: "rich-item" } : {}, 0] as const,
};

const createSchema = (doc: string) =>
  new Schema({
    nodes: {
      doc: { content: doc },
      paragraph: { ...paragraph, toDOM: (node) => [...paragraph.toDOM(node)] },
      text: { group: "inline" },
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
      bold: {
        parseDOM: [{ tag: "strong" }, { tag: "b" }],
        toDOM: () => ["strong", 0],
      },
      italic: {
        parseDOM: [{ tag: "em" }, { tag: "i" }],
        toDOM: () => ["em", 0],
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
    paragraphs.map(({ spans, isItem = false }) =>
      schema.node(
        "paragraph",
        { isItem },
        spans.flatMap((span) => toInline(schema, span)),
      ),
    ),
  );
}

function toInline(schema: Schema, { text, bold, italic, href }: Span): Node[] {
  const { bold: boldMark, italic: italicMark, link } = schema.marks;
  const marks: Mark[] = [
    ...(href ? [link!.create({ href })] : []),
    ...(bold ? [boldMark!.create()] : []),
    ...(italic ? [italicMark!.create()] : []),
  ];
  return text
    .split("\n")
    .flatMap((line, i) => [
      ...(i ? [schema.nodes.lineBreak!.create(null, null, marks)] : []),
      ...(line ? [schema.text(line, marks)] : []),
    ]);
}

export function fromDocument(doc: Node): Paragraph[] {
  return doc.content.content.map((node) => ({
    spans: joinEqual(node.content.content.map(toSpan)),
    ...(node.attrs.isItem && { isItem: true as const }),
  }));
}

function toSpan(node: Node): Span {
  const names = node.marks.map(({ type }) => type.name);
  const href: string | undefined = node.marks.find(({ type }) => type.name === "link")?.attrs.href;
  return {
    text: node.isText ? node.text! : "\n",
    ...(names.includes("bold") && { bold: true }),
    ...(names.includes("italic") && { italic: true }),
    ...(href && { href }),
  };
}

function joinEqual(spans: Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    const looksSame =
      last && last.bold === span.bold && last.italic === span.italic && last.href === span.href;
    if (looksSame) last.text += span.text;
    else joined.push({ ...span });
  }
  return joined;
}
