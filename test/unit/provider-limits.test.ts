// What is particular to single providers, beyond what all ten promise (providers.test.ts).
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { asciiMailbox, encodedWords, mailbox } from "../../shared/providers/addresses.ts";
import { mailgun } from "../../shared/providers/mailgun.ts";
import { postmark } from "../../shared/providers/postmark.ts";
import type { Mailing, Outcome, Provider } from "../../shared/providers/provider.ts";
import { sendgrid } from "../../shared/providers/sendgrid.ts";
import { ses, signed } from "../../shared/providers/ses.ts";
import { sparkpost } from "../../shared/providers/sparkpost.ts";
import { type Behaviour, listen, type Outside } from "../support/wires/server.ts";

const mailing = (changes: Partial<Mailing> = {}): Mailing => ({
  from: { email: "news@example.com" },
  subject: ["Hi ", 0],
  text: ["Hi ", 0],
  headers: {},
  tags: [],
  attachments: [],
  recipients: ["ada", "ben"].map((name, n) => ({ sendId: n + 1, to: { email: `${name}@example.net` }, values: [name], headers: {} })),
  ...changes,
});
const single = (changes: Partial<Mailing> = {}): Mailing => ({ ...mailing(changes), recipients: mailing(changes).recipients.slice(0, 1) });
const valued = (...values: string[]) => mailing().recipients.map((recipient, n) => ({ ...recipient, values: [values[n] ?? ""] }));

let outside: Outside;
beforeAll(async () => {
  outside = await listen();
});
afterAll(() => outside.close());
beforeEach(() => {
  outside.requests.length = 0;
  for (const { key } of [sendgrid, ses, postmark, mailgun, sparkpost]) vi.stubEnv(`PROVIDER_URL_${key.toUpperCase()}`, outside.origin);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

const keys: Record<string, string> = {
  apiKey: "example-key",
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "example-secret",
  region: "us-east-1",
};

function send(provider: Provider, sent: Mailing, behaviour: Behaviour, credentials: Record<string, string> = {}): Promise<Outcome[]> {
  outside.answer(behaviour);
  const own = Object.keys(provider.credentials.shape).filter((field) => keys[field] && (field !== "region" || provider.key === "ses"));
  const all = { ...Object.fromEntries(own.map((field) => [field, keys[field]])), ...credentials };
  return provider.send({ mailing: sent, credentials: provider.credentials.parse(all), idempotencyKey: "k" });
}
const asked = () => JSON.parse(outside.requests[0]!.body.toString());

it.each<[Provider, Record<string, string>, string]>([
  [sendgrid, {}, "https://api.sendgrid.com/v3/mail/send"],
  [sendgrid, { region: "eu" }, "https://api.eu.sendgrid.com/v3/mail/send"],
  [ses, {}, "https://email.us-east-1.amazonaws.com/v2/email/outbound-emails"],
  [ses, { region: "us-gov-west-1" }, "https://email.us-gov-west-1.amazonaws.com/v2/email/outbound-emails"],
  [ses, { region: "cn-north-1" }, "https://email.cn-north-1.amazonaws.com.cn/v2/email/outbound-emails"],
  [postmark, {}, "https://api.postmarkapp.com/email"],
  [mailgun, { domain: "MG.example.com" }, "https://api.mailgun.net/v3/mg.example.com/messages"],
  [mailgun, { domain: "mg.example.com", region: "eu" }, "https://api.eu.mailgun.net/v3/mg.example.com/messages"],
  [sparkpost, {}, "https://api.sparkpost.com/api/v1/transmissions"],
  [sparkpost, { region: "eu" }, "https://api.eu.sparkpost.com/api/v1/transmissions"],
])("$key with %j is called at its own host", async (provider, credentials, url) => {
  vi.unstubAllEnvs();
  const urls: unknown[] = [];
  vi.stubGlobal("fetch", async (called: unknown) => {
    urls.push(called);
    return new Response("", { status: 503 });
  });
  await send(provider, single(), { status: 503 }, credentials);
  expect(urls).toEqual([url]);
});

describe("SendGrid", () => {
  it("substitutions of more than it takes for one recipient go singly", () => {
    expect(sendgrid.batch?.takes(mailing({ recipients: valued("x".repeat(8_000)) }))).toBe(true);
    expect(sendgrid.batch?.takes(mailing({ recipients: valued("x".repeat(8_001)) }))).toBe(false);
    expect(sendgrid.batch?.takes(mailing({ text: Array.from({ length: 51 }, (_, n) => n) }))).toBe(false);
  });

  it("a word that a text or a value holds is not made a placeholder", async () => {
    await send(sendgrid, mailing({ text: ["pm0 ", 0], recipients: valued("pm1", "pm2") }), { status: 202 });
    expect(asked().personalizations[0].substitutions).toEqual({ "-pm3.0-": "pm1" });
  });

  it("file names are made ASCII, for others arrive garbled", async () => {
    const attachments = ["Übersicht é.pdf", "東京.pdf"].map((filename) => ({ filename, type: "application/pdf", content: "aGk=" }));
    await send(sendgrid, single({ attachments }), { status: 202 });
    expect(asked().attachments.map(({ filename }: { filename: string }) => filename)).toEqual(["Ubersicht e.pdf", "__.pdf"]);
  });

  it("of many tags it gets ten, none of them twice", async () => {
    await send(sendgrid, single({ tags: ["a", "a", ..."bcdefghijkl", "x".repeat(300)] }), { status: 202 });
    expect(asked().categories).toEqual([..."abcdefghij"]);
  });
});

describe("Amazon SES", () => {
  const vectors: { name: string; input: Record<string, string>; authorization: string }[] = JSON.parse(
    readFileSync(new URL("../fixtures/providers/ses/sigv4.json", import.meta.url), "utf8"),
  );

  it.each(vectors)("signs as AWS does: $name", async ({ input, authorization }) => {
    const at = new Date(input.amzDate!.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
    const headers = await signed(input.url!, input.body!, ses.credentials.parse(input) as Parameters<typeof signed>[2], at);
    expect(headers.authorization).toBe(authorization);
  });

  it("what goes out is what was signed, to the byte", async () => {
    await send(ses, single({ subject: ["Grüße 東京"] }), { status: 200, body: "{}" });
    const { headers, body } = outside.requests[0]!;
    const date = headers["x-amz-date"]!.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z");
    const url = "https://email.us-east-1.amazonaws.com/v2/email/outbound-emails";
    const again = await signed(url, body.toString(), ses.credentials.parse(keys) as Parameters<typeof signed>[2], new Date(date));
    expect(headers).toMatchObject(again);
  });

  it.each(["evil.example.com/", "us-east-1.evil.example.com", "us-east-1#", "US-EAST-1", "us east-1"])(
    "the region %s is none",
    (region) => {
      expect(ses.credentials.safeParse({ ...keys, region }).success).toBe(false);
    },
  );

  it("domains become punycode and tags its alphabet", async () => {
    await send(ses, single({ from: { email: "a@bücher.example", name: "Bücher" }, tags: ["Frühling 2026!"] }), { status: 200, body: "{}" });
    expect(asked().FromEmailAddress).toBe("=?UTF-8?B?QsO8Y2hlcg==?= <a@xn--bcher-kva.example>");
    expect(asked().EmailTags).toEqual([
      { Name: "sendId", Value: "1" },
      { Name: "tag1", Value: "Fr_hling_2026_" },
    ]);
  });
});

describe("Postmark", () => {
  it("a mail of a batch that no result tells of is uncertain", async () => {
    const results = [{ ErrorCode: 0, Message: "OK", MessageID: "m1" }];
    const outcomes = await send(postmark, mailing(), { status: 200, body: JSON.stringify(results) });
    expect(outcomes.map(({ status }) => status)).toEqual(["accepted", "uncertain"]);
  });

  it("each result of a batch is judged by its own code", async () => {
    const results = [405, 100].map((ErrorCode) => ({ ErrorCode, Message: "no" }));
    const outcomes = await send(postmark, mailing(), { status: 200, body: JSON.stringify(results) });
    expect(outcomes).toMatchObject([
      { status: "held", why: "pace", retryAfterSeconds: 3600 },
      { status: "held", why: "fault" },
    ]);
  });

  it("a batch larger than its request may be goes singly", () => {
    const attachments = [{ filename: "a.txt", type: "text/plain", content: "a".repeat(9_000_000) }];
    const recipients = Array.from({ length: 4 }, (_, n) => ({ ...mailing().recipients[0]!, sendId: n + 1 }));
    expect(postmark.batch?.takes(mailing({ attachments }))).toBe(true);
    expect(postmark.batch?.takes(mailing({ attachments, recipients }))).toBe(false);
  });
});

describe("Mailgun", () => {
  it("one address in two spellings is not taken as a batch, for it knows recipients by address", () => {
    const recipients = mailing().recipients.map((recipient, n) => ({
      ...recipient,
      to: { email: n ? "ADA@example.net" : "ada@example.net" },
    }));
    expect(mailgun.batch?.takes(mailing())).toBe(true);
    expect(mailgun.batch?.takes(mailing({ recipients }))).toBe(false);
  });

  it.each(["a/../b.example.com", "example", "a.example.com?x", "a b.example.com"])("the domain %s is none", (domain) => {
    expect(mailgun.credentials.safeParse({ ...keys, domain, region: "eu" }).success).toBe(false);
  });

  it("an account that may not send batches yet gets the mails singly", async () => {
    const reply = { status: 403, body: JSON.stringify({ message: "Large batches are not allowed yet" }) };
    expect(await send(mailgun, mailing(), reply, { domain: "mg.example.com" })).toMatchObject([{ why: "batch" }, { why: "batch" }]);
  });
});

describe("SparkPost", () => {
  it.each([
    ["a brace before a hole", ["{", 0]],
    ["a brace behind a hole", [0, "}"]],
    ["two braces", ["{{ a", 0]],
    ["two braces in two pieces", ["a {", "{ b", 0]],
  ])("%s would be evaluated, and goes singly", (_, text) => {
    expect(sparkpost.batch?.takes(mailing({ text: ["a { b } }} c ", 0, " d"] }))).toBe(true);
    expect(sparkpost.batch?.takes(mailing({ text }))).toBe(false);
  });

  it("a link that is all value shows its protocol, so that it is tracked", async () => {
    const html = ['<a href="', 0, '">'];
    await send(sparkpost, mailing({ html, recipients: valued("https://a.example/x", "https://b.example/") }), { status: 503 });
    expect(asked().content.html).toBe('<a href="https://{{{v0}}}">');
    expect(asked().recipients.map(({ substitution_data }: { substitution_data: object }) => substitution_data)).toEqual([
      { v0: "a.example/x" },
      { v0: "b.example/" },
    ]);
  });

  it("its counts are read: all rejected, or some without saying who", async () => {
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
    expect(await send(sparkpost, single(), counts(0, 1))).toEqual([{ status: "refused", error: "invalid: bad address" }]);
    expect(await send(sparkpost, mailing(), counts(0, 2))).toMatchObject([{ why: "batch" }, { why: "batch" }]);
    expect(await send(sparkpost, mailing(), counts(1, 1))).toMatchObject([{ status: "uncertain" }, { status: "uncertain" }]);
  });

  it("a campaign's name is cut to 64 bytes, between characters", async () => {
    await send(sparkpost, single({ tags: [`a${"é".repeat(40)}`] }), { status: 503 });
    expect(asked().campaign_id).toBe(`a${"é".repeat(31)}`);
  });
});

describe("a mailbox in one line", () => {
  it.each([
    [{ email: "a@example.com" }, "a@example.com"],
    [{ email: "a@example.com", name: "" }, "a@example.com"],
    [{ email: "a@example.com", name: 'Ada "L", \\' }, '"Ada \\"L\\", \\\\" <a@example.com>'],
    [{ email: "a@example.com", name: "Ada\r\nBcc: x@example.com" }, '"Ada Bcc: x@example.com" <a@example.com>'],
  ])("%j is %s", (box, line) => {
    expect(mailbox(box)).toBe(line);
    expect(asciiMailbox(box)).toBe(line);
  });

  it("encoded words are short, ASCII, whole characters, and say the same", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 200 }), (name) => {
        const words = encodedWords(name).split(" ");
        for (const word of words) expect(word).toMatch(/^=\?UTF-8\?B\?[\w+/=]{0,60}\?=$/);
        const parts = words.map((word) => Buffer.from(word.slice(10, -2), "base64").toString());
        expect(parts.join("")).toBe(Buffer.from(name).toString());
      }),
    );
  });
});
