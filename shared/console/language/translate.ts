// Texts of the console in the language of the person. The English text is the name of a message.
// Messages with values are ICU MessageFormat:
// https://unicode-org.github.io/icu/userguide/format_parse/messages/
import { IntlMessageFormat } from "intl-messageformat";
import { chosenLanguage } from "./chosen-language.ts";
import { createSentenceTranslator } from "./service-sentences.ts";

/** Texts of another language, by the English message. */
export type Catalog = Readonly<Record<string, string>>;

export const language = chosenLanguage();

// Constants of modules have texts too, so modules wait for the catalog.
const catalog: Catalog = language === "de" ? (await import("./german.ts")).german : {};

/** A text that the service wrote in English. */
export const ofService: (text: string) => string =
  language === "de"
    ? createSentenceTranslator((await import("./german-answers.ts")).germanAnswers)
    : (text) => text;

const formats = new Map<string, IntlMessageFormat>();

/** The message in the language of the person, ready for values. */
export function formatOf(message: string): IntlMessageFormat {
  const known = formats.get(message);
  if (known) return known;
  const format = new IntlMessageFormat(catalog[message] ?? message, language);
  formats.set(message, format);
  return format;
}

type Values = Record<string, string | number | null | undefined>;

/** The text of a message. Without values, braces in it mean themselves. */
export const t = (message: string, values?: Values): string =>
  values ? String(formatOf(message).format(values)) : (catalog[message] ?? message);

/** A label in the middle of a sentence. German nouns keep their capital. */
export const inSentence = (label: string): string =>
  language === "de" ? label : label.toLowerCase();
