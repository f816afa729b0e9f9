// The declared custom fields of a site. Everything that writes custom fields reads the values here,
// under the names of the site and by the declared types.
import { queryAll } from "../../../adapters/dynamodb/table.ts";
import type { SiteRef } from "../../../caller.ts";
import { invalid } from "../../../errors.ts";
import { ranges } from "../../../keys.ts";
import * as organizations from "../../identity/organizations.ts";
import type { ContactItem } from "./contact-schema.ts";
import * as fieldNames from "./field-names.ts";
import {
  type CustomFieldType,
  type ParsedValue,
  parseFieldValue,
  type ValueFormat,
} from "./parse-field-value.ts";

export interface DeclaredField {
  name: string;
  label: string;
  type: CustomFieldType;
}

export const listDeclared = ({ orgId, siteId }: SiteRef): Promise<DeclaredField[]> =>
  queryAll<DeclaredField>(ranges.contactFields(orgId, siteId), { consistent: true });

/** Returns a function that tells the declared type of a field. Letter case does not count. */
export function createTypeLookup(
  declared: Pick<DeclaredField, "name" | "type">[],
): (name: string) => CustomFieldType | undefined {
  const types = new Map(declared.map(({ name, type }) => [name.toLowerCase(), type]));
  return (name) => types.get(name.toLowerCase());
}

type Fields = NonNullable<ContactItem["customFields"]>;
interface RowWithFields {
  customFields?: Fields | null | undefined;
}

/** A value that its field cannot have. */
export interface FieldFault {
  /** The name in requests, such as `customFields.age`. */
  path: string;
  /** Names the field and the value. */
  message: string;
}

export interface ReadRow<T> {
  /** Without the values that its fields cannot have. */
  row: T;
  faults: FieldFault[];
}

/** How the texts of an import are written. The time zone is that of the organization. */
export type GivenFormat = Omit<ValueFormat, "timezone">;

/**
 * The rows with their custom fields as they are stored: under the names of the site, with values of
 * the declared types. A field without a declaration keeps any value but a list.
 */
export async function readRows<T extends RowWithFields>(
  site: SiteRef,
  rows: T[],
  format: GivenFormat = {},
): Promise<ReadRow<T>[]> {
  const hasValues = rows.some(({ customFields }) =>
    Object.values(customFields ?? {}).some((value) => value !== null),
  );
  if (!hasValues) return rows.map((row) => ({ row, faults: [] }));
  const [spelled, typeOf, timezone] = await Promise.all([
    fieldNames.applySpellings(site.orgId, site.siteId, rows),
    listDeclared(site).then(createTypeLookup),
    organizations.getTimezone(site.orgId),
  ]);
  return spelled.map((row) => readByType(row, typeOf, { ...format, timezone }));
}

/** As `readRows`, for one row. Throws 400 for a value that its field cannot have. */
export async function readOne<T extends RowWithFields>(site: SiteRef, given: T): Promise<T> {
  const [result] = await readRows(site, [given]);
  const { row, faults } = result!;
  if (faults[0]) throw invalid(faults[0].message, { details: faults.slice(0, maxDetails) });
  return row;
}

const maxDetails = 20;

/**
 * The declared types of the fields that cannot have these values, by the name as it is given.
 * Stores nothing.
 */
export async function findFaults(
  site: SiteRef,
  values: Fields,
): Promise<Map<string, CustomFieldType>> {
  if (!Object.keys(values).length) return new Map();
  const [typeOf, timezone] = await Promise.all([
    listDeclared(site).then(createTypeLookup),
    organizations.getTimezone(site.orgId),
  ]);
  return new Map(
    Object.entries(values).flatMap(([name, value]) => {
      const type = typeOf(name);
      const isWrong = type && readValue(type, value, { timezone }).error !== undefined;
      return isWrong ? [[name, type] as const] : [];
    }),
  );
}

/** The row with the values of the declared types, under the given names. */
export function readByType<T extends RowWithFields>(
  row: T,
  typeOf: (name: string) => CustomFieldType | undefined,
  format: ValueFormat,
): ReadRow<T> {
  if (!row.customFields) return { row, faults: [] };
  const faults: FieldFault[] = [];
  const customFields: Fields = {};
  for (const [name, given] of Object.entries(row.customFields)) {
    const parsed = readValue(typeOf(name), given, format);
    const path = `customFields.${name}`;
    if (parsed.error === undefined) customFields[name] = parsed.value;
    else faults.push({ path, message: `${path}: ${parsed.error}` });
  }
  return { row: { ...row, customFields }, faults };
}

function readValue(
  type: CustomFieldType | undefined,
  given: Fields[string],
  format: ValueFormat,
): ParsedValue {
  if (type) return parseFieldValue(type, given, format);
  return Array.isArray(given)
    ? { error: "is a list, which only a field that is declared as a list can hold" }
    : { value: given };
}
