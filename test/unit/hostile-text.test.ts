// Texts of a megabyte that are made to be slow to process: they must not delay other mail.
import { expect, test } from "vitest";
import { mapColumns } from "../../shared/domain/audience/imports/column-mapping.ts";
import { detectHtmlLanguage } from "../../shared/email/html-footer.ts";
import { htmlToText } from "../../shared/email/plain-text.ts";
import { measureCpuTime } from "../support/cpu-time.ts";

const megabyte = (piece: string) => piece.repeat(Math.ceil(1_000_000 / piece.length));

/** Without protection, each text takes far longer than this limit. */
function expectQuick<T>(work: () => T): T {
  let result: T;
  expect(
    measureCpuTime(() => {
      result = work();
    }),
  ).toBeLessThan(5000);
  return result!;
}

test.each([
  "<div>",
  "<div></span>",
  "<ol><li>",
  "<table><tr><td>",
  "<b>",
  "<",
  "<style>",
  "<!--",
  "data:",
  " ",
  "\n",
])("a megabyte of %j is quickly converted to text", (piece) => {
  expect(expectQuick(() => htmlToText(`Hello ${megabyte(piece)}`))).toContain("Hello");
  expect(expectQuick(() => htmlToText(`Hello ${megabyte(piece).slice(0, 190_000)}`))).toContain(
    "Hello",
  );
});

test("very long HTML loses its tags and keeps its words and paragraphs", () => {
  const html = `<title>T</title><style>p > a {}</style><p>Hello <b>you</b> &amp; me</p><br><p>Bye${" ".repeat(9)}now</p>${megabyte("<br>")}`;
  expect(htmlToText(html)).toBe("Hello you & me\n\nBye now");
});

test("embedded images do not count as long HTML", () => {
  const picture = `<img src="data:image/png;base64,${megabyte("A")}">`;
  expect(htmlToText(`<a href="https://shop.example/">Shop</a>${picture}`)).toBe(
    "Shop [https://shop.example/]",
  );
});

test("reads the language of HTML only from its first tag", () => {
  expect(expectQuick(() => detectHtmlLanguage(megabyte("<html ")))).toBe("en");
  expect(
    detectHtmlLanguage(
      `<!doctype html>\n<html dir="ltr"\n lang='de-AT'>${megabyte("<html lang=fr>")}`,
    ),
  ).toBe("de");
});

test("quickly refuses a cell of a megabyte as an address", () => {
  const cell = `a@${megabyte(".")} b`;
  expect(() => expectQuick(() => mapColumns(["x", "y"], [[cell, "z"]]))).toThrow(
    "No column was recognized as the email address",
  );
});
