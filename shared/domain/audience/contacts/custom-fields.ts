// Schema of the custom fields of a contact.
import * as z from "zod";
import { singleLineText } from "../../../kernel/email-fields.ts";
import { isReservedName } from "../../../kernel/json.ts";
import { StoredNumber, storable } from "../../../kernel/stored-json.ts";
import { maxItemLength, maxListItems, maxTextLength } from "./parse-field-value.ts";

const maxCustomFields = 100;
export const CustomFieldName = singleLineText(100)
  .min(1)
  .refine((name) => !isReservedName(name), "is reserved");
export const CustomFields = z
  .record(
    CustomFieldName,
    z.union([
      z.string().max(maxTextLength),
      StoredNumber,
      z.boolean(),
      z.null(),
      z.array(z.string().max(maxItemLength)).max(maxListItems),
    ]),
  )
  .refine(
    (fields) => Object.keys(fields).length <= maxCustomFields,
    `must have at most ${maxCustomFields} fields`,
  )
  .check(storable(20_000));
