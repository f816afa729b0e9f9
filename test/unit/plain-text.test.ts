import { describe, expect, test } from "vitest";
import { decoded } from "../../shared/entities.ts";
import { plainText } from "../../shared/plain-text.ts";

describe("an HTML mail as plain text", () => {
  const cases: [promise: string, html: string, text: string][] = [
    ["keeps paragraphs apart and lines whole", "<p>Dear\n  <b>Ada</b>,</p>\n<p>one<br>two</p>", "Dear Ada,\n\none\ntwo"],
    ["puts blocks on lines of their own", "<div>a</div><div><div>b</div></div>c", "a\nb\nc"],
    ["gives headings room", "<h1>News</h1>text<h2>More</h2>", "News\n\ntext\n\nMore"],
    ["marks the items of lists", "<ul><li>one</li><li>two<ul><li>deep</li></ul></li></ul>", " * one\n * two\n    * deep"],
    ["numbers the items of ordered lists", "<ol><li>a<br>b</li><li>c</ol>d", " 1. a\n    b\n 2. c\n\nd"],
    ["reads cells as words of a line, and rows as lines", "<table><tr><td>A</td><td>B</td></tr><tr><td>C</td></tr></table>", "A B\nC"],
    ["sets quotations off", "<blockquote>said<br>so</blockquote>then", "> said\n> so\n\nthen"],
    ["keeps prepared text as it is", "<pre>a\n\n  b</pre>c", "a\n\n  b\n\nc"],
    [
      "tells addresses of links after their words",
      '<a href="https://a.example/?x=1&amp;y=2">Shop</a>!',
      "Shop [https://a.example/?x=1&y=2]!",
    ],
    [
      "does not tell an address twice",
      '<a href="https://a.example">https://a.example</a> <a href="mailto:x@y.z">x@y.z</a>',
      "https://a.example x@y.z",
    ],
    ["tells the address of a linked image", "<a href=https://a.example><img src=x.png alt=Shop></a>", "https://a.example"],
    ["tells no address that leads nowhere", '<a href="#top">Up</a> <a href="javascript:x()">Run</a> <a>Bare</a>', "Up Run Bare"],
    ["skips what is not for readers", "<style>p > a {}</style><script>1 < 2</script><title>T</title>x<!-- y --><!DOCTYPE z>", "x"],
    ["leaves text that looks like a tag", "1 < 2 and a<3", "1 < 2 and a<3"],
    ["finds the end of a tag behind a quoted >", '<p title="a > b">x</p>', "x"],
    ["takes white space as one space, and none at the ends", "  a \n\t b <b> c</b>  ", "a b c"],
    ["keeps spaces that may not break", "a&nbsp;&nbsp;b", "a  b"],
    ["ends with what is not closed", "<p>x<b>y<a href='z", "xy"],
    ["leaves private marks where they are", '<p>\uE0000\uE001 <a href="\uE0001\uE001">go</a></p>', "\uE0000\uE001 go [\uE0001\uE001]"],
  ];
  for (const [promise, html, text] of cases) test(promise, () => expect(plainText(html)).toBe(text));

  test("takes time that grows with its length only, whatever is sent", () => {
    // Each would outlast the time limit of a test in a reader that looks back or nests without end.
    for (const unit of ["<", "<a ", '<a "', "<!--", "</style", "<ul><li>x", "<blockquote>x", '<a href="x">y', "<pre>\n", "&#", "</a>"])
      expect(plainText(unit.repeat(Math.floor(500_000 / unit.length))).length).toBeLessThan(2_000_000);
  });
});

describe("character references", () => {
  test("are resolved by number and by name", () => {
    expect(decoded("&amp;&lt;&gt;&quot;&apos; &copy;&szlig;&yuml; &Alpha;&Sigma;&omega; &hellip;&euro; &#8364;&#x20ac;&#128512;")).toBe(
      "&<>\"' ©ßÿ ΑΣω …€ €€😀",
    );
  });

  test("that are none stay as they are", () => {
    expect(decoded("a & b &bogus; &#; &#x; &amp")).toBe("a & b &bogus; &#; &#x; &amp");
  });

  test("that name no character become the mark for that, and Windows numbers what was meant", () => {
    expect(decoded("&#0;&#xD800;&#1114112;&#150;")).toBe("\ufffd\ufffd\ufffd–");
  });
});
