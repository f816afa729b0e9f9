// What can be set of menus, videos, tables, products, HTML and snippets.

import { Button, NumberInput, Select, Switch, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { type BlockOf, type BlockType, limits } from "./design.ts";
import { useDesignEditor } from "./design-editor.ts";
import { parseDesign } from "./parse-design.ts";
import { ImageInput, LinkInput } from "./settings-fields.tsx";

export interface OwnSettingsProps<Type extends BlockType> {
  block: BlockOf<Type>;
  change(changes: object): void;
}

export function VideoSettings({ block, change }: OwnSettingsProps<"video">) {
  return (
    <>
      <p className="quiet">{t("Mail programs play no videos. The picture leads to it.")}</p>
      <LinkInput
        label={t("Address of the video")}
        value={block.href}
        onChange={(href) => change({ href })}
      />
      <ImageInput
        label={t("Address of the picture")}
        value={block.src}
        onChange={(src, alt) => change({ src, ...(alt !== undefined && { alt }) })}
      />
      <TextInput
        label={t("Description of the picture")}
        maxLength={limits.alt}
        value={block.alt}
        onChange={({ currentTarget }) => change({ alt: currentTarget.value })}
      />
      <TextInput
        label={t("Words below it")}
        maxLength={limits.label}
        value={block.label}
        onChange={({ currentTarget }) => change({ label: currentTarget.value })}
      />
    </>
  );
}

/** Rows as lines, and cells between bars. All rows get as many cells as the longest. */
function toRows(text: string): string[][] {
  const rows = text
    .split("\n")
    .slice(0, limits.rows)
    .map((line) =>
      line
        .split("|")
        .slice(0, limits.cells)
        .map((cell) => cell.trim().slice(0, limits.cell)),
    );
  const length = Math.max(...rows.map((row) => row.length));
  return rows.map((row) => [...row, ...Array<string>(length - row.length).fill("")]);
}

const toLines = (rows: string[][]): string => rows.map((row) => row.join(" | ")).join("\n");

export function TableSettings({ block, change }: OwnSettingsProps<"table">) {
  const [typed, setTyped] = useState(() => toLines(block.rows));
  const isCurrent = JSON.stringify(toRows(typed)) === JSON.stringify(block.rows);
  return (
    <>
      <Textarea
        label={t("Rows")}
        description={t("One in each line, with | between its cells.")}
        autosize
        minRows={4}
        maxRows={16}
        value={isCurrent ? typed : toLines(block.rows)}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value);
          change({ rows: toRows(currentTarget.value) });
        }}
      />
      <Switch
        label={t("The first row is a heading")}
        checked={block.hasHeader}
        onChange={({ currentTarget }) => change({ hasHeader: currentTarget.checked })}
      />
    </>
  );
}

const productFields = [
  ["title", t("Name")],
  ["price", t("Price")],
  ["image", t("Picture")],
  ["link", t("Link")],
] as const;

export function ProductsSettings({ block, change }: OwnSettingsProps<"products">) {
  return (
    <>
      <VariableInput
        label={t("List")}
        description={t("Such as event.items: the items of the event that started a sequence.")}
        value={block.list}
        onChange={(list) => change({ list })}
      />
      <NumberInput
        label={t("At most")}
        min={1}
        max={limits.products}
        allowDecimal={false}
        clampBehavior="strict"
        value={block.most}
        onChange={(most) => typeof most === "number" && most >= 1 && change({ most })}
      />
      {productFields.map(([name, label]) => (
        <VariableInput
          key={name}
          label={t("{label} in an item", { label })}
          description=""
          value={block[name]}
          onChange={(field) => change({ [name]: field })}
        />
      ))}
    </>
  );
}

interface VariableInputProps {
  label: string;
  description: string;
  value: string;
  onChange(value: string): void;
}

/** The name of a field. Other characters are left out. */
const VariableInput = ({ label, description, value, onChange }: VariableInputProps) => (
  <TextInput
    label={label}
    {...(description && { description })}
    maxLength={limits.variable}
    value={value}
    onChange={({ currentTarget }) => onChange(currentTarget.value.replace(/[^\w.-]/g, ""))}
    onBlur={() => onChange(value.replace(/^\.+|\.+$|\.(?=\.)/g, ""))}
  />
);

export function HtmlSettings({ block, change }: OwnSettingsProps<"html">) {
  return (
    <Textarea
      label={t("HTML")}
      description={t(
        "It goes into the email as it is, with its fields filled. See it in the preview.",
      )}
      autosize
      minRows={8}
      maxRows={24}
      spellCheck={false}
      className="code-input"
      maxLength={limits.code}
      value={block.code}
      onChange={({ currentTarget }) => change({ code: currentTarget.value })}
    />
  );
}

export function SnippetSettings({ block, change }: OwnSettingsProps<"snippet">) {
  const { siteId, replace } = useDesignEditor();
  const { data } = useQuery(queries.siteSnippets(siteId));
  const snippets = (data?.snippets ?? []).filter(({ isLayout }) => !isLayout);
  const names = new Set([...snippets.map(({ name }) => name), ...(block.name ? [block.name] : [])]);
  const id = snippets.find(({ name }) => name === block.name)?.id;
  const { data: snippet } = useQuery({ ...queries.snippet(id ?? 0), enabled: id !== undefined });
  const design = parseDesign(snippet?.designJson);
  return (
    <>
      <Select
        label={t("Snippet")}
        placeholder={t("Choose one")}
        searchable
        data={[...names]}
        value={block.name || null}
        onChange={(name) => change({ name: name ?? "" })}
        nothingFoundMessage={t("There is no such snippet")}
      />
      <p className="quiet">{t("A change of the snippet appears in each email that has it.")}</p>
      {id !== undefined && (
        <p>
          <Link to="/snippets/$id" params={{ id }}>
            {t("Change the snippet")}
          </Link>
        </p>
      )}
      {design?.blocks.length === 1 && (
        <>
          <Button
            className="start"
            variant="default"
            size="xs"
            onClick={() =>
              replace(block.id, { ...design.blocks[0]!, fill: block.fill, showIf: block.showIf })
            }
          >
            {t("Turn into a block")}
          </Button>
          <p className="quiet">
            {t("The block is a copy then, which does not follow the snippet any more.")}
          </p>
        </>
      )}
    </>
  );
}
