import { Button, Select, Switch, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { directionOf } from "../../../email/languages.ts";
import { t } from "../../language/translate.ts";
import { changeRatio, problemOf } from "./block-changes.ts";
import { Choice } from "./choice.tsx";
import {
  type Align,
  type BlockType,
  type ColumnRatio,
  type DesignBlock,
  type Fill,
  type HeadingBlock,
  type ImageWidth,
  limits,
  type MenuBlock,
  type SocialBlock,
  type TextBlock,
} from "./design.ts";
import { useDesignEditor } from "./design-editor.ts";
import {
  HtmlSettings,
  type OwnSettingsProps,
  ProductsSettings,
  SnippetSettings,
  TableSettings,
  VideoSettings,
} from "./more-settings.tsx";
import { ImageInput, LinkInput } from "./settings-fields.tsx";
import { ShowIfSettings } from "./show-if-settings.tsx";

interface BlockSettingsProps {
  block: DesignBlock;
  /** Blocks in columns have no background of their own. */
  isInColumn: boolean;
}

const middle = ["center", t("Middle")] as const;
/** The values by the side that they mean. */
const alignChoices = {
  ltr: [["left", t("Left")], middle, ["right", t("Right")]],
  rtl: [["right", t("Left")], middle, ["left", t("Right")]],
} as const;

/** What can be set of the selected block. */
export function BlockSettings({ block, isInColumn }: BlockSettingsProps) {
  const { update, design, isSnippet } = useDesignEditor();
  const { language = "en" } = design;
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
          label={t("Align")}
          value={block.align}
          choices={alignChoices[directionOf(language)]}
          onChange={(align) => change({ align })}
        />
      )}
      {!isInColumn && !isSnippet && block.type !== "footer" && (
        <Choice<Fill>
          label={t("Background")}
          value={block.fill}
          choices={[
            ["none", t("None")],
            ["soft", t("Soft")],
            ["accent", t("Accent")],
          ]}
          onChange={(fill) => change({ fill })}
        />
      )}
      <ShowIfSettings block={block} change={change} />
    </div>
  );
}

const ownSettings: { [Type in BlockType]: (props: OwnSettingsProps<Type>) => ReactNode } = {
  heading: HeadingSettings,
  text: TextSettings,
  button: ButtonSettings,
  image: ImageSettings,
  columns: ColumnsSettings,
  divider: () => <p className="quiet">{t("A thin line.")}</p>,
  spacer: SpacerSettings,
  social: SocialSettings,
  menu: LinkSettings,
  video: VideoSettings,
  table: TableSettings,
  products: ProductsSettings,
  html: HtmlSettings,
  snippet: SnippetSettings,
  footer: () => (
    <p className="quiet">
      {t(
        "Campaigns and sequences add your postal address and a link to " +
          "unsubscribe below the email, unless every reader sees them in it.",
      )}
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
      label={t("Size")}
      value={`${block.level}`}
      choices={[
        ["1", t("Large")],
        ["2", t("Medium")],
        ["3", t("Small")],
      ]}
      onChange={(level) => change({ level: Number(level) })}
    />
  );
}

function TextSettings({ block, change }: OwnSettingsProps<"text">) {
  return (
    <Choice<TextBlock["size"]>
      label={t("Size")}
      value={block.size}
      choices={[
        ["small", t("Small")],
        ["normal", t("Normal")],
        ["large", t("Large")],
      ]}
      onChange={(size) => change({ size })}
    />
  );
}

function ButtonSettings({ block, change }: OwnSettingsProps<"button">) {
  return (
    <>
      <TextInput
        label={t("Words on the button")}
        maxLength={limits.label}
        value={block.label}
        onChange={({ currentTarget }) => change({ label: currentTarget.value })}
      />
      <LinkInput label={t("Leads to")} value={block.href} onChange={(href) => change({ href })} />
      <Switch
        label={t("As wide as the email")}
        checked={block.isWide}
        onChange={({ currentTarget }) => change({ isWide: currentTarget.checked })}
      />
    </>
  );
}

const spaces = [8, 16, 24, 32, 48, 64, 96];

function SpacerSettings({ block, change }: OwnSettingsProps<"spacer">) {
  const { height, phoneHeight } = block;
  const choices = [...new Set([...spaces, height, ...(phoneHeight ? [phoneHeight] : [])])]
    .toSorted((a, b) => a - b)
    .map((pixels) => ({ value: String(pixels), label: t("{pixels} pixels", { pixels }) }));
  return (
    <>
      <Select
        label={t("Height")}
        allowDeselect={false}
        data={choices}
        value={String(height)}
        onChange={(next) => change({ height: Number(next) })}
      />
      <Select
        label={t("Height on phones")}
        allowDeselect={false}
        data={[
          { value: "same", label: t("The same") },
          { value: "0", label: t("None") },
          ...choices,
        ]}
        value={phoneHeight === undefined ? "same" : String(phoneHeight)}
        onChange={(next) => change({ phoneHeight: next === "same" ? undefined : Number(next) })}
      />
    </>
  );
}

function ColumnsSettings({ block, change }: OwnSettingsProps<"columns">) {
  return (
    <>
      <Choice<ColumnRatio>
        label={t("Widths")}
        value={block.ratio}
        choices={[
          ["1:1", t("Halves")],
          ["1:2", "⅓ ⅔"],
          ["2:1", "⅔ ⅓"],
          ["1:1:1", t("Thirds")],
        ]}
        onChange={(ratio) => change(changeRatio(block, ratio))}
      />
      <p className="quiet">{t("They stand below each other on phones.")}</p>
    </>
  );
}

const imageWidths: [value: `${ImageWidth}`, label: string][] = [
  ["edge", t("From edge to edge")],
  ["100", t("As wide as the text")],
  ["75", t("Three quarters")],
  ["50", t("Half")],
  ["25", t("A quarter")],
];

function ImageSettings({ block, change }: OwnSettingsProps<"image">) {
  return (
    <>
      <ImageInput
        label={t("Address of the image")}
        value={block.src}
        onChange={(src, alt) => change({ src, ...(alt !== undefined && { alt }) })}
      />
      <TextInput
        label={t("Description")}
        description={t("What the image shows, for those who cannot see it.")}
        maxLength={limits.alt}
        disabled={block.isDecorative}
        value={block.alt}
        onChange={({ currentTarget }) => change({ alt: currentTarget.value })}
      />
      <Switch
        label={t("It is only decoration")}
        checked={block.isDecorative}
        onChange={({ currentTarget }) => change({ isDecorative: currentTarget.checked })}
      />
      <LinkInput
        label={t("Leads to (optional)")}
        value={block.href}
        onChange={(href) => change({ href })}
      />
      <Select
        label={t("Width")}
        allowDeselect={false}
        data={imageWidths.map(([value, label]) => ({ value, label }))}
        value={String(block.width)}
        onChange={(width) => change({ width: width === "edge" ? width : Number(width) })}
      />
    </>
  );
}

function SocialSettings({ block, change }: OwnSettingsProps<"social">) {
  const { theme } = useDesignEditor().design;
  return (
    <>
      <Choice<SocialBlock["style"]>
        label={t("Look")}
        value={block.style}
        choices={[
          ["words", t("Words")],
          ["badges", t("Badges")],
        ]}
        onChange={(style) => change({ style })}
      />
      {theme.usesBrand && (
        <Switch
          label={t("The links of the brand")}
          checked={block.usesBrand === true}
          onChange={({ currentTarget }) =>
            change({ usesBrand: currentTarget.checked || undefined })
          }
        />
      )}
      {!(theme.usesBrand && block.usesBrand) && <LinkSettings block={block} change={change} />}
    </>
  );
}

interface LinkSettingsProps {
  block: SocialBlock | MenuBlock;
  change(changes: object): void;
}

function LinkSettings({ block, change }: LinkSettingsProps) {
  const { links } = block;
  const set = (index: number, changes: Partial<SocialBlock["links"][number]>) =>
    change({ links: links.map((link, i) => (i === index ? { ...link, ...changes } : link)) });
  return (
    <>
      {links.map((link, i) => (
        <fieldset key={i} className="plain-fieldset stack">
          <TextInput
            label={t("Name of link {number}", { number: i + 1 })}
            maxLength={limits.label}
            value={link.name}
            onChange={({ currentTarget }) => set(i, { name: currentTarget.value })}
          />
          <LinkInput
            label={t("Link {number} leads to", { number: i + 1 })}
            value={link.href}
            onChange={(href) => set(i, { href })}
          />
          <Button
            className="start"
            variant="default"
            size="xs"
            onClick={() => change({ links: links.filter((_, other) => other !== i) })}
          >
            {t("Remove link {number}", { number: i + 1 })}
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
          {t("Add a link")}
        </Button>
      )}
    </>
  );
}
