// The conformance suite of the adapters for received mail.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { isAutomatic } from "../../shared/domain/inbound/mail-kind.ts";
import { inboundMailProviders } from "../../shared/providers/inbound-mail/provider-keys.ts";
import {
  addressesOf,
  messageIdsOf,
  parseMime,
  subjectOf,
} from "../../shared/providers/inbound-mail/received-mail.ts";
import { getInboundMailAdapter } from "../../shared/providers/inbound-mail/registry.ts";
import { fileContent, mailgunKey, writeMime, writeRequest } from "../support/inbound-mail.ts";

const mail = {
  from: '"Lovelace, Ada" <ada@example.com>',
  to: "Shop <replies+7.abc@in.shop.example>",
  subject: "Re: Straße",
  text: "Ja, gern – morgen.",
  messageId: "m-1@mail.example",
  headers: { "In-Reply-To": "<sent-1@shop.example>", References: "<sent-0@a.example> <sent-1@b>" },
};

/** The APIs of Resend and Brevo and the S3 of the customer, for the keys of a sending config. */
let api: Server;
const asked: string[] = [];
beforeAll(async () => {
  api = createServer(({ url = "", headers }, response) => {
    const isKnown = [headers["api-key"], headers.authorization].some((given) =>
      given?.includes(key1),
    );
    asked.push(`${isKnown} ${url}`);
    if (!isKnown && url !== "/raw") return response.writeHead(401).end();
    const link = `http://127.0.0.1:${(api.address() as AddressInfo).port}/raw`;
    if (url.startsWith("/emails/"))
      return response.end(JSON.stringify({ raw: { download_url: link } }));
    response.end(url.startsWith("/v3/inbound/attachments/token-1") ? fileContent : writeMime(mail));
  });
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("ALLOW_LOOPBACK_WEBHOOKS", "on");
  for (const key of ["BREVO", "RESEND", "SES"])
    vi.stubEnv(`PROVIDER_URL_${key}`, `http://127.0.0.1:${(api.address() as AddressInfo).port}`);
});
afterAll(() => {
  vi.unstubAllEnvs();
  api.close();
});

const key1 = "key-of-the-account";
/** The first account is another one. */
const accounts = async () =>
  ["wrong-key", key1].map((key) => ({
    apiKey: key,
    accessKeyId: key,
    secretAccessKey: "s",
    region: "us-east-1",
  }));

describe.each(inboundMailProviders)("%s", (key) => {
  const adapter = getInboundMailAdapter(key);

  test.each([false, true])("reads a mail, as a whole: %s", async (raw) => {
    const [read, ...others] = await adapter.read(await writeRequest[key](mail, raw), accounts);
    expect(others).toEqual([]);
    expect(addressesOf(read!, "from")).toEqual([
      { email: "ada@example.com", name: "Lovelace, Ada" },
    ]);
    expect(addressesOf(read!, "to")).toEqual([
      { email: "replies+7.abc@in.shop.example", name: "Shop" },
    ]);
    expect(subjectOf(read!)).toBe("Re: Straße");
    expect(read!.text?.trim()).toBe("Ja, gern – morgen.");
    expect(messageIdsOf(read!, "message-id")).toEqual(["m-1@mail.example"]);
    expect(messageIdsOf(read!, "in-reply-to", "references")).toEqual([
      "sent-1@shop.example",
      "sent-0@a.example",
      "sent-1@b",
    ]);
    expect(read!.files).toEqual([
      { filename: "order.pdf", type: "application/pdf", content: new Uint8Array(fileContent) },
    ]);
  });

  test("leaves out a body that is no mail", async () => {
    for (const body of ["", "{}", "[]", "null", "\0\0", '{"MessageID":5}', "a=b&c=d"])
      for (const contentType of [
        "application/json",
        "multipart/form-data; boundary=x",
        "multipart/form-data",
        "application/x-www-form-urlencoded",
        "",
      ])
        expect(await adapter.read({ contentType, body: Buffer.from(body) }, accounts)).toEqual([]);
  });
});

test("mail in which Amazon SES finds spam or a virus counts as spam", async () => {
  const { read } = getInboundMailAdapter("ses");
  const readVerdicts = async (spam: string, virus: string) => {
    const { contentType, body } = await writeRequest.ses(mail);
    const envelope = JSON.parse(body.toString()) as { Message: string };
    const event = JSON.parse(envelope.Message) as { receipt: object };
    Object.assign(event.receipt, {
      spamVerdict: { status: spam },
      virusVerdict: { status: virus },
    });
    const changed = JSON.stringify({ ...envelope, Message: JSON.stringify(event) });
    const [received] = await read({ contentType, body: Buffer.from(changed) }, accounts);
    return received!.spam.isSpam;
  };
  expect(await readVerdicts("PASS", "PASS")).toBe(false);
  expect(await readVerdicts("FAIL", "PASS")).toBe(true);
  expect(await readVerdicts("PASS", "FAIL")).toBe(true);
  expect(await readVerdicts("GRAY", "DISABLED")).toBeUndefined();
});

test("SendGrid's texts have the charset that it names, and raw mail its bytes", async () => {
  const { read } = getInboundMailAdapter("sendgrid");
  const contentType = "multipart/form-data; boundary=xYzZY";
  const toRequest = (fields: Record<string, string | Buffer>) => ({
    contentType,
    body: Buffer.concat([
      ...Object.entries(fields).flatMap(([name, value]) => [
        Buffer.from(`--xYzZY\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`),
        Buffer.from(value),
        Buffer.from("\r\n"),
      ]),
      Buffer.from("--xYzZY--\r\n"),
    ]),
  });
  const headers = "From: ada@example.com\nSubject: Re: Hallo\n";
  const euro = Buffer.concat([Buffer.from("Grüße, 5 ", "latin1"), Buffer.from([0x80])]);
  const [parsed] = await read(
    toRequest({
      headers,
      text: euro,
      html: "<p>Grüße</p>",
      charsets: JSON.stringify({ text: "windows-1252", html: "UTF-8" }),
    }),
    accounts,
  );
  expect(parsed).toMatchObject({ text: "Grüße, 5 €", html: "<p>Grüße</p>" });
  const unknown = toRequest({ headers, text: "Grüße", charsets: '{"text":"x-none"}' });
  expect((await read(unknown, accounts))[0]!.text).toBe("Grüße");
  const mime = Buffer.concat([
    Buffer.from(`${headers}Content-Type: text/plain; charset=windows-1252\n\n`),
    euro,
  ]);
  expect((await read(toRequest({ email: mime }), accounts))[0]!.text?.trim()).toBe("Grüße, 5 €");
});

test("asks each account in turn, and fails if none may read the mail", async () => {
  asked.length = 0;
  const { read } = getInboundMailAdapter("ses");
  const request = await writeRequest.ses(mail, true);
  expect(await read(request, accounts)).toHaveLength(1);
  expect(asked).toEqual(["false /mails/in/o3vrnil0e2ic", "true /mails/in/o3vrnil0e2ic"]);
  const none = async () => (await accounts()).slice(0, 1);
  await expect(read(request, none)).rejects.toThrow("status 401");
  await expect(read(request, async () => [])).rejects.toThrow("status none");
});

test("a mail of Brevo comes without its files if nobody has an account there", async () => {
  const { read } = getInboundMailAdapter("brevo");
  const [received] = await read(await writeRequest.brevo(mail), async () => []);
  expect(received).toMatchObject({ text: "Ja, gern – morgen.", files: [] });
});

test("Mailgun's signature is of the key, and of the last day", async () => {
  const { verify } = getInboundMailAdapter("mailgun");
  const now = new Date("2026-12-01T09:00:00Z");
  const { contentType, body } = await writeRequest.mailgun(mail, false, now);
  const request = {
    headers: { "content-type": contentType },
    rawBody: body,
    url: "",
    querySecret: undefined,
  };
  expect(await verify!(request, mailgunKey, now)).toBe(true);
  expect(await verify!(request, "another key", now)).toBe(false);
  expect(await verify!(request, mailgunKey, new Date("2026-12-02T10:00:00Z"))).toBe(false);
  const forged = Buffer.from(body.toString("latin1").replace(/aaaa/, "bbbb"), "latin1");
  expect(await verify!({ ...request, rawBody: forged }, mailgunKey, now)).toBe(false);
});

describe("a mail of a machine", () => {
  const read = async (headers: Record<string, string>, subject?: string) =>
    isAutomatic(
      (await parseMime(writeMime({ from: "a@b.example", headers, ...(subject && { subject }) })))!,
    );

  test.each([
    { "Auto-Submitted": "auto-replied" },
    { "Auto-Submitted": "auto-generated; x=y" },
    { Precedence: "auto_reply" },
    { "X-Autoreply": "yes" },
    { "Return-Path": "<>" },
  ])("is told by its headers: %o", async (headers) => {
    expect(await read(headers)).toBe(true);
  });

  test.each(["Automatic reply: Hello", "Out of office: Re: Hello", "Abwesenheitsnotiz: Hallo"])(
    "is told by its subject: %s",
    async (subject) => {
      expect(await read({}, subject)).toBe(true);
    },
  );

  test("is no mail of a person", async () => {
    expect(await read({ "Auto-Submitted": "no" }, "Re: Automatic reply settings")).toBe(false);
    expect(await read({ Precedence: "normal" })).toBe(false);
  });
});

test("each part of a mail has a bound", async () => {
  const headers = Object.fromEntries(
    Array.from({ length: 400 }, (_, i) => [`X-H${i}`, "v".repeat(5000)]),
  );
  const long = await parseMime(
    writeMime({
      from: "a@b.example",
      headers: { "X-One": "v".repeat(9000) },
      text: "t".repeat(600_000),
    }),
  );
  expect(long!.headers.find(({ name }) => name === "x-one")!.value).toHaveLength(4000);
  expect(long!.text).toHaveLength(500_000);
  expect(await parseMime(writeMime({ from: "a@b.example", headers }))).toBeUndefined();
});

test("of a mail with millions of lines, the start is read", async () => {
  const start = "From: a@b.example\r\nSubject: Lines\r\n\r\nThe start\r\n";
  const mail = await parseMime(`${start}${"\r\n".repeat(2_000_000)}The end`);
  expect(mail!.headers).toContainEqual({ name: "subject", value: "Lines" });
  expect(mail!.text).toMatch(/^The start\s+$/);
  const file = Buffer.alloc(3_000_000, 7);
  const lines = file.toString("base64").replace(/.{76}/g, "$&\r\n");
  const ofFile = await parseMime(
    `Content-Type: a/b\r\nContent-Transfer-Encoding: base64\r\n${start.replace("The start", lines)}`,
  );
  expect(ofFile!.files[0]!.content.length).toBe(file.length);
});
