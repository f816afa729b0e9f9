// The provider sandbox is as strict as the providers: it refuses what they document as refused,
// with their error messages.
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  authHeaders,
  brevoBody,
  callProvider,
  mailgunForm,
  mailgunPath,
  mailjetBody,
  mandrillBody,
  openSandboxAccount,
  postmarkBody,
  recipientAddress,
  repeat,
  resendBody,
  sandbox,
  senderAddress,
  sendgridBody,
  smtp2goBody,
  sparkpostBody,
} from "../support/sandbox-requests.ts";

const notSupported = "not supported by the Pennymail sandbox";

beforeAll(openSandboxAccount);
afterAll(() => sandbox.stop());

it.each<[string, string, string, () => unknown, number, string]>([
  [
    "sendgrid",
    "1,001 personalizations",
    "/v3/mail/send",
    () =>
      sendgridBody({
        personalizations: repeat(1001, (n) => ({ to: [{ email: recipientAddress(n) }] })),
      }),
    400,
    "personalizations",
  ],
  [
    "sendgrid",
    "a number in custom_args",
    "/v3/mail/send",
    () => sendgridBody({ custom_args: { sendId: 1 } }),
    400,
    "custom_args.sendId",
  ],
  [
    "sendgrid",
    "an empty content part",
    "/v3/mail/send",
    () => sendgridBody({ content: [{ type: "text/plain", value: "" }] }),
    400,
    "content.0.value",
  ],
  [
    "sendgrid",
    "html before text",
    "/v3/mail/send",
    () =>
      sendgridBody({
        content: [
          { type: "text/html", value: "x" },
          { type: "text/plain", value: "x" },
        ],
      }),
    400,
    "text/plain, then text/html",
  ],
  [
    "sendgrid",
    "a header of its own",
    "/v3/mail/send",
    () => sendgridBody({ headers: { "Reply-To": "a@b.example" } }),
    400,
    "Reply-To",
  ],
  [
    "sendgrid",
    "one bad address of many",
    "/v3/mail/send",
    () =>
      sendgridBody({
        personalizations: [{ to: [{ email: recipientAddress() }] }, { to: [{ email: "nobody" }] }],
      }),
    400,
    "personalizations.1.to.0.email",
  ],
  ["sendgrid", "another path", "/v3/mail/sent", () => sendgridBody(), 404, "not found"],
  [
    "sendgrid",
    "a stored template",
    "/v3/mail/send",
    () => sendgridBody({ template_id: "d-1" }),
    400,
    notSupported,
  ],
  [
    "postmark",
    "a stored template",
    "/email/withTemplate",
    () => postmarkBody({ TemplateId: 7 }),
    422,
    "1101",
  ],
  ["mailgun", "a MIME message", `${mailgunPath}.mime`, () => mailgunForm(), 404, notSupported],
  [
    "mailgun",
    "a stored template",
    mailgunPath,
    () => mailgunForm({ template: ["welcome"] }),
    400,
    notSupported,
  ],
  [
    "sparkpost",
    "an RFC 822 message",
    "/api/v1/transmissions",
    () => sparkpostBody({ email_rfc822: "x" }),
    422,
    "email_rfc822",
  ],
  [
    "brevo",
    "a stored template",
    "/v3/smtp/email",
    () => brevoBody({ templateId: 7 }),
    400,
    notSupported,
  ],
  [
    "mailjet",
    "a stored template",
    "/v3.1/send",
    () => ({ Messages: [mailjetBody({ TemplateID: 7 })] }),
    400,
    notSupported,
  ],
  [
    "mandrill",
    "a raw message",
    "/api/1.0/messages/send-raw",
    () => mandrillBody(),
    500,
    "Unknown_Method",
  ],
  [
    "mandrill",
    "an address for copies of all",
    "/api/1.0/messages/send",
    () => mandrillBody({ bcc_address: recipientAddress() }),
    500,
    notSupported,
  ],
  [
    "resend",
    "a stored template",
    "/emails",
    () => resendBody({ template: { id: "welcome" } }),
    422,
    notSupported,
  ],
  [
    "resend",
    "a schedule in a batch",
    "/emails/batch",
    () => [resendBody({ scheduled_at: "in 5 minutes" })],
    422,
    "scheduled_at",
  ],
  ["smtp2go", "a MIME message", "/v3/email/mime", () => smtp2goBody(), 404, notSupported],
  ["postmark", "501 messages", "/email/batch", () => repeat(501, () => postmarkBody()), 422, "410"],
  [
    "postmark",
    "a Reply-To among the headers",
    "/email",
    () => postmarkBody({ Headers: [{ Name: "Reply-To", Value: senderAddress }] }),
    422,
    "Header 'Reply-To' not allowed.",
  ],
  [
    "postmark",
    "metadata that is too long",
    "/email",
    () => postmarkBody({ Metadata: { sendId: "1".repeat(81) } }),
    422,
    "metadata",
  ],
  [
    "postmark",
    "a program attached",
    "/email",
    () => postmarkBody({ Attachments: [{ Name: "a.exe", Content: "aGk=", ContentType: "x/y" }] }),
    422,
    "411",
  ],
  [
    "postmark",
    "an unknown stream",
    "/email",
    () => postmarkBody({ MessageStream: "other" }),
    422,
    "1235",
  ],
  [
    "mailgun",
    "1,001 recipients",
    mailgunPath,
    () => mailgunForm({ to: repeat(1001, recipientAddress) }),
    400,
    "Too many recipients",
  ],
  [
    "mailgun",
    "another domain",
    "/v3/other.example/messages",
    () => mailgunForm(),
    404,
    "Domain not found",
  ],
  [
    "mailgun",
    "no address at all",
    mailgunPath,
    () => mailgunForm({ to: ["nobody"] }),
    400,
    "to parameter is not a valid address",
  ],
  [
    "mailgun",
    "a line break in a header",
    mailgunPath,
    () => mailgunForm({ "h:X-A": ["a\r\nBcc: b@c.example"] }),
    400,
    "line break",
  ],
  [
    "sparkpost",
    "a campaign of 65 bytes",
    "/api/v1/transmissions",
    () => sparkpostBody({}, { campaign_id: "x".repeat(65) }),
    422,
    "campaign_id",
  ],
  [
    "sparkpost",
    "no valid recipient",
    "/api/v1/transmissions",
    () => sparkpostBody({}, { recipients: [{ address: { email: "nobody" } }] }),
    400,
    "5002",
  ],
  [
    "brevo",
    "a text without html",
    "/v3/smtp/email",
    () => brevoBody({ htmlContent: undefined, textContent: "x" }),
    400,
    "missing_parameter",
  ],
  [
    "brevo",
    "1,001 versions",
    "/v3/smtp/email",
    () =>
      brevoBody({
        messageVersions: repeat(1001, (n) => ({ to: [{ email: recipientAddress(n) }] })),
      }),
    400,
    "messageVersions",
  ],
  [
    "brevo",
    "an attachment of unknown type",
    "/v3/smtp/email",
    () => brevoBody({ attachment: [{ name: "a.exe", content: "aGk=" }] }),
    400,
    "a.exe",
  ],
  [
    "brevo",
    "a header that is not ASCII",
    "/v3/smtp/email",
    () => brevoBody({ headers: { "X-A": "é" } }),
    400,
    "ASCII",
  ],
  [
    "mailjet",
    "51 messages",
    "/v3.1/send",
    () => ({ Messages: repeat(51, () => mailjetBody()) }),
    400,
    "Messages",
  ],
  [
    "mailjet",
    "an unknown property",
    "/v3.1/send",
    () => ({ Messages: [mailjetBody({ HtmlPart: "x" })] }),
    400,
    "HtmlPart",
  ],
  [
    "mailjet",
    "a Reply-To among the headers",
    "/v3.1/send",
    () => ({ Messages: [mailjetBody({ Headers: { "Reply-To": senderAddress } })] }),
    400,
    "send-0011",
  ],
  [
    "mailjet",
    "a subject of 256",
    "/v3.1/send",
    () => ({ Messages: [mailjetBody({ Subject: "x".repeat(256) })] }),
    400,
    "Subject",
  ],
  [
    "mandrill",
    "a tag that begins with _",
    "/api/1.0/messages/send",
    () => mandrillBody({ tags: ["_x"] }),
    500,
    "ValidationError",
  ],
  ["resend", "101 emails", "/emails/batch", () => repeat(101, () => resendBody()), 422, "100"],
  [
    "resend",
    "attachments in a batch",
    "/emails/batch",
    () => [resendBody({ attachments: [{ filename: "a", content: "aGk=" }] })],
    422,
    "attachments",
  ],
  [
    "resend",
    "a tag with a space",
    "/emails",
    () => resendBody({ tags: [{ name: "a", value: "b c" }] }),
    422,
    "Tags",
  ],
  [
    "resend",
    "no subject",
    "/emails",
    () => resendBody({ subject: undefined }),
    422,
    "missing_required_field",
  ],
  [
    "smtp2go",
    "101 recipients",
    "/v3/email/send",
    () => smtp2goBody({ to: repeat(101, recipientAddress) }),
    400,
    "NON_VALIDATING_IN_PAYLOAD",
  ],
  [
    "smtp2go",
    "a MIME header",
    "/v3/email/send",
    () => smtp2goBody({ custom_headers: [{ header: "Content-Type", value: "x" }] }),
    400,
    "Content-Type",
  ],
])("%s refuses %s", async (provider, _, path, body, status, words) => {
  const answer = await callProvider(provider, path, { body: body() });
  expect(answer).toMatchObject({ status });
  expect(answer.text).toContain(words);
});

it.each(["sendgrid", "postmark", "sparkpost", "brevo", "mailjet", "mandrill", "resend", "smtp2go"])(
  "%s responds to broken JSON with the provider's own error",
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
    const { status, text } = await callProvider(provider, paths[provider]!, {
      body: "{broken",
    });
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
])("%s accepts a valid key at %s and refuses another", async (provider, path, words) => {
  expect(await callProvider(provider, path)).toMatchObject({
    status: 200,
    text: expect.stringContaining(words),
  });
  const headers = Object.fromEntries(
    Object.keys(authHeaders[provider]!()).map((name) => [name, "wrong"]),
  );
  expect((await callProvider(provider, path, { headers })).status).toBeGreaterThan(400);
});
