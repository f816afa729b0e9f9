// The custom fields that contacts of a site have, for the columns of an import.
import type { SiteRef } from "../../../caller.ts";
import { listDeclared } from "../contacts/contact-fields.ts";
import * as reader from "../contacts/contact-reader.ts";
import * as fieldNames from "../contacts/field-names.ts";

const sampledContacts = 500;

/**
 * Custom fields of some contacts of the site: their keys, most frequent first, and the fields that
 * are declared as text, or have no declaration and only texts as values.
 */
export async function sampleCustomFields({
  orgId,
  siteId,
}: SiteRef): Promise<{ keys: string[]; texts: Set<string> }> {
  const [{ items }, spellingsOf, declared] = await Promise.all([
    reader.readSitePage({ orgId, siteId }, { limit: sampledContacts }, {}),
    fieldNames.createSpellingLookup(orgId, siteId),
    listDeclared(orgId, siteId),
  ]);
  const typeByKey = new Map(declared.map(({ name, type }) => [name, type]));
  const values = items.flatMap(({ customFields }) => Object.entries(customFields ?? {}));
  const byFrequency = [...Map.groupBy(values, ([key]) => spellingsOf(key)[0]!)].sort(
    ([, a], [, b]) => b.length - a.length,
  );
  const withTextsOnly = byFrequency.flatMap(([key, entries]) =>
    entries.every(([, value]) => typeof value === "string") ? [key] : [],
  );
  const declaredTexts = declared.flatMap(({ name, type }) => (type === "text" ? [name] : []));
  const texts = [...declaredTexts, ...withTextsOnly.filter((key) => !typeByKey.has(key))];
  return {
    keys: [...new Set([...byFrequency.map(([key]) => key), ...typeByKey.keys()])],
    texts: new Set(texts.map((key) => `customFields.${key}`)),
  };
}
