// What a German sees where an English reader sees a text of the console.
import {
  type MessageFormatElement,
  type PluralElement,
  parse,
  TYPE,
} from "@formatjs/icu-messageformat-parser";
import { IntlMessageFormat } from "intl-messageformat";
import { german } from "../../shared/console/language/german.ts";
import * as germanPages from "../../shared/email/wording/de.ts";
import * as englishPages from "../../shared/email/wording/en.ts";

/** A value of a message, by its place in the text that matched. */
interface Slot {
  name: string;
  /** The number that an option such as `=0` or `one` stands for. Other options contain theirs. */
  count?: number;
}

/** A message with values, as a pattern of the English texts that it makes. */
interface MessagePattern {
  message: string;
  pattern: RegExp;
  slots: Slot[];
  /** Length of the fixed text. Of several patterns that match, the longest is meant. */
  fixedLength: number;
}

export const escapePattern = (text: string): string =>
  text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Undefined for messages with choices by a word, because the text does not contain the word. */
function toPattern(message: string): MessagePattern | undefined {
  const slots: Slot[] = [];
  let fixedLength = 0;
  let hasWordChoice = false;
  const optionPattern = (plural: PluralElement, option: string): string => {
    const count = option === "one" ? 1 : Number(option.replace(/^=/, ""));
    slots.push(Number.isNaN(count) ? { name: "" } : { name: plural.value, count });
    return `(${toSource(plural.options[option]!.value, plural.value)})`;
  };
  const toSource = (elements: MessageFormatElement[], counted = ""): string =>
    elements
      .map((element) => {
        if (element.type === TYPE.literal) {
          fixedLength += element.value.length;
          return escapePattern(element.value);
        }
        if (element.type === TYPE.tag) return toSource(element.children, counted);
        if (element.type === TYPE.plural)
          return `(?:${Object.keys(element.options)
            .map((option) => optionPattern(element, option))
            .join("|")})`;
        if (element.type === TYPE.select) hasWordChoice = true;
        slots.push({ name: element.type === TYPE.pound ? counted : element.value });
        return element.type === TYPE.pound ? "([\\d,]+)" : "(.+?)";
      })
      .join("");
  const pattern = new RegExp(`^${toSource(parse(message))}$`);
  return hasWordChoice ? undefined : { message, pattern, slots, fixedLength };
}

const patterns: MessagePattern[] = Object.keys(german)
  .filter((message) => /[{<]/.test(message) && !message.includes("{{"))
  .flatMap((message) => toPattern(message) ?? [])
  .filter(({ fixedLength }) => fixedLength > 5)
  .sort((one, other) => other.fixedLength - one.fixedLength);

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const toValue = (text: string): string | number =>
  /^\d[\d,]*$/.test(text)
    ? Number(text.replaceAll(",", ""))
    : // German nouns keep their capital in a sentence.
      (german[text] ?? german[capitalize(text)] ?? text);

const textOfTag = (parts: string[]): string => parts.join("");

/** The texts of public pages and emails, by the English one. */
const pageTexts = new Map<string, string>();
const addPageTexts = (texts: object, translated: object): void => {
  for (const [name, text] of Object.entries(texts)) {
    const other = (translated as Record<string, unknown>)[name];
    if (typeof text === "string" && typeof other === "string") pageTexts.set(text, other);
    else if (typeof text === "object" && text && typeof other === "object" && other)
      addPageTexts(text, other);
  }
};
addPageTexts(englishPages, germanPages);

/** Translates a whole text of the console or of a public page. Any other text stays as it is. */
export function toGerman(text: string): string {
  const same = german[text] ?? pageTexts.get(text);
  if (same !== undefined) return same;
  for (const { message, pattern, slots } of patterns) {
    const found = pattern.exec(text);
    if (!found) continue;
    const values = slots.flatMap(({ name, count }, place) => {
      const part = found[place + 1];
      return part === undefined || !name ? [] : [[name, count ?? toValue(part)] as const];
    });
    const tags = [...message.matchAll(/<(\w+)>/g)].map(([, tag]) => [tag, textOfTag] as const);
    const format = new IntlMessageFormat(german[message] ?? message, "de");
    return String(format.format(Object.fromEntries([...tags, ...values])));
  }
  return text;
}
