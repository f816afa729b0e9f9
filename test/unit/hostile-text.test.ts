// Texts of a megabyte made to take for ever: who gives one must not hold up the mail of others.
import { expect, test } from "vitest";
import { columnsOf } from "../../shared/domain/imports/columns.ts";
import { languageOfHtml } from "../../shared/pages/mail-words.ts";
import { plainText } from "../../shared/plain-text.ts";

const megabyte = (piece: string) => piece.repeat(Math.ceil(1_000_000 / piece.length));

/** Generous, as others work beside: these took from seconds to hours. */
function soon<T>(work: () => T): T {
  const started = performance.now();
  const result = work();
  expect(performance.now() - started).toBeLessThan(5000);
  return result;
}

test.each(["<div>", "<div></span>", "<ol><li>", "<table><tr><td>", "<b>", "<", "<style>", "<!--", "data:", " ", "\n"])(
  "html of nothing but %j is soon text",
  (piece) => {
    expect(soon(() => plainText(`Hello ${megabyte(piece)}`))).toContain("Hello");
    expect(soon(() => plainText(`Hello ${megabyte(piece).slice(0, 190_000)}`))).toContain("Hello");
  },
);

test("html of more than mail programs show loses its tags, and keeps its words and paragraphs", () => {
  const html = `<title>T</title><style>p > a {}</style><p>Hello <b>you</b> &amp; me</p><br><p>Bye${" ".repeat(9)}now</p>${megabyte("<br>")}`;
  expect(plainText(html)).toBe("Hello you & me\n\nBye now");
});

test("pictures inside html do not make it long", () => {
  const picture = `<img src="data:image/png;base64,${megabyte("A")}">`;
  expect(plainText(`<a href="https://shop.example/">Shop</a>${picture}`)).toBe("Shop [https://shop.example/]");
});

test("the language of html is told by its first tag alone", () => {
  expect(soon(() => languageOfHtml(megabyte("<html ")))).toBe("en");
  expect(languageOfHtml(`<!doctype html>\n<html dir="ltr"\n lang='de-AT'>${megabyte("<html lang=fr>")}`)).toBe("de");
});

test("a cell of a megabyte is soon seen to be no address", () => {
  const cell = `a@${megabyte(".")} b`;
  expect(() => soon(() => columnsOf(["x", "y"], [[cell, "z"]]))).toThrow("No column is the email address");
});
