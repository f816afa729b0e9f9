// Where the footer of a mail goes, and its language: only tags that mail programs see count.
import { describe, expect, test } from "vitest";
import { detectHtmlLanguage, insertBeforeBodyEnd } from "../../shared/email/html-footer.ts";

const withFooter = (html: string) => insertBeforeBodyEnd([html], ["FOOTER"]).join("");

describe("the footer", () => {
  test.each([
    ["<body><p>Hi</p>FOOTER</body></html>"],
    ["<body><p>Hi</p>FOOTER</BODY ><!-- </body> --></html>"],
    ["<body><!-- </body> --><p>Hi</p>FOOTER</body><!--[if mso]></body><![endif]-->"],
    ["<body><style>/* </body> */</style><p>Hi</p>FOOTER</body>"],
    ["<body><textarea></body></textarea><p>Hi</p>FOOTER</body>"],
    ["<html><p>Hi</p>FOOTER</html>"],
    ["<p>Hi</p>FOOTER"],
    ["<p>1 < 2FOOTER"],
    ["<p>Hi</p>FOOTER<!-- the comment does not end </body>"],
    ["<p>Hi</p>FOOTER<style> p {} </body>"],
    ['<p>Hi</p>FOOTER<a href="</body>'],
  ])("is visible: %s", (expected) =>
    expect(withFooter(expected.replace("FOOTER", ""))).toBe(expected),
  );

  test("keeps merge fields in their places", () => {
    expect(insertBeforeBodyEnd(["<p>", 0, "</p><!-- ", 1, " --></body", ">", 2], [3, "x"])).toEqual(
      ["<p>", 0, "</p><!-- ", 1, " -->", 3, "x", "</body", ">", 2],
    );
    expect(insertBeforeBodyEnd([0], ["x"])).toEqual([0, "x"]);
    expect(insertBeforeBodyEnd([], ["x"])).toEqual(["x"]);
  });
});

test.each([
  ['<!DOCTYPE html><html lang="de-AT"><body>', "de"],
  ["<html class=a LANG=fr>", "fr"],
  ['<!-- <html lang="de"> --><html lang="es">', "es"],
  ['<html xml:lang="de"><p lang="de">', "en"],
  ["<p>Hello</p>", "en"],
  ['<html lang="ar" dir="rtl">', "ar"],
])("the language of %s is %s", (html, language) => expect(detectHtmlLanguage(html)).toBe(language));
