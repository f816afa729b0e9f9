// A field in a text that ProseMirror edits. Its code is the text that it stands for.
import type { Mark, Node, NodeSpec, Schema } from "prosemirror-model";
import { findFields, readField } from "./fields.ts";

/** The node `field` of a schema. */
export const fieldNode: NodeSpec = {
  inline: true,
  group: "inline",
  atom: true,
  attrs: { code: {} },
  parseDOM: [
    {
      tag: "span[data-field-code]",
      getAttrs: (element) => {
        const code = element.getAttribute("data-field-code") ?? "";
        return readField(code) ? { code } : false;
      },
    },
  ],
  toDOM: ({ attrs }) => ["span", { "data-field-code": attrs.code }, attrs.code],
  leafText: ({ attrs }) => attrs.code,
};

/** A line of text, with its fields as chips. */
export function toNodes(schema: Schema, text: string, marks: readonly Mark[] = []): Node[] {
  const nodes: Node[] = [];
  let position = 0;
  const addText = (end: number) => {
    if (end > position) nodes.push(schema.text(text.slice(position, end), marks));
  };
  for (const { start, code } of findFields(text)) {
    addText(start);
    nodes.push(schema.nodes.field!.create({ code }, null, marks));
    position = start + code.length;
  }
  addText(text.length);
  return nodes;
}
