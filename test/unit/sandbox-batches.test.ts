// Batches at the provider sandbox: partial and complete refusals of each provider, and templates
// and signatures of SES.
import { afterAll, beforeAll, expect, it } from "vitest";
import { signRequest } from "../../shared/providers/ses.ts";
import { listMailTo } from "../support/provider-sandbox.ts";
import {
  brevoBody,
  callProvider,
  mailgunForm,
  mailgunPath,
  mailjetBody,
  openSandboxAccount,
  postmarkBody,
  providerKeys,
  resendBody,
  sandbox,
  senderAddress,
  sendgridBody,
} from "../support/sandbox-requests.ts";

beforeAll(openSandboxAccount);
afterAll(() => sandbox.stop());

it("refuses only the bad mails of a batch at Postmark, Mailjet and permissive Resend", async () => {
  const bad = "rejected@simulator.pennymail.test";
  const [inPostmark, inMailjet, inResend] = [
    await callProvider("postmark", "/email/batch", {
      body: [postmarkBody({ To: bad }), postmarkBody({ To: "p@example.net" })],
    }),
    await callProvider("mailjet", "/v3.1/send", {
      body: {
        Messages: [
          mailjetBody({ To: [{ Email: bad }] }),
          mailjetBody({ To: [{ Email: "m@example.net" }] }),
        ],
      },
    }),
    await callProvider("resend", "/emails/batch", {
      body: [resendBody({ to: [bad] }), resendBody({ to: ["r@example.net"] })],
      headers: { "x-batch-validation": "permissive" },
    }),
  ].map(({ status, text }) => ({ status, body: JSON.parse(text) }));
  expect(inPostmark).toMatchObject({ status: 200, body: [{ ErrorCode: 406 }, { ErrorCode: 0 }] });
  expect(inMailjet).toMatchObject({
    status: 400,
    body: { Messages: [{ Status: "error" }, { Status: "success" }] },
  });
  expect(inResend).toMatchObject({ status: 200, body: { data: [{}], errors: [{ index: 0 }] } });
  for (const email of ["p@example.net", "m@example.net", "r@example.net"])
    expect(await listMailTo(sandbox, email)).toHaveLength(1);
  expect(await listMailTo(sandbox, bad)).toEqual([]);
});

it("Brevo sends the common copies of a batch with each version that has no copies of its own", async () => {
  const [common, own] = ["common@example.net", "own@example.net"];
  const messageVersions = [
    { to: [{ email: "v1@example.net" }] },
    { to: [{ email: "v2@example.net" }], cc: [{ email: own }] },
  ];
  expect(
    await callProvider("brevo", "/v3/smtp/email", {
      body: brevoBody({ cc: [{ email: common }], messageVersions }),
    }),
  ).toMatchObject({
    status: 201,
  });
  expect(await listMailTo(sandbox, common)).toMatchObject([
    { copy: "cc", copyOf: { email: "v1@example.net" } },
  ]);
  expect(await listMailTo(sandbox, own)).toMatchObject([
    { copy: "cc", copyOf: { email: "v2@example.net" } },
  ]);
});

it("refuses a whole batch for one bad address at SendGrid, Mailgun, Brevo and strict Resend", async () => {
  const [bad, good] = ["rejected@simulator.pennymail.test", "whole@example.net"];
  const answers = [
    await callProvider("sendgrid", "/v3/mail/send", {
      body: sendgridBody({
        personalizations: [{ to: [{ email: good }] }, { to: [{ email: bad }] }],
      }),
    }),
    await callProvider("mailgun", mailgunPath, { body: mailgunForm({ to: [good, bad] }) }),
    await callProvider("brevo", "/v3/smtp/email", {
      body: brevoBody({ messageVersions: [{ to: [{ email: good }] }, { to: [{ email: bad }] }] }),
    }),
    await callProvider("resend", "/emails/batch", {
      body: [resendBody({ to: [good] }), resendBody({ to: [bad] })],
    }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 422]);
  expect(await listMailTo(sandbox, good)).toEqual([]);
});

it("SES sends bulk templates with values, tags and headers per entry, and refuses single entries", async () => {
  const body = JSON.stringify({
    FromEmailAddress: senderAddress,
    ConfigurationSetName: "pennymail-events",
    DefaultContent: {
      Template: {
        TemplateContent: { Subject: "Hi {{n}}", Html: "<p>{{n}}</p>" },
        TemplateData: '{"n":"friend"}',
      },
    },
    BulkEmailEntries: [
      "bulk1@example.net",
      "rejected@simulator.pennymail.test",
      "bulk2@example.net",
    ].map((email, n) => ({
      Destination: { ToAddresses: [email] },
      ReplacementTags: [{ Name: "sendId", Value: String(n) }],
      ReplacementHeaders: [{ Name: "X-N", Value: String(n) }],
      ...(n < 2 && {
        ReplacementEmailContent: {
          ReplacementTemplate: { ReplacementTemplateData: '{"n":"<Ada>"}' },
        },
      }),
    })),
  });
  const { accessKeyId, secretAccessKey } = providerKeys.ses!.credentials as Record<string, string>;
  const headers = await signRequest(
    "https://email.us-east-1.amazonaws.com/v2/email/outbound-bulk-emails",
    body,
    {
      keys: { accessKeyId: accessKeyId!, secretAccessKey: secretAccessKey!, region: "us-east-1" },
      at: new Date(),
    },
  );
  const response = await fetch(`${sandbox.originByProvider.ses}/v2/email/outbound-bulk-emails`, {
    method: "POST",
    headers,
    body,
  });
  expect(await response.json()).toMatchObject({
    BulkEmailEntryResults: [
      { Status: "SUCCESS" },
      { Status: "MESSAGE_REJECTED" },
      { Status: "SUCCESS" },
    ],
  });
  expect((await listMailTo(sandbox, "bulk1@example.net"))[0]).toMatchObject({
    subject: "Hi <Ada>",
    html: "<p><Ada></p>",
    headers: { "X-N": "0" },
    metadata: { sendId: ["0"] },
  });
  expect((await listMailTo(sandbox, "bulk2@example.net"))[0]).toMatchObject({
    subject: "Hi friend",
  });
});

it("SES refuses a body that its signature does not cover", async () => {
  const { accessKeyId, secretAccessKey } = providerKeys.ses!.credentials as Record<string, string>;
  const url = "https://email.us-east-1.amazonaws.com/v2/email/outbound-emails";
  const headers = await signRequest(url, '{"a":1}', {
    keys: { accessKeyId: accessKeyId!, secretAccessKey: secretAccessKey!, region: "us-east-1" },
    at: new Date(),
  });
  const response = await fetch(`${sandbox.originByProvider.ses}/v2/email/outbound-emails`, {
    method: "POST",
    headers,
    body: '{"a":2}',
  });
  expect([response.status, response.headers.get("x-amzn-errortype")]).toEqual([
    403,
    "SignatureDoesNotMatch",
  ]);
});
