// The APIs of Resend, Postmark and SendGrid, as their official libraries call them: only the
// address and the key differ.
import { beforeEach, expect, test } from "vitest";
import { expectStatus } from "../support/api-client.ts";
import {
  InactiveRecipientsError,
  postmarkOf,
  resendOf,
  sendgridOf,
} from "../support/compatible-sdks.ts";
import {
  createSendingClient,
  downloadBytes,
  findOnlyMail,
  fromEmail,
  listInbox,
  runUntilIdle,
  type SendingClient,
  uniqueAddresses,
} from "../support/sending-client.ts";

const from = `Shop <${fromEmail}>`;
const attachmentText = "three lines\nof\ntext";
const base64 = Buffer.from(attachmentText).toString("base64");

let client: SendingClient;
let templateId: number;
beforeEach(async () => {
  client = await createSendingClient();
  const template = {
    name: "Greeting",
    subject: "Hello {{ firstName }}",
    html: "<p>Hello {{ firstName }} of {{ city }}</p>",
  };
  const created = await client.call<{ id: number }>("POST", "/templates", template);
  templateId = expectStatus(201, created).body.data.id;
});

const one = () => uniqueAddresses(1)[0]!;
const uuidPattern = /^00000000-0000-4\d{3}-8\d{3}-\d{12}$/;

test("Resend: an email arrives with its parts, and is read back", async () => {
  const [to, cc] = uniqueAddresses(2) as [string, string];
  const resend = resendOf(client.apiKey);
  const sent = await resend.emails.send({
    from,
    to: [`"Lovelace, Ada" <${to}>`],
    cc,
    replyTo: "Help <help@shop.example>",
    subject: "Order {{ 1 }}",
    html: "<p>{{ not }} {% liquid %}</p>",
    text: "{{ not }} liquid",
    headers: { "X-Order": "1843" },
    tags: [{ name: "order", value: "1843" }],
    attachments: [
      { filename: "a.txt", content: Buffer.from(attachmentText) },
      { filename: "b.txt", content: base64, contentType: "text/plain" },
    ],
  });
  expect(sent.error).toBeNull();
  const mail = await findOnlyMail(to);
  expect(mail).toMatchObject({
    subject: "Order {{ 1 }}",
    from: { email: fromEmail, name: "Shop" },
    text: expect.stringContaining("{{ not }} liquid"),
    html: expect.stringContaining("<p>{{ not }} {% liquid %}</p>"),
    headers: { "X-Order": "1843" },
    attachments: [{ filename: "a.txt" }, { filename: "b.txt" }],
  });
  for (const { url } of mail.attachments)
    expect((await downloadBytes(url)).toString()).toBe(attachmentText);
  expect(await listInbox(cc)).toMatchObject([{ copy: "cc" }]);
  // Libraries for .NET parse ids as UUIDs.
  expect(sent.data!.id).toMatch(uuidPattern);
  const read = await resend.emails.get(sent.data!.id);
  expect(read.data).toMatchObject({
    object: "email",
    id: sent.data!.id,
    to: [`Lovelace, Ada <${to}>`],
    cc: [cc],
    reply_to: ["help@shop.example"],
    from,
    subject: "Order {{ 1 }}",
    last_event: expect.stringMatching(/^(sent|delivered)$/),
    tags: [{ name: "order", value: "1843" }],
  });
  const unknown = await resend.emails.get("999999999");
  expect(unknown.error).toMatchObject({ statusCode: 404, name: "not_found" });
});

test("Resend: a repeated Idempotency-Key sends once; another body is refused", async () => {
  const resend = resendOf(client.apiKey);
  const to = one();
  const email = { from, to, subject: "Once", text: "Only text" };
  const options = { idempotencyKey: crypto.randomUUID() };
  const first = await resend.emails.send(email, options);
  expect(await resend.emails.send(email, options)).toMatchObject({ data: first.data, error: null });
  const other = await resend.emails.send({ ...email, subject: "Twice" }, options);
  expect(other.error).toMatchObject({ statusCode: 409, name: "invalid_idempotent_request" });
  expect(await findOnlyMail(to)).toMatchObject({ text: "Only text", html: null });
});

test("Resend: a batch is accepted whole, or with permissive validation in part", async () => {
  const resend = resendOf(client.apiKey);
  const [first, second, third] = uniqueAddresses(3) as [string, string, string];
  const email = (to: string) => ({ from, to, subject: "Batch", html: "<p>Batch</p>" });
  const sent = await resend.batch.send([email(first), email(second)]);
  expect(sent.data!.data).toHaveLength(2);
  const flawed = [email(third), { ...email("nobody"), topicId: "t1" }];
  const strict = await resend.batch.send(flawed);
  expect(strict.error).toMatchObject({
    statusCode: 422,
    message: "1.topic_id: is not supported",
  });
  const unknownSender = [email(third), { ...email(third), from: "me@nowhere.example" }];
  expect((await resend.batch.send(unknownSender)).error).toMatchObject({
    statusCode: 422,
    name: "invalid_from_address",
    message: expect.stringMatching(/^1\.from: no sending config has this address/),
  });
  await runUntilIdle();
  expect(await listInbox(third)).toEqual([]);
  const permissive = await resend.batch.send(flawed, { batchValidation: "permissive" });
  expect(permissive.data).toEqual({
    data: [{ id: expect.any(String) }],
    errors: [{ index: 1, message: "topic_id: is not supported" }],
  });
  for (const to of [first, second, third]) expect((await findOnlyMail(to)).subject).toBe("Batch");
});

test("Resend: templates, schedules and errors", async () => {
  const resend = resendOf(client.apiKey);
  const to = one();
  const template = { id: String(templateId), variables: { firstName: "Ada", city: "London" } };
  const sent = await resend.emails.send({ from, to, subject: "Hello", template });
  expect(sent.error).toBeNull();
  expect(await findOnlyMail(to)).toMatchObject({
    subject: "Hello",
    html: expect.stringContaining("Hello Ada of London"),
  });
  const inOneDay = new Date(Date.now() + 86_400_000).toISOString();
  const email = { from, to: one(), subject: "Later", html: "<p>Later</p>" };
  const scheduled = await resend.emails.send({ ...email, scheduledAt: inOneDay });
  expect((await resend.emails.get(scheduled.data!.id)).data).toMatchObject({
    last_event: "scheduled",
  });
  const refusalOf = async (fields: object) =>
    (await resend.emails.send({ ...email, ...fields })).error;
  expect(await refusalOf({ scheduledAt: "in 1 min" })).toEqual({
    statusCode: 422,
    name: "validation_error",
    message: expect.stringMatching(/^scheduled_at: /),
  });
  expect(await refusalOf({ topicId: "t1" })).toMatchObject({
    message: "topic_id: is not supported",
  });
  const remote = [{ filename: "a.txt", path: "https://files.example/a.txt" }];
  expect(await refusalOf({ attachments: remote })).toMatchObject({
    name: "invalid_attachment",
    message: expect.stringMatching(/^attachments\.0\.content/),
  });
  expect(await refusalOf({ to: "nobody" })).toMatchObject({
    message: expect.stringMatching(/^to\.0/),
  });
  const unknown = { template: { id: "999999999" }, html: undefined };
  expect(await refusalOf(unknown)).toMatchObject({
    name: "not_found",
    message: expect.stringMatching(/^template\.id: /),
  });
  const wrongKey = await resendOf("pm_live_wrong").emails.send(email);
  expect(wrongKey.error).toMatchObject({ statusCode: 401, name: "invalid_api_key" });
  expect((await resend.domains.list()).error).toMatchObject({
    statusCode: 404,
    name: "not_found",
  });
});

test("a key needs the scope of the endpoint, and content its own right", async () => {
  const email = { from, to: one(), subject: "Scopes", html: "<p>Scopes</p>" };
  const sender = resendOf(await client.newKey({ scopes: ["send:write"] }));
  const sent = await sender.emails.send(email);
  expect(sent.error).toBeNull();
  expect((await sender.emails.get(sent.data!.id)).error).toMatchObject({
    statusCode: 403,
    name: "restricted_api_key",
  });
  const reader = resendOf(await client.newKey({ scopes: ["sending:read"] }));
  expect((await reader.emails.get(sent.data!.id)).data).toMatchObject({ html: null, text: null });
  expect((await reader.emails.send(email)).error).toMatchObject({ name: "restricted_api_key" });
  const postmark = postmarkOf(await client.newKey({ scopes: ["sending:read"] }));
  const letter = { From: from, To: one(), Subject: "Scopes", TextBody: "Scopes" };
  await expect(postmark.sendEmail(letter)).rejects.toMatchObject({ statusCode: 403 });
});

test("a send of another organization or site does not exist", async () => {
  const sent = await resendOf(client.apiKey).emails.send({
    ...{ from, to: one(), subject: "Mine", html: "<p>Mine</p>" },
  });
  const { id } = sent.data!;
  const stranger = await createSendingClient();
  expect((await resendOf(stranger.apiKey).emails.get(id)).error).toMatchObject({
    statusCode: 404,
    name: "not_found",
  });
  const newOrganization = await createSendingClient();
  const site = await newOrganization.call<{ id: number }>("POST", "/sites", { name: "Other" });
  const { id: siteId } = expectStatus(201, site).body.data;
  const letter = { to: one(), subject: "Hi", html: "<p>Hi</p>", siteId: newOrganization.siteId };
  const other = expectStatus(202, await newOrganization.send(letter));
  const ofOtherSite = resendOf(await newOrganization.newKey({ siteId }));
  expect((await ofOtherSite.emails.get(String(other.body.data.id))).error).toMatchObject({
    statusCode: 403,
  });
  const foreign = { from, to: one(), subject: "Hi", template: { id: String(templateId) } };
  expect((await resendOf(stranger.apiKey).emails.send(foreign)).error).toMatchObject({
    name: "not_found",
  });
});

test("Postmark: an email arrives with its parts", async () => {
  const [to, cc] = uniqueAddresses(2) as [string, string];
  const email = {
    From: from,
    To: `"Lovelace, Ada" <${to}>`,
    Cc: cc,
    ReplyTo: "help@shop.example",
    Subject: "Order",
    HtmlBody: "<p>{{ not }}</p>",
    TextBody: "{{ not }}",
    Tag: "orders",
    Metadata: { order: "1843" },
    Headers: [{ Name: "X-Order", Value: "1843" }],
    TrackOpens: false,
    MessageStream: "outbound",
    Attachments: [{ Name: "a.txt", Content: base64, ContentType: "text/plain", ContentID: null }],
  };
  const answer = await postmarkOf(client.apiKey).sendEmail(email);
  expect(answer).toMatchObject({ To: email.To, ErrorCode: 0, Message: "OK" });
  expect(await findOnlyMail(to)).toMatchObject({
    subject: "Order",
    html: expect.stringContaining("<p>{{ not }}</p>"),
    text: expect.stringContaining("{{ not }}"),
    headers: { "X-Order": "1843" },
    attachments: [{ filename: "a.txt" }],
  });
  expect(answer.MessageID).toMatch(uuidPattern);
  const read = await client.call("GET", `/sends/${answer.MessageID}`);
  expect(read.body.data).toMatchObject({ tags: ["orders"], metadata: { order: "1843" } });
});

test("Postmark: templates and batches, with an error for each email", async () => {
  const postmark = postmarkOf(client.apiKey);
  const [first, second, third] = uniqueAddresses(3) as [string, string, string];
  const template = {
    From: from,
    To: first,
    TemplateId: templateId,
    TemplateModel: { firstName: "Ada", city: "London" },
    InlineCss: true,
  };
  expect(await postmark.sendEmailWithTemplate(template)).toMatchObject({ ErrorCode: 0 });
  expect(await findOnlyMail(first)).toMatchObject({ subject: "Hello Ada" });
  const batch = await postmark.sendEmailBatchWithTemplates([
    { ...template, To: second },
    { ...template, To: second, TemplateId: 999_999_999 },
  ]);
  expect(batch).toMatchObject([
    { ErrorCode: 0, To: second },
    { ErrorCode: 1101, Message: expect.stringMatching(/^TemplateId: /) },
  ]);
  const email = { From: from, To: third, Subject: "Batch", TextBody: "Only text" };
  const mixed = await postmark.sendEmailBatch([
    email,
    { ...email, To: "nobody" },
    { ...email, MessageStream: "broadcast" },
    { ...email, From: "me@nowhere.example" },
  ]);
  expect(mixed).toMatchObject([
    { ErrorCode: 0, Message: "OK" },
    { ErrorCode: 300, Message: expect.stringMatching(/^To\.0: /) },
    { ErrorCode: 300, Message: "MessageStream: must be outbound" },
    { ErrorCode: 400, Message: expect.stringMatching(/^From: no sending config/) },
  ]);
  expect(await findOnlyMail(third)).toMatchObject({ text: "Only text", html: null });
});

test("Postmark: errors are those of its library", async () => {
  const postmark = postmarkOf(client.apiKey);
  const to = one();
  const email = { From: from, To: to, Subject: "Hello", HtmlBody: "<p>Hello</p>" };
  const refusalOf = (fields: object, by = postmark) =>
    by.sendEmail({ ...email, ...fields }).then(
      () => undefined,
      (error: unknown) => error,
    );
  expect(await refusalOf({}, postmarkOf("wrong"))).toMatchObject({
    name: "InvalidAPIKeyError",
    code: 10,
    statusCode: 401,
  });
  expect(await refusalOf({ InlineCss: true })).toMatchObject({
    name: "InvalidEmailRequestError",
    code: 300,
    statusCode: 422,
    message: "InlineCss: is not supported",
  });
  expect(await refusalOf({ Tag: "two words" })).toMatchObject({
    message: expect.stringMatching(/^Tag\.0: /),
  });
  const suppressed = { email: to, reason: "manual" };
  expectStatus(201, await client.call("POST", "/suppressions", suppressed));
  const inactive = await refusalOf({});
  expect(inactive).toBeInstanceOf(InactiveRecipientsError);
  expect(inactive).toMatchObject({ code: 406, recipients: [to] });
  const other = one();
  expect(await postmark.sendEmail({ ...email, To: `${to}, ${other}` })).toMatchObject({
    ErrorCode: 0,
    Message: expect.stringContaining(`will not deliver to these inactive addresses: ${to}. `),
  });
  expect((await findOnlyMail(other)).subject).toBe("Hello");
  await expect(postmark.getBounces()).rejects.toMatchObject({ statusCode: 404 });
});

test("SendGrid: an email for each personalization, with substitutions of its own", async () => {
  const [ada, grace] = uniqueAddresses(2) as [string, string];
  const [response] = await sendgridOf(client.apiKey).send({
    from: { email: fromEmail, name: "Shop" },
    replyTo: "help@shop.example",
    subject: "Hello {{name}}",
    text: "Hello {{name}}, {{ not }}",
    html: "<p>Hello {{name}}, {{ not }}</p>",
    categories: ["orders"],
    customArgs: { shop: "1" },
    trackingSettings: {
      clickTracking: { enable: false },
      openTracking: { enable: false },
      subscriptionTracking: { enable: false },
      ganalytics: { enable: false },
    },
    mailSettings: { sandboxMode: { enable: false }, footer: { enable: false } },
    attachments: [
      { content: base64, filename: "a.txt", type: "text/plain", disposition: "attachment" },
    ],
    personalizations: [
      { to: { email: ada, name: "Ada" }, substitutions: { name: "Ada" }, customArgs: { n: "1" } },
      { to: grace, substitutions: { name: "<Grace>" }, subject: "Dear {{name}}" },
    ],
  });
  expect(response).toMatchObject({ statusCode: 202, body: "" });
  expect(await findOnlyMail(ada)).toMatchObject({
    subject: "Hello Ada",
    html: expect.stringContaining("<p>Hello Ada, {{ not }}</p>"),
    attachments: [{ filename: "a.txt" }],
  });
  expect(await findOnlyMail(grace)).toMatchObject({
    subject: "Dear <Grace>",
    text: expect.stringContaining("Hello <Grace>, {{ not }}"),
  });
  const read = await client.call("GET", `/sends/${response.headers["x-message-id"]}`);
  expect(read.body.data).toMatchObject({
    toEmail: ada,
    tags: ["orders"],
    metadata: { shop: "1", n: "1" },
  });
});

test("SendGrid: templates, and more than 100 personalizations", async () => {
  const sendgrid = sendgridOf(client.apiKey);
  const to = one();
  const dynamicTemplateData = { firstName: "Ada", city: "London" };
  const template = { from: fromEmail, templateId: `d-${templateId}` };
  // As in the examples of its library.
  const ignored = { subject: "Hello world", text: "Hello plain world!", html: "<p>Hello</p>" };
  await sendgrid.send({ ...template, ...ignored, to, dynamicTemplateData });
  expect(await findOnlyMail(to)).toMatchObject({
    subject: "Hello Ada",
    html: expect.stringContaining("Hello Ada of London"),
  });
  const legacy = one();
  const substitutions = { firstName: "Grace", city: "Paris" };
  await sendgrid.send({ ...template, templateId: String(templateId), to: legacy, substitutions });
  expect(await findOnlyMail(legacy)).toMatchObject({
    html: expect.stringContaining("Hello Grace of Paris"),
  });
  const many = uniqueAddresses(101);
  const personalizations = many.map((address, i) => ({
    to: address,
    dynamicTemplateData: { firstName: `No ${i}`, city: "Rome" },
  }));
  await sendgrid.send({ ...template, personalizations });
  expect((await findOnlyMail(many[100]!)).subject).toBe("Hello No 100");
  const different = personalizations.map((one, i) => (i === 7 ? { ...one, cc: to } : one));
  await expect(sendgrid.send({ ...template, personalizations: different })).rejects.toMatchObject({
    code: 400,
    response: { body: { errors: [{ field: "personalizations.7" }] } },
  });
});

test("SendGrid: errors name the field, and nothing is accepted", async () => {
  const to = one();
  const mail = { from: fromEmail, subject: "Hello", text: "Hello" };
  const refusalOf = (fields: object, key = client.apiKey) =>
    sendgridOf(key)
      .send({ ...mail, to, ...fields })
      .then(
        () => undefined,
        (error: unknown) => error,
      );
  const failure = (code: number, field: string | null) => ({
    code,
    response: { body: { errors: [{ field, message: expect.any(String), help: null }] } },
  });
  expect(await refusalOf({}, "wrong")).toMatchObject(failure(401, null));
  expect(await refusalOf({ asm: { groupId: 1 } })).toMatchObject(failure(400, "asm"));
  expect(await refusalOf({ ipPoolName: "fast" })).toMatchObject(failure(400, "ip_pool_name"));
  const withGanalytics = { trackingSettings: { ganalytics: { enable: true } } };
  expect(await refusalOf(withGanalytics)).toMatchObject(
    failure(400, "tracking_settings.ganalytics.enable"),
  );
  expect(await refusalOf({ mailSettings: { sandboxMode: { enable: true } } })).toMatchObject(
    failure(400, "mail_settings.sandbox_mode.enable"),
  );
  expect(await refusalOf({ from: "me@nowhere.example" })).toMatchObject(failure(400, "from"));
  const template = { templateId: "d-999999999", text: undefined };
  expect(await refusalOf(template)).toMatchObject(failure(400, "template_id"));
  const personalizations = [{ to }, { to: "nobody@" }];
  expect(await refusalOf({ to: undefined, personalizations })).toMatchObject(
    failure(400, "personalizations.1.to.0.email"),
  );
  await runUntilIdle();
  expect(await listInbox(to)).toEqual([]);
});
