// The adapters look for mails by our send id in the provider sandbox, whose searches have the delay
// of the real ones.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as z from "zod";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import * as clock from "../../shared/clock.ts";
import type { LookUpOutcome, ProviderAdapter } from "../../shared/providers/provider-adapter.ts";
import { providers } from "../../shared/providers/registry.ts";
import { startRecordingServer } from "../support/provider-apis/recording-server.ts";
import {
  createAccount,
  handOver,
  mailing,
  type ProviderKeys,
  recipient,
  startSandbox,
  useSandbox,
} from "../support/provider-sandbox.ts";

let sandbox: Sandbox;
let keys: Record<string, ProviderKeys>;

beforeAll(async () => {
  sandbox = await startSandbox();
  useSandbox(sandbox);
  keys = await createAccount(sandbox);
});
afterAll(() => sandbox.stop());

const askable = providers.filter(({ lookUp }) => lookUp);

test("nine providers have a search that knows our ids, and two of them prove that a mail is missing", () => {
  expect(askable.map(({ key }) => key).toSorted()).toEqual([
    "brevo",
    "mailgun",
    "mailjet",
    "mandrill",
    "postmark",
    "resend",
    "sendgrid",
    "smtp2go",
    "sparkpost",
  ]);
  const proving = askable.filter(({ lookUp }) => lookUp!.missing);
  expect(proving.map(({ key }) => key).toSorted()).toEqual(["mailgun", "sparkpost"]);
});

const find = (
  provider: ProviderAdapter,
  mails: { sendId: number; to: string }[],
  credentials = keys[provider.key]!.credentials,
): Promise<LookUpOutcome[]> =>
  provider.lookUp!.find({
    mails,
    since: clock.addSeconds(-3600),
    credentials: provider.credentials.parse(credentials) as z.output<typeof provider.credentials>,
  });

/** The search for send 7 gets this reply. */
async function findInReply(
  provider: ProviderAdapter,
  { status = 200, body, to = "ada@example.net" }: { status?: number; body: string; to?: string },
) {
  const server = await startRecordingServer();
  server.setReply({ status, headers: { "content-type": "application/json" }, body });
  const variable = `PROVIDER_URL_${provider.key.toUpperCase()}`;
  const before = process.env[variable];
  process.env[variable] = server.origin;
  const [outcome] = await find(provider, [{ sendId: 7, to }]).finally(() => {
    process.env[variable] = before;
  });
  await server.close();
  return { outcome, requests: server.requests };
}

const findIn = async (key: string, answer: object): Promise<LookUpOutcome | undefined> => {
  const provider = askable.find((one) => one.key === key)!;
  return (await findInReply(provider, { body: JSON.stringify(answer) })).outcome;
};

const toTime = (minutesAgo: number) => clock.addSeconds(-60 * minutesAgo).toISOString();

describe.each([
  [
    "mailjet",
    (to: string, at: string) => ({
      Data: [{ ArrivedAt: at, ContactAlt: to, CustomID: "7", UUID: "u" }],
    }),
  ],
  [
    "sendgrid",
    (to: string, at: string) => ({
      messages: [{ msg_id: "u.1", to_email: to, last_event_time: at }],
    }),
  ],
] as const)("%s", (key, answer) => {
  test("has a mail with our id, recipient and time", async () => {
    expect(await findIn(key, answer("Ada@example.net", toTime(1)))).toEqual({
      status: "found",
      messageId: "u",
    });
  });

  test("may have a mail of another installation with the same id", async () => {
    expect(await findIn(key, answer("bob@example.net", toTime(1)))).toMatchObject({
      status: "unknown",
    });
    expect(await findIn(key, answer("ada@example.net", toTime(90)))).toMatchObject({
      status: "unknown",
    });
  });
});

const brevoMail = (to: string, at: string, tags = ["spring", "pennymail-5-9"]) => ({
  date: at,
  email: to,
  messageId: "u",
  tags,
});
const smtp2goEvent = (to: string, at: string, headers: object = { "x-send-id": "7" }) => ({
  date: at,
  recipient: to,
  email_id: "u",
  custom_headers: headers,
});

describe.each([
  ["brevo", (to: string, at: string) => ({ count: 1, transactionalEmails: [brevoMail(to, at)] })],
  ["smtp2go", (to: string, at: string) => ({ data: { events: [smtp2goEvent(to, at)] } })],
] as const)("%s", (key, answer) => {
  test("has a mail with our id, recipient and time", async () => {
    const found = { status: "found", messageId: "u" };
    expect(await findIn(key, answer("Ada@example.net", toTime(1)))).toEqual(found);
    for (const other of [
      answer("bob@example.net", toTime(1)),
      answer("ada@example.net", toTime(90)),
    ])
      expect(await findIn(key, other)).toEqual({ status: "missing" });
  });
});

describe("Brevo", () => {
  const brevo = askable.find(({ key }) => key === "brevo")!;
  const list = (...tags: string[][]) => ({
    count: tags.length,
    transactionalEmails: tags.map((own) => brevoMail("ada@example.net", toTime(1), own)),
  });

  test.each([
    ["one mail", [7], ["spring", "pennymail-7"]],
    ["a batch", [9, 7, 8], ["spring", "pennymail-7-9"]],
    ["a batch with a gap", [6, 7, 9], ["spring", "pennymail-6-7", "pennymail-9"]],
    ["a batch with too many gaps", Array.from({ length: 11 }, (_, n) => 2 * n + 1), ["spring"]],
  ])("gets the ids of %s as tags", async (_, sendIds, tags) => {
    const server = await startRecordingServer();
    server.setReply({ status: 201, headers: {}, body: "{}" });
    const before = process.env.PROVIDER_URL_BREVO;
    process.env.PROVIDER_URL_BREVO = server.origin;
    const recipients = sendIds.map((sendId) => ({ ...recipient("ada@example.net"), sendId }));
    const sent = { ...mailing(recipients), tags: ["spring"] };
    await handOver(brevo, keys.brevo!.credentials, sent, "key-of-tags").finally(() => {
      process.env.PROVIDER_URL_BREVO = before;
    });
    await server.close();
    expect(JSON.parse(String(server.requests[0]!.body)).tags).toEqual(tags);
  });

  test("has a mail if one of its tags contains the id, and other mails are not ours", async () => {
    const found = { status: "found", messageId: "u" };
    for (const tag of ["pennymail-7", "pennymail-1-7", "pennymail-7-12"])
      expect(await findIn("brevo", list(["spring"], [tag]))).toEqual(found);
    for (const tag of ["pennymail-70", "pennymail-8-12", "xpennymail-7", "pennymail-7-x", "7"])
      expect(await findIn("brevo", list([tag]))).toEqual({ status: "missing" });
    expect(await findIn("brevo", { count: 0 })).toEqual({ status: "missing" });
    expect(await findIn("brevo", { ...list(["spring"]), count: 501 })).toMatchObject({
      status: "unknown",
    });
  });

  test("does not tell which of two mails of one call to an address is meant", async () => {
    expect(await findIn("brevo", list(["pennymail-6-7"], ["pennymail-6-7"]))).toEqual({
      status: "found",
    });
  });
});

describe("Resend", () => {
  const resend = askable.find(({ key }) => key === "resend")!;
  const at = toTime(1);
  const entry = (to: string, created_at = at) => ({ id: "u", to: [to], created_at });
  const seek = (data: object[], has_more: boolean, tags?: object[]) =>
    findInReply(resend, { body: JSON.stringify({ has_more, data, tags }) });
  const ours = [{ name: "send_id", value: "7" }];

  test("is asked for the tags of mails to the address", async () => {
    const { outcome, requests } = await seek(
      [entry("bob@example.net"), entry("Ada <Ada@example.net>")],
      false,
      ours,
    );
    expect(outcome).toEqual({ status: "found", messageId: "u" });
    expect(requests.map(({ path }) => path)).toEqual(["/emails?limit=100", "/emails/u"]);
  });

  test("is asked for 5 pages and 10 mails at most, and not for mails before the hand-over", async () => {
    const many = await seek(Array(7).fill(entry("ada@example.net")), true, []);
    expect(many.outcome).toMatchObject({ status: "unknown" });
    expect(many.requests.filter(({ path }) => path === "/emails/u")).toHaveLength(10);
    const pages = many.requests.filter(({ path }) => path.startsWith("/emails?"));
    expect(pages.map(({ path }) => path).slice(1)).toEqual(
      Array(4).fill("/emails?limit=100&after=u"),
    );
    const old = await seek([entry("ada@example.net", toTime(90))], true, ours);
    expect(old.outcome).toEqual({ status: "missing" });
    expect(old.requests).toHaveLength(1);
  });
});

const mailgunEvent = (event: string, more: object = {}) => ({
  event,
  "user-variables": { sendId: "7" },
  message: { headers: { "message-id": "u" } },
  ...more,
});
const sparkPostEvent = (type: string, more: object = {}) => ({
  type,
  rcpt_meta: { sendId: "7" },
  transmission_id: "u",
  ...more,
});

describe("a mail that the provider refused", () => {
  const rejected = mailgunEvent("rejected", { reject: { reason: "Sandbox subdomains" } });
  const notAllowed = sparkPostEvent("policy_rejection", { reason: "550 Not allowed" });

  test("is not found", async () => {
    expect(await findIn("mailgun", { items: [rejected] })).toEqual({
      status: "refused",
      error: "Rejected: Sandbox subdomains",
    });
    for (const type of ["policy_rejection", "generation_failure", "generation_rejection"])
      expect(await findIn("sparkpost", { results: [{ ...notAllowed, type }] })).toEqual({
        status: "refused",
        error: `${type}: 550 Not allowed`,
      });
    const message = { _id: "u", metadata: { sendId: "7" }, state: "rejected" };
    expect(await findIn("mandrill", [message])).toEqual({
      status: "refused",
      error: "Mandrill rejected the mail",
    });
    const sent = [message, { ...message, state: "sent" }];
    expect(await findIn("mandrill", sent)).toMatchObject({ status: "found" });
  });

  test("is found if the provider accepted it, too", async () => {
    const found = { status: "found", messageId: "u" };
    expect(await findIn("mailgun", { items: [rejected, mailgunEvent("accepted")] })).toEqual(found);
    expect(
      await findIn("sparkpost", { results: [notAllowed, sparkPostEvent("injection")] }),
    ).toEqual(found);
  });
});

describe("a page of Mailgun", () => {
  const mailgun = askable.find(({ key }) => key === "mailgun")!;
  const other = { ...mailgunEvent("accepted"), "user-variables": { sendId: "8" } };
  const next = "https://api.mailgun.net/v3/any.example/events/next-page";

  test("with few mails has a successor, and an endless search is not complete", async () => {
    const body = JSON.stringify({ items: [other], paging: { next } });
    const { outcome, requests } = await findInReply(mailgun, { body });
    expect(outcome).toMatchObject({ status: "unknown" });
    expect(requests).toHaveLength(5);
    expect(requests.slice(1).every(({ path }) => path.endsWith("/events/next-page"))).toBe(true);
  });

  test("without mails is the last one", async () => {
    const body = JSON.stringify({ items: [], paging: { next } });
    expect((await findInReply(mailgun, { body })).outcome).toEqual({ status: "missing" });
  });

  test("is asked for the address as written and in lower case", async () => {
    const to = "Ada@Example.net";
    const { requests } = await findInReply(mailgun, { to, body: '{"items":[]}' });
    const query = new URL(requests[0]!.path, "http://any").searchParams;
    expect(query.get("recipient")).toBe("Ada@Example.net OR ada@example.net");
  });
});

describe.each(askable)("$name", (provider) => {
  test("finds a mail with the message id of its events, and misses a mail that was never sent", async () => {
    const one = recipient(`found+${provider.key}@example.net`);
    const [outcome] = await handOver(
      provider,
      keys[provider.key]!.credentials,
      mailing([one]),
      `key-${provider.key}`,
    );
    expect(outcome).toMatchObject({ status: "accepted" });
    const { messageId } = outcome as { messageId?: string };
    const sought = { sendId: one.sendId, to: one.to.email };
    expect(await find(provider, [sought])).toEqual([{ status: "missing" }]);
    clock.advanceClock(120);
    expect(await find(provider, [sought])).toEqual([{ status: "found", messageId }]);
    const other = { sendId: 1, to: one.to.email };
    expect(await find(provider, [other])).toEqual([{ status: "missing" }]);
    if (provider.lookUp!.max > 1)
      expect(await find(provider, [other, sought])).toEqual([
        { status: "missing" },
        { status: "found", messageId },
      ]);
  });

  test.each([
    ["the plan or the key does not permit the search", 401, "{}"],
    ["the search does not exist", 404, "{}"],
    ["the provider fails", 500, "{}"],
    ["the response is a web page", 200, "<html></html>"],
    ["the response is of another kind", 200, '{"hello":1}'],
  ])("does not know of a mail when %s", async (_, status, body) => {
    const { outcome } = await findInReply(provider, { status, body });
    expect(outcome).toMatchObject({ status: "unknown" });
    for (const secret of Object.values(keys[provider.key]!.credentials))
      expect(JSON.stringify(outcome)).not.toContain(secret);
  });
});
