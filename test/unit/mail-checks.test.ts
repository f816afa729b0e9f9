import { describe, expect, test } from "vitest";
import { type CheckedMail, checkMail } from "../../shared/email/mail-checks.ts";

const mail = (fields: Partial<CheckedMail> = {}): CheckedMail => ({
  subject: "Hello Ada",
  html: "<p>Hello</p>",
  text: "Hello",
  isTextMade: false,
  missingVariables: [],
  hasUnsubscribeLink: true,
  ...fields,
});
const codes = (fields: Partial<CheckedMail>) => checkMail(mail(fields)).map(({ code }) => code);

describe("the checks of an email", () => {
  test("find nothing in a plain email with links, an anchor and images", () => {
    const html =
      '<a name="top"></a><a href="https://shop.example/?a=1&amp;b=2">Shop</a>' +
      '<a href="mailto:a@shop.example">Mail</a><a href="#top">Up</a>' +
      '<img src="https://shop.example/logo.png" alt="Shop"><img src="cid:logo" alt="">';
    expect(checkMail(mail({ html }))).toEqual([]);
  });

  test.each([
    ["link_empty", '<a href="">x</a>'],
    ["link_empty", "<a href=#>x</a>"],
    ["link_unresolved", '<a href="https://x.example/{{ id }}">x</a>'],
    ["link_unresolved", '<a href="*|ARCHIVE|*">x</a>'],
    ["link_unsafe", '<A HREF="javascript:void(0)">x</A>'],
    ["link_without_scheme", "<a href='shop.example/sale'>x</a>"],
    ["link_without_scheme", '<area href="//shop.example">'],
    ["link_without_host", '<a href="https:///sale">x</a>'],
    ["link_insecure", '<a href="http://shop.example">x</a>'],
    ["image_source_missing", '<img alt="">'],
    ["image_source_missing", '<img src="logo.png" alt="">'],
    ["image_embedded", '<img src="data:image/png;base64,AAAA" alt="">'],
    ["image_without_alt", '<img src="https://shop.example/a.png">'],
    ["html_too_large", `<p>${"x".repeat(110_000)}</p>`],
  ])("report %s", (code, html) => {
    expect(codes({ html })).toEqual([code]);
  });

  test.each([
    ["subject_empty", { subject: " " }],
    ["subject_long", { subject: "x".repeat(80) }],
    ["subject_capitals", { subject: "EVERYTHING MUST GO" }],
    ["text_empty", { text: "" }],
    ["text_made_from_html", { isTextMade: true }],
    ["html_missing", { html: null }],
    ["unsubscribe_link_in_footer", { hasUnsubscribeLink: false }],
    ["variables_missing", { missingVariables: ["firstName"] }],
    ["spam_words", { text: "Act now, it is Risk-Free" }],
  ])("report %s", (code, fields) => {
    expect(codes(fields)).toEqual([code]);
  });

  test("count all places, name up to five, and list errors first", () => {
    const html =
      '<img src="https://x.example/a.png">' +
      Array.from({ length: 7 }, (_, i) => `<a href="page-${i}">x</a>`).join("");
    expect(checkMail(mail({ html }))).toMatchObject([
      { severity: "error", count: 7, examples: ["page-0", "page-1", "page-2", "page-3", "page-4"] },
      { severity: "warning", code: "image_without_alt", count: 1 },
    ]);
  });

  test("leave out comments, also for Outlook", () => {
    expect(codes({ html: '<!--[if mso]><a href="x">y</a><![endif]--><p>Hello</p>' })).toEqual([]);
  });
});
