// The translations of a template while they are edited.
import type { TemplateTranslation, UpdateTemplateRequest } from "pennymail";
import {
  allBlocks,
  type Design,
  type DesignBlock,
  plainTextOf,
} from "../../editors/visual/design.ts";

export type TranslationDrafts = Record<string, TemplateTranslation>;

/** The texts that are translated. */
export interface OwnTexts {
  subject: string;
  html: string | null;
  text: string | null;
  previewText: string | null;
  /** Absent: the email is edited as code. */
  design?: Design | undefined;
}

export const maxTranslations = 20;

/** What is sent to the API: the changed translations, and `null` for those that are removed. */
export function changedTranslations(
  before: TranslationDrafts,
  after: TranslationDrafts,
): NonNullable<UpdateTemplateRequest["translations"]> {
  const locales = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...locales].filter(
    (locale) => JSON.stringify(before[locale]) !== JSON.stringify(after[locale]),
  );
  return Object.fromEntries(changed.map((locale) => [locale, after[locale] ?? null]));
}

/** Names the texts of a translation that are missing. */
export function missingTexts(
  own: OwnTexts,
  translation: TemplateTranslation,
  design: Design | undefined,
): string[] {
  const untranslated = own.design && design ? countSameTexts(own.design, design) : 0;
  const isMissing = {
    subject: !translation.subject,
    "preview text":
      Boolean(own.previewText) &&
      (design ? design.previewText === own.previewText : !translation.previewText),
    email: !design && !translation.html?.trim() && !translation.text?.trim(),
    [untranslated === 1 ? "1 text of the email" : `${untranslated} texts of the email`]:
      untranslated > 0,
    "plain text": own.text !== null && translation.text === null,
  };
  return Object.entries(isMissing).flatMap(([name, missing]) => (missing ? [name] : []));
}

/** How many blocks of the translation still have the words of the original. */
function countSameTexts(own: Design, translated: Design): number {
  const originals = new Set(allBlocks(own.blocks).flatMap((block) => textOf(block)));
  return allBlocks(translated.blocks)
    .flatMap(textOf)
    .filter((text) => originals.has(text)).length;
}

/** The words of a block. A block that holds others, or a picture, has none of its own. */
function textOf(block: DesignBlock): string[] {
  const words = wordsOf(block);
  return /\p{L}/u.test(words.replace(/\{[{%][^{}]*\}/g, "")) ? [words] : [];
}

function wordsOf(block: DesignBlock): string {
  if (block.type === "heading" || block.type === "text") return plainTextOf(block.text);
  return block.type === "button" ? block.label : "";
}

/** Languages that can be chosen. The API takes every tag. */
export const knownLocales = [
  ...["en", "en-GB", "en-US", "de", "de-AT", "de-CH", "fr", "fr-CA", "fr-CH", "es", "es-MX"],
  ...["it", "pt", "pt-BR", "nl", "nl-BE", "pl", "ja", "ar", "zh-Hans", "zh-Hant", "ko", "tr"],
  ...["uk", "cs", "sk", "sl", "hr", "sr", "hu", "ro", "bg", "el", "sv", "da", "nb", "fi", "is"],
  ...["et", "lv", "lt", "ca", "eu", "gl", "ga", "he", "fa", "ur", "hi", "bn", "id", "ms", "th"],
  ...["vi", "ru"],
];
