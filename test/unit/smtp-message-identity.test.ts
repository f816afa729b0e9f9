// Whether a message that comes by SMTP is one that came before.
import { expect, test } from "vitest";
import { digestOfMessage, readMessageId } from "../../infra/local/smtp/message-identity.ts";

const boundary = "----=_NextPart_000_01DC";
const compose = ({ date = "Tue, 01 Dec 2026 09:00:00 +0000", mark = boundary, text = "Hello" }) =>
  Buffer.from(
    [
      `Date: ${date}`,
      "Message-ID: <1843@shop.example>",
      `Content-Type: multipart/alternative;\r\n boundary="${mark}"`,
      "",
      `--${mark}`,
      "",
      text,
      `--${mark}--`,
      "",
    ].join("\r\n"),
  );

test("a message that is composed again is equal, and another text is not", () => {
  const digest = digestOfMessage(compose({}));
  const again = compose({ date: "Wed, 02 Dec 2026 09:00:00 +0000", mark: "_NmP-4f1c3a-Part_1" });
  expect(digestOfMessage(again)).toBe(digest);
  expect(digestOfMessage(compose({ text: "Hallo" }))).not.toBe(digest);
  expect(readMessageId(again)).toBe("<1843@shop.example>");
});

test("a boundary that is a word of the text changes nothing", () => {
  const texts = ["banana", "bnn"];
  const digests = texts.map((text) => digestOfMessage(compose({ mark: "a", text })));
  expect(new Set(digests).size).toBe(2);
});

test("a message with many short boundaries does not grow", () => {
  const boundaries = [..."part 0123456789"].map((mark) => `boundary="${mark}"`).join("\r\n");
  const message = Buffer.from(`Subject: Hi\r\n\r\n${boundaries}\r\n${"part 0".repeat(100_000)}`);
  expect(digestOfMessage(message)).toMatch(/^[0-9a-f]{64}$/);
});
