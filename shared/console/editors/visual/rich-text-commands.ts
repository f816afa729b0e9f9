// What can be done with a text: bold, italic, underline, colours, links, lists.
import { chainCommands, liftEmptyBlock, splitBlockAs, toggleMark } from "prosemirror-commands";
import type { Mark, Node } from "prosemirror-model";
import type { Command, EditorState, Transaction } from "prosemirror-state";
import type { InkName } from "../../../email/brand/colors.ts";

export const toggleBold: Command = (state, dispatch) =>
  toggleMark(state.schema.marks.bold!)(state, dispatch);
export const toggleItalic: Command = (state, dispatch) =>
  toggleMark(state.schema.marks.italic!)(state, dispatch);

export const toggleUnderline: Command = (state, dispatch) =>
  toggleMark(state.schema.marks.underline!)(state, dispatch);

/** Colours the selection, or what is typed next. Without a name, takes the colour away. */
export const setInk =
  (name: InkName | undefined): Command =>
  ({ tr, schema, selection }, dispatch) => {
    const ink = schema.marks.ink!;
    const { from, to, empty } = selection;
    if (empty) tr.removeStoredMark(ink);
    else tr.removeMark(from, to, ink);
    if (name && empty) tr.addStoredMark(ink.create({ name }));
    else if (name) tr.addMark(from, to, ink.create({ name }));
    dispatch?.(tr);
    return true;
  };

export const insertLineBreak: Command = (state, dispatch) => {
  const lineBreak = state.schema.nodes.lineBreak!.create();
  dispatch?.(state.tr.replaceSelectionWith(lineBreak).scrollIntoView());
  return true;
};

const selectedParagraphs = ({ doc, selection }: EditorState): [node: Node, position: number][] => {
  const found: [Node, number][] = [];
  doc.nodesBetween(selection.from, selection.to, (node, position) => {
    if (node.type.name === "paragraph") found.push([node, position]);
  });
  return found;
};

export type ListKind = "bullets" | "numbers";

/** Makes the paragraphs items of a list. Without a kind, makes them paragraphs again. */
const withList = (state: EditorState, kind: ListKind | undefined): Transaction => {
  const { tr } = state;
  for (const [, position] of selectedParagraphs(state)) {
    tr.setNodeAttribute(position, "isItem", kind !== undefined);
    tr.setNodeAttribute(position, "isNumbered", kind === "numbers");
  }
  return tr;
};

/** The kind of list that all selected paragraphs are in. */
function readList(state: EditorState): ListKind | undefined {
  const kinds = new Set(
    selectedParagraphs(state).map(([{ attrs }]): ListKind | undefined => {
      if (!attrs.isItem) return undefined;
      return attrs.isNumbered ? "numbers" : "bullets";
    }),
  );
  const [kind] = kinds;
  return kinds.size === 1 ? kind : undefined;
}

export const toggleList =
  (kind: ListKind): Command =>
  (state, dispatch) => {
    dispatch?.(withList(state, readList(state) === kind ? undefined : kind));
    return true;
  };

/** Ends the list at an item without text. */
const endList: Command = (state, dispatch) => {
  const { parent } = state.selection.$from;
  if (!parent.attrs.isItem || parent.content.size > 0) return false;
  dispatch?.(withList(state, undefined));
  return true;
};

/** A paragraph below an item is an item too. */
const split = splitBlockAs(({ type, attrs }) => ({ type, attrs }));
export const enter: Command = (state, dispatch, view) =>
  state.schema.topNodeType.contentMatch.defaultType !== null &&
  chainCommands(endList, liftEmptyBlock, split)(state, dispatch, view);

/** Makes an item a paragraph at its start. */
export const backspaceAtItem: Command = (state, dispatch) => {
  const { $from, empty } = state.selection;
  if (!empty || $from.parentOffset > 0 || !$from.parent.attrs.isItem) return false;
  dispatch?.(withList(state, undefined));
  return true;
};

export interface SelectedLink {
  text: string;
  href: string;
}

interface Range {
  from: number;
  to: number;
}

/** The link that the cursor is in, else the selection. */
function linkRange(state: EditorState): Range & { href: string } {
  const { $from, from, to, empty } = state.selection;
  const link = state.schema.marks.link!;
  const markOf = (node: Node | null | undefined): Mark | undefined =>
    node?.marks.find(({ type }) => type === link);
  const mark = markOf($from.parent.maybeChild($from.index())) ?? markOf($from.nodeBefore);
  const href: string = mark?.attrs.href ?? "";
  if (!mark || !empty) return { from, to, href };
  let range: Range | undefined;
  $from.parent.forEach((node, offset) => {
    const start = $from.start() + offset;
    const isPart = markOf(node)?.attrs.href === href;
    const goesOn = range && range.to === start;
    if (isPart && (goesOn || start <= from)) {
      if (goesOn) range!.to = start + node.nodeSize;
      else range = { from: start, to: start + node.nodeSize };
    }
  });
  return { from: range?.from ?? from, to: range?.to ?? to, href };
}

export function readLink(state: EditorState): SelectedLink {
  const { from, to, href } = linkRange(state);
  return { text: state.doc.textBetween(from, to, " "), href };
}

/**
 * Links the selection, or the given text in its place. Without a text, the link shows its address.
 * Without `href`, removes the link.
 */
export const setLink =
  ({ text, href }: SelectedLink): Command =>
  (state, dispatch) => {
    const { from, to } = linkRange(state);
    const link = state.schema.marks.link!;
    const { tr } = state;
    if (!href) {
      dispatch?.(tr.removeMark(from, to, link));
      return true;
    }
    const isSameText = text === state.doc.textBetween(from, to, " ");
    const marks = state.doc.resolve(from).marks();
    const shown = text || href;
    if (!isSameText || from === to) tr.replaceWith(from, to, state.schema.text(shown, marks));
    const end = isSameText && from < to ? to : from + shown.length;
    dispatch?.(tr.removeMark(from, end, link).addMark(from, end, link.create({ href })));
    return true;
  };

/** What the selection is. */
export interface TextFormat {
  isBold: boolean;
  isItalic: boolean;
  isUnderlined: boolean;
  ink: InkName | undefined;
  isLink: boolean;
  list: ListKind | undefined;
}

export function readFormat(state: EditorState): TextFormat {
  const { bold, italic, underline, ink } = state.schema.marks;
  const { from, to, empty, $from } = state.selection;
  const ofSelection = empty ? $from.marks() : $from.marksAcross(state.selection.$to);
  const marks = state.storedMarks ?? ofSelection ?? [];
  const has = (mark: typeof bold) =>
    empty
      ? Boolean(mark!.isInSet(state.storedMarks ?? $from.marks()))
      : state.doc.rangeHasMark(from, to, mark!);
  return {
    isBold: has(bold),
    isItalic: has(italic),
    isUnderlined: has(underline),
    ink: ink!.isInSet(marks)?.attrs.name,
    isLink: linkRange(state).href !== "",
    list: readList(state),
  };
}
