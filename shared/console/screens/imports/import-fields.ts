// What a column of a file can become, in the words of the console.
import type { ContactField, NamedRecord } from "pennymail";
import { ignored, newField } from "./column-draft.ts";

interface FieldOption {
  value: string;
  label: string;
}
export interface FieldGroup {
  group: string;
  items: FieldOption[];
}

const wholeName: FieldOption = { value: "fullName", label: "First and last name in one" };
const subscription: FieldOption[] = [
  { value: "status", label: "Status" },
  { value: "tags", label: "Tags" },
  { value: "unsubscribedAt", label: "Date of unsubscribing" },
  { value: "bouncedAt", label: "Date of a bounce" },
];
const severalFields: FieldOption = { value: "customFields", label: "Several fields, as JSON" };

export function fieldGroups(fields: ContactField[], topics: NamedRecord[]): FieldGroup[] {
  const toOption = ({ key, label }: ContactField) => ({ value: key, label });
  const standard = fields.filter(({ custom }) => !custom).map(toOption);
  return [
    { group: "Person", items: [...standard, wholeName] },
    { group: "Your fields", items: fields.filter(({ custom }) => custom).map(toOption) },
    { group: "Subscription", items: subscription },
    {
      group: "Topics",
      items: topics.map(({ name }) => ({ value: `topics.${name}`, label: name })),
    },
    {
      group: "Other",
      items: [
        { value: newField, label: "A new field" },
        severalFields,
        { value: ignored, label: "Leave out" },
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
