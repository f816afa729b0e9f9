// The fields that contacts see and change on the preference page: the site chooses them.
import type { CallerScope } from "../../../caller.ts";
import { invalid } from "../../../errors.ts";
import { joinedNames } from "../../../kernel/csv-cells.ts";
import { standardPreferenceFields } from "../../identity/consent-settings.ts";
import { ContactChanges, type ContactItem } from "./contact-schema.ts";
import { type DeclaredField, listDeclared } from "./declared-fields.ts";
import type { CustomFieldType, FieldValue } from "./parse-field-value.ts";

export interface PreferenceField {
  /** `firstName`, or `customFields.plan`. */
  key: string;
  /** Null for a standard field: the page has its label in each language. */
  label: string | null;
  type: PreferenceFieldType;
  /** As the field reads it. Null: no value. */
  value: string | null;
}

export const preferenceFieldTypes = ["text", "number", "boolean", "date", "list", "url"] as const;
export type PreferenceFieldType = (typeof preferenceFieldTypes)[number];

const prefix = "customFields.";
const isEditable = (type: CustomFieldType): type is PreferenceFieldType => type !== "datetime";

type StandardField = (typeof standardPreferenceFields)[number];
const isStandard = (key: string): key is StandardField =>
  standardPreferenceFields.some((name) => name === key);

/** Throws 400 for custom fields that contacts cannot change on the page. */
export async function checkPreferenceFields(
  { orgId }: CallerScope,
  siteId: number,
  chosen: string[],
): Promise<void> {
  if (chosen.every(isStandard)) return;
  const declared = await listDeclared({ orgId, siteId });
  for (const [i, key] of chosen.entries()) {
    const message = findRefusal(key, declared);
    if (!message) continue;
    const path = `preferencePage.fields.${i}`;
    throw invalid(`${path} ${message}`, { details: [{ path, message }] });
  }
}

function findRefusal(key: string, declared: DeclaredField[]): string | undefined {
  if (isStandard(key)) return undefined;
  const field = findDeclared(key, declared);
  if (!field)
    return "is not a declared field of the site: declare it with PUT /contact-fields/:fieldName";
  return isEditable(field.type) ? undefined : "is a datetime, which the page cannot show";
}

const findDeclared = (key: string, declared: DeclaredField[]): DeclaredField | undefined =>
  declared.find(({ name }) => `${prefix}${name}`.toLowerCase() === key.toLowerCase());

/** In the order of the site. Fields that are no longer declared are left out. */
export async function listPreferenceFields(
  contact: ContactItem,
  chosen: string[],
): Promise<PreferenceField[]> {
  const declared = chosen.every(isStandard) ? [] : await listDeclared(contact);
  return chosen.flatMap((key): PreferenceField[] => {
    if (isStandard(key))
      return [{ key, label: null, type: "text", value: toText(contact[key] ?? null) }];
    const field = findDeclared(key, declared);
    if (!field || !isEditable(field.type)) return [];
    const { name, label, type } = field;
    const value = toText(contact.customFields?.[name] ?? null);
    return [{ key: `${prefix}${name}`, label, type, value }];
  });
}

function toText(value: FieldValue | null): string | null {
  if (value === null) return null;
  return Array.isArray(value) ? joinedNames(value) : String(value);
}

export type PreferenceValues = Record<string, FieldValue | null>;

/**
 * The change of the contact that sets these fields. An empty text clears a field. Throws 400 for a
 * field that is not on the page.
 */
export function toContactChanges(
  fields: PreferenceField[],
  values: PreferenceValues,
): ContactChanges {
  const changes: Record<string, unknown> = {};
  const customFields: Record<string, FieldValue | null> = {};
  for (const [key, given] of Object.entries(values)) {
    const field = fields.find((one) => one.key === key);
    if (!field) throw refuse(key, "is not a field of this page");
    const value = typeof given === "string" && !given.trim() ? null : given;
    if (field.label === null) changes[key] = value;
    else customFields[key.slice(prefix.length)] = value;
  }
  const { data, error } = ContactChanges.safeParse({
    ...changes,
    ...(Object.keys(customFields).length && { customFields }),
  });
  if (data) return data;
  const issue = error.issues[0]!;
  throw refuse(issue.path.slice(0, 2).join("."), "is not valid");
}

const refuse = (key: string, message: string) =>
  invalid(`${key} ${message}`, { details: [{ path: key, message }] });
