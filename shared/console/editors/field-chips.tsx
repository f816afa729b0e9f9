// Fields as chips in texts that ProseMirror edits.
import { Button, Popover, TextInput } from "@mantine/core";
import type { Mark } from "prosemirror-model";
import { NodeSelection, Plugin, TextSelection, type Transaction } from "prosemirror-state";
import type { EditorProps, EditorView } from "prosemirror-view";
import {
  type FormEvent,
  type ReactNode,
  type Ref,
  type RefObject,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from "react";
import { t } from "../language/translate.ts";
import type { InsertOption } from "../parts/insert-menu.tsx";
import { type Field, findFields, readField, writeField } from "./fields.ts";

interface FieldChipsInput {
  view: RefObject<EditorView | undefined>;
  insertOptions: Record<string, InsertOption[]>;
  isReadOnly: boolean;
}

/** Chips of an editor: a plugin for its states, and the popover of the chip that is opened. */
export function useFieldChips(input: FieldChipsInput): { plugin: Plugin; popover: ReactNode } {
  const { view, insertOptions, isReadOnly } = input;
  const [opened, setOpened] = useState<OpenedField>();
  const isFixed = useRef(isReadOnly);
  isFixed.current = isReadOnly;
  const labels = useLabels(insertOptions);
  const plugin = useMemo(
    () => createFieldPlugin(labels, (field) => isFixed.current || setOpened(field)),
    [labels],
  );
  const replace = (code: string | undefined) => {
    if (opened && view.current) replaceField(view.current, opened.position, code);
    setOpened(undefined);
    view.current?.focus();
  };
  return {
    plugin,
    popover: opened && (
      <FieldPopover
        opened={opened}
        labels={labels}
        onSet={replace}
        onClose={() => setOpened(undefined)}
      />
    ),
  };
}

/** The same map as long as the names are the same. */
function useLabels(options: Record<string, InsertOption[]>): FieldLabels {
  const entries = JSON.stringify([...toFieldLabels(options)]);
  return useMemo(() => new Map(JSON.parse(entries)), [entries]);
}

interface FieldPopoverProps {
  opened: OpenedField;
  labels: FieldLabels;
  /** Without a code, the field is removed. */
  onSet(code: string | undefined): void;
  onClose(): void;
}

/** What stands in the email of those whose field is empty. */
function FieldPopover({ opened, labels, onSet, onClose }: FieldPopoverProps) {
  const field = readField(opened.code)!;
  const [fallback, setFallback] = useState(field.fallback);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    onSet(writeField({ ...field, fallback }));
  };
  return (
    <Popover
      opened
      trapFocus
      withArrow
      width={280}
      position="bottom"
      onChange={(isOpen) => !isOpen && onClose()}
    >
      <Popover.Target>
        <ChipAnchor element={opened.element} />
      </Popover.Target>
      <Popover.Dropdown aria-label={t("Field")}>
        <form className="stack" onSubmit={submit}>
          <b>{labelOf(labels, field)}</b>
          <TextInput
            label={t("If it is empty, write")}
            placeholder={t("Nothing")}
            maxLength={200}
            data-autofocus
            value={fallback}
            onChange={({ currentTarget }) => setFallback(currentTarget.value)}
          />
          <div className="row">
            <Button size="xs" type="submit">
              {t("Set")}
            </Button>
            <Button size="xs" variant="subtle" color="gray" onClick={() => onSet(undefined)}>
              {t("Remove the field")}
            </Button>
          </div>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}

/** Stands for a chip, which is no element of React. */
function ChipAnchor({ element, ref }: { element: HTMLElement; ref?: Ref<HTMLElement> }) {
  useImperativeHandle(ref, () => element, [element]);
  return null;
}

interface OpenedField {
  position: number;
  code: string;
  /** The chip. */
  element: HTMLElement;
}

/** Makes chips of what is typed or pasted, and opens a chip by a click or Enter. */
function createFieldPlugin(labels: FieldLabels, onOpen: (field: OpenedField) => void): Plugin {
  const open = (view: EditorView, position: number): boolean => {
    const node = view.state.doc.nodeAt(position);
    const element = view.nodeDOM(position);
    if (node?.type.name !== "field" || !(element instanceof HTMLElement)) return false;
    onOpen({ position, code: node.attrs.code, element });
    return true;
  };
  return new Plugin({
    appendTransaction(transactions, _before, { doc, tr, schema }): Transaction | null {
      if (!transactions.some(({ docChanged }) => docChanged)) return null;
      const found: { from: number; code: string; marks: readonly Mark[] }[] = [];
      doc.descendants((node, position) => {
        for (const { start, code } of findFields(node.text ?? ""))
          found.push({ from: position + start, code, marks: node.marks });
      });
      for (const { from, code, marks } of found.toReversed()) {
        const chip = schema.nodes.field!.create({ code }, null, marks);
        tr.replaceWith(from, from + code.length, chip);
      }
      return found.length ? tr : null;
    },
    props: {
      nodeViews: createFieldViews(labels),
      handleClickOn: (view, _position, _node, nodePosition, _event, isDirect) =>
        isDirect && open(view, nodePosition),
      handleKeyDown: (view, { key }) =>
        key === "Enter" &&
        view.state.selection instanceof NodeSelection &&
        open(view, view.state.selection.from),
    },
  });
}

/** How chips look: the name of the field, and what stands there if it is empty. */
const createFieldViews = (labels: FieldLabels): NonNullable<EditorProps["nodeViews"]> => ({
  field: ({ attrs }) => {
    const field = readField(attrs.code) ?? { path: attrs.code, fallback: "" };
    const label = labelOf(labels, field);
    const dom = document.createElement("span");
    dom.className = "field-chip";
    dom.setAttribute("role", "img");
    dom.setAttribute(
      "aria-label",
      field.fallback
        ? t("Field {label}, or else “{fallback}”", { label, fallback: field.fallback })
        : t("Field {label}", { label }),
    );
    dom.title = attrs.code;
    dom.append(label);
    if (field.fallback) {
      const fallback = document.createElement("span");
      fallback.className = "field-chip-fallback";
      fallback.textContent = field.fallback;
      dom.append(fallback);
    }
    return { dom };
  },
});

/** Replaces a chip. Without a code, removes it. */
function replaceField(view: EditorView, position: number, code: string | undefined): void {
  const { state } = view;
  const node = state.doc.nodeAt(position);
  if (node?.type.name !== "field") return;
  const { tr } = state;
  const end = position + node.nodeSize;
  if (code === undefined) tr.delete(position, end);
  else {
    tr.replaceWith(position, end, node.type.create({ code }, null, node.marks));
    tr.setSelection(TextSelection.create(tr.doc, end));
  }
  view.dispatch(tr);
}

type FieldLabels = ReadonlyMap<string, string>;

/** The names of fields as the insert menu gives them. */
const toFieldLabels = (options: Record<string, InsertOption[]>): FieldLabels =>
  new Map(
    Object.values(options)
      .flat()
      .flatMap(({ label, text }): [string, string][] => {
        const field = readField(text);
        return field ? [[field.path, label]] : [];
      }),
  );

/** A field that the menu does not offer has the last word of its path. */
const labelOf = (labels: FieldLabels, { path }: Field): string =>
  labels.get(path) ?? path.match(/([^."]+)(?:"\])?$/)?.[1] ?? path;
