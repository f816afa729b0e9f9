// What a column of a file can become, in the words of the console.

import type { ContactField, NamedRecord } from "pennymail";
import { t } from "../../language/translate.ts";
import { ignored, newField } from "./column-draft.ts";

interface FieldOption {
  value: string;
  label: string;
}
export interface FieldGroup {
  group: string;
  items: FieldOption[];
}

const wholeName: FieldOption = { value: "fullName", label: t("First and last name in one") };
const subscription: FieldOption[] = [
  { value: "status", label: t("Status") },
  { value: "subscribed", label: t("Yes means subscribed") },
  { value: "unsubscribed", label: t("Yes means unsubscribed") },
  { value: "tags", label: t("Tags") },
  { value: "unsubscribedAt", label: t("Date of unsubscribing") },
  { value: "bouncedAt", label: t("Date of a bounce") },
];
const severalFields: FieldOption = { value: "customFields", label: t("Several fields, as JSON") };

export function fieldGroups(fields: ContactField[], topics: NamedRecord[]): FieldGroup[] {
  const toOption = ({ key, label }: ContactField) => ({ value: key, label });
  const standard = fields.filter(({ custom }) => !custom).map(toOption);
  return [
    { group: t("Person"), items: [...standard, wholeName] },
    { group: t("Your fields"), items: fields.filter(({ custom }) => custom).map(toOption) },
    { group: t("Subscription"), items: subscription },
    {
      group: t("Topics"),
      items: topics.map(({ name }) => ({ value: `topics.${name}`, label: name })),
    },
    {
      group: t("Other"),
      items: [
        { value: newField, label: t("A new field") },
        severalFields,
        { value: ignored, label: t("Leave out") },
      ],
    },
  ].filter(({ items }) => items.length > 0);
}

/** A field of the mapping of an import, as people call it. */
export function labelOfField(field: string, fields: ContactField[]): string {
  const known = fields.find(({ key }) => key === field)?.label;
  const other = [wholeName, ...subscription, severalFields].find(({ value }) => value === field);
  return known ?? other?.label ?? field.replace(/^(customFields|topics)\./, "");
}
