// Changes of the blocks of a design. Each returns new blocks.
import { t } from "../../language/translate.ts";
import {
  allBlocks,
  type BlockOf,
  type BlockType,
  type ColumnRatio,
  type ColumnsBlock,
  columnRatios,
  createId,
  type DesignBlock,
  isColumns,
  isVariable,
  type LeafBlock,
  limits,
  type OwnFields,
  type Paragraph,
  toParagraphs,
} from "./design.ts";

/** A list of blocks: that of the email, or a column. */
export type ListPlace = "email" | { columnsId: string; column: number };
/** Before the block with this index, or behind the last one. */
export interface BlockPlace {
  list: ListPlace;
  index: number;
}

export const blockNames: Record<BlockType, string> = {
  heading: t("Heading"),
  text: t("Text"),
  button: t("Button"),
  image: t("Image"),
  columns: t("Columns"),
  divider: t("Divider"),
  spacer: t("Space"),
  social: t("Social links"),
  menu: t("Menu"),
  video: t("Video"),
  table: t("Table"),
  products: t("Products"),
  html: "HTML",
  snippet: t("Snippet"),
  footer: t("Footer"),
};

const footerText: Paragraph[] = [
  { spans: [{ text: t("You get this email because you signed up for it.") }] },
  { spans: [{ text: "{{ postalAddress }}" }] },
  {
    spans: [
      { text: t("Unsubscribe"), href: "{{ unsubscribeUrl }}" },
      { text: " · " },
      { text: t("Choose what you get"), href: "{{ preferencesUrl }}" },
    ],
  },
];

const newFields: { [Type in BlockType]: () => OwnFields<Type> } = {
  heading: () => ({ level: 2, align: "left", text: toParagraphs(t("A heading")) }),
  text: () => ({ size: "normal", align: "left", text: toParagraphs("") }),
  button: () => ({ label: t("Read more"), href: "", align: "left", isWide: false }),
  image: () => {
    const empty = { src: "", alt: "", isDecorative: false, href: "" };
    return { ...empty, align: "center", width: 100 };
  },
  columns: () => ({ ratio: "1:1", columns: [[createBlock("text")], [createBlock("text")]] }),
  divider: () => ({}),
  spacer: () => ({ height: 24 }),
  social: () => ({
    align: "center",
    style: "words",
    usesBrand: true,
    links: [t("Instagram"), "LinkedIn", "YouTube"].map((name) => ({ name, href: "" })),
  }),
  menu: () => ({
    align: "center",
    links: [t("New"), t("Sale"), t("Contact")].map((name) => ({ name, href: "" })),
  }),
  video: () => ({ src: "", alt: "", href: "", label: t("Play the video") }),
  table: () => ({
    hasHeader: true,
    rows: [
      [t("Day"), t("Open")],
      [t("Monday to Friday"), "9 to 18"],
      [t("Saturday"), "10 to 14"],
    ],
  }),
  products: () => ({
    ...{ list: "event.items", most: 10 },
    ...{ image: "image", title: "title", price: "price", link: "url" },
  }),
  html: () => ({ code: "" }),
  snippet: () => ({ name: "" }),
  footer: () => ({ align: "center", text: footerText }),
};

export const createBlock = <Type extends BlockType>(type: Type): BlockOf<Type> =>
  ({ id: createId(), fill: "none", type, ...newFields[type]() }) as unknown as BlockOf<Type>;

export const findBlock = (blocks: readonly DesignBlock[], id: string): DesignBlock | undefined =>
  allBlocks(blocks).find((block) => block.id === id);

export const canAdd = (blocks: readonly DesignBlock[], count = 1): boolean =>
  allBlocks(blocks).length + count <= limits.blocks;

/** Whether a list takes the block. Columns have no columns and no snippets in them. */
export const takes = (list: ListPlace, type: BlockType): boolean =>
  list === "email" || (type !== "columns" && type !== "snippet");

const isSameList = (a: ListPlace, b: ListPlace): boolean =>
  a === b ||
  (a !== "email" && b !== "email" && a.columnsId === b.columnsId && a.column === b.column);

const listIn = (blocks: readonly DesignBlock[], list: ListPlace): readonly DesignBlock[] => {
  if (list === "email") return blocks;
  const owner = findBlock(blocks, list.columnsId) as ColumnsBlock | undefined;
  return owner?.columns[list.column] ?? [];
};

const withList = (
  blocks: readonly DesignBlock[],
  list: ListPlace,
  change: (blocks: readonly DesignBlock[]) => DesignBlock[],
): DesignBlock[] => {
  if (list === "email") return change(blocks);
  return blocks.map((block) => {
    if (!isColumns(block) || block.id !== list.columnsId) return block;
    const columns = block.columns.map((column, i) =>
      i === list.column ? (change(column) as LeafBlock[]) : column,
    );
    return { ...block, columns };
  });
};

/** Undefined if there is no such block. */
export function findPlace(blocks: readonly DesignBlock[], id: string): BlockPlace | undefined {
  const lists: ListPlace[] = [
    "email",
    ...blocks
      .filter(isColumns)
      .flatMap(({ id: columnsId, columns }) => columns.map((_, column) => ({ columnsId, column }))),
  ];
  for (const list of lists) {
    const index = listIn(blocks, list).findIndex((block) => block.id === id);
    if (index >= 0) return { list, index };
  }
  return undefined;
}

export const insertBlock = (
  blocks: readonly DesignBlock[],
  { list, index }: BlockPlace,
  block: DesignBlock,
): DesignBlock[] => withList(blocks, list, (old) => old.toSpliced(index, 0, block));

export function removeBlock(blocks: readonly DesignBlock[], id: string): DesignBlock[] {
  const place = findPlace(blocks, id);
  if (!place) return [...blocks];
  return withList(blocks, place.list, (old) => old.toSpliced(place.index, 1));
}

export const updateBlock = (
  blocks: readonly DesignBlock[],
  id: string,
  changes: Partial<DesignBlock>,
): DesignBlock[] => {
  const place = findPlace(blocks, id);
  if (!place) return [...blocks];
  return withList(blocks, place.list, (old) =>
    old.map((block) => (block.id === id ? ({ ...block, ...changes } as DesignBlock) : block)),
  );
};

/** The copy stands behind the block. */
export function duplicateBlock(
  blocks: readonly DesignBlock[],
  id: string,
): { blocks: DesignBlock[]; copyId: string } | undefined {
  const place = findPlace(blocks, id);
  const block = findBlock(blocks, id);
  if (!place || !block) return undefined;
  const copy = withNewIds(block);
  const { list, index } = place;
  return { blocks: insertBlock(blocks, { list, index: index + 1 }, copy), copyId: copy.id };
}

const withNewIds = (block: DesignBlock): DesignBlock =>
  isColumns(block)
    ? {
        ...block,
        id: createId(),
        columns: block.columns.map((column) => column.map((one) => ({ ...one, id: createId() }))),
      }
    : { ...block, id: createId() };

/** Moves a block to a place, as the places are before the move. */
export function moveBlock(
  blocks: readonly DesignBlock[],
  id: string,
  to: BlockPlace,
): DesignBlock[] {
  const from = findPlace(blocks, id);
  const block = findBlock(blocks, id);
  if (!from || !block || !takes(to.list, block.type)) return [...blocks];
  const leavesEarlier = isSameList(from.list, to.list) && from.index < to.index;
  const index = to.index - (leavesEarlier ? 1 : 0);
  return insertBlock(removeBlock(blocks, id), { list: to.list, index }, block);
}

/** Undefined if the block is the first or the last of its list. */
export function findNextPlace(
  blocks: readonly DesignBlock[],
  id: string,
  direction: "up" | "down",
): BlockPlace | undefined {
  const place = findPlace(blocks, id);
  if (!place) return undefined;
  const { list, index } = place;
  if (direction === "up") return index > 0 ? { list, index: index - 1 } : undefined;
  return index < listIn(blocks, list).length - 1 ? { list, index: index + 2 } : undefined;
}

/** The block that is selected when this one is removed: the next, else the one before. */
export function neighborOf(blocks: readonly DesignBlock[], id: string): string | undefined {
  const place = findPlace(blocks, id);
  if (!place) return undefined;
  const list = listIn(blocks, place.list);
  return (list[place.index + 1] ?? list[place.index - 1])?.id;
}

/** Blocks of columns that are left out move into the last column. */
export function changeRatio(block: ColumnsBlock, ratio: ColumnRatio): ColumnsBlock {
  const count = columnRatios[ratio].length;
  const kept = block.columns.slice(0, count);
  while (kept.length < count) kept.push([createBlock("text")]);
  const rest = block.columns.slice(count).flat();
  const columns = kept.map((column, i) => (i === count - 1 ? [...column, ...rest] : column));
  return { ...block, ratio, columns };
}

/** What readers of the email would miss. Undefined: nothing. */
export function problemOf(block: DesignBlock): string | undefined {
  if (block.type === "button" && !block.href) return t("The button has no link yet.");
  if (block.type === "social" && block.links.some(({ href }) => !href))
    return t("Links without an address are left out.");
  if (block.type === "menu" && block.links.some(({ href }) => !href))
    return t("Links without an address are left out.");
  if (block.type === "video" && !(block.src && block.href))
    return t("The video needs a picture and the address that it leads to.");
  if (block.type === "products" && !isVariable(block.list))
    return t("Name the list that the products come from.");
  if (block.type === "snippet" && !block.name) return t("Choose a snippet.");
  if (block.type !== "image") return undefined;
  if (!block.src) return t("The image has no address yet.");
  if (!block.alt && !block.isDecorative)
    return t("Describe the image for those who cannot see it.");
  return undefined;
}
