// The fields that contacts of a site have: the standard ones, custom fields that were declared with
// a label and a type, and further custom fields that contacts use.
import * as z from "zod";
import { get, put, remove as removeItem, write } from "../../../adapters/dynamodb/table.ts";
import type { Caller, CallerScope } from "../../../caller.ts";
import { conflict, missing } from "../../../errors.ts";
import { singleLineText } from "../../../kernel/email-fields.ts";
import { Count, NewSiteId } from "../../../kernel/record-fields.ts";
import { keys } from "../../../keys.ts";
import * as sites from "../../identity/sites.ts";
import * as contactReader from "./contact-reader.ts";
import type { ContactItem } from "./contact-schema.ts";
import { CustomFieldName } from "./custom-fields.ts";
import { listDeclared } from "./declared-fields.ts";
import * as fieldConversions from "./field-conversions.ts";
import { FieldConversion } from "./field-conversions.ts";
import * as fieldNames from "./field-names.ts";
import { type CustomFieldType, dateOrders, decimalMarks, fieldTypes } from "./parse-field-value.ts";

const ContactField = z
  .object({
    key: z
      .string()
      .describe(
        "The field in segments, templates and the mapping of imports, such as `firstName` or " +
          "`customFields.plan`.",
      ),
    name: z.string().describe("Name of the field: for a custom field, without `customFields.`."),
    label: z.string().describe("Label for people. For a field that is not declared: its name."),
    type: z
      .enum(fieldTypes)
      .describe("Declared type, else that of the values of sampled contacts."),
    custom: z.boolean().describe("Whether it is a custom field."),
    declared: z.boolean().describe("Whether the label and the type of a custom field are stored."),
    uses: Count.describe("Number of sampled contacts that have a value."),
    sample: z
      .string()
      .nullable()
      .describe("A value of a sampled contact as text, at most 100 characters. `null`: none."),
  })
  .meta({ id: "ContactField" });
type ContactField = z.output<typeof ContactField>;

export const ContactFields = z.object({
  fields: z.array(ContactField).describe("Standard fields first, then custom fields by label."),
  sampledContacts: Count.describe("Number of contacts that `uses` refers to, at most 500."),
});

export const FieldDeclaration = z
  .object({
    siteId: NewSiteId,
    label: singleLineText(100).trim().min(1).describe("Label for people."),
    type: z
      .enum(fieldTypes)
      .optional()
      .describe(
        "Type by which values are read in requests, imports, forms and sequences, and by which " +
          "rules compare them: `date` is a day such as 2026-11-20, `datetime` a time in UTC (a " +
          "time without a zone is one of the organization), `list` up to 100 texts, `url` an " +
          "address with http or https. A value that cannot be read is refused. Defaults to the " +
          "present type, for a new declaration to `text`.",
      ),
    decimalMark: z
      .enum(decimalMarks)
      .optional()
      .describe("How texts that contacts have are read as numbers. Defaults to the point."),
    dateOrder: z
      .enum(dateOrders)
      .optional()
      .describe(
        "How dates such as 03/04/2026 that contacts have are read: the day first (`dmy`) or the " +
          "month first (`mdy`). Without it, such a date cannot be converted.",
      ),
  })
  .meta({ examples: [{ label: "Subscription plan", type: "text" }] });
type FieldDeclaration = z.output<typeof FieldDeclaration>;

export const DeclaredContactField = ContactField.extend({
  conversion: FieldConversion.nullable().describe(
    "The job that converts what contacts have in the field, if this request changed its type and " +
      "contacts may have it. GET /contact-fields/:fieldName/conversion returns how far it is.",
  ),
}).meta({ id: "DeclaredContactField" });
type DeclaredContactField = z.output<typeof DeclaredContactField>;

const standardLabels = {
  email: "Email",
  firstName: "First name",
  lastName: "Last name",
  phone: "Phone",
  company: "Company",
  timezone: "Time zone",
  locale: "Language",
  source: "Source",
  externalId: "External id",
} as const;

const sampledContacts = 500;

/** Reads up to 500 contacts. */
export async function list(
  caller: CallerScope,
  givenSiteId: number | undefined,
): Promise<z.output<typeof ContactFields>> {
  const siteId = await sites.resolveSiteId(caller, givenSiteId);
  const { orgId } = caller;
  const [declared, names, { items }] = await Promise.all([
    listDeclared({ orgId, siteId }),
    fieldNames.listNames(orgId, siteId),
    contactReader.readSitePage({ orgId, siteId }, { limit: sampledContacts }, {}),
  ]);
  const known = new Set(declared.map(({ name }) => name.toLowerCase()));
  const others = names.filter((name) => !known.has(name.toLowerCase()));
  const custom = [
    ...declared.map((field) => ({ ...field, declared: true })),
    ...others.map((name) => ({ name, label: name, type: typeOf(items, name), declared: false })),
  ].toSorted((a, b) => a.label.localeCompare(b.label, "en"));
  return {
    fields: [
      ...Object.entries(standardLabels).map(([name, label]) => ({
        key: name,
        name,
        label,
        type: "text" as const,
        custom: false,
        declared: false,
        ...describeUse(
          items.flatMap((contact) => contact[name as keyof typeof standardLabels] || []),
        ),
      })),
      ...custom.map((field) => ({
        key: `customFields.${field.name}`,
        ...field,
        custom: true,
        ...describeUse(valuesOf(items, field.name)),
      })),
    ],
    sampledContacts: items.length,
  };
}

const maxSample = 100;

const describeUse = (values: unknown[]): Pick<ContactField, "uses" | "sample"> => ({
  uses: values.length,
  sample: values.length > 0 ? String(values[0]).slice(0, maxSample) : null,
});

function valuesOf(items: ContactItem[], field: string): unknown[] {
  const name = field.toLowerCase();
  return items.flatMap(({ customFields = {} }) =>
    Object.entries(customFields).flatMap(([key, value]) =>
      key.toLowerCase() === name && value !== null ? [value] : [],
    ),
  );
}

/** The type that all values have; text if they differ or there are none. */
function typeOf(items: ContactItem[], name: string): CustomFieldType {
  const found = new Set(valuesOf(items, name).map((value) => typeof value));
  const [only] = found;
  return found.size === 1 && (only === "number" || only === "boolean") ? only : "text";
}

const maxDeclared = 100;

/**
 * Declares a custom field, or changes its label and type. A new type starts the conversion of what
 * contacts have. 409 above 100 fields.
 */
export async function declare(
  caller: Caller,
  givenName: string,
  { siteId: givenSiteId, label, type: givenType, ...format }: FieldDeclaration,
): Promise<DeclaredContactField> {
  const { orgId } = caller;
  const siteId = await sites.resolveSiteId(caller, givenSiteId);
  const parsed = CustomFieldName.parse(givenName);
  const declared = await listDeclared({ orgId, siteId });
  const current = declared.find(({ name }) => name.toLowerCase() === parsed.toLowerCase());
  if (!current && declared.length >= maxDeclared)
    throw conflict(`A site has at most ${maxDeclared} declared fields`, { code: "too_many" });
  const mayBeUsed = await fieldNames.createNameTest(orgId, siteId);
  const isUsed = mayBeUsed(parsed);
  // Contacts get the field under the spelling that the site saw first.
  const [row] = await fieldNames.applySpellings(orgId, siteId, [
    { customFields: { [parsed]: "" } },
  ]);
  const name = Object.keys(row!.customFields!)[0]!;
  const type = givenType ?? current?.type ?? "text";
  const conversion =
    isUsed && type !== current?.type
      ? await fieldConversions.prepareConversion(caller, { siteId, name, type, format })
      : undefined;
  await write(
    put(keys.contactField(orgId, siteId, name), { name, label, type }),
    ...(conversion ? [conversion.write] : []),
  );
  if (conversion) await fieldConversions.enqueueStart(conversion.item);
  const { fields } = await list(caller, siteId);
  const field = fields.find((one) => one.custom && one.name === name)!;
  return { ...field, conversion: conversion ? fieldConversions.toApi(conversion.item) : null };
}

/** Contacts keep their values, and a conversion stops. 404 for a field that is not declared. */
export async function remove(
  caller: CallerScope,
  name: string,
  givenSiteId: number | undefined,
): Promise<void> {
  const siteId = await sites.resolveSiteId(caller, givenSiteId);
  const key = keys.contactField(caller.orgId, siteId, name);
  const isDeclared = CustomFieldName.safeParse(name).success && (await get(key));
  if (!isDeclared) throw missing("The site has no declared field of this name");
  await write(
    removeItem(key),
    removeItem(fieldConversions.keyOf({ orgId: caller.orgId, siteId, name })),
  );
}
