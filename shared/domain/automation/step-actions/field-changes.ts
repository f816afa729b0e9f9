// The changes of fields that actions make.
import { invalid } from "../../../errors.ts";
import { isStorableNumber } from "../../../kernel/stored-json.ts";
import type { FieldValue } from "../../audience/contacts/parse-field-value.ts";
import { type ActionConfig, customNameOf } from "./action-config.ts";

export const setField = (field: string, value: FieldValue | null) => {
  const name = customNameOf(field);
  return name === undefined ? { [field]: value } : { customFields: { [name]: value } };
};

/** Undefined if a list has all that is to be added. */
export function addValue(
  current: unknown,
  value: NonNullable<ActionConfig["value"]>,
  field: string,
): FieldValue | undefined {
  if (Array.isArray(value)) {
    const items = current === null ? [] : current;
    if (!Array.isArray(items)) throw invalid(`${field} of the contact is not a list`);
    const added = value.filter((one) => !items.includes(one));
    return added.length ? [...items, ...added] : undefined;
  }
  const sum = typeof value === "number" && roundedSum(current ?? 0, value);
  if (!isStorableNumber(sum)) throw invalid(`${field} of the contact is not a number to add to`);
  return sum;
}

const significantDigits = 15;

/** Without the error of binary fractions: 0.1 and 0.2 are 0.3. */
const roundedSum = (current: unknown, value: number): number | undefined =>
  typeof current === "number"
    ? Number((current + value).toPrecision(significantDigits))
    : undefined;
