import { Button, SegmentedControl, Select, Switch, TextInput } from "@mantine/core";
import { type ReactNode, useId } from "react";
import { changeRatio, problemOf } from "./block-changes.ts";
import {
  type Align,
  type BlockOf,
  type BlockType,
  type ColumnRatio,
  type DesignBlock,
  type Fill,
  type HeadingBlock,
  type ImageWidth,
  limits,
  type SocialBlock,
  type TextBlock,
} from "./design.ts";
import { useDesignEditor } from "./design-editor.ts";
import { ImageInput, LinkInput } from "./settings-fields.tsx";

interface BlockSettingsProps {
  block: DesignBlock;
  /** Blocks in columns have no background of their own. */
  isInColumn: boolean;
}

/** What can be set of the selected block. */
export function BlockSettings({ block, isInColumn }: BlockSettingsProps) {
  const { update } = useDesignEditor();
  const change = (changes: object) => {
    const name = `${block.id} ${Object.keys(changes).join()}`;
    update(block.id, changes as Partial<DesignBlock>, name);
  };
  const problem = problemOf(block);
  return (
    <div className="stack">
      {problem && <p className="tone-warn">{problem}</p>}
      <OwnSettings block={block} change={change} />
      {"align" in block && (
        <Choice<Align>
          label="Align"
          value={block.align}
          choices={[
            ["left", "Left"],
            ["center", "Middle"],
            ["right", "Right"],
          ]}
          onChange={(align) => change({ align })}
        />
      )}
      {!isInColumn && block.type !== "footer" && (
        <Choice<Fill>
          label="Background"
          value={block.fill}
          choices={[
            ["none", "None"],
            ["soft", "Soft"],
            ["accent", "Accent"],
          ]}
          onChange={(fill) => change({ fill })}
        />
      )}
    </div>
  );
}

interface ChoiceProps<Value extends string> {
  label: string;
  value: Value;
  choices: readonly (readonly [value: Value, label: string])[];
  onChange(value: Value): void;
}

/** One of a few. */
export function Choice<Value extends string>(props: ChoiceProps<Value>): ReactNode {
  const { label, value, choices, onChange } = props;
  const id = useId();
  return (
    <div className="choice">
      <span id={id}>{label}</span>
      <SegmentedControl
        aria-labelledby={id}
        size="xs"
        fullWidth
        value={value}
        onChange={(next) => onChange(next as Value)}
        data={choices.map(([one, words]) => ({ value: one, label: words }))}
      />
    </div>
  );
}

interface OwnSettingsProps<Type extends BlockType> {
  block: BlockOf<Type>;
  change(changes: object): void;
}

const ownSettings: { [Type in BlockType]: (props: OwnSettingsProps<Type>) => ReactNode } = {
  heading: HeadingSettings,
  text: TextSettings,
  button: ButtonSettings,
  image: ImageSettings,
  columns: ColumnsSettings,
  divider: () => <p className="quiet">A thin line.</p>,
  spacer: SpacerSettings,
  social: SocialSettings,
  footer: () => (
    <p className="quiet">
      Campaigns and sequences add your postal address and a link to unsubscribe below the email,
      also if this block has one.
    </p>
  ),
};

/** The settings that only this type of block has. */
function OwnSettings(props: OwnSettingsProps<BlockType>) {
  const Settings = ownSettings[props.block.type] as (
    props: OwnSettingsProps<BlockType>,
  ) => ReactNode;
  return <Settings {...props} />;
}

function HeadingSettings({ block, change }: OwnSettingsProps<"heading">) {
  return (
    <Choice<`${HeadingBlock["level"]}`>
      label="Size"
      value={`${block.level}`}
      choices={[
        ["1", "Large"],
        ["2", "Medium"],
        ["3", "Small"],
      ]}
      onChange={(level) => change({ level: Number(level) })}
    />
  );
}

function TextSettings({ block, change }: OwnSettingsProps<"text">) {
  return (
    <Choice<TextBlock["size"]>
      label="Size"
      value={block.size}
      choices={[
        ["small", "Small"],
        ["normal", "Normal"],
        ["large", "Large"],
      ]}
      onChange={(size) => change({ size })}
    />
  );
}

function ButtonSettings({ block, change }: OwnSettingsProps<"button">) {
  return (
    <>
      <TextInput
        label="Words on the button"
        maxLength={limits.label}
        value={block.label}
        onChange={({ currentTarget }) => change({ label: currentTarget.value })}
      />
      <LinkInput label="Leads to" value={block.href} onChange={(href) => change({ href })} />
      <Switch
        label="As wide as the email"
        checked={block.isWide}
        onChange={({ currentTarget }) => change({ isWide: currentTarget.checked })}
      />
    </>
  );
}

const spaces = [8, 16, 24, 32, 48, 64, 96];

function SpacerSettings({ block, change }: OwnSettingsProps<"spacer">) {
  return (
    <Select
      label="Height"
      allowDeselect={false}
      data={[...new Set([...spaces, block.height])]
        .toSorted((a, b) => a - b)
        .map((height) => ({ value: String(height), label: `${height} pixels` }))}
      value={String(block.height)}
      onChange={(height) => change({ height: Number(height) })}
    />
  );
}

function ColumnsSettings({ block, change }: OwnSettingsProps<"columns">) {
  return (
    <>
      <Choice<ColumnRatio>
        label="Widths"
        value={block.ratio}
        choices={[
          ["1:1", "Halves"],
          ["1:2", "⅓ ⅔"],
          ["2:1", "⅔ ⅓"],
          ["1:1:1", "Thirds"],
        ]}
        onChange={(ratio) => change(changeRatio(block, ratio))}
      />
      <p className="quiet">They stand below each other on phones.</p>
    </>
  );
}

const imageWidths: [value: `${ImageWidth}`, label: string][] = [
  ["edge", "From edge to edge"],
  ["100", "As wide as the text"],
  ["75", "Three quarters"],
  ["50", "Half"],
  ["25", "A quarter"],
];

function ImageSettings({ block, change }: OwnSettingsProps<"image">) {
  return (
    <>
      <ImageInput
        label="Address of the image"
        value={block.src}
        onChange={(src, alt) => change({ src, ...(alt !== undefined && { alt }) })}
      />
      <TextInput
        label="Description"
        description="What the image shows, for those who cannot see it."
        maxLength={limits.alt}
        disabled={block.isDecorative}
        value={block.alt}
        onChange={({ currentTarget }) => change({ alt: currentTarget.value })}
      />
      <Switch
        label="It is only decoration"
        checked={block.isDecorative}
        onChange={({ currentTarget }) => change({ isDecorative: currentTarget.checked })}
      />
      <LinkInput
        label="Leads to (optional)"
        value={block.href}
        onChange={(href) => change({ href })}
      />
      <Select
        label="Width"
        allowDeselect={false}
        data={imageWidths.map(([value, label]) => ({ value, label }))}
        value={String(block.width)}
        onChange={(width) => change({ width: width === "edge" ? width : Number(width) })}
      />
    </>
  );
}

function SocialSettings({ block, change }: OwnSettingsProps<"social">) {
  const { links } = block;
  const set = (index: number, changes: Partial<SocialBlock["links"][number]>) =>
    change({ links: links.map((link, i) => (i === index ? { ...link, ...changes } : link)) });
  return (
    <>
      {links.map((link, i) => (
        <fieldset key={i} className="plain-fieldset stack">
          <TextInput
            label={`Name of link ${i + 1}`}
            maxLength={limits.label}
            value={link.name}
            onChange={({ currentTarget }) => set(i, { name: currentTarget.value })}
          />
          <LinkInput
            label={`Link ${i + 1} leads to`}
            value={link.href}
            onChange={(href) => set(i, { href })}
          />
          <Button
            className="start"
            variant="default"
            size="xs"
            onClick={() => change({ links: links.filter((_, other) => other !== i) })}
          >
            Remove link {i + 1}
          </Button>
        </fieldset>
      ))}
      {links.length < limits.links && (
        <Button
          className="start"
          variant="default"
          size="xs"
          onClick={() => change({ links: [...links, { name: "", href: "" }] })}
        >
          Add a link
        </Button>
      )}
    </>
  );
}
