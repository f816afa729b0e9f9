// Converts traits of Segment's API (https://segment.com/docs/connections/spec/identify) to fields
// of a contact.
import * as z from "zod";
import { isObject } from "../../../kernel/json.ts";
import { ContactChanges } from "../contacts/contact-schema.ts";
import { CustomFieldName } from "../contacts/custom-fields.ts";

type StandardField = "firstName" | "lastName" | "phone" | "company" | "timezone" | "locale";

const standardFields: Record<string, StandardField | undefined> = {
  firstName: "firstName",
  first_name: "firstName",
  firstname: "firstName",
  lastName: "lastName",
  last_name: "lastName",
  lastname: "lastName",
  phone: "phone",
  company: "company",
  timezone: "timezone",
  locale: "locale",
};
/** Traits that are not custom fields: the address and the id say who the contact is. */
const otherTraits = ["email", "id", "name", "subscribed"];

const Email = z.object({ email: z.string().trim().min(1) });

/** The email address of traits. */
export const emailOfTraits = (traits: unknown): string | undefined =>
  Email.safeParse(traits).data?.email;

export interface ConvertedTraits {
  fields: Pick<ContactChanges, StandardField | "customFields">;
  /** Names of traits that no field can hold. */
  leftOut: string[];
}

/**
 * Standard fields by their names, and all others as custom fields. Objects and lists become JSON
 * text. `null` removes a field.
 */
export function convertTraits(traits: Record<string, unknown>): ConvertedTraits {
  const fields: Record<string, unknown> = { ...namesOf(traits) };
  const customFields: Record<string, unknown> = {};
  const leftOut: string[] = [];
  for (const [name, trait] of Object.entries(traits)) {
    if (otherTraits.includes(name)) continue;
    const standard = Object.hasOwn(standardFields, name) ? standardFields[name] : undefined;
    const value = standard ? toText(trait) : toCustomValue(trait);
    const place = standard ? fields : customFields;
    const change = standard ? { [standard]: value } : { customFields: { [name]: value } };
    const isPossible = standard !== undefined || CustomFieldName.safeParse(name).success;
    const { data } = ContactChanges.safeParse(change);
    if (isPossible && data) place[standard ?? name] = standard ? data[standard] : value;
    else leftOut.push(name.slice(0, 100));
  }
  const hasCustomFields = Object.keys(customFields).length > 0;
  return {
    fields: { ...fields, ...(hasCustomFields && { customFields }) } as ConvertedTraits["fields"],
    leftOut,
  };
}

/** Splits `name` at the last space, unless the first or last name is given too. */
function namesOf({ name, ...traits }: Record<string, unknown>): Record<string, unknown> {
  const given = Object.keys(traits).map((trait) => standardFields[trait]);
  if (typeof name !== "string" || given.includes("firstName") || given.includes("lastName"))
    return {};
  const words = name.replace(/\s+/g, " ").trim().slice(0, 200).split(" ");
  const lastName = words.length > 1 ? words.pop() : undefined;
  return { firstName: words.join(" ") || null, ...(lastName && { lastName }) };
}

/** A company is a text, or an object with its name. */
function toText(trait: unknown): unknown {
  const value = isObject(trait) ? (trait.name ?? trait.id) : trait;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return value === "" ? null : value;
}

const toCustomValue = (trait: unknown): unknown =>
  typeof trait === "object" && trait !== null ? JSON.stringify(trait) : trait;
