// Programs that send by SMTP. The client is nodemailer.
import { connect } from "node:net";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  expectStatus,
  nextMinute,
  signedUp,
  type TestClient,
  waitForMail,
} from "../support/api-client.ts";
import { type RunningTestService, startServiceProcess } from "../support/service-process.ts";

const fixture = (name: string) => join(import.meta.dirname, "../fixtures/tls", name);
const fromEmail = "shop@pennymail.test";
const from = `Shop <${fromEmail}>`;

let service: RunningTestService;
let secured: RunningTestService;
let client: TestClient;
beforeAll(async () => {
  [service, secured] = await Promise.all([
    startServiceProcess({ SMTP_PORT: "0" }),
    startServiceProcess({
      SMTP_PORT: "0",
      SMTP_TLS_CERT: fixture("trusted.pem"),
      SMTP_TLS_KEY: fixture("trusted-key.pem"),
    }),
  ]);
  client = await createSender(service);
});
// The free plan has 20 sends a minute.
beforeEach(() => nextMinute(service.url));
afterAll(async () => {
  await Promise.all([service?.stop(), secured?.stop()]);
});

async function createSender({ url }: RunningTestService): Promise<TestClient> {
  const sender = await signedUp({ service: url });
  const { data } = (await (await fetch(`${url}/_local/sandbox`)).json()) as {
    data: { providers: { postmark: object } };
  };
  const config = { provider: "postmark", fromEmail, ...data.providers.postmark };
  expectStatus(201, await sender.call("POST", "/sending-configs", config));
  return sender;
}

const portOf = ({ output }: RunningTestService): number =>
  Number(/smtp\s.*127\.0\.0\.1:(\d+)/.exec(output())![1]);

const transportOf = (apiKey: string, at = service) =>
  createTransport({
    host: "127.0.0.1",
    port: portOf(at),
    ignoreTLS: at === service,
    tls: { rejectUnauthorized: false },
    auth: { user: "anything", pass: apiKey },
  });

/** The reply to a message that is refused. */
const refusalOf = (sending: Promise<unknown>) =>
  sending.then(
    () => undefined,
    ({ responseCode, response, code }: { responseCode: number; response: string; code: string }) =>
      ({ responseCode, response, code }) as { responseCode: number; response: string },
  );

const uniqueAddress = () => `${crypto.randomUUID()}@example.com`;
const runUntilIdle = () => fetch(`${service.url}/_local/settle`, { method: "POST" });
async function received(address: string) {
  await runUntilIdle();
  return waitForMail(address, service.url);
}
async function countReceived(address: string): Promise<number> {
  await runUntilIdle();
  const inbox = await fetch(`${service.url}/_local/inbox?to=${encodeURIComponent(address)}`, {
    headers: { accept: "application/json" },
  });
  return ((await inbox.json()) as { data: { mails: unknown[] } }).data.mails.length;
}

test("a message arrives with its parts, and recipients see each other as it says", async () => {
  const [ada, ben, hidden] = [uniqueAddress(), uniqueAddress(), uniqueAddress()];
  const sent = await transportOf(client.apiKey).sendMail({
    from,
    to: `Ada Lovelace <${ada}>`,
    cc: ben,
    bcc: hidden,
    replyTo: "help@shop.example",
    subject: "Grüße {{ 1 }}",
    text: "Hello {{ name }}",
    html: '<p>Hello {{ name }}</p><img src="cid:logo">',
    headers: {
      "X-Order": "1843",
      "X-Pennymail-Tags": "orders, paid",
      "Errors-To": "bounces@shop.example",
      "X-Original-To": "ada@old.example",
      ...Object.fromEntries(
        Array.from({ length: 20 }, (_, i) => [`X-MS-Exchange-Organization-${i}`, "1"]),
      ),
    },
    attachments: [
      { filename: "a.txt", content: "three\nlines\nof text" },
      {
        filename: "logo.png",
        content: Buffer.from("iVBORw0KGgo=", "base64"),
        contentType: "image/png",
        cid: "logo",
      },
    ],
  });
  expect(sent.response).toMatch(/^250 2\.0\.0 Accepted as send \d+$/);
  for (const [address, copy] of [[ada], [ben, "cc"], [hidden, "bcc"]] as const)
    expect(await received(address)).toMatchObject({
      ...(copy && { copy }),
      subject: "Grüße {{ 1 }}",
      text: expect.stringContaining("Hello {{ name }}"),
      html: expect.stringContaining("<p>Hello {{ name }}</p>"),
      headers: { "X-Order": "1843" },
      attachments: [{ filename: "logo.png" }, { filename: "a.txt" }],
    });
  const [id] = /\d+$/.exec(sent.response)!;
  expect((await client.call("GET", `/sends/${id}`)).body.data).toMatchObject({
    toEmail: ada,
    tags: ["orders", "paid"],
  });
});

test("each recipient gets a message alone that does not name them all", async () => {
  const [ada, ben] = [uniqueAddress(), uniqueAddress()];
  const transport = transportOf(client.apiKey);
  const attachments = [{ filename: "a.txt", content: "one file for all" }];
  const message = { from, subject: "Alone", text: "Hello", attachments };
  const hidden = await transport.sendMail({ ...message, bcc: [ada, ben] });
  expect(hidden.response).toMatch(/Accepted as send \d+, \d+$/);
  for (const address of [ada, ben])
    expect(await received(address)).toMatchObject({
      copy: null,
      attachments: [{ filename: "a.txt" }],
    });
  const list = "list@lists.example";
  const ofList = await transport.sendMail({
    ...message,
    to: list,
    cc: ben,
    envelope: { from: fromEmail, to: [ada, ben] },
  });
  expect(ofList.response).toMatch(/Accepted as send \d+, \d+$/);
  expect(await countReceived(list)).toBe(0);
  for (const address of [ada, ben]) expect(await countReceived(address)).toBe(2);
});

test("a message of a scanner, with a file alone, is sent", async () => {
  const to = uniqueAddress();
  const file = { filename: "scan.pdf", content: Buffer.from("%PDF-1.4") };
  await transportOf(client.apiKey).sendMail({ from, to, attachments: [file] });
  expect(await received(to)).toMatchObject({
    subject: "(no subject)",
    text: expect.stringMatching(/^\(no text\)\s*$/),
    attachments: [{ filename: "scan.pdf" }],
  });
});

test("an invitation stays one, and its file has a name", async () => {
  const to = uniqueAddress();
  const lines = ["BEGIN:VCALENDAR", "METHOD:REQUEST", "SUMMARY:Grüße", "END:VCALENDAR", ""];
  await transportOf(client.apiKey).sendMail({
    ...{ from, to, subject: "Invitation", text: "Join us", html: "<p>Join us</p>" },
    alternatives: [{ contentType: "text/calendar; method=REQUEST", content: lines.join("\r\n") }],
  });
  const { attachments } = (await received(to)) as unknown as { attachments: { url: string }[] };
  expect(attachments).toMatchObject([
    { filename: "attachment-1.ics", type: "text/calendar; charset=utf-8; method=REQUEST" },
  ]);
  const content = await fetch(new URL(attachments[0]!.url, service.url));
  expect(await content.text()).toBe(lines.join("\r\n"));
});

test("headers that are folded with tabs, and those of a long thread, are kept", async () => {
  const to = uniqueAddress();
  const ids = Array.from({ length: 20 }, (_, i) => `<${"x".repeat(70)}${i}@tickets.example>`);
  await transportOf(client.apiKey).sendMail({
    envelope: { from: fromEmail, to },
    raw: [
      `From: "Shop\r\n\tand more" <${fromEmail}>`,
      `To: "${"Long name ".repeat(15)}" <${to}>`,
      "Subject: Your ticket\r\n\tis answered",
      `References: ${ids.join("\r\n\t")}`,
      "X-Ticket: 12\t34",
      "",
      "Hello",
    ].join("\r\n"),
  });
  const mail = await received(to);
  expect(mail.subject).toBe("Your ticket is answered");
  expect(mail.headers["X-Ticket"]).toBe("12 34");
  const kept = mail.headers.References!.split(" ");
  expect(kept[0]).toBe(ids[0]);
  expect(kept.slice(1)).toEqual(ids.slice(1 - kept.length));
  expect(mail.headers.References!.length).toBeLessThanOrEqual(998);
  expect(kept.length).toBeGreaterThan(8);
});

test("a template takes the place of the body, and a text can be alone", async () => {
  const template = {
    name: "Greeting",
    subject: "Hello {{ firstName }}",
    html: "<p>{{ city }}</p>",
  };
  const created = await client.call<{ id: number }>("POST", "/templates", template);
  const { id } = expectStatus(201, created).body.data;
  const [first, second] = [uniqueAddress(), uniqueAddress()];
  const transport = transportOf(client.apiKey);
  const variables = JSON.stringify({ firstName: "Ada", city: "London" });
  await transport.sendMail({
    from,
    to: first,
    text: "ignored",
    headers: { "X-Pennymail-Template": String(id), "X-Pennymail-Variables": variables },
  });
  expect(await received(first)).toMatchObject({
    subject: "Hello Ada",
    html: expect.stringContaining("<p>London</p>"),
  });
  await transport.sendMail({ from, to: second, subject: "Text", text: "Only text" });
  expect(await received(second)).toMatchObject({
    text: expect.stringMatching(/^Only text\s*$/),
    html: null,
  });
});

test("a repeated Message-ID is sent once; another message with it is refused", async () => {
  const [to, other] = [uniqueAddress(), uniqueAddress()];
  const transport = transportOf(client.apiKey);
  const message = (subject: string) => ({
    envelope: { from: fromEmail, to },
    raw: `From: ${from}\r\nTo: ${to}\r\nMessage-ID: <${to}>\r\nSubject: ${subject}\r\n\r\nHello\r\n`,
  });
  const first = await transport.sendMail(message("Once"));
  expect((await transport.sendMail(message("Once"))).response).toBe(first.response);
  expect(await refusalOf(transport.sendMail(message("Twice")))).toMatchObject({
    responseCode: 554,
  });
  expect(await countReceived(to)).toBe(1);
  // Composed again, it has other boundaries and another date.
  const order = { from, to, subject: "Order", text: "Hi", html: "<p>Hi</p>", messageId: "<1@o>" };
  const composed = await transport.sendMail({ ...order, date: new Date(0) });
  expect((await transport.sendMail(order)).response).toBe(composed.response);
  expect(await refusalOf(transport.sendMail({ ...order, html: "<p>Ho</p>" }))).toMatchObject({
    responseCode: 554,
  });
  // The same message to somebody else, as mail servers do.
  const envelope = { from: fromEmail, to: other };
  await transport.sendMail({ ...message("Once"), envelope });
  expect(await countReceived(other)).toBe(1);
});

test("what is not valid is refused for good, with the reason, and nothing is sent", async () => {
  const to = uniqueAddress();
  const transport = transportOf(client.apiKey);
  const message = { from, to, subject: "Hello", text: "Hello" };
  const refused = (fields: object) => refusalOf(transport.sendMail({ ...message, ...fields }));
  expect(await refused({ from: "me@nowhere.example" })).toEqual({
    code: "EMESSAGE",
    responseCode: 554,
    response: expect.stringContaining("From: no sending config has this address"),
  });
  expect(await refused({ headers: { "X-Pennymail-Colour": "red" } })).toMatchObject({
    responseCode: 554,
    response: expect.stringContaining("X-Pennymail-Colour: is not supported"),
  });
  const raw = `From: ${from}\r\nSubject: Lines\r\n\r\n${"\r\n".repeat(200_000)}`;
  expect(await refused({ raw, envelope: { from: fromEmail, to } })).toMatchObject({
    responseCode: 554,
    response: expect.stringContaining("too many lines"),
  });
  const large = [{ filename: "a.bin", content: Buffer.alloc(20 * 1024 * 1024) }];
  expect(await refused({ attachments: large })).toMatchObject({ responseCode: 552 });
  const file = [{ filename: "a.bin", content: Buffer.alloc(11 * 1024 * 1024) }];
  expect(await refused({ attachments: file })).toMatchObject({
    responseCode: 554,
    response: expect.stringContaining("10 MB"),
  });
  expect(await countReceived(to)).toBe(0);
});

test("a recipient that is not valid is refused alone", async () => {
  const to = uniqueAddress();
  const sent = await transportOf(client.apiKey).sendMail({
    envelope: { from: fromEmail, to: [to, "no-body@localhost"] },
    from,
    to,
    subject: "Partly",
    text: "Hello",
  });
  expect(sent).toMatchObject({ accepted: [to], rejected: ["no-body@localhost"] });
  expect(await countReceived(to)).toBe(1);
});

test("a key needs the scope, and nothing is accepted without a valid key", async () => {
  const message = { from, to: uniqueAddress(), subject: "Hello", text: "Hello" };
  const reader = await client.newKey({ scopes: ["sends:read"] });
  expect(await refusalOf(transportOf(reader).sendMail(message))).toMatchObject({
    responseCode: 550,
  });
  const anonymous = createTransport({ host: "127.0.0.1", port: portOf(service), ignoreTLS: true });
  expect(await refusalOf(anonymous.sendMail(message))).toMatchObject({ responseCode: 530 });
  expect(await countReceived(message.to)).toBe(0);
});

test("the rate limit asks the client to come back", async () => {
  const limited = await createSender(service);
  const transport = transportOf(limited.apiKey);
  const replies: (number | undefined)[] = [];
  for (let i = 0; i < 41; i++) {
    const message = { from, to: uniqueAddress(), subject: "Hello", text: "Hello" };
    replies.push((await refusalOf(transport.sendMail(message)))?.responseCode);
  }
  expect(replies[0]).toBeUndefined();
  // At most one minute began meanwhile, and each lets 20 through.
  expect(replies.filter((code) => code !== undefined)).toContain(451);
  expect(new Set(replies)).toEqual(new Set([undefined, 451]));
});

test("a message without credits is accepted when it is repeated with them", async () => {
  const poor = await createSender(service);
  const to = uniqueAddress();
  const batch = {
    ...{ fromEmail, subject: "Hi", html: "<p>Hi</p>" },
    scheduledAt: new Date(Date.now() + 24 * 3600 * 1000).toISOString(),
    recipients: Array.from({ length: 1000 }, (_, i) => ({ to: `${i}@example.com` })),
  };
  for (let i = 0; i < 3; i++) expectStatus(202, await poor.call("POST", "/send/batch", batch));
  const transport = transportOf(poor.apiKey);
  const message = { from, to, subject: "Hello", text: "Hello", messageId: `<${to}>` };
  expect(await refusalOf(transport.sendMail(message))).toMatchObject({ responseCode: 452 });
  const grant = { organizationId: poor.orgId, plan: "free", credits: 10 };
  const granted = await fetch(`${service.url}/_local/plan`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(grant),
  });
  expect(granted.status).toBe(200);
  await transport.sendMail(message);
  expect(await countReceived(to)).toBe(1);
});

test("with a certificate, a key is accepted after STARTTLS only", async () => {
  const sender = await createSender(secured);
  const message = { from, to: uniqueAddress(), subject: "Hello", text: "Hello" };
  const sent = await transportOf(sender.apiKey, secured).sendMail(message);
  expect(sent.response).toMatch(/^250 /);
  const plain = createTransport({
    host: "127.0.0.1",
    port: portOf(secured),
    ignoreTLS: true,
    auth: { user: "anything", pass: sender.apiKey },
  });
  expect(await refusalOf(plain.sendMail(message))).toMatchObject({ responseCode: 538 });
});

// Last, because it blocks this machine for a minute.
test("wrong keys are refused, and after ten of them the network waits", async () => {
  const message = { from, to: uniqueAddress(), subject: "Hello", text: "Hello" };
  const wrong = transportOf("pm_live_wrong");
  const codes: (number | undefined)[] = [];
  for (let i = 0; i < 21; i++) codes.push((await refusalOf(wrong.sendMail(message)))?.responseCode);
  expect(codes[0]).toBe(535);
  expect(codes).toContain(454);
});

test("a client that hangs up in the middle leaves nothing behind", async () => {
  const socket = connect(portOf(service), "127.0.0.1");
  await new Promise((resolve) => socket.once("data", resolve));
  socket.write("EHLO me\r\n");
  await new Promise((resolve) => socket.once("data", resolve));
  socket.destroy();
  expect((await fetch(`${service.url}/api/v1/health`)).status).toBe(200);
});
