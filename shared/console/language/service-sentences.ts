// Sentences that the service writes in English, such as the answer why an email did not arrive, in
// the language of the reader.

/** Texts of another language, by the English pattern with `{name}` for any text. */
type SentencePatterns = Readonly<Record<string, string>>;

interface SentencePattern {
  pattern: RegExp;
  names: string[];
  text: string;
}

const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

const toPattern = ([english, text]: [string, string]): SentencePattern => {
  const parts = english.split(/\{(\w+)\}/);
  const source = parts.map((part, i) => (i % 2 ? "(.+?)" : escapePattern(part))).join("");
  return { pattern: new RegExp(`^${source}$`, "s"), names: parts.filter((_, i) => i % 2), text };
};

/**
 * Returns a function that translates a text: as a whole, else sentence by sentence. What has no
 * pattern stays in English.
 */
export function createSentenceTranslator(texts: SentencePatterns): (text: string) => string {
  const patterns = Object.entries(texts)
    .toSorted(([one], [other]) => other.length - one.length)
    .map(toPattern);
  const translateList = (text: string): string =>
    text
      .split(", ")
      .map((item) => translateWhole(item) ?? item)
      .join(", ");
  const translateWhole = (text: string): string | undefined => {
    for (const { pattern, names, text: translated } of patterns) {
      const values = pattern.exec(text)?.slice(1);
      if (!values) continue;
      return translated.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
        const value = values[names.indexOf(name)] ?? "";
        return translateWhole(value) ?? translateList(value);
      });
    }
    return undefined;
  };
  return (text) =>
    translateWhole(text) ??
    text
      .split(/(?<=[.!?]) (?=\S)/)
      .map((sentence) => translateWhole(sentence) ?? sentence)
      .join(" ");
}
