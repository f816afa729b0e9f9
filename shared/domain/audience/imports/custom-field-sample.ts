// The custom fields that contacts of a site have, for the columns of an import.
import type { SiteRef } from "../../../caller.ts";
import * as contactReader from "../contacts/contact-reader.ts";
import { createTypeLookup, listDeclared } from "../contacts/declared-fields.ts";
import * as fieldNames from "../contacts/field-names.ts";
import type { CustomFieldType } from "../contacts/parse-field-value.ts";

const sampledContacts = 500;

/**
 * Custom fields of some contacts of the site: their keys, most frequent first, the declared types,
 * and the fields that have no declaration and only texts as values.
 */
export async function sampleCustomFields({ orgId, siteId }: SiteRef): Promise<{
  keys: string[];
  typeOf: (name: string) => CustomFieldType | undefined;
  texts: Set<string>;
}> {
  const [{ items }, spellingOf, declared] = await Promise.all([
    contactReader.readSitePage({ orgId, siteId }, { limit: sampledContacts }, {}),
    fieldNames.createSpellingLookup(orgId, siteId),
    listDeclared({ orgId, siteId }),
  ]);
  const typeOf = createTypeLookup(declared);
  const values = items.flatMap(({ customFields }) => Object.entries(customFields ?? {}));
  const byFrequency = [...Map.groupBy(values, ([key]) => spellingOf(key))].sort(
    ([, a], [, b]) => b.length - a.length,
  );
  const withTextsOnly = byFrequency.flatMap(([key, entries]) =>
    entries.every(([, value]) => typeof value === "string") ? [key] : [],
  );
  const texts = withTextsOnly.filter((key) => !typeOf(key));
  return {
    keys: [...new Set([...byFrequency.map(([key]) => key), ...declared.map(({ name }) => name)])],
    typeOf,
    texts: new Set(texts.map((key) => `customFields.${key}`)),
  };
}
