// The spelling of locales. Apart from their schema, so that the console does not load zod.

export const maxLocaleLength = 35;

/** `pt-BR` for `pt_br`. Undefined for a text that is no tag of a language (BCP 47). */
export function canonicalLocale(text: string): string | undefined {
  const tag = text.trim().replaceAll("_", "-");
  // Names of languages, such as "German", are valid tags without a meaning.
  if (tag.length > maxLocaleLength || !/^[a-z]{2,3}(-|$)/i.test(tag)) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}
