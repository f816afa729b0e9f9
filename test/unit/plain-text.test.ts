// The plain text part that is made from the HTML part.
import { expect, test } from "vitest";
import { htmlToText } from "../../shared/email/plain-text.ts";

test.each([
  ["cells", "<table><tr><td>Shoes</td><td>1</td><td>20 EUR</td></tr></table>", "Shoes 1 20 EUR"],
  ["rows", "<table><tr><th>A<td>B<tr><td>C</td><td>D</td></tr></table>", "A B\nC D"],
  [
    "tables for layout",
    "<table><tr><td><table><tr><td><p>One</p><p>Two</p></td></tr></table></td></tr></table>Three",
    "One\n\nTwo\n\nThree",
  ],
  ["a hidden element", "<p style='color:red;display:none'>Hidden</p>Shown", "Shown"],
  ["another hidden element", '<div style="DISPLAY: None">Hidden</div>Shown', "Shown"],
  ["a hidden cell", "<table><tr><td hidden>Hidden</td><td>Shown</td></tr></table>", "Shown"],
  ["a picture", '<img src="https://a.example/i.png" alt="Our shop"> is open', "Our shop is open"],
  ["a picture without text", '<img src="https://a.example/i.png" alt="">Open', "Open"],
  [
    "a linked picture",
    "<a href='https://a.example/x'><img src='i.png' alt='Shop now'></a>",
    "Shop now [https://a.example/x]",
  ],
  [
    "a linked picture without text",
    "<a href='https://a.example/x'><img></a>",
    "https://a.example/x",
  ],
  ["its own address", '<a href="https://a.example/">https://a.example</a>', "https://a.example"],
  ["a mail address", '<a href="mailto:a@b.example">a@b.example</a>', "a@b.example"],
  [
    "another address",
    '<a href="https://a.example/">a.example</a>',
    "a.example [https://a.example/]",
  ],
  [
    "spaces in an address",
    '<a href=" https://a.example/a b?c=d e\n">Go</a>',
    "Go [https://a.example/a%20b?c=d%20e]",
  ],
])("the text of %s", (_, html, text) => expect(htmlToText(html)).toBe(text));
