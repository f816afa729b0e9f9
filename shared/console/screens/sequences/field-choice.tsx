import { Autocomplete } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ContactField } from "pennymail";
import { fieldQueries } from "../../data/field-queries.ts";
import { t } from "../../language/translate.ts";
import { useStepEditor } from "./step-editor.ts";

export const customPrefix = "customFields.";

/** Fields that every contact has. */
export const personFields = [
  { value: "firstName", label: t("First name") },
  { value: "lastName", label: t("Last name") },
  { value: "phone", label: t("Phone") },
  { value: "company", label: t("Company") },
  { value: "source", label: t("Source") },
  { value: "timezone", label: t("Time zone") },
  { value: "locale", label: t("Language") },
];

export const dateFields = [
  { value: "createdAt", label: t("Added") },
  { value: "lastOpenedAt", label: t("Last open") },
  { value: "lastClickedAt", label: t("Last click") },
];
export const dateTypes: ContactField["type"][] = ["date", "datetime", "text"];

export function useOwnFields(): ContactField[] {
  const { sequence } = useStepEditor();
  const { data } = useQuery(fieldQueries.list(sequence.siteId));
  return data?.fields.filter(({ custom }) => custom) ?? [];
}

interface FieldChoiceProps {
  label: string;
  description?: string;
  isRequired?: boolean;
  /** As the API names it, such as `customFields.plan`. */
  value: string | undefined;
  /** Fields that are offered besides those of the site. */
  standard: readonly { value: string; label: string }[];
  /** Types of fields of the site that are offered. Without it: all. */
  types?: readonly ContactField["type"][];
  onChange(field: string | undefined): void;
}

/** A field of contacts by its label. Another text is the name of a custom field. */
export function FieldChoice(props: FieldChoiceProps) {
  const { label, description, isRequired, value, standard, types, onChange } = props;
  const own = useOwnFields()
    .filter(({ type }) => !types || types.includes(type))
    .map((field) => ({ value: customPrefix + field.name, label: field.label }));
  const options = [...own, ...standard];
  const known = options.find((option) => option.value === value);
  return (
    <Autocomplete
      label={label}
      {...(description && { description })}
      placeholder={t("Choose a field, or name one")}
      required={isRequired === true}
      maxLength={100}
      data={[...new Set(options.map((option) => option.label))]}
      value={known?.label ?? (value ?? "").replace(customPrefix, "")}
      onChange={(text) => {
        const chosen = options.find((option) => option.label === text)?.value;
        onChange(text.trim() ? (chosen ?? customPrefix + text) : undefined);
      }}
    />
  );
}
