import { ActionIcon, Menu, Modal, TextInput } from "@mantine/core";
import {
  IconAdjustmentsHorizontal,
  IconArrowDown,
  IconArrowUp,
  IconBold,
  IconCopy,
  IconGripVertical,
  IconItalic,
  IconLink,
  IconList,
  IconListNumbers,
  IconPuzzle,
  IconTextColor,
  IconTrash,
  IconUnderline,
  IconUserPlus,
  type TablerIcon,
} from "@tabler/icons-react";
import { type DragEvent, type KeyboardEvent, useState } from "react";
import { createPortal } from "react-dom";
import { colorsOf, type InkName, inkNames } from "../../../email/brand/colors.ts";
import { inSentence, t } from "../../language/translate.ts";
import { EmojiMenu } from "../../parts/emoji-menu.tsx";
import { Form } from "../../parts/form.tsx";
import { InsertMenu } from "../../parts/insert-menu.tsx";
import { blockNames, findNextPlace, findPlace } from "./block-changes.ts";
import { hasText } from "./block-view.tsx";
import type { DesignBlock } from "./design.ts";
import { useDesignEditor } from "./design-editor.ts";
import type { RichTextHandle } from "./rich-text.tsx";
import type { SelectedLink, TextFormat } from "./rich-text-commands.ts";
import { SaveSnippet } from "./save-snippet.tsx";
import { LinkInput } from "./settings-fields.tsx";

interface BlockBarsProps {
  block: DesignBlock;
  /** The editor of the text, if the block has one. */
  text: RichTextHandle | null;
  format: TextFormat;
}

/** Above the canvas, how the text of the selected block looks. Beside the block, its actions. */
export function BlockBars({ block, text, format }: BlockBarsProps) {
  const { textBarPlace } = useDesignEditor();
  return (
    <>
      {hasText(block) &&
        text &&
        textBarPlace &&
        createPortal(
          <TextBar isSingle={block.type === "heading"} text={text} format={format} />,
          textBarPlace,
        )}
      <ActionBar block={block} />
    </>
  );
}

interface BarButtonProps {
  label: string;
  icon: TablerIcon;
  isPressed?: boolean;
  isDisabled?: boolean;
  action?: string;
  run(): void;
}

function BarButton({ label, icon: Icon, isPressed, isDisabled, action, run }: BarButtonProps) {
  return (
    <ActionIcon
      variant={isPressed ? "light" : "subtle"}
      color={isPressed ? "accent" : "gray"}
      size={30}
      aria-label={label}
      title={label}
      {...(isPressed !== undefined && { "aria-pressed": isPressed })}
      data-action={action}
      disabled={isDisabled ?? false}
      onMouseDown={(event) => event.preventDefault()}
      onClick={run}
    >
      <Icon size={16} />
    </ActionIcon>
  );
}

interface TextBarProps {
  isSingle: boolean;
  text: RichTextHandle;
  format: TextFormat;
}

function TextBar({ isSingle, text, format }: TextBarProps) {
  const { insertOptions } = useDesignEditor();
  const [link, setLink] = useState<SelectedLink>();
  const leave = (event: KeyboardEvent) => {
    if (event.key === "Escape" && event.currentTarget.contains(event.target as Element))
      text.focus();
  };
  const keys = { onKeyDown: leave };
  return (
    <div className="text-bar" role="toolbar" aria-label={t("Text")} {...keys}>
      <BarButton
        label={t("Bold")}
        icon={IconBold}
        isPressed={format.isBold}
        run={() => text.toggle("bold")}
      />
      <BarButton
        label={t("Italic")}
        icon={IconItalic}
        isPressed={format.isItalic}
        run={() => text.toggle("italic")}
      />
      <BarButton
        label={t("Underline")}
        icon={IconUnderline}
        isPressed={format.isUnderlined}
        run={() => text.toggle("underline")}
      />
      <InkMenu ink={format.ink} onPick={text.setInk} />
      <BarButton
        label={t("Link")}
        icon={IconLink}
        isPressed={format.isLink}
        run={() => setLink(text.readLink())}
      />
      {!isSingle && (
        <>
          <BarButton
            label={t("Bullets")}
            icon={IconList}
            isPressed={format.list === "bullets"}
            run={() => text.toggle("bullets")}
          />
          <BarButton
            label={t("Numbers")}
            icon={IconListNumbers}
            isPressed={format.list === "numbers"}
            run={() => text.toggle("numbers")}
          />
        </>
      )}
      <InsertMenu options={insertOptions} onInsert={(inserted) => text.insert(inserted)}>
        <ActionIcon
          variant="subtle"
          color="gray"
          size={30}
          aria-label={t("Insert a field")}
          title={t("Insert a field")}
        >
          <IconUserPlus size={16} />
        </ActionIcon>
      </InsertMenu>
      <EmojiMenu onInsert={text.insert} />
      {link && (
        <LinkDialog
          initial={link}
          onClose={() => setLink(undefined)}
          onSet={(next) => {
            setLink(undefined);
            text.setLink(next);
          }}
        />
      )}
    </div>
  );
}

const inkLabels: Record<InkName, string> = {
  accent: t("Accent"),
  red: t("Red"),
  orange: t("Orange"),
  green: t("Green"),
  blue: t("Blue"),
  purple: t("Purple"),
  gray: t("Gray"),
};

interface InkMenuProps {
  ink: InkName | undefined;
  onPick(ink: InkName | undefined): void;
}

/** Colours that stay readable on light and dark backgrounds. */
function InkMenu({ ink, onPick }: InkMenuProps) {
  const { design } = useDesignEditor();
  const { inks } = colorsOf(design.theme, "none");
  return (
    <Menu position="bottom-start" returnFocus={false}>
      <Menu.Target>
        <ActionIcon
          variant={ink ? "light" : "subtle"}
          color={ink ? "accent" : "gray"}
          size={30}
          aria-label={t("Text colour")}
          title={t("Text colour")}
        >
          <IconTextColor size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {inkNames.map((name) => (
          <Menu.Item
            key={name}
            leftSection={<span className="ink-sample" style={{ background: inks[name] }} />}
            onClick={() => onPick(name)}
          >
            {inkLabels[name]}
          </Menu.Item>
        ))}
        <Menu.Item onClick={() => onPick(undefined)}>{t("No colour of its own")}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

interface LinkDialogProps {
  initial: SelectedLink;
  onClose(): void;
  onSet(link: SelectedLink): void;
}

function LinkDialog({ initial, onClose, onSet }: LinkDialogProps) {
  const [link, setLink] = useState(initial);
  const set = { mutate: () => onSet(link), isPending: false, error: undefined };
  return (
    <Modal opened onClose={onClose} title={t("Link")} lockScroll={false}>
      <Form action={t("Set link")} submission={set} isDisabled={!link.href}>
        <LinkInput
          label={t("Leads to")}
          hasFocus
          value={link.href}
          onChange={(href) => setLink({ ...link, href })}
        />
        <TextInput
          label={t("Text")}
          description={t("Without a text, the link shows its address.")}
          maxLength={500}
          value={link.text}
          onChange={({ currentTarget }) => setLink({ ...link, text: currentTarget.value })}
        />
        {initial.href && (
          <button
            type="button"
            className="link-button"
            onClick={() => onSet({ ...initial, href: "" })}
          >
            {t("Remove the link")}
          </button>
        )}
      </Form>
    </Modal>
  );
}

function ActionBar({ block }: { block: DesignBlock }) {
  const { design, move, duplicate, remove, setDragged, openPanel } = useDesignEditor();
  const [isSaving, setSaving] = useState(false);
  const { id, type } = block;
  const name = inSentence(blockNames[type]);
  const startDrag = (event: DragEvent) => {
    event.dataTransfer.setData("application/x-pennymail-block", id);
    event.dataTransfer.effectAllowed = "move";
    const element = document.querySelector(`[data-block="${id}"]`);
    if (element) event.dataTransfer.setDragImage(element, 10, 10);
    // After the picture is taken, because what is dragged changes the look.
    setTimeout(() => setDragged({ id, type }));
  };
  const drag = { draggable: true, onDragStart: startDrag };
  return (
    <div className="block-bar" role="toolbar" aria-label={t("Actions for {name}", { name })}>
      <span className="drag-handle" title={t("Drag to move")} {...drag}>
        <IconGripVertical size={16} />
      </span>
      <BarButton
        label={t("Move up")}
        icon={IconArrowUp}
        action={t("up")}
        isDisabled={!findNextPlace(design.blocks, id, "up")}
        run={() => move(id, "up")}
      />
      <BarButton
        label={t("Move down")}
        icon={IconArrowDown}
        action={t("down")}
        isDisabled={!findNextPlace(design.blocks, id, "down")}
        run={() => move(id, "down")}
      />
      <BarButton
        label={t("Duplicate {name}", { name })}
        icon={IconCopy}
        run={() => duplicate(id)}
      />
      {type !== "snippet" && findPlace(design.blocks, id)?.list === "email" && (
        <BarButton
          label={t("Save {name} as a snippet", { name })}
          icon={IconPuzzle}
          run={() => setSaving(true)}
        />
      )}
      <BarButton label={t("Delete {name}", { name })} icon={IconTrash} run={() => remove(id)} />
      {isSaving && <SaveSnippet block={block} onClose={() => setSaving(false)} />}
      <span className="narrow-only">
        <BarButton
          label={t("Settings of {name}", { name })}
          icon={IconAdjustmentsHorizontal}
          run={openPanel}
        />
      </span>
    </div>
  );
}
