// The custom fields that contacts of a site have, for the columns of an import.
import type { SiteRef } from "../../../caller.ts";
import * as reader from "../contacts/contact-reader.ts";
import * as fieldNames from "../contacts/field-names.ts";

const sampledContacts = 500;

/**
 * Custom fields of some contacts of the site: their keys, most frequent first, and the fields whose
 * values are all texts.
 */
export async function sampleCustomFields({
  orgId,
  siteId,
}: SiteRef): Promise<{ keys: string[]; texts: Set<string> }> {
  const [{ items }, spellings] = await Promise.all([
    reader.readSitePage({ orgId, siteId }, { limit: sampledContacts }, {}),
    fieldNames.spellings(orgId, siteId),
  ]);
  const values = items.flatMap(({ customFields }) => Object.entries(customFields ?? {}));
  const byFrequency = [...Map.groupBy(values, ([key]) => spellings(key)[0]!)].sort(
    ([, a], [, b]) => b.length - a.length,
  );
  const texts = byFrequency.filter(([, entries]) =>
    entries.every(([, value]) => typeof value === "string"),
  );
  return {
    keys: byFrequency.map(([key]) => key),
    texts: new Set(texts.map(([key]) => `customFields.${key}`)),
  };
}
