import { expect, test } from "vitest";
import { SingleMessage } from "../../shared/domain/sending/message.ts";
import { asOneLine } from "../../shared/email.ts";

const mail = { to: "ann@example.com", fromEmail: "hi@shop.example", subject: "Hi", html: "<p>Hi</p>" };

test("a subject keeps what can be read and loses what could break out of its line", () => {
  const broken = ["a", "\r\n", "b", "\u0000", "c", "\u001b", "d", "\u2028", "e\u00fc\u{1F600}"].join("");
  expect(asOneLine(broken)).toBe("a b c d e\u00fc\u{1F600}");
});

test.each(["X-Send-Id", "x-smtpapi", "X-Mailgun-Variables", "X-PM-Message-Stream", "X-SES-Configuration-Set", "Bcc"])(
  "%s is no header for callers",
  (name) => {
    expect(SingleMessage.safeParse({ ...mail, headers: { [name]: "1" } }).success).toBe(false);
  },
);

test.each(["X-Entity-Ref-ID", "List-Id", "In-Reply-To"])("%s is", (name) => {
  expect(SingleMessage.safeParse({ ...mail, headers: { [name]: "1" } }).success).toBe(true);
});
