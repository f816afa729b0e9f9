import { describe, expect, test } from "vitest";
import {
  chooseTexts,
  chooseTranslation,
} from "../../shared/domain/content/template-translations.ts";
import { markLanguage } from "../../shared/email/html-language.ts";

const mark = (html: string, locale = "ar") => markLanguage({ html, snippets: {} }, locale).html;

describe("an html body gets the language and direction of its mail", () => {
  test.each([
    ["<!doctype html><html><body>x", '<!doctype html><html lang="ar" dir="rtl"><body>x'],
    ['<html lang="en" dir=ltr><body>', '<html lang="ar" dir="rtl"><body>'],
    ["<html lang><body>", '<html dir="rtl" lang="ar"><body>'],
    ['<body class="a">x', '<body lang="ar" dir="rtl" class="a">x'],
    ["<p>x</p>", '<div lang="ar" dir="rtl"><p>x</p></div>'],
    ["<html lang='{{ locale }}'>", "<html dir=\"rtl\" lang='{{ locale }}'>"],
  ])("%s", (html, expected) => {
    expect(mark(html)).toBe(expected);
    // Rendering it again is the same.
    expect(mark(mark(html.replace("<p>x</p>", "<html>")))).toBe(
      mark(html.replace("<p>x</p>", "<html>")),
    );
  });

  test("one from left to right keeps its direction, unless it names another", () => {
    expect(mark('<html lang="en">', "de-AT")).toBe('<html lang="de-AT">');
    expect(mark('<html dir="rtl">', "de")).toBe('<html lang="de" dir="ltr">');
  });

  test("a layout has the tag in its place", () => {
    const snippets = {
      frame: { html: "<html><body>{{ content }}</body></html>", text: null },
      other: { html: "<p>x</p>", text: null },
    };
    expect(markLanguage({ html: "{% layout 'frame' %}<p>y</p>", snippets }, "de")).toEqual({
      html: "{% layout 'frame' %}<p>y</p>",
      snippets: {
        frame: { html: '<html lang="de"><body>{{ content }}</body></html>', text: null },
        other: snippets.other,
      },
    });
  });
});

describe("the translation for a reader", () => {
  const subjects = { de: "a", "de-AT": "b", "pt-BR": "c", "zh-Hant": "d" };
  test.each([
    ["de-AT", "de-AT"],
    ["DE-at", "de-AT"],
    ["de-CH", "de"],
    ["pt-PT", undefined],
    ["pt", undefined],
    ["zh-Hant-TW", "zh-Hant"],
    ["fr", undefined],
    ["", undefined],
    [undefined, undefined],
    [null, undefined],
  ])("%s reads %s", (wanted, expected) => {
    expect(chooseTranslation({ subjects }, wanted)).toBe(expected);
  });

  test("is the template itself where its own language fits better", () => {
    const own = { locale: "en-GB", subjects: { en: "a" } };
    expect(chooseTranslation(own, "en-GB")).toBeUndefined();
    expect(chooseTranslation(own, "en-US")).toBe("en");
  });

  test("is one with a body, and takes its subject from the template if it has none", () => {
    const body = {
      ...{ subject: "News", html: "<p>News</p>", text: null, previewText: "All" },
      locale: "en",
      translations: {
        de: { subject: null, previewText: null, html: "<p>Neues</p>", text: null, designJson: {} },
        fr: { subject: "Nouvelles", previewText: null, html: " ", text: null, designJson: null },
      },
    };
    expect(chooseTexts(body, "de")).toEqual({
      ...{ subject: "News", previewText: null, html: "<p>Neues</p>", text: null, locale: "de" },
    });
    expect(chooseTexts(body, "fr")).toEqual({
      ...{ subject: "News", previewText: "All", html: "<p>News</p>", text: null, locale: "en" },
    });
  });
});
