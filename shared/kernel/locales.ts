// Locales: BCP 47 language tags, such as `de` or `pt-BR`.
import * as z from "zod";
import { canonicalLocale, maxLocaleLength } from "./canonical-locale.ts";

/** Gets its canonical spelling. */
export const Locale = z
  .string()
  .overwrite((tag) => canonicalLocale(tag) ?? tag)
  .refine(
    (tag) => canonicalLocale(tag) !== undefined,
    "must be a language tag (BCP 47) such as de or pt-BR",
  )
  .meta({ maxLength: maxLocaleLength });
