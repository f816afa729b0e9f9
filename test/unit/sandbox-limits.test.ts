// The provider sandbox is as strict as the providers are: what they document as refused, it refuses in their words.
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  ask,
  brevo,
  from,
  heads,
  mailgun,
  mailgunPath,
  mailjet,
  mandrill,
  many,
  open,
  postmark,
  resend,
  sandbox,
  sendgrid,
  smtp2go,
  sparkpost,
  to,
} from "../support/requests.ts";

beforeAll(open);
afterAll(() => sandbox.stop());

it.each<[string, string, string, () => unknown, number, string]>([
  [
    "sendgrid",
    "1,001 personalizations",
    "/v3/mail/send",
    () => sendgrid({ personalizations: many(1001, (n) => ({ to: [{ email: to(n) }] })) }),
    400,
    "personalizations",
  ],
  ["sendgrid", "a number in custom_args", "/v3/mail/send", () => sendgrid({ custom_args: { sendId: 1 } }), 400, "custom_args.sendId"],
  [
    "sendgrid",
    "an empty content part",
    "/v3/mail/send",
    () => sendgrid({ content: [{ type: "text/plain", value: "" }] }),
    400,
    "content.0.value",
  ],
  [
    "sendgrid",
    "html before text",
    "/v3/mail/send",
    () =>
      sendgrid({
        content: [
          { type: "text/html", value: "x" },
          { type: "text/plain", value: "x" },
        ],
      }),
    400,
    "text/plain, then text/html",
  ],
  ["sendgrid", "a header of its own", "/v3/mail/send", () => sendgrid({ headers: { "Reply-To": "a@b.example" } }), 400, "Reply-To"],
  [
    "sendgrid",
    "one bad address of many",
    "/v3/mail/send",
    () => sendgrid({ personalizations: [{ to: [{ email: to() }] }, { to: [{ email: "nobody" }] }] }),
    400,
    "personalizations.1.to.0.email",
  ],
  ["sendgrid", "another path", "/v3/mail/sent", () => sendgrid(), 404, "not found"],
  ["postmark", "501 messages", "/email/batch", () => many(501, () => postmark()), 422, "410"],
  [
    "postmark",
    "a Reply-To among the headers",
    "/email",
    () => postmark({ Headers: [{ Name: "Reply-To", Value: from }] }),
    422,
    "Header 'Reply-To' not allowed.",
  ],
  ["postmark", "metadata that is too long", "/email", () => postmark({ Metadata: { sendId: "1".repeat(81) } }), 422, "metadata"],
  [
    "postmark",
    "a program attached",
    "/email",
    () => postmark({ Attachments: [{ Name: "a.exe", Content: "aGk=", ContentType: "x/y" }] }),
    422,
    "411",
  ],
  ["postmark", "an unknown stream", "/email", () => postmark({ MessageStream: "other" }), 422, "1235"],
  ["mailgun", "1,001 recipients", mailgunPath, () => mailgun({ to: many(1001, to) }), 400, "Too many recipients"],
  ["mailgun", "another domain", "/v3/other.example/messages", () => mailgun(), 404, "Domain not found"],
  ["mailgun", "no address at all", mailgunPath, () => mailgun({ to: ["nobody"] }), 400, "to parameter is not a valid address"],
  ["mailgun", "a line break in a header", mailgunPath, () => mailgun({ "h:X-A": ["a\r\nBcc: b@c.example"] }), 400, "line break"],
  [
    "sparkpost",
    "a campaign of 65 bytes",
    "/api/v1/transmissions",
    () => sparkpost({}, { campaign_id: "x".repeat(65) }),
    422,
    "campaign_id",
  ],
  [
    "sparkpost",
    "no valid recipient",
    "/api/v1/transmissions",
    () => sparkpost({}, { recipients: [{ address: { email: "nobody" } }] }),
    400,
    "5002",
  ],
  ["brevo", "a text without html", "/v3/smtp/email", () => brevo({ htmlContent: undefined, textContent: "x" }), 400, "missing_parameter"],
  [
    "brevo",
    "1,001 versions",
    "/v3/smtp/email",
    () => brevo({ messageVersions: many(1001, (n) => ({ to: [{ email: to(n) }] })) }),
    400,
    "messageVersions",
  ],
  [
    "brevo",
    "an attachment of unknown type",
    "/v3/smtp/email",
    () => brevo({ attachment: [{ name: "a.exe", content: "aGk=" }] }),
    400,
    "a.exe",
  ],
  ["brevo", "a header that is not ASCII", "/v3/smtp/email", () => brevo({ headers: { "X-A": "é" } }), 400, "ASCII"],
  ["mailjet", "51 messages", "/v3.1/send", () => ({ Messages: many(51, () => mailjet()) }), 400, "Messages"],
  ["mailjet", "an unknown property", "/v3.1/send", () => ({ Messages: [mailjet({ HtmlPart: "x" })] }), 400, "HtmlPart"],
  [
    "mailjet",
    "a Reply-To among the headers",
    "/v3.1/send",
    () => ({ Messages: [mailjet({ Headers: { "Reply-To": from } })] }),
    400,
    "send-0011",
  ],
  ["mailjet", "a subject of 256", "/v3.1/send", () => ({ Messages: [mailjet({ Subject: "x".repeat(256) })] }), 400, "Subject"],
  ["mandrill", "a tag that begins with _", "/api/1.0/messages/send", () => mandrill({ tags: ["_x"] }), 500, "ValidationError"],
  ["resend", "101 emails", "/emails/batch", () => many(101, () => resend()), 422, "100"],
  [
    "resend",
    "attachments in a batch",
    "/emails/batch",
    () => [resend({ attachments: [{ filename: "a", content: "aGk=" }] })],
    422,
    "attachments",
  ],
  ["resend", "a tag with a space", "/emails", () => resend({ tags: [{ name: "a", value: "b c" }] }), 422, "Tags"],
  ["resend", "no subject", "/emails", () => resend({ subject: undefined }), 422, "missing_required_field"],
  ["smtp2go", "101 recipients", "/v3/email/send", () => smtp2go({ to: many(101, to) }), 400, "NON_VALIDATING_IN_PAYLOAD"],
  [
    "smtp2go",
    "a MIME header",
    "/v3/email/send",
    () => smtp2go({ custom_headers: [{ header: "Content-Type", value: "x" }] }),
    400,
    "Content-Type",
  ],
])("%s refuses %s", async (provider, _, path, body, status, words) => {
  const answer = await ask(provider, path, body());
  expect(answer).toMatchObject({ status });
  expect(answer.text).toContain(words);
});

it.each(["sendgrid", "postmark", "sparkpost", "brevo", "mailjet", "mandrill", "resend", "smtp2go"])(
  "%s answers broken JSON with an error of its own",
  async (provider) => {
    const paths: Record<string, string> = {
      sendgrid: "/v3/mail/send",
      postmark: "/email",
      sparkpost: "/api/v1/transmissions",
      brevo: "/v3/smtp/email",
      mailjet: "/v3.1/send",
      mandrill: "/api/1.0/messages/send",
      resend: "/emails",
      smtp2go: "/v3/email/send",
    };
    const { status, text } = await ask(provider, paths[provider]!, "{broken");
    expect([400, 422, 500]).toContain(status);
    expect(text).not.toContain("sandbox itself");
  },
);

it.each([
  ["sendgrid", "/v3/scopes", "mail.send"],
  ["postmark", "/server", "DeliveryType"],
  ["mailgun", "/v4/domains/mg.pennymail.test", "active"],
  ["sparkpost", "/api/v1/account", "results"],
  ["brevo", "/v3/account", "email"],
  ["mailjet", "/v3/REST/sender", "Active"],
  ["resend", "/domains", "verified"],
])("%s says at %s that a key is good, and that another is not", async (provider, path, words) => {
  expect(await ask(provider, path)).toMatchObject({ status: 200, text: expect.stringContaining(words) });
  expect(
    (await ask(provider, path, undefined, Object.fromEntries(Object.keys(heads[provider]!()).map((name) => [name, "wrong"])))).status,
  ).toBeGreaterThan(400);
});
