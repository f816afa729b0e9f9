import { autocompletion, closeBrackets } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { html } from "@codemirror/lang-html";
import { liquid } from "@codemirror/lang-liquid";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { type Ref, useEffect, useImperativeHandle, useRef } from "react";

export interface CodeEditorHandle {
  /** Replaces the selection. */
  insert(text: string): void;
}

interface CodeEditorProps {
  label: string;
  language: "html" | "text";
  /** The text at the beginning. Afterwards the editor has its own; a new `key` replaces it. */
  value: string;
  onChange(value: string): void;
  isReadOnly: boolean;
  handle: Ref<CodeEditorHandle>;
}

/**
 * CodeMirror in a shadow root, because there its styles are style sheets of script. In the page
 * they would be style elements, which the policy forbids.
 */
export function CodeEditor(props: CodeEditorProps) {
  const { label, language, value, isReadOnly, handle } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const onChange = useRef(props.onChange);
  onChange.current = props.onChange;

  useEffect(() => {
    const parent = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: "open" });
    const editor = new EditorView({
      parent,
      root: parent,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          bracketMatching(),
          closeBrackets(),
          autocompletion(),
          highlightSelectionMatches(),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": label }),
          EditorState.readOnly.of(isReadOnly),
          keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap]),
          liquid({ base: html({ matchClosingTags: language === "html" }) }),
          syntaxHighlighting(colors),
          look,
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) onChange.current(state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [label, language, isReadOnly]);

  useImperativeHandle(handle, () => ({
    insert(text) {
      const editor = view.current;
      if (!editor) return;
      editor.dispatch(editor.state.replaceSelection(text));
      editor.focus();
    },
  }));
  return <div ref={host} className="code-editor" />;
}

/** The colors of the console, which the shadow root inherits. */
const colors = HighlightStyle.define([
  { tag: [tags.tagName, tags.keyword, tags.operatorKeyword], color: "var(--info)" },
  { tag: [tags.attributeName, tags.propertyName], color: "var(--warn)" },
  { tag: [tags.string, tags.attributeValue, tags.number], color: "var(--good)" },
  { tag: [tags.variableName, tags.special(tags.variableName)], color: "var(--bad)" },
  { tag: [tags.comment, tags.documentMeta, tags.bracket], color: "var(--text-2)" },
]);

const look = EditorView.theme({
  "&": {
    color: "var(--text)",
    background: "var(--surface)",
    border: "1px solid var(--control)",
    borderRadius: "6px",
    overflow: "hidden",
    fontSize: "13px",
    height: "560px",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": {
    fontFamily: "ui-monospace, 'SF Mono', Menlo, Consolas, monospace",
    lineHeight: "1.6",
  },
  ".cm-gutters": {
    background: "var(--surface)",
    color: "var(--text-2)",
    border: "0",
    paddingRight: "6px",
  },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    background: "var(--accent-soft) !important",
  },
  ".cm-tooltip": {
    background: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--line-strong)",
  },
  ".cm-panels": { background: "var(--sunken)", color: "var(--text)" },
});
