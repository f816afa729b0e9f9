// The APIs of Resend, Postmark and SendGrid, with the requests of libraries for other languages, as
// their source writes them: Laravel, Rails, Go, and Anymail for Django.
import { beforeEach, expect, inject, test } from "vitest";
import {
  createSendingClient,
  downloadBytes,
  findOnlyMail,
  fromEmail,
  type SendingClient,
  uniqueAddresses,
} from "../support/sending-client.ts";

const from = `Shop <${fromEmail}>`;

let client: SendingClient;
beforeEach(async () => {
  client = await createSendingClient();
});

const one = () => uniqueAddresses(1)[0]!;

async function post(path: string, body: object): Promise<{ status: number; text: string }> {
  const response = await fetch(
    `${inject("baseUrl").replace(/\/api\/v1$/, "")}/api/v1/compat${path}`,
    {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${client.apiKey}`,
        "x-postmark-server-token": client.apiKey,
      },
      body: JSON.stringify(body),
    },
  );
  return { status: response.status, text: await response.text() };
}

async function accepted(path: string, body: object): Promise<string> {
  const { status, text } = await post(path, body);
  expect([200, 202], text).toContain(status);
  return text;
}

const composerHeaders = {
  Date: "Tue, 01 Dec 2026 09:00:00 +0000",
  "Message-ID": "<64f1.3a@web.mail>",
  "Mime-Version": "1.0",
  "Content-Transfer-Encoding": "7bit",
};

test("Laravel writes empty lists to Resend for what a mail does not have", async () => {
  const to = one();
  await accepted("/resend/emails", {
    ...{ bcc: [], cc: [], from, headers: [], html: "<p>Hello</p>", reply_to: [] },
    ...{ subject: "Hello", text: null, to: [to], attachments: [] },
  });
  expect((await findOnlyMail(to)).subject).toBe("Hello");
  const nobody = { from, to: [], subject: "Hello", text: "Hello" };
  expect((await post("/resend/emails", nobody)).status).toBe(422);
});

test("Rails writes its own headers and bytes to Resend", async () => {
  const to = one();
  await accepted("/resend/emails", {
    ...{ from, to: [to], subject: "Bill", html: "<p>Bill</p>" },
    headers: { ...composerHeaders, "X-Order": "1843" },
    attachments: [{ filename: "bill.txt", content: [...Buffer.from("three €")] }],
  });
  const mail = await findOnlyMail(to);
  expect(mail.headers).toEqual({ "X-Order": "1843" });
  expect((await downloadBytes(mail.attachments[0]!.url)).toString()).toBe("three €");
  const wrong = [[256], [1.5], ["a"], ["1"], [null], { type: "Buffer", data: [-1] }, { data: [1] }];
  for (const content of wrong) {
    const file = { filename: "bill.txt", content };
    const refused = await post("/resend/emails", { from, to, subject: "S", attachments: [file] });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("attachments.0.content");
  }
});

test("older libraries for Node write a Buffer to Resend as JSON", async () => {
  const to = one();
  const logo = Buffer.from("iVBORw0KGgo=", "base64");
  await accepted("/resend/emails", {
    ...{ from, to, subject: "Logo", html: '<img src="cid:logo">' },
    attachments: [{ filename: "logo.png", content: logo, content_id: "<logo>" }],
  });
  const [file] = (await findOnlyMail(to)).attachments;
  expect(file).toMatchObject({ contentId: "logo" });
  expect(await downloadBytes(file!.url)).toEqual(logo);
});

test("Anymail writes encoded names and its tag to Resend", async () => {
  const to = one();
  await accepted("/resend/emails", {
    ...{ from, to: [`=?utf-8?q?Ren=C3=A9e?= <${to}>`], subject: "Hello", text: "Hello" },
    headers: { "X-Tag": ["welcome"], "X-Metadata": '{"order": "1843"}' },
  });
  expect(await findOnlyMail(to)).toMatchObject({
    to: { email: to, name: "Renée" },
    headers: { "X-Tag": "welcome", "X-Metadata": '{"order": "1843"}' },
  });
  const twoTags = { from, to, subject: "Hello", text: "Hello", headers: { "X-Tag": ["a", "b"] } };
  expect((await post("/resend/emails", twoTags)).text).toContain("headers.X-Tag");
});

test("Rails writes its own headers to Postmark, and PHP empty lists", async () => {
  const to = one();
  await accepted("/postmark/email", {
    ...{ From: from, To: to, Subject: "Hello", TextBody: "Hello", Metadata: [] },
    Headers: Object.entries({ ...composerHeaders, "X-Order": "1843" }).map(([Name, Value]) => ({
      Name,
      Value,
    })),
  });
  expect((await findOnlyMail(to)).headers).toEqual({ "X-Order": "1843" });
});

test("Anymail calls Postmark with a slash at the end, and reads who is inactive", async () => {
  const [to, suppressed] = uniqueAddresses(2) as [string, string];
  const template = { name: "Greeting", subject: "Hello", html: "<p>Hello</p>" };
  const created = await client.call<{ id: number }>("POST", "/templates", template);
  await client.call("POST", "/suppressions", { email: suppressed, reason: "manual" });
  const text = await accepted("/postmark/email/withTemplate/", {
    ...{ From: from, To: `${to}, ${suppressed}`, TemplateId: created.body.data.id },
    TemplateModel: [],
  });
  const { Message } = JSON.parse(text) as { Message: string };
  // The expression in its source.
  expect(/inactive addresses:\s*(.*)\.\s*Inactive recipients/.exec(Message)![1]).toBe(suppressed);
  expect((await findOnlyMail(to)).subject).toBe("Hello");
});

test("Anymail and the library for Python write quoted names to SendGrid", async () => {
  const to = one();
  await accepted("/sendgrid/v3/mail/send", {
    from: { email: fromEmail },
    personalizations: [{ to: [{ email: to, name: '"Lovelace, \\"Ada\\""' }] }],
    subject: "Hello",
    content: [{ type: "text/html", value: '<img src="cid:logo">' }],
    attachments: [
      {
        ...{ content: "iVBORw0KGgo=", filename: "logo.png", type: "image/png" },
        ...{ disposition: "inline", content_id: "<logo>" },
      },
    ],
  });
  expect(await findOnlyMail(to)).toMatchObject({
    to: { email: to, name: 'Lovelace, "Ada"' },
    attachments: [{ contentId: "logo" }],
  });
});
