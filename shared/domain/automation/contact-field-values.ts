// Values of the fields of contacts that triggers name, such as `company` or `customFields.plan`.
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { toComparableText } from "../audience/segments/rule-tests.ts";
import { parseField } from "../audience/segments/segment-fields.ts";

const customPrefix = "customFields.";

/** Null when the field is empty. Letter case in the name of a custom field is ignored. */
export function getFieldValue(contact: ContactItem, name: string): unknown {
  if (!name.startsWith(customPrefix)) return contact[name as keyof ContactItem] ?? null;
  const wanted = name.slice(customPrefix.length).toLowerCase();
  const fields = Object.entries(contact.customFields ?? {});
  return fields.find(([key]) => key.toLowerCase() === wanted)?.[1] ?? null;
}

/** Ignores letter case, and 5 is "5", as in rules. A list has the value if an element has it. */
export const hasSameValue = (actual: unknown, wanted: unknown): boolean =>
  Array.isArray(actual)
    ? actual.some((one) => hasSameValue(one, wanted))
    : (actual ?? null) === wanted || isSameText(toComparableText(actual), wanted);

const isSameText = (actual: string | undefined, wanted: unknown): boolean =>
  actual !== undefined && actual === toComparableText(wanted);

/** Whether the field can have a date. */
export const isDateField = (name: string): boolean =>
  ["time", "custom"].includes(parseField(name)?.kind ?? "") && !parseField(name)?.mails;

/** Whether a trigger can watch the field: it is a text, the status or a custom field. */
export const isWatchableField = (name: string): boolean =>
  ["text", "status", "custom"].includes(parseField(name)?.kind ?? "");
