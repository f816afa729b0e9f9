// What can be done with a text: bold, italic, links, bullets.
import { chainCommands, liftEmptyBlock, splitBlockAs, toggleMark } from "prosemirror-commands";
import type { Mark, Node } from "prosemirror-model";
import type { Command, EditorState, Transaction } from "prosemirror-state";

export const toggleBold: Command = (state, dispatch) =>
  toggleMark(state.schema.marks.bold!)(state, dispatch);
export const toggleItalic: Command = (state, dispatch) =>
  toggleMark(state.schema.marks.italic!)(state, dispatch);

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

const withItems = (state: EditorState, isItem: boolean): Transaction => {
  const { tr } = state;
  for (const [, position] of selectedParagraphs(state))
    tr.setNodeAttribute(position, "isItem", isItem);
  return tr;
};

const areItems = (state: EditorState): boolean =>
  selectedParagraphs(state).every(([{ attrs }]) => attrs.isItem);

/** Makes the paragraphs bullets, or bullets paragraphs. */
export const toggleItems: Command = (state, dispatch) => {
  dispatch?.(withItems(state, !areItems(state)));
  return true;
};

/** Ends the list at a bullet without text. */
const endList: Command = (state, dispatch) => {
  const { parent } = state.selection.$from;
  if (!parent.attrs.isItem || parent.content.size > 0) return false;
  dispatch?.(withItems(state, false));
  return true;
};

/** A paragraph below a bullet is a bullet too. */
const split = splitBlockAs(({ type, attrs }) => ({ type, attrs }));
export const enter: Command = (state, dispatch, view) =>
  state.schema.topNodeType.contentMatch.defaultType !== null &&
  chainCommands(endList, liftEmptyBlock, split)(state, dispatch, view);

/** Makes a bullet a paragraph at its start. */
export const backspaceAtBullet: Command = (state, dispatch) => {
  const { $from, empty } = state.selection;
  if (!empty || $from.parentOffset > 0 || !$from.parent.attrs.isItem) return false;
  dispatch?.(withItems(state, false));
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

/** Links the selection, or the given text in its place. Without `href`, removes the link. */
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
    if (!isSameText && text) tr.replaceWith(from, to, state.schema.text(text, marks));
    const end = isSameText || !text ? to : from + text.length;
    dispatch?.(tr.removeMark(from, end, link).addMark(from, end, link.create({ href })));
    return true;
  };

/** What the selection is. */
export interface TextFormat {
  isBold: boolean;
  isItalic: boolean;
  isLink: boolean;
  areItems: boolean;
}

export function readFormat(state: EditorState): TextFormat {
  const { bold, italic } = state.schema.marks;
  const { from, to, empty, $from } = state.selection;
  const has = (mark: typeof bold) =>
    empty
      ? Boolean(mark!.isInSet(state.storedMarks ?? $from.marks()))
      : state.doc.rangeHasMark(from, to, mark!);
  return {
    isBold: has(bold),
    isItalic: has(italic),
    isLink: linkRange(state).href !== "",
    areItems: areItems(state),
  };
}
