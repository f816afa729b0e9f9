// Batches at the provider sandbox: refused in part or whole as each provider does, and SES with its templates and signatures.
import { afterAll, beforeAll, expect, it } from "vitest";
import { signed } from "../../shared/providers/ses.ts";
import { ask, brevo, from, keys, mailgun, mailgunPath, mailjet, open, postmark, resend, sandbox, sendgrid } from "../support/requests.ts";
import { mailTo } from "../support/sandbox.ts";

beforeAll(open);
afterAll(() => sandbox.stop());

it("refuses only the bad ones of a batch where the provider does", async () => {
  const bad = "rejected@simulator.pennymail.test";
  const [inPostmark, inMailjet, inResend] = [
    await ask("postmark", "/email/batch", [postmark({ To: bad }), postmark({ To: "p@example.net" })]),
    await ask("mailjet", "/v3.1/send", { Messages: [mailjet({ To: [{ Email: bad }] }), mailjet({ To: [{ Email: "m@example.net" }] })] }),
    await ask("resend", "/emails/batch", [resend({ to: [bad] }), resend({ to: ["r@example.net"] })], {
      "x-batch-validation": "permissive",
    }),
  ].map(({ status, text }) => ({ status, body: JSON.parse(text) }));
  expect(inPostmark).toMatchObject({ status: 200, body: [{ ErrorCode: 406 }, { ErrorCode: 0 }] });
  expect(inMailjet).toMatchObject({ status: 400, body: { Messages: [{ Status: "error" }, { Status: "success" }] } });
  expect(inResend).toMatchObject({ status: 200, body: { data: [{}], errors: [{ index: 0 }] } });
  for (const email of ["p@example.net", "m@example.net", "r@example.net"]) expect(await mailTo(sandbox, email)).toHaveLength(1);
  expect(await mailTo(sandbox, bad)).toEqual([]);
});

it("refuses all of a batch for one bad address where the provider does", async () => {
  const [bad, good] = ["rejected@simulator.pennymail.test", "whole@example.net"];
  const answers = [
    await ask("sendgrid", "/v3/mail/send", sendgrid({ personalizations: [{ to: [{ email: good }] }, { to: [{ email: bad }] }] })),
    await ask("mailgun", mailgunPath, mailgun({ to: [good, bad] })),
    await ask("brevo", "/v3/smtp/email", brevo({ messageVersions: [{ to: [{ email: good }] }, { to: [{ email: bad }] }] })),
    await ask("resend", "/emails/batch", [resend({ to: [good] }), resend({ to: [bad] })]),
  ];
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 422]);
  expect(await mailTo(sandbox, good)).toEqual([]);
});

it("SES takes templates in bulk, each with its own values, tags and headers, and refuses entries apart", async () => {
  const body = JSON.stringify({
    FromEmailAddress: from,
    ConfigurationSetName: "pennymail-events",
    DefaultContent: { Template: { TemplateContent: { Subject: "Hi {{n}}", Html: "<p>{{n}}</p>" }, TemplateData: '{"n":"friend"}' } },
    BulkEmailEntries: ["bulk1@example.net", "rejected@simulator.pennymail.test", "bulk2@example.net"].map((email, n) => ({
      Destination: { ToAddresses: [email] },
      ReplacementTags: [{ Name: "sendId", Value: String(n) }],
      ReplacementHeaders: [{ Name: "X-N", Value: String(n) }],
      ...(n < 2 && { ReplacementEmailContent: { ReplacementTemplate: { ReplacementTemplateData: '{"n":"<Ada>"}' } } }),
    })),
  });
  const { accessKeyId, secretAccessKey } = keys.ses!.credentials as Record<string, string>;
  const headers = await signed(
    "https://email.us-east-1.amazonaws.com/v2/email/outbound-bulk-emails",
    body,
    { accessKeyId: accessKeyId!, secretAccessKey: secretAccessKey!, region: "us-east-1" },
    new Date(),
  );
  const response = await fetch(`${sandbox.urls.ses}/v2/email/outbound-bulk-emails`, { method: "POST", headers, body });
  expect(await response.json()).toMatchObject({
    BulkEmailEntryResults: [{ Status: "SUCCESS" }, { Status: "MESSAGE_REJECTED" }, { Status: "SUCCESS" }],
  });
  expect((await mailTo(sandbox, "bulk1@example.net"))[0]).toMatchObject({
    subject: "Hi <Ada>",
    html: "<p><Ada></p>",
    headers: { "X-N": "0" },
    metadata: { sendId: ["0"] },
  });
  expect((await mailTo(sandbox, "bulk2@example.net"))[0]).toMatchObject({ subject: "Hi friend" });
});

it("SES refuses a changed body: the signature covers it", async () => {
  const { accessKeyId, secretAccessKey } = keys.ses!.credentials as Record<string, string>;
  const url = "https://email.us-east-1.amazonaws.com/v2/email/outbound-emails";
  const headers = await signed(
    url,
    '{"a":1}',
    { accessKeyId: accessKeyId!, secretAccessKey: secretAccessKey!, region: "us-east-1" },
    new Date(),
  );
  const response = await fetch(`${sandbox.urls.ses}/v2/email/outbound-emails`, { method: "POST", headers, body: '{"a":2}' });
  expect([response.status, response.headers.get("x-amzn-errortype")]).toEqual([403, "SignatureDoesNotMatch"]);
});
