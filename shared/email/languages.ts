// The languages that the service has texts in, and the direction that a language is written in.

import { canonicalLocale } from "../kernel/canonical-locale.ts";

export const languages = ["en", "de", "fr", "es", "it", "pt", "nl", "pl", "ja", "ar"] as const;
export type Language = (typeof languages)[number];

/** The language of a BCP 47 tag, if the service has texts in it: `pt` for `pt-BR`. */
export function supportedLanguage(tag: string): Language | undefined {
  const [name] = tag.trim().toLowerCase().split(/[-_]/);
  return languages.find((language) => language === name);
}

/**
 * The supported language that the browser prefers (RFC 9110, section 12.5.4), else the fallback.
 */
export function preferredLanguage(
  acceptLanguage: string | undefined,
  fallback: Language = "en",
): Language {
  for (const tag of preferredTags(acceptLanguage)) {
    const language = supportedLanguage(tag);
    if (language) return language;
  }
  return fallback;
}

/** The first language that the browser prefers, such as `de-AT`. */
export function preferredLocale(acceptLanguage: string | undefined): string | undefined {
  const [first] = preferredTags(acceptLanguage);
  return first === undefined ? undefined : canonicalLocale(first);
}

/** The language tags that a browser accepts, the most preferred first. */
function preferredTags(acceptLanguage: string | undefined): string[] {
  return (acceptLanguage ?? "")
    .slice(0, 500)
    .split(",")
    .map((preference) => {
      const [tag = "", weight = ""] = preference.split(";");
      const [, q = "1"] = /^\s*q=([\d.]+)/.exec(weight) ?? [];
      return { tag: tag.trim(), q: Number(q) };
    })
    .filter(({ q }) => q > 0)
    .sort((a, b) => b.q - a.q)
    .map(({ tag }) => tag);
}

const rightToLeftLanguages = [
  "ar",
  "arc",
  "ckb",
  "dv",
  "fa",
  "he",
  "ps",
  "sd",
  "syr",
  "ug",
  "ur",
  "yi",
];
const rightToLeftScripts = ["adlm", "arab", "hebr", "nkoo", "rohg", "syrc", "thaa"];

export type Direction = "ltr" | "rtl";

/** The direction in which text of this BCP 47 tag is written. A script in the tag decides. */
export function directionOf(tag: string): Direction {
  const [language = "", ...subtags] = tag.trim().toLowerCase().split(/[-_]/);
  const script = subtags.find((subtag) => /^[a-z]{4}$/.test(subtag));
  const isRightToLeft = script
    ? rightToLeftScripts.includes(script)
    : rightToLeftLanguages.includes(language);
  return isRightToLeft ? "rtl" : "ltr";
}
