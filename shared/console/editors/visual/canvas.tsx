import { type DragEvent, type KeyboardEvent, type SyntheticEvent, useState } from "react";
import { colorsOf } from "../../../email/brand/colors.ts";
import { inSentence, t } from "../../language/translate.ts";
import { AddBlock } from "./add-block.tsx";
import { BlockBars } from "./block-bars.tsx";
import { type BlockPlace, blockNames, type ListPlace, problemOf, takes } from "./block-changes.ts";
import {
  BlockFace,
  type BlockLook,
  bandStyle,
  bandsOf,
  boxStyle,
  columnsStyle,
  emailStyle,
  FooterNote,
  hasText,
  Logo,
  type TextOwner,
  textStyle,
} from "./block-view.tsx";
import { type ColumnsBlock, type DesignBlock, isColumns, plainTextOf } from "./design.ts";
import { useDesignEditor } from "./design-editor.ts";
import { RichText, type RichTextHandle } from "./rich-text.tsx";
import type { TextFormat } from "./rich-text-commands.ts";
import { describeShowIf } from "./show-if.ts";

/** The email as it looks, with its blocks to edit. */
export function Canvas() {
  const { design, isReadOnly, isSnippet, select, dragged, setDragged } = useDesignEditor();
  const { blocks, theme } = design;
  const [target, setTarget] = useState<BlockPlace>();
  const drop = { target, setTarget };
  const deselect = (event: KeyboardEvent) => {
    if (event.key === "Escape" && isOwn(event)) select(undefined);
  };
  const endDrag = () => {
    setDragged(undefined);
    setTarget(undefined);
  };
  const handlers = { onKeyDown: deselect, onDragEnd: endDrag, onDrop: endDrag };
  let number = 0;
  return (
    <div
      className={`canvas ${isReadOnly ? "" : "is-edited"} ${dragged ? "is-dragging" : ""}`}
      style={emailStyle(design)}
      {...handlers}
    >
      {!isSnippet && <Logo theme={theme} />}
      <ol className="canvas-list" aria-label={t("Blocks of the email")}>
        {bandsOf(blocks).flatMap((band) =>
          band.blocks.map((block, i) => (
            <li key={block.id} style={bandStyle(band, i, theme)}>
              <BlockItem
                block={block}
                place={{ list: "email", index: number++ }}
                drop={drop}
                theme={theme}
                colors={colorsOf(theme, band.surface)}
              />
            </li>
          )),
        )}
        <li className="canvas-end">
          <Slot
            place={{ list: "email", index: blocks.length }}
            drop={drop}
            label={t("Add a block at the end")}
          />
        </li>
      </ol>
    </div>
  );
}

/** Keys of a dialog that a block opened pass by here too. */
const isOwn = ({ currentTarget, target, defaultPrevented }: KeyboardEvent): boolean =>
  !defaultPrevented && currentTarget.contains(target as Element);

interface Drop {
  target: BlockPlace | undefined;
  setTarget(place: BlockPlace | undefined): void;
}

const isSamePlace = (a: BlockPlace | undefined, b: BlockPlace): boolean =>
  a !== undefined && JSON.stringify(a) === JSON.stringify(b);

interface SlotProps {
  place: BlockPlace;
  drop: Drop;
  /** "Add a block before the text" */
  label: string;
}

/** A place between blocks: for the plus button, and for what is dropped. */
function Slot({ place, drop, label }: SlotProps) {
  const { isReadOnly } = useDesignEditor();
  const onDrop = useDrop(place, drop);
  if (isReadOnly) return null;
  const isTarget = isSamePlace(drop.target, place);
  return (
    <div className={isTarget ? "slot is-target" : "slot"} {...onDrop}>
      <AddBlock place={place} label={label} />
    </div>
  );
}

/** Takes what is dragged over an element. `placeAt` says where it would go. */
function useDrop(place: BlockPlace, { setTarget }: Drop, after?: BlockPlace) {
  const { dragged, add, moveTo } = useDesignEditor();
  const placeOf = (event: DragEvent): BlockPlace => {
    if (!after) return place;
    const { top, height } = event.currentTarget.getBoundingClientRect();
    return event.clientY < top + height / 2 ? place : after;
  };
  if (!dragged || !takes(place.list, dragged.type)) return {};
  return {
    onDragOver(event: DragEvent) {
      event.preventDefault();
      event.stopPropagation();
      setTarget(placeOf(event));
    },
    // Before the text editor in the block sees it.
    onDropCapture(event: DragEvent) {
      if (isColumnsInside(event)) return;
      event.preventDefault();
      event.stopPropagation();
      const to = placeOf(event);
      setTarget(undefined);
      if (dragged.id === undefined) add(dragged.type, to);
      else moveTo(dragged.id, to);
    },
  };
}

/** Whether a column inside of the block takes the drop. */
const isColumnsInside = ({ target, currentTarget }: DragEvent): boolean =>
  (target as Element).closest("[data-block], .slot") !== currentTarget;

interface BlockItemProps extends BlockLook {
  block: DesignBlock;
  place: BlockPlace;
  drop: Drop;
  isInColumn?: boolean;
}

const noFormat: TextFormat = {
  ...{ isBold: false, isItalic: false, isUnderlined: false, isLink: false },
  ...{ ink: undefined, list: undefined },
};

/** A block, with its bars while it is selected. */
function BlockItem({ block, place, drop, isInColumn = false, ...look }: BlockItemProps) {
  const editor = useDesignEditor();
  const { isReadOnly, selectedId, select, move, remove, duplicate, textBarPlace } = editor;
  const [text, setText] = useState<RichTextHandle | null>(null);
  const [format, setFormat] = useState(noFormat);
  const isSelected = block.id === selectedId && !isReadOnly;
  const shownIf = describeShowIf(block.showIf);
  const { list, index } = place;
  const onDrop = useDrop(place, drop, { list, index: index + 1 });
  const press = (event: KeyboardEvent) => {
    if (isReadOnly || !isOwn(event)) return;
    const isOnFace = (event.target as Element).matches("button[data-focus]");
    const run = (action: () => void) => {
      event.preventDefault();
      event.stopPropagation();
      action();
    };
    if (event.altKey && event.key === "ArrowUp") run(() => move(block.id, "up"));
    else if (event.altKey && event.key === "ArrowDown") run(() => move(block.id, "down"));
    else if ((event.ctrlKey || event.metaKey) && event.key === "d") run(() => duplicate(block.id));
    else if (event.altKey && event.key === "F10")
      run(() => textBarPlace?.querySelector("button")?.focus());
    else if (isOnFace && /^(Delete|Backspace)$/.test(event.key)) run(() => remove(block.id));
  };
  const selectThis = (event: SyntheticEvent) => {
    event.stopPropagation();
    select(block.id);
  };
  const handlers = { onFocus: selectThis, onClick: selectThis, onKeyDown: press };
  return (
    <>
      <Slot
        place={place}
        drop={drop}
        label={t("Add a block before {name}", { name: inSentence(blockNames[block.type]) })}
      />
      {isSelected && <BlockBars block={block} text={text} format={format} />}
      <div
        className={isSelected ? "block is-selected" : "block"}
        data-block={block.id}
        {...handlers}
        {...onDrop}
      >
        {shownIf && (
          <span className="shown-if">{t("Only if {condition}", { condition: shownIf })}</span>
        )}
        <div style={boxStyle(block, isInColumn)}>
          <BlockContent
            block={block}
            look={look}
            drop={drop}
            onHandle={setText}
            onFormat={setFormat}
          />
        </div>
      </div>
    </>
  );
}

interface BlockContentProps {
  block: DesignBlock;
  look: BlockLook;
  drop: Drop;
  onHandle(handle: RichTextHandle | null): void;
  onFormat(format: TextFormat): void;
}

function BlockContent({ block, look, drop, onHandle, onFormat }: BlockContentProps) {
  const { update, isReadOnly, insertOptions, openPanel } = useDesignEditor();
  const name = blockNames[block.type];
  if (isColumns(block)) return <Columns block={block} look={look} drop={drop} />;
  if (hasText(block))
    return (
      <>
        <RichText
          label={name}
          text={block.text}
          isSingle={block.type === "heading"}
          isReadOnly={isReadOnly}
          insertOptions={insertOptions}
          style={textStyle(block, look)}
          handle={onHandle}
          onFormat={onFormat}
          onChange={(text) =>
            update(block.id, { text } as Partial<TextOwner>, typingName(block, text))
          }
        />
        <FooterNote block={block} {...look} />
      </>
    );
  const problem = problemOf(block);
  return (
    <button
      type="button"
      className={problem ? "block-face has-problem" : "block-face"}
      data-focus=""
      // On a phone, the settings with what is missing are closed.
      onClick={problem && !isReadOnly ? openPanel : undefined}
    >
      <span className="visually-hidden">{name}: </span>
      <BlockFace block={block} {...look} />
      {problem && <span className="visually-hidden">. {problem}</span>}
    </button>
  );
}

/** Words are undone one by one. */
const typingName = ({ id }: DesignBlock, text: TextOwner["text"]): string =>
  `${id} ${plainTextOf(text).split(/\s+/).length}`;

interface ColumnsProps {
  block: ColumnsBlock;
  look: BlockLook;
  drop: Drop;
}

function Columns({ block, look, drop }: ColumnsProps) {
  return (
    <>
      <button type="button" className="columns-face" data-focus="">
        {t("Columns")}
      </button>
      <div className="canvas-columns" style={columnsStyle(block)}>
        {block.columns.map((column, i) => {
          const list: ListPlace = { columnsId: block.id, column: i };
          return (
            <ol
              key={i}
              className="canvas-list"
              aria-label={t("Column {number}", { number: i + 1 })}
            >
              {column.map((one, index) => (
                <li key={one.id}>
                  <BlockItem block={one} place={{ list, index }} drop={drop} isInColumn {...look} />
                </li>
              ))}
              <li className="canvas-end">
                <Slot
                  place={{ list, index: column.length }}
                  drop={drop}
                  label={t("Add a block at the end of column {number}", { number: i + 1 })}
                />
              </li>
            </ol>
          );
        })}
      </div>
    </>
  );
}
