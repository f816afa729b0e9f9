import { expect, test } from "vitest";
import { getOpenApiDocument } from "../../functions/openapi-document.ts";
import { SingleMessage } from "../../shared/domain/sending/accept/single-message.ts";
import { EmailAddress, toSingleLine } from "../../shared/kernel/email-fields.ts";

const mail = {
  to: "ann@example.com",
  fromEmail: "hi@shop.example",
  subject: "Hi",
  html: "<p>Hi</p>",
};

test("a subject loses line breaks and control characters, and keeps all other text", () => {
  const broken = [
    "a",
    "\r\n",
    "b",
    "\u0000",
    "c",
    "\u001b",
    "d",
    "\u2028",
    "e\u00fc\u{1F600}",
  ].join("");
  expect(toSingleLine(broken)).toBe("a b c d e\u00fc\u{1F600}");
});

test.each([
  "X-Send-Id",
  "x-smtpapi",
  "X-Mailgun-Variables",
  "X-PM-Message-Stream",
  "X-SES-Configuration-Set",
  "Bcc",
])("the header %s is refused", (name) => {
  expect(SingleMessage.safeParse({ ...mail, headers: { [name]: "1" } }).success).toBe(false);
});

test.each(["X-Entity-Ref-ID", "List-Id", "In-Reply-To"])("the header %s is accepted", (name) => {
  expect(SingleMessage.safeParse({ ...mail, headers: { [name]: "1" } }).success).toBe(true);
});

test("the OpenAPI document lists the special characters that are refused in addresses", async () => {
  const { description } = (await getOpenApiDocument()).info;
  for (const mark of "!#%{|}") {
    expect(EmailAddress.safeParse(`a${mark}b@example.com`).success, mark).toBe(false);
    expect(description).toContain(` ${mark}`.replace(" !", "`!"));
  }
  for (const address of ["a`b@example.com", '"a b"@example.com', "a@[192.0.2.1]"])
    expect(EmailAddress.safeParse(address).success, address).toBe(false);
  for (const address of [
    "a.b-c_d+e'f@example.com",
    "'a@example.com",
    "a'@example.com",
    "a&b=c/d@example.com",
    "a@bücher.example",
    "a-@xn--bcher-kva.example",
    `${"a".repeat(64)}@example.com`,
  ])
    expect(EmailAddress.safeParse(address).success, address).toBe(true);
});
