// The texts of the service: no language lacks one, keeps one in English or loses what it names.
import { describe, expect, test } from "vitest";
import {
  directionOf,
  type Language,
  languages,
  preferredLanguage,
  supportedLanguage,
} from "../../shared/email/languages.ts";
import * as byTopic from "../../shared/email/wording/by-topic.ts";

type Wording = Record<Language, object>;
const topics = Object.entries(byTopic) as [string, Wording][];
const others = languages.filter((language) => language !== "en");

/** Each text by its path. A function is called with its parameters as `<1>`, `<2>` and so on. */
function listTexts(wording: object, path: string): [string, string][] {
  return Object.entries(wording).flatMap(([name, text]: [string, unknown]): [string, string][] => {
    const at = `${path}.${name}`;
    if (typeof text === "string") return [[at, text]];
    if (typeof text !== "function") return listTexts(text as object, at);
    const parameters = Array.from({ length: text.length }, (_, i) => `<${i + 1}>`);
    return [[at, String((text as (...given: string[]) => string)(...parameters))]];
  });
}

const textsOf = (language: Language) =>
  new Map(topics.flatMap(([topic, wording]) => listTexts(wording[language], topic)));
const english = textsOf("en");

/** Words that a language has in common with English. */
const sharedWords: Partial<Record<Language, string[]>> = {
  de: ["Code"],
  fr: ["Code"],
  it: ["Password", "Passphrase"],
  nl: ["Code"],
};

describe.each(others)("the texts in %s", (language) => {
  const texts = textsOf(language);

  test("are those of English", () => {
    expect([...texts.keys()].toSorted()).toEqual([...english.keys()].toSorted());
    for (const [path, text] of texts) expect(text.trim(), path).not.toBe("");
  });

  test("are translated", () => {
    const allowed = sharedWords[language] ?? [];
    const leftovers = [...texts].filter(
      ([path, text]) =>
        text === english.get(path) && /[a-z]{3}/i.test(text) && !allowed.includes(text),
    );
    expect(leftovers).toEqual([]);
  });

  test("name the same addresses, sites and dates", () => {
    for (const [path, text] of texts) {
      const named = (given: string) => (given.match(/<\d>|https:\S+|Pennymail/g) ?? []).toSorted();
      expect(named(text), path).toEqual(named(english.get(path)!));
    }
  });
});

test.each([
  ["ja", /[\u3040-\u30ff\u4e00-\u9fff]/],
  ["ar", /[\u0600-\u06ff]/],
] as const)("texts in %s are written in its script", (language, script) => {
  for (const [path, text] of textsOf(language))
    if (/[a-z]{3}/i.test(english.get(path)!)) expect(text, path).toMatch(script);
});

test.each([
  ["de-AT", "de"],
  ["pt_BR", "pt"],
  ["PT-br", "pt"],
  ["ja-JP", "ja"],
  ["tlh", undefined],
  ["", undefined],
  ["constructor", undefined],
])("the texts for %s are in %s", (tag, language) => expect(supportedLanguage(tag)).toBe(language));

test.each([
  ["ar-EG,en;q=0.5", "ar"],
  ["zh,nl;q=0.4,pl;q=0.8", "pl"],
  ["en;q=0,it;q=0.1", "it"],
  [undefined, "en"],
])("a browser with %s gets %s", (header, language) =>
  expect(preferredLanguage(header)).toBe(language),
);

test.each([
  ["ar", "rtl"],
  ["he-IL", "rtl"],
  ["fa", "rtl"],
  ["pa-Arab-PK", "rtl"],
  ["az-Latn", "ltr"],
  ["ar-Latn", "ltr"],
  ["en-GB", "ltr"],
  ["", "ltr"],
])("%s is written %s", (tag, direction) => expect(directionOf(tag)).toBe(direction));
