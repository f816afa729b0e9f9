import { history, redo, undo } from "prosemirror-history";
import { keymap } from "prosemirror-keymap";
import { Schema } from "prosemirror-model";
import { EditorState, Plugin, TextSelection } from "prosemirror-state";
import { EditorView } from "prosemirror-view";
import { type Ref, useEffect, useImperativeHandle, useRef } from "react";
import type { InsertOption } from "../parts/insert-menu.tsx";
import { useFieldChips } from "./field-chips.tsx";
import { fieldNode, toNodes } from "./field-node.ts";

export interface FieldTextHandle {
  insert(text: string): void;
}

export interface FieldTextProps {
  /** The id of the element with the label. */
  labelledBy: string;
  dataField?: string | undefined;
  isRequired: boolean;
  isReadOnly: boolean;
  /** Characters, with the code of fields. */
  maxLength: number;
  placeholder?: string;
  dir?: "ltr" | "rtl";
  value: string;
  insertOptions: Record<string, InsertOption[]>;
  handle: Ref<FieldTextHandle>;
  onChange(value: string): void;
}

const schema = new Schema({
  nodes: {
    doc: { content: "line" },
    line: { content: "inline*", parseDOM: [{ tag: "p" }], toDOM: () => ["p", 0] },
    text: { group: "inline" },
    field: fieldNode,
  },
});

const textOf = ({ doc }: EditorState): string => doc.textContent;

/** A line of text with its fields as chips. */
export function FieldText(props: FieldTextProps) {
  const { labelledBy, isReadOnly, value, insertOptions, placeholder, handle } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const { plugin, popover } = useFieldChips({ view, insertOptions, isReadOnly });

  useEffect(() => {
    const editor = new EditorView(host.current, {
      state: createState(latest.current.value, plugin),
      editable: () => !latest.current.isReadOnly,
      attributes: (state) => attributesOf(latest.current, textOf(state)),
      handlePaste(_, { clipboardData }) {
        const pasted = clipboardData?.getData("text/plain").replace(/\s*[\r\n]+\s*/g, " ");
        if (pasted) editor.dispatch(editor.state.tr.insertText(pasted));
        return true;
      },
      dispatchTransaction(transaction) {
        const state = editor.state.apply(transaction);
        const text = textOf(state);
        const isTooLong = text.length > latest.current.maxLength;
        if (transaction.docChanged && isTooLong && text.length > textOf(editor.state).length)
          return;
        editor.updateState(state);
        if (text !== latest.current.value) latest.current.onChange(text);
      },
    });
    view.current = editor;
    return () => editor.destroy();
  }, [plugin]);

  // A change from outside.
  useEffect(() => {
    const editor = view.current;
    if (editor && value !== textOf(editor.state)) editor.updateState(createState(value, plugin));
  }, [value, plugin]);
  useEffect(() => view.current?.setProps({}), [labelledBy, isReadOnly, placeholder]);

  useImperativeHandle(
    handle,
    () => ({
      insert(text) {
        const editor = view.current;
        editor?.dispatch(editor.state.tr.insertText(text));
        editor?.focus();
      },
    }),
    [],
  );
  return (
    <>
      <div ref={host} className="field-text" />
      {popover}
    </>
  );
}

const attributesOf = (props: FieldTextProps, text: string): Record<string, string> => ({
  role: "textbox",
  "aria-labelledby": props.labelledBy,
  "aria-multiline": "false",
  "aria-required": String(props.isRequired),
  "aria-readonly": String(props.isReadOnly),
  ...(props.dataField && { "data-field": props.dataField }),
  ...(props.dir && { dir: props.dir }),
  ...(props.placeholder && text === "" && { "data-placeholder": props.placeholder }),
  tabindex: "0",
});

function createState(value: string, chips: Plugin): EditorState {
  const doc = schema.node("doc", null, [schema.node("line", null, toNodes(schema, value))]);
  return EditorState.create({
    doc,
    selection: TextSelection.atEnd(doc),
    plugins: [
      chips,
      history(),
      keymap({ "Mod-z": undo, "Mod-y": redo, "Mod-Shift-z": redo }),
      submitByEnter,
    ],
  });
}

/** As in other inputs. */
const submitByEnter = new Plugin({
  props: {
    handleKeyDown({ dom }, { key }) {
      if (key !== "Enter") return false;
      dom.closest("form")?.requestSubmit();
      return true;
    },
  },
});
