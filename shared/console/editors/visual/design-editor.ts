import { createContext, useContext } from "react";
import { t } from "../../language/translate.ts";
import type { DraftHistory } from "../../parts/draft-history.ts";
import type { InsertOption } from "../../parts/insert-menu.tsx";
import {
  type BlockPlace,
  blockNames,
  canAdd,
  createBlock,
  duplicateBlock,
  findBlock,
  findNextPlace,
  findPlace,
  insertBlock,
  moveBlock,
  neighborOf,
  removeBlock,
  updateBlock,
} from "./block-changes.ts";
import { type BlockType, type Design, type DesignBlock, limits } from "./design.ts";

/** What is dragged: a block, or a new one of a type. */
export type Dragged = { id: string; type: BlockType } | { id?: undefined; type: BlockType };

/** What every part of the editor needs. */
export interface DesignEditor {
  design: Design;
  siteId: number;
  isReadOnly: boolean;
  /** Whether a snippet is edited, which has no logo and stands on what its email has. */
  isSnippet: boolean;
  insertOptions: Record<string, InsertOption[]>;
  selectedId: string | undefined;
  select(id: string | undefined): void;
  /** Changes with the same name, one after the other, are undone together. */
  update(id: string, changes: Partial<DesignBlock>, name?: string): void;
  add(type: BlockType, place: BlockPlace): void;
  move(id: string, direction: "up" | "down"): void;
  moveTo(id: string, place: BlockPlace): void;
  duplicate(id: string): void;
  remove(id: string): void;
  /** Puts another block in its place. */
  replace(id: string, block: DesignBlock): void;
  /** Above the canvas, for what can be done with the selected text. */
  textBarPlace: HTMLElement | null;
  dragged: Dragged | undefined;
  setDragged(dragged: Dragged | undefined): void;
  /** Shows the panel where it does not stand beside the canvas. */
  openPanel(): void;
}

const Context = createContext<DesignEditor | undefined>(undefined);
export const DesignEditorProvider = Context.Provider;
export const useDesignEditor = (): DesignEditor => useContext(Context)!;

interface BlockActionsInput {
  history: DraftHistory<Design>;
  select(id: string | undefined): void;
  /** Leads the keyboard to the block after the change. */
  focus(id: string, action?: "up" | "down"): void;
  /** Tells screen readers what happened. */
  announce(text: string): void;
}

/** The changes of blocks, each with what is selected and said afterwards. */
export function createBlockActions({ history, select, focus, announce }: BlockActionsInput) {
  const { draft: design, change } = history;
  const { blocks } = design;
  const nameOf = (id: string) => blockNames[findBlock(blocks, id)!.type];
  const set = (next: DesignBlock[], name?: string) => change({ ...design, blocks: next }, name);
  const isFull = (count: number) => {
    if (canAdd(blocks, count)) return false;
    announce(t("An email has at most {blocks} blocks.", { blocks: limits.blocks }));
    return true;
  };
  const show = (id: string) => {
    select(id);
    focus(id);
  };
  return {
    update: (id: string, changes: Partial<DesignBlock>, name?: string) =>
      set(updateBlock(blocks, id, changes), name),
    add(type: BlockType, place: BlockPlace) {
      if (isFull(3)) return;
      const block = createBlock(type);
      set(insertBlock(blocks, place, block));
      show(block.id);
      announce(t("{name} added.", { name: blockNames[type] }));
    },
    move(id: string, direction: "up" | "down") {
      const place = findNextPlace(blocks, id, direction);
      if (!place) return;
      set(moveBlock(blocks, id, place));
      focus(id, direction);
      const name = nameOf(id);
      announce(
        direction === "up" ? t("{name} moved up.", { name }) : t("{name} moved down.", { name }),
      );
    },
    moveTo(id: string, place: BlockPlace) {
      set(moveBlock(blocks, id, place));
      show(id);
      announce(t("{name} moved.", { name: nameOf(id) }));
    },
    duplicate(id: string) {
      const copied = isFull(20) ? undefined : duplicateBlock(blocks, id);
      if (!copied) return;
      set(copied.blocks);
      show(copied.copyId);
      announce(t("{id} duplicated.", { id: nameOf(id) }));
    },
    replace(id: string, block: DesignBlock) {
      const place = findPlace(blocks, id);
      if (!place) return;
      set(insertBlock(removeBlock(blocks, id), place, block));
      show(block.id);
      announce(t("{name} added.", { name: blockNames[block.type] }));
    },
    remove(id: string) {
      const neighbor = neighborOf(blocks, id);
      set(removeBlock(blocks, id));
      select(neighbor);
      if (neighbor) focus(neighbor);
      announce(t("{id} deleted. Undo brings it back.", { id: nameOf(id) }));
    },
  };
}
