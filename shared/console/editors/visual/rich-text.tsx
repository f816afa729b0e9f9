import { baseKeymap } from "prosemirror-commands";
import { keymap } from "prosemirror-keymap";
import { type Command, EditorState, Plugin, TextSelection } from "prosemirror-state";
import { Decoration, DecorationSet, EditorView } from "prosemirror-view";
import { type CSSProperties, type Ref, useEffect, useImperativeHandle, useRef } from "react";
import type { InkName } from "../../../email/brand/colors.ts";
import { t } from "../../language/translate.ts";
import type { InsertOption } from "../../parts/insert-menu.tsx";
import { useFieldChips } from "../field-chips.tsx";
import type { Paragraph } from "./design.ts";
import {
  backspaceAtItem,
  enter,
  insertLineBreak,
  readFormat,
  readLink,
  type SelectedLink,
  setInk,
  setLink,
  type TextFormat,
  toggleBold,
  toggleItalic,
  toggleList,
  toggleUnderline,
} from "./rich-text-commands.ts";
import { fromDocument, schemas, toDocument } from "./rich-text-model.ts";

export interface RichTextHandle {
  toggle(what: "bold" | "italic" | "underline" | "bullets" | "numbers"): void;
  setInk(name: InkName | undefined): void;
  insert(text: string): void;
  readLink(): SelectedLink;
  setLink(link: SelectedLink): void;
  focus(): void;
}

interface RichTextProps {
  label: string;
  text: readonly Paragraph[];
  /** A heading: one paragraph. */
  isSingle: boolean;
  isReadOnly: boolean;
  insertOptions: Record<string, InsertOption[]>;
  style: CSSProperties;
  handle: Ref<RichTextHandle>;
  onChange(text: Paragraph[]): void;
  onFormat(format: TextFormat): void;
}

const toggles: Record<Parameters<RichTextHandle["toggle"]>[0], Command> = {
  bold: toggleBold,
  italic: toggleItalic,
  underline: toggleUnderline,
  bullets: toggleList("bullets"),
  numbers: toggleList("numbers"),
};

/** Text that is edited where it stands. Undo belongs to the whole email. */
export function RichText(props: RichTextProps) {
  const { label, text, isSingle, isReadOnly, insertOptions, style, handle } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const current = useRef(text);
  const latest = useRef(props);
  latest.current = props;
  const { plugin, popover } = useFieldChips({ view, insertOptions, isReadOnly });

  useEffect(() => {
    const editor = new EditorView(host.current, {
      state: createState(current.current, isSingle, plugin),
      editable: () => !latest.current.isReadOnly,
      attributes: () => ({
        role: "textbox",
        "aria-multiline": String(!isSingle),
        "aria-label": latest.current.label,
        "aria-readonly": String(latest.current.isReadOnly),
        "data-focus": "",
        tabindex: "0",
      }),
      dispatchTransaction(transaction) {
        const state = editor.state.apply(transaction);
        editor.updateState(state);
        if (transaction.docChanged) {
          current.current = fromDocument(state.doc);
          latest.current.onChange(current.current as Paragraph[]);
        }
        latest.current.onFormat(readFormat(state));
      },
    });
    view.current = editor;
    return () => editor.destroy();
  }, [isSingle, plugin]);

  // Undo and other changes from outside.
  useEffect(() => {
    const editor = view.current;
    if (!editor || text === current.current) return;
    current.current = text;
    const state = createState(text, isSingle, plugin);
    editor.updateState(state.apply(state.tr.setSelection(TextSelection.atEnd(state.doc))));
  }, [text, isSingle, plugin]);
  useEffect(() => view.current?.setProps({}), [label, isReadOnly]);

  useImperativeHandle(handle, () => {
    const run = (command: Command) => {
      const editor = view.current;
      if (!editor) return;
      command(editor.state, editor.dispatch, editor);
      editor.focus();
    };
    return {
      toggle: (what) => run(toggles[what]),
      insert: (inserted) =>
        run((state, dispatch) => {
          dispatch?.(state.tr.insertText(inserted).scrollIntoView());
          return true;
        }),
      setInk: (name) => run(setInk(name)),
      readLink: () => readLink(view.current!.state),
      setLink: (link) => run(setLink(link)),
      focus: () => view.current?.focus(),
    };
  }, []);
  return (
    <>
      <div ref={host} className="rich" style={style} />
      {popover}
    </>
  );
}

function createState(text: readonly Paragraph[], isSingle: boolean, chips: Plugin): EditorState {
  return EditorState.create({
    doc: toDocument(isSingle ? schemas.one : schemas.many, text),
    plugins: [
      chips,
      keymap({
        Enter: isSingle ? () => true : enter,
        "Shift-Enter": insertLineBreak,
        Backspace: backspaceAtItem,
        "Mod-b": toggleBold,
        "Mod-i": toggleItalic,
        "Mod-u": toggleUnderline,
        "Mod-Shift-7": toggles.numbers,
        "Mod-Shift-8": toggles.bullets,
      }),
      keymap(baseKeymap),
      marks,
    ],
  });
}

/** Marks Liquid that is no field, and says what to do with an empty text. */
const marks = new Plugin({
  props: {
    decorations({ doc }) {
      if (doc.textContent === "" && doc.childCount === 1)
        return DecorationSet.create(doc, [
          Decoration.node(0, doc.firstChild!.nodeSize, {
            class: "rich-empty",
            "data-placeholder": t("Write something"),
          }),
        ]);
      const fields: Decoration[] = [];
      doc.descendants((node, position) => {
        for (const { index, 0: code } of node.text?.matchAll(/\{\{.*?\}\}/g) ?? [])
          fields.push(
            Decoration.inline(position + index, position + index + code.length, {
              class: "rich-field",
            }),
          );
      });
      return DecorationSet.create(doc, fields);
    },
  },
});
