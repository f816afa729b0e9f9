import { ActionIcon, Button, SegmentedControl } from "@mantine/core";
import { getHotkeyHandler } from "@mantine/hooks";
import { IconArrowBackUp, IconArrowForwardUp, IconPalette, IconX } from "@tabler/icons-react";
import { type DragEvent, type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import type { DraftHistory } from "../../parts/draft-history.ts";
import type { InsertOption } from "../../parts/insert-menu.tsx";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { blockIcons, blockTypes } from "./add-block.tsx";
import { blockNames, findBlock, findPlace, problemOf, takes } from "./block-changes.ts";
import { BlockSettings } from "./block-settings.tsx";
import { Canvas } from "./canvas.tsx";
import { allBlocks, applyBrand, type BlockType, type Design, type DesignBlock } from "./design.ts";
import {
  createBlockActions,
  type DesignEditor,
  DesignEditorProvider,
  type Dragged,
  useDesignEditor,
} from "./design-editor.ts";
import { LookSettings } from "./look-settings.tsx";
import { useBrand } from "./use-brand.ts";

interface VisualEditorProps {
  siteId: number;
  history: DraftHistory<Design>;
  insertOptions: Record<string, InsertOption[]>;
  isReadOnly: boolean;
  isSnippet?: boolean;
}

type Panel = "add" | "block" | "look";

/** The canvas with the email, and a panel with what can be added and set. */
export function VisualEditor(props: VisualEditorProps) {
  const { siteId, history, insertOptions, isReadOnly, isSnippet = false } = props;
  const { draft, undo, redo } = history;
  const { brand } = useBrand(siteId);
  const design = useMemo(() => applyBrand(draft, brand), [draft, brand]);
  const [selectedId, setSelectedId] = useState<string>();
  const [panel, setPanel] = useState<Panel>(isReadOnly ? "look" : "add");
  const [isPanelOpen, setPanelOpen] = useState(false);
  const [dragged, setDragged] = useState<Dragged>();
  const [said, announce] = useState("");
  const [textBarPlace, setTextBarPlace] = useState<HTMLElement | null>(null);
  const root = useRef<HTMLDivElement>(null);
  const focus = useFocusAfterChange(root, design);
  const select = (id: string | undefined) => {
    if (id !== selectedId) setPanel(id === undefined ? "add" : "block");
    setSelectedId(id);
  };
  const editor: DesignEditor = {
    design,
    siteId,
    isReadOnly,
    isSnippet,
    insertOptions,
    selectedId,
    select: isReadOnly ? () => {} : select,
    textBarPlace,
    dragged,
    setDragged,
    openPanel: () => setPanelOpen(true),
    ...createBlockActions({ history, select, focus, announce }),
  };
  const keys = getHotkeyHandler([
    ["mod+Z", undo],
    ["mod+shift+Z", redo],
    ["mod+Y", redo],
  ]);
  // The editor handles them itself. The help names them.
  useShortcuts([
    { keys: ["mod+Z"], label: t("Undo") },
    { keys: ["mod+shift+Z", "mod+Y"], label: t("Redo") },
  ]);
  const press = (event: KeyboardEvent<HTMLElement>) => {
    // Inputs of the panel and of dialogs have their own undo.
    const isInput = (event.target as Element).matches("input, textarea");
    if (!isReadOnly && !isInput) keys(event);
  };
  const problems = allBlocks(design.blocks).filter((block) => problemOf(block) !== undefined);
  const openLook = () => {
    setPanel("look");
    setPanelOpen(true);
  };
  const selected = selectedId === undefined ? undefined : findBlock(design.blocks, selectedId);
  return (
    <DesignEditorProvider value={editor}>
      <div ref={root} className="visual-editor" {...{ onKeyDown: press }}>
        <div className="visual-main">
          {!isReadOnly && (
            <div className="visual-bar" role="toolbar" aria-label={t("Email")}>
              <ActionIcon
                variant="default"
                size={32}
                aria-label={t("Undo")}
                title={t("Undo")}
                disabled={!history.canUndo}
                onClick={undo}
              >
                <IconArrowBackUp size={17} />
              </ActionIcon>
              <ActionIcon
                variant="default"
                size={32}
                aria-label={t("Redo")}
                title={t("Redo")}
                disabled={!history.canRedo}
                onClick={redo}
              >
                <IconArrowForwardUp size={17} />
              </ActionIcon>
              <div className="text-bar-place" ref={setTextBarPlace} />
              <Button
                className="narrow-only"
                variant="default"
                size="xs"
                leftSection={<IconPalette size={16} />}
                onClick={openLook}
              >
                {t("Look")}
              </Button>
              <Problems problems={problems} onOpen={(id) => focus(id)} />
            </div>
          )}
          <Canvas />
        </div>
        <aside
          className={isPanelOpen ? "visual-panel is-open" : "visual-panel"}
          aria-label={t("Settings")}
        >
          <div className="visual-panel-head">
            {isReadOnly ? (
              <h2>{t("Look")}</h2>
            ) : (
              <SegmentedControl
                aria-label={t("Settings")}
                size="xs"
                fullWidth
                value={panel}
                onChange={(next) => setPanel(next as Panel)}
                data={[
                  { value: "add", label: t("Add") },
                  { value: "block", label: selected ? blockNames[selected.type] : t("Block") },
                  { value: "look", label: t("Look") },
                ]}
              />
            )}
            <ActionIcon
              className="narrow-only"
              variant="subtle"
              color="gray"
              aria-label={t("Close settings")}
              onClick={() => setPanelOpen(false)}
            >
              <IconX size={18} />
            </ActionIcon>
          </div>
          {panel === "add" && <Palette />}
          {panel === "block" && <SelectedBlock block={selected} />}
          {panel === "look" && (
            <LookSettings
              design={draft}
              siteId={siteId}
              isReadOnly={isReadOnly}
              isSnippet={isSnippet}
              onChange={history.change}
            />
          )}
        </aside>
        <div className="visually-hidden" role="status">
          {said}
        </div>
      </div>
    </DesignEditorProvider>
  );
}

/** Leads the keyboard to a block when the change that moves or adds it is drawn. */
function useFocusAfterChange(root: { current: HTMLElement | null }, design: Design) {
  const [wanted, setWanted] = useState<{ id: string; action: string | undefined }>();
  useEffect(() => {
    const block = wanted && root.current?.querySelector(`[data-block="${wanted.id}"]`);
    if (!block) return;
    const bar = root.current?.querySelector(".block-bar");
    const button = wanted.action && bar?.querySelector(`[data-action="${wanted.action}"]`);
    const isUsable = button && !button.matches(":disabled");
    const target = isUsable ? button : block.querySelector("[data-focus]");
    (target as HTMLElement | null)?.focus();
    block.scrollIntoView({ block: "nearest" });
    setWanted(undefined);
  }, [wanted, design, root]);
  return (id: string, action?: string) => setWanted({ id, action });
}

interface ProblemsProps {
  problems: DesignBlock[];
  onOpen(id: string): void;
}

/** What readers would miss, with a way to it. */
function Problems({ problems, onOpen }: ProblemsProps) {
  const [first] = problems;
  if (!first) return null;
  return (
    <button type="button" className="link-button tone-warn" onClick={() => onOpen(first.id)}>
      {t("{count, plural, one {# thing} other {# things}} to complete", {
        count: problems.length,
      })}
    </button>
  );
}

/** Blocks to add by a click, behind the selected one, or by dragging them onto the email. */
function Palette() {
  const { design, selectedId, add, setDragged } = useDesignEditor();
  const addBehind = (type: BlockType) => {
    const place = selectedId === undefined ? undefined : findPlace(design.blocks, selectedId);
    const end = { list: "email" as const, index: beforeFooter(design) };
    const behind = place && { ...place, index: place.index + 1 };
    add(type, behind && takes(behind.list, type) ? behind : end);
  };
  const startDrag = (type: BlockType) => (event: DragEvent) => {
    event.dataTransfer.setData("application/x-pennymail-block", type);
    setTimeout(() => setDragged({ type }));
  };
  return (
    <>
      <ul className="block-choice">
        {blockTypes.map((type) => {
          const Icon = blockIcons[type];
          return (
            <li key={type}>
              <button
                type="button"
                draggable
                onDragStart={startDrag(type)}
                onDragEnd={() => setDragged(undefined)}
                onClick={() => addBehind(type)}
              >
                <Icon size={20} stroke={1.6} />
                {blockNames[type]}
              </button>
            </li>
          );
        })}
      </ul>
      <p className="quiet">
        {tNodes(
          "Click to add a block, or drag it to its place. <kbd>Alt</kbd> with " +
            "{kbd2} or {kbd3} moves the selected one.",
          { kbd: (text) => <kbd>{text}</kbd>, kbd2: <kbd>↑</kbd>, kbd3: <kbd>↓</kbd> },
        )}
      </p>
    </>
  );
}

/** New blocks come before the footer at the end. */
const beforeFooter = ({ blocks }: Design): number =>
  blocks.findLastIndex(({ type }) => type !== "footer") + 1;

function SelectedBlock({ block }: { block: DesignBlock | undefined }) {
  const { design } = useDesignEditor();
  if (!block)
    return <p className="quiet">{t("Select a block of the email to change how it looks.")}</p>;
  const isInColumn = findPlace(design.blocks, block.id)?.list !== "email";
  return <BlockSettings key={block.id} block={block} isInColumn={isInColumn} />;
}
