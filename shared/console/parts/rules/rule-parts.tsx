import { ActionIcon, MultiSelect, Select, TagsInput, TextInput } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useState } from "react";
import { t } from "../../language/translate.ts";
import { yesOrNo } from "../contact-field-types.ts";
import { recordOptions, statusOptions } from "../filters.tsx";
import { useNamedRecords } from "../record-select.tsx";
import { type RuleField, valueInputOf } from "./rule-catalog.ts";
import type { ConditionDraft } from "./rule-draft.ts";

export function RemoveAction({ label, onRemove }: { label: string; onRemove(): void }) {
  return (
    <ActionIcon
      className="rule-remove"
      variant="subtle"
      color="gray"
      aria-label={label}
      onClick={onRemove}
    >
      <IconX size={16} />
    </ActionIcon>
  );
}

/** A value stays if the new comparison takes it, too. */
export function keptValues(
  field: RuleField,
  { choice, values }: Pick<ConditionDraft, "choice" | "values">,
  next: string,
): string[] {
  const input = valueInputOf(field, next);
  if (input === valueInputOf(field, choice) || input === "several" || input === "texts")
    return values;
  return [];
}

type Options = { value: string; label: string }[];

/** A record that was deleted is shown by its id. */
export const withMissing = (options: Options, ids: readonly string[]): Options => [
  ...options,
  ...ids
    .filter((id) => id && !options.some(({ value }) => value === id))
    .map((id) => ({ value: id, label: t("Deleted ({id})", { id }) })),
];

const statuses = statusOptions(["subscribed", "pending", "unsubscribed", "suppressed"]);

const fixedOptions = ({ kind }: RuleField) => (kind === "customBoolean" ? yesOrNo : statuses);

interface ValueProps {
  siteId: number;
  condition: Pick<ConditionDraft, "choice" | "values">;
  field: RuleField;
  onChange(changes: Pick<ConditionDraft, "values">): void;
}

export function Value({ siteId, condition, field, onChange }: ValueProps) {
  const { choice, values } = condition;
  const input = valueInputOf(field, choice);
  const isGroupField = field.kind === "group";
  const [text, setText] = useState("");
  const names = useNamedRecords({
    group: field.records ?? "tags",
    siteId: isGroupField ? siteId : undefined,
    text,
    chosen: isGroupField ? values.map(Number) : [],
  });
  const [value = ""] = values;
  const label = t("Value of {label}", { label: field.label });
  const setOne = (next: string | null) => onChange({ values: next ? [next] : [] });
  if (input === "none") return null;
  if (input === "one" || input === "several") {
    const records = names.length === 0 ? [] : withMissing(recordOptions(names), values);
    const options = isGroupField ? records : fixedOptions(field);
    const shared = {
      "aria-label": label,
      data: options,
      searchable: options.length > 8,
      onSearchChange: setText,
    };
    const placeholder = field.choose ?? t("Choose a value");
    return input === "one" ? (
      <Select {...shared} placeholder={placeholder} value={value || null} onChange={setOne} />
    ) : (
      <MultiSelect
        {...shared}
        {...(values.length === 0 && { placeholder })}
        value={values}
        onChange={(chosen) => onChange({ values: chosen })}
      />
    );
  }
  if (input === "texts")
    return (
      <TagsInput
        aria-label={label}
        {...(values.length === 0 && { placeholder: t("Enter after each") })}
        value={values}
        onChange={(texts) => onChange({ values: texts })}
      />
    );
  return (
    <TextInput
      aria-label={input === "days" || input === "distance" ? t("Number of days") : label}
      {...attributesOf(input, value)}
      value={value}
      onChange={(event) => setOne(event.currentTarget.value)}
    />
  );
}

/** A program may have stored a time of day, which the date input cannot show. */
function attributesOf(input: string, value: string) {
  if (input === "number") return { type: "number", step: "any" };
  if (input === "days" || input === "distance")
    return {
      type: "number",
      min: input === "days" ? 1 : 0,
      rightSection: <span className="unit">{t("days")}</span>,
    };
  const isDay = input === "date" && (!value || /^\d{4}-\d\d-\d\d$/.test(value));
  return isDay ? { type: "date" } : { type: "text" };
}
