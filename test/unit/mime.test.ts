// The text of mails that go out over SMTP: golden files, the limits of the RFCs, and a parser that
// reads back what was written.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import PostalMime from "postal-mime";
import { describe, expect, it, test } from "vitest";
import { composeMime, type MimeMail, toTree } from "../../shared/adapters/smtp/mime.ts";
import fc from "../support/fast-check.ts";

const folder = join(import.meta.dirname, "../fixtures/mime");

const mail = (changes: Partial<MimeMail> = {}): MimeMail => ({
  from: { email: "news@shop.example", name: "The Shop" },
  to: [{ email: "ada@example.net", name: "Ada Lovelace" }],
  cc: [],
  replyTo: [],
  subject: "Your order",
  html: "<p>Thank you</p>\n",
  text: "Thank you\n",
  headers: {},
  attachments: [],
  messageId: "12.0123456789abcdef0123@shop.example",
  date: new Date("2026-11-30T09:14:27.000Z"),
  ...changes,
});

const base64 = (text: string) => Buffer.from(text).toString("base64");
const pdf = { filename: "Order 7.pdf", type: "application/pdf", content: base64("%PDF-1.7\n") };
const logo = { filename: "logo.png", type: "image/png", content: base64("PNG"), contentId: "logo" };

const unsubscribe = {
  "List-Unsubscribe": `<https://mail.shop.example/api/v1/unsubscribe?token=${"t0K3n_".repeat(60)}>`,
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
  "Feedback-ID": "campaign-7:site-1:org-1:pennymail",
};

/** By the name of the golden file. */
const examples: Record<string, MimeMail> = {
  "text-only": mail({ html: undefined }),
  "text-and-html": mail(),
  "long-lines": mail({
    html: `<p>${"A line without any break. ".repeat(80)}</p>`,
    text: `${"x".repeat(2000)}\n`,
    subject: "A subject that is much longer than the 78 characters of a line ".repeat(4).trim(),
  }),
  "names-in-other-scripts": mail({
    from: { email: "news@shop.example", name: 'Zoë\'s "Shop", Söhne & 東京 ✉' },
    to: [{ email: "ada@example.net", name: 'Ada "the 1st", Lovelace née Byron' }],
    subject: "Grüße aus 東京 & <zurück> 👩‍👩‍👧‍👦 ".repeat(5),
    text: "Grüße, 東京\n",
    html: "<p>Grüße, 東京</p>\n",
  }),
  "unicode-domains": mail({
    from: { email: "info@xn--bcher-kva.example", name: "Bücher" },
    to: [{ email: "ada@xn--wgv71a119e.jp" }],
    replyTo: [{ email: "hilfe@xn--bcher-kva.example" }],
  }),
  headers: mail({ headers: { ...unsubscribe, "X-Campaign": "Frühling, 10 % & more" } }),
  "dots-and-from": mail({ html: undefined, text: ".\n..\nFrom here\n.end\n" }),
  attachments: mail({
    attachments: [pdf, { ...pdf, filename: "Rechnung für 東京 & Söhne, Nr. 7.pdf" }],
  }),
  "text-attachment": mail({
    attachments: [
      { filename: "prices.csv", type: "text/csv", content: base64("Größe;Preis \n42;10,00\r\n") },
    ],
  }),
  "picture-in-the-html": mail({ html: '<img src="cid:logo">', attachments: [pdf, logo] }),
  copies: mail({
    to: [{ email: "ada@example.net" }, { email: "ben@example.net", name: "Ben" }],
    cc: [{ email: "eve@example.net", name: "Eve" }],
    replyTo: [{ email: "help@shop.example" }, { email: "desk@shop.example" }],
  }),
};

describe.each(Object.entries(examples))("%s", (name, example) => {
  test("is as in its golden file", () => {
    const file = join(folder, `${name}.eml`);
    const composed = composeMime(example);
    if (process.env.WRITE_FIXTURE) writeFileSync(file, composed);
    expect(composed.toString()).toBe(readFileSync(file, "utf8"));
  });

  test("has the bytes that nodemailer writes itself", async () => {
    expect(composeMime(example).toString()).toBe((await toTree(example).build()).toString());
  });

  test("keeps the limits of the RFCs", () => {
    expectWellFormed(composeMime(example));
  });
});

/** RFC 5322, 2.1.1 and 2.3: ASCII, CRLF, lines of at most 998 characters. */
function expectWellFormed(composed: Buffer): void {
  const text = composed.toString("latin1");
  expect(composed.every((byte) => byte > 0 && byte < 128)).toBe(true);
  expect(text.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  expect(Math.max(...text.split("\r\n").map(({ length }) => length))).toBeLessThanOrEqual(998);
  // RFC 2047, 2: an encoded word, and a line with one.
  const [head = ""] = text.split("\r\n\r\n");
  for (const [word] of head.matchAll(/=\?[^?]+\?[BQ]\?[^?]*\?=/gi))
    expect(word.length).toBeLessThanOrEqual(75);
}

const line = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 120 })
  .map((text) => text.replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, "").trim())
  .filter((text) => /\S/.test(text));

it("is read back by another parser, whatever its texts are", async () => {
  await fc.assert(
    fc.asyncProperty(line, line, line, line, async (name, subject, text, filename) => {
      const sent = mail({
        to: [{ email: "ada@example.net", name }],
        subject,
        text: `${text}\n`,
        html: `<p>${text}</p>\n`,
        attachments: [{ ...pdf, filename }],
      });
      const composed = composeMime(sent);
      expectWellFormed(composed);
      expect(composed.toString()).toBe((await toTree(sent).build()).toString());
      const read = await PostalMime.parse(composed);
      expect(read.subject).toBe(subject);
      expect(read.text?.trimEnd()).toBe(text);
      expect(read.html?.trimEnd()).toBe(`<p>${text}</p>`);
      expect(read.to?.map(({ address }) => address)).toEqual(["ada@example.net"]);
      expect(read.messageId).toBe(`<${sent.messageId}>`);
      expect(Buffer.from(read.attachments[0]!.content as Uint8Array).toString()).toBe("%PDF-1.7\n");
    }),
  );
});
