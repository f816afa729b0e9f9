// Requests to single providers, beyond the common contract in provider-conformance.test.ts.
import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { WebClient } from "../../shared/adapters/http/client.ts";
import { brevo } from "../../shared/providers/brevo.ts";
import { type Commons, commonFlaw, recipientFlaw } from "../../shared/providers/limits.ts";
import {
  encodeWords,
  formatAsciiMailbox,
  formatMailbox,
} from "../../shared/providers/mailbox-format.ts";
import { mailgun } from "../../shared/providers/mailgun.ts";
import { mailjet } from "../../shared/providers/mailjet.ts";
import { postmark } from "../../shared/providers/postmark.ts";
import type {
  HandOverOutcome,
  Mailing,
  ProviderAdapter,
} from "../../shared/providers/provider-adapter.ts";
import { sendgrid } from "../../shared/providers/sendgrid.ts";
import { ses, signRequest } from "../../shared/providers/ses.ts";
import { sparkpost } from "../../shared/providers/sparkpost.ts";
import fc from "../support/fast-check.ts";
import {
  type RecordingServer,
  type ServerBehaviour,
  startRecordingServer,
} from "../support/provider-apis/recording-server.ts";

const mailing = (changes: Partial<Mailing> = {}): Mailing => ({
  from: { email: "news@example.com" },
  subject: ["Hi ", 0],
  text: ["Hi ", 0],
  headers: {},
  tags: [],
  attachments: [],
  recipients: ["ada", "ben"].map((name, n) => ({
    sendId: n + 1,
    to: { email: `${name}@example.net` },
    values: [name],
    headers: {},
  })),
  ...changes,
});
const single = (changes: Partial<Mailing> = {}): Mailing => ({
  ...mailing(changes),
  recipients: mailing(changes).recipients.slice(0, 1),
});
const valued = (...values: string[]) =>
  mailing().recipients.map((recipient, n) => ({ ...recipient, values: [values[n] ?? ""] }));

let outside: RecordingServer;
beforeAll(async () => {
  outside = await startRecordingServer();
});
afterAll(() => outside.close());
beforeEach(() => {
  outside.requests.length = 0;
  for (const { key } of [sendgrid, ses, postmark, mailgun, sparkpost])
    vi.stubEnv(`PROVIDER_URL_${key.toUpperCase()}`, outside.origin);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const keys: Record<string, string> = {
  apiKey: "example-key",
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "example-secret",
  region: "us-east-1",
};

function send(
  provider: ProviderAdapter,
  sent: Mailing,
  behaviour: ServerBehaviour,
  credentials: Record<string, string> = {},
): Promise<HandOverOutcome[]> {
  outside.setReply(behaviour);
  const own = Object.keys(provider.credentials.shape).filter(
    (field) => keys[field] && (field !== "region" || provider.key === "ses"),
  );
  const all = { ...Object.fromEntries(own.map((field) => [field, keys[field]])), ...credentials };
  return provider.send({
    mailing: sent,
    credentials: provider.credentials.parse(all),
    idempotencyKey: "k",
  });
}
const sentBody = () => JSON.parse(outside.requests[0]!.body.toString());

it.each<[ProviderAdapter, Record<string, string>, string]>([
  [sendgrid, {}, "https://api.sendgrid.com/v3/mail/send"],
  [sendgrid, { region: "eu" }, "https://api.eu.sendgrid.com/v3/mail/send"],
  [ses, {}, "https://email.us-east-1.amazonaws.com/v2/email/outbound-emails"],
  [
    ses,
    { region: "us-gov-west-1" },
    "https://email.us-gov-west-1.amazonaws.com/v2/email/outbound-emails",
  ],
  [
    ses,
    { region: "cn-north-1" },
    "https://email.cn-north-1.amazonaws.com.cn/v2/email/outbound-emails",
  ],
  [postmark, {}, "https://api.postmarkapp.com/email"],
  [mailgun, { domain: "MG.example.com" }, "https://api.mailgun.net/v3/mg.example.com/messages"],
  [
    mailgun,
    { domain: "mg.example.com", region: "eu" },
    "https://api.eu.mailgun.net/v3/mg.example.com/messages",
  ],
  [sparkpost, {}, "https://api.sparkpost.com/api/v1/transmissions"],
  [sparkpost, { region: "eu" }, "https://api.eu.sparkpost.com/api/v1/transmissions"],
])("$key with %j is called at its own host", async (provider, credentials, url) => {
  vi.unstubAllEnvs();
  const urls: string[] = [];
  vi.spyOn(WebClient.prototype, "open").mockImplementation(async (request) => {
    urls.push(request.url);
    return { status: 503, headers: new Headers(), body: Readable.from([]) };
  });
  await send(provider, single(), { status: 503 }, credentials);
  expect(urls).toEqual([url]);
});

describe("SendGrid", () => {
  it("sends mails singly if the substitutions of one recipient are too large", () => {
    expect(sendgrid.batch?.supports(mailing({ recipients: valued("x".repeat(8_000)) }))).toBe(true);
    expect(sendgrid.batch?.supports(mailing({ recipients: valued("x".repeat(8_001)) }))).toBe(
      false,
    );
    expect(
      sendgrid.batch?.supports(mailing({ text: Array.from({ length: 51 }, (_, n) => n) })),
    ).toBe(false);
  });

  it("uses no placeholder that occurs in a text or value", async () => {
    await send(sendgrid, mailing({ text: ["pm0 ", 0], recipients: valued("pm1", "pm2") }), {
      status: 202,
    });
    expect(sentBody().personalizations[0].substitutions).toEqual({ "-pm3.0-": "pm1" });
  });

  it("converts file names to ASCII", async () => {
    const attachments = ["Übersicht é.pdf", "東京.pdf"].map((filename) => ({
      filename,
      type: "application/pdf",
      content: "aGk=",
    }));
    await send(sendgrid, single({ attachments }), { status: 202 });
    expect(sentBody().attachments.map(({ filename }: { filename: string }) => filename)).toEqual([
      "Ubersicht e.pdf",
      "__.pdf",
    ]);
  });

  it("sends at most ten distinct tags", async () => {
    await send(sendgrid, single({ tags: ["a", "a", ..."bcdefghijkl", "x".repeat(300)] }), {
      status: 202,
    });
    expect(sentBody().categories).toEqual([..."abcdefghij"]);
  });
});

describe("Amazon SES", () => {
  const vectors: { name: string; input: Record<string, string>; authorization: string }[] =
    JSON.parse(
      readFileSync(new URL("../fixtures/providers/ses/sigv4.json", import.meta.url), "utf8"),
    );

  it.each(vectors)("signs like AWS: $name", async ({ input, authorization }) => {
    const at = new Date(
      input.amzDate!.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"),
    );
    const headers = await signRequest(input.url!, input.body!, {
      keys: ses.credentials.parse(input) as Parameters<typeof signRequest>[2]["keys"],
      at,
    });
    expect(headers.authorization).toBe(authorization);
  });

  it("sends exactly the signed bytes", async () => {
    await send(ses, single({ subject: ["Grüße 東京"] }), { status: 200, body: "{}" });
    const { headers, body } = outside.requests[0]!;
    const date = headers["x-amz-date"]!.replace(
      /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/,
      "$1-$2-$3T$4:$5:$6Z",
    );
    const url = "https://email.us-east-1.amazonaws.com/v2/email/outbound-emails";
    const again = await signRequest(url, body.toString(), {
      keys: ses.credentials.parse(keys) as Parameters<typeof signRequest>[2]["keys"],
      at: new Date(date),
    });
    expect(headers).toMatchObject(again);
  });

  it.each([
    "evil.example.com/",
    "us-east-1.evil.example.com",
    "us-east-1#",
    "US-EAST-1",
    "us east-1",
  ])("rejects the region %s", (region) => {
    expect(ses.credentials.safeParse({ ...keys, region }).success).toBe(false);
  });

  it("converts domains to punycode and tags to its alphabet", async () => {
    await send(
      ses,
      single({ from: { email: "a@bücher.example", name: "Bücher" }, tags: ["Frühling 2026!"] }),
      { status: 200, body: "{}" },
    );
    expect(sentBody().FromEmailAddress).toBe("=?UTF-8?B?QsO8Y2hlcg==?= <a@xn--bcher-kva.example>");
    expect(sentBody().EmailTags).toEqual([
      { Name: "sendId", Value: "1" },
      { Name: "tag1", Value: "Fr_hling_2026_" },
    ]);
  });
});

describe("Postmark", () => {
  it("treats a mail of a batch without a result as uncertain", async () => {
    const results = [{ ErrorCode: 0, Message: "OK", MessageID: "m1" }];
    const outcomes = await send(postmark, mailing(), {
      status: 200,
      body: JSON.stringify(results),
    });
    expect(outcomes.map(({ status }) => status)).toEqual(["accepted", "uncertain"]);
  });

  it("reads each result of a batch by its own code", async () => {
    const results = [405, 100].map((ErrorCode) => ({ ErrorCode, Message: "no" }));
    const outcomes = await send(postmark, mailing(), {
      status: 200,
      body: JSON.stringify(results),
    });
    expect(outcomes).toMatchObject([
      { status: "held", why: "pace", retryAfterSeconds: 3600 },
      { status: "held", why: "fault" },
    ]);
  });

  it("sends a batch singly if it is larger than a request", () => {
    const attachments = [{ filename: "a.txt", type: "text/plain", content: "a".repeat(9_000_000) }];
    const recipients = Array.from({ length: 4 }, (_, n) => ({
      ...mailing().recipients[0]!,
      sendId: n + 1,
    }));
    expect(postmark.batch?.supports(mailing({ attachments }))).toBe(true);
    expect(postmark.batch?.supports(mailing({ attachments, recipients }))).toBe(false);
  });
});

describe("Mailgun", () => {
  it("sends no batch with one address in two spellings", () => {
    const recipients = mailing().recipients.map((recipient, n) => ({
      ...recipient,
      to: { email: n ? "ADA@example.net" : "ada@example.net" },
    }));
    expect(mailgun.batch?.supports(mailing())).toBe(true);
    expect(mailgun.batch?.supports(mailing({ recipients }))).toBe(false);
  });

  it.each(["a/../b.example.com", "example", "a.example.com?x", "a b.example.com"])(
    "rejects the domain %s",
    (domain) => {
      expect(mailgun.credentials.safeParse({ ...keys, domain, region: "eu" }).success).toBe(false);
    },
  );

  it("sends singly for an account that cannot send batches yet", async () => {
    const reply = {
      status: 403,
      body: JSON.stringify({ message: "Large batches are not allowed yet" }),
    };
    expect(await send(mailgun, mailing(), reply, { domain: "mg.example.com" })).toMatchObject([
      { why: "batch" },
      { why: "batch" },
    ]);
  });
});

describe("SparkPost", () => {
  it.each([
    ["a brace before a hole", ["{", 0]],
    ["a brace behind a hole", [0, "}"]],
    ["two braces", ["{{ a", 0]],
    ["two braces in two pieces", ["a {", "{ b", 0]],
  ])("does not send a batch with %s, which SparkPost would evaluate", (_, text) => {
    expect(sparkpost.batch?.supports(mailing({ text: ["a { b } }} c ", 0, " d"] }))).toBe(true);
    expect(sparkpost.batch?.supports(mailing({ text }))).toBe(false);
  });

  it("writes the protocol of a link that is one value, so that it is tracked", async () => {
    const html = ['<a href="', 0, '">'];
    await send(
      sparkpost,
      mailing({ html, recipients: valued("https://a.example/x", "https://b.example/") }),
      { status: 503 },
    );
    expect(sentBody().content.html).toBe('<a href="https://{{{v0}}}">');
    expect(
      sentBody().recipients.map(
        ({ substitution_data }: { substitution_data: object }) => substitution_data,
      ),
    ).toEqual([{ v0: "a.example/x" }, { v0: "b.example/" }]);
  });

  it("reads its counts: all rejected, or some of unknown recipients", async () => {
    const counts = (total_accepted_recipients: number, total_rejected_recipients: number) => ({
      status: 200,
      body: JSON.stringify({
        errors: [{ message: "transmission created, but with validation errors", code: "2000" }],
        results: {
          id: "1",
          total_accepted_recipients,
          total_rejected_recipients,
          rcpt_to_errors: [{ message: "invalid", description: "bad address", code: "1300" }],
        },
      }),
    });
    expect(await send(sparkpost, single(), counts(0, 1))).toEqual([
      { status: "refused", error: "invalid: bad address" },
    ]);
    expect(await send(sparkpost, mailing(), counts(0, 2))).toMatchObject([
      { why: "batch" },
      { why: "batch" },
    ]);
    expect(await send(sparkpost, mailing(), counts(1, 1))).toMatchObject([
      { status: "uncertain" },
      { status: "uncertain" },
    ]);
  });

  it("truncates a campaign's name to 64 bytes, between characters", async () => {
    await send(sparkpost, single({ tags: [`a${"é".repeat(40)}`] }), { status: 503 });
    expect(sentBody().campaign_id).toBe(`a${"é".repeat(31)}`);
  });
});

describe("a mailbox in one line", () => {
  it.each([
    [{ email: "a@example.com" }, "a@example.com"],
    [{ email: "a@example.com", name: "" }, "a@example.com"],
    [{ email: "a@example.com", name: 'Ada "L", \\' }, '"Ada \\"L\\", \\\\" <a@example.com>'],
    [
      { email: "a@example.com", name: "Ada\r\nBcc: x@example.com" },
      '"Ada Bcc: x@example.com" <a@example.com>',
    ],
  ])("%j is %s", (box, line) => {
    expect(formatMailbox(box)).toBe(line);
    expect(formatAsciiMailbox(box)).toBe(line);
  });

  it("has encoded words that are short, ASCII, and decode to the same text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 200 }), (name) => {
        const words = encodeWords(name).split(" ");
        for (const word of words) expect(word).toMatch(/^=\?UTF-8\?B\?[\w+/=]{0,60}\?=$/);
        const parts = words.map((word) => Buffer.from(word.slice(10, -2), "base64").toString());
        expect(parts.join("")).toBe(Buffer.from(name).toString());
      }),
    );
  });
});

describe("limits that are known before a mail is handed over", () => {
  const common = (changes: Partial<Commons> = {}): Commons => ({
    from: { email: "a@example.com" },
    headers: {},
    attachments: [],
    ...changes,
  });
  const header = (value: string) => common({ headers: { "X-A": value } });
  const many = (count: number) =>
    common({
      headers: Object.fromEntries(Array.from({ length: count }, (_, n) => [`X-${n}`, "a"])),
    });
  const file = (filename: string, size = 1) => common({ attachments: [{ filename, size }] });

  it.each<[string, ProviderAdapter, Commons, Commons, string]>([
    ["headers at Amazon SES", ses, many(15), many(16), "headers"],
    [
      "characters of a header at Amazon SES",
      ses,
      header("a".repeat(995)),
      header("a".repeat(996)),
      "headers.X-A",
    ],
    [
      "characters of an encoded header at Amazon SES",
      ses,
      header("é".repeat(280)),
      header("é".repeat(400)),
      "headers.X-A",
    ],
    [
      "bytes of all headers at Mailgun",
      mailgun,
      header("a".repeat(900)),
      header("a".repeat(14_000)),
      "headers",
    ],
    [
      "a header of Mailjet's own",
      mailjet,
      header("a"),
      common({ headers: { "X-Mailer": "a" } }),
      "headers.X-Mailer",
    ],
    [
      "the sender at Postmark",
      postmark,
      common({ from: { email: "a@example.com", name: "n".repeat(237) } }),
      common({ from: { email: "a@example.com", name: "n".repeat(238) } }),
      "fromName",
    ],
    [
      "attachments at Postmark",
      postmark,
      file("a.pdf", 7_000_000),
      file("a.pdf", 7_000_001),
      "attachments",
    ],
    [
      "bytes of a file name at SparkPost",
      sparkpost,
      file(`${"é".repeat(125)}.pdf`),
      file(`${"é".repeat(126)}.pdf`),
      "attachments.0.filename",
    ],
    ["types of files at Brevo", brevo, file("a.PDF"), file("a.exe"), "attachments.0.filename"],
    ["headers outside ASCII at Brevo", brevo, header("a"), header("é"), "headers.X-A"],
  ])("%s", (_, provider, fine, wrong, path) => {
    expect(commonFlaw(provider, fine)).toBeUndefined();
    expect(commonFlaw(provider, wrong)).toEqual({
      path,
      message: expect.stringContaining(provider.name),
    });
  });

  it("a rendered mail needs a body and a subject within the provider's limit", () => {
    const one = single().recipients[0]!;
    const flaw = (provider: ProviderAdapter, changes: Partial<Mailing>, values: string[] = []) =>
      recipientFlaw(provider, { ...single(), ...changes }, { ...one, values });
    expect(flaw(ses, {}, ["ada"])).toBeUndefined();
    expect(flaw(ses, { subject: [" ", 0] })).toBe("The subject renders empty");
    expect(flaw(ses, { text: [0], html: ["\n", 0] }, [" "])).toBe("The body renders empty");
    expect(flaw(ses, { text: [0], html: ["<p></p>"] })).toBeUndefined();
    expect(flaw(mailjet, { subject: ["é".repeat(200), 0] }, ["é".repeat(55)])).toBeUndefined();
    expect(flaw(mailjet, { subject: ["é".repeat(200), 0] }, ["é".repeat(56)])).toMatch(/255/);
  });

  it.each([ses, sendgrid])(
    "$name gets header values outside ASCII as encoded words",
    async (provider) => {
      await send(provider, single({ headers: { "X-A": "Grüße" } }), { status: 202 });
      expect(JSON.stringify(sentBody())).toContain("=?UTF-8?B?R3LDvMOfZQ==?=");
    },
  );
});
