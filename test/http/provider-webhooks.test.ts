import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Client, must } from "../support/client.ts";
import { contractProviders } from "../support/contract-providers.ts";
import { names } from "../support/fates.ts";
import { calls, mandrillSignature, secrets } from "../support/notices.ts";
import type { Received } from "../support/receiver.ts";
import { type Config, type Relay, relay } from "../support/relay.ts";
import type { Keys } from "../support/sandbox.ts";

interface Event {
  id: number;
  sendId: number;
  type: string;
  provider: string;
}
interface Send {
  id: number;
  status: string;
  events: Event[];
}

let there: Relay;
let client: Client;
let other: Client;
let account: Record<string, Keys>;
beforeAll(async () => {
  there = await relay({ LOG_LEVEL: "DEBUG" });
  [client, other, account] = await Promise.all([there.client(), there.client(), there.account()]);
});
afterAll(() => there.stop());

/** What each answers to a call that is not proven, so that it does not come again. */
const forged: Record<string, number> = { mailgun: 406 };
const forgedStatus = (key: string) => forged[key] ?? 401;

const sendOf = async ({ call }: Client, id: number) => must(200, await call<Send>("GET", `/sends/${id}`)).body.data;

async function heard(who: Client, id: number, n = 1): Promise<Send> {
  for (let waited = 0; waited < 10_000; waited += 50) {
    const send = await sendOf(who, id);
    if (send.events.length >= n) return send;
    await sleep(50);
  }
  throw new Error(`Send ${id} was never told of ${n} events`);
}

const total = async ({ call }: Client): Promise<number> =>
  must(200, await call<{ pagination: { total: number } }>("GET", "/events?limit=1")).body.data.pagination.total;

/** Looked at once all that is queued has been worked off. */
const inTheEnd: (() => Promise<void>)[] = [];

const withConfig = ({ url }: Received, id: number | string | undefined): URL => {
  const copy = new URL(url);
  copy.searchParams.delete("config_id");
  if (id !== undefined) copy.searchParams.set("config_id", String(id));
  return copy;
};

/** The same call as its provider would make it for another sending config of the same account. */
function passFor(call: Received, { id, key, webhookSecret }: Config, secret = webhookSecret): Promise<number> {
  const url = withConfig(call, id);
  return there.pass(call, { url, headers: key === "mandrill" ? mandrillSignature(url.href, call.body, secret) : {} });
}

/** One byte of what the provider proves: in its body or signature, or in the secret of the URL. */
function flipped({ url, headers, body }: Received): { url?: URL; body?: string; headers?: Record<string, string> } {
  const secret = url.searchParams.get("secret");
  const flip = (text: string) => text.slice(0, -1) + (text.endsWith("0") ? "1" : "0");
  if (secret !== null) {
    const copy = new URL(url);
    copy.searchParams.set("secret", flip(secret));
    return { url: copy };
  }
  const token = headers["x-messagesystems-webhook-token"];
  if (token !== undefined) return { headers: { "x-messagesystems-webhook-token": flip(token) } };
  return {
    body: body.includes('"signature"') ? body.replace(/("signature":\s*"\w{63})(\w)/, (_, head, last) => head + flip(last)) : `${body} `,
  };
}

describe.concurrent.each(contractProviders)("POST /webhooks/%s", (key) => {
  const name = (kind: string) => new RegExp(names[key]![kind]!.split(" ")[0]!);

  test("counts what its provider tells of a send, once however often it comes, and only what is proven", async () => {
    const config = await there.configured(client, key, account[key]!);
    const { id, call } = await there.told(client, config, `${key}-good@example.net`, name("delivered"));
    expect(await there.pass(call, flipped(call))).toBe(forgedStatus(key));
    expect(await Promise.all([1, 2, 3].map(() => there.pass(call)))).toEqual([200, 200, 200]);
    const send = await heard(client, id);
    expect(await there.pass(call)).toBe(200);
    inTheEnd.push(async () => expect(await sendOf(client, id)).toEqual(send));
    expect(send).toMatchObject({ status: "delivered", events: [{ sendId: id, type: "delivered", provider: key }] });
    const { events } = must(200, await client.call<{ events: Event[] }>("GET", "/events?limit=100")).body.data;
    expect(events.filter(({ sendId }) => sendId === id)).toEqual(send.events);
  });

  test("answers 404 to unknown configs and to those of other providers, and 400 where none is named", async () => {
    const stranger = contractProviders[(contractProviders.indexOf(key) + 1) % contractProviders.length]!;
    const [config, strange] = await Promise.all([
      there.configured(client, key, account[key]!),
      there.configured(client, stranger, account[stranger]!),
    ]);
    const { call } = await there.told(client, config, `${key}-lost@example.net`, name("delivered"));
    expect(await passFor(call, { ...config, id: 999_999_999 })).toBe(404);
    expect(await passFor(call, { ...config, id: strange.id })).toBe(404);
    expect(await there.pass(call, { url: withConfig(call, undefined) })).toBe(400);
    expect(await there.pass(call, { url: withConfig(call, "seven") })).toBe(400);
  });

  test("takes nothing as proven for a config without a secret, or with another one", async () => {
    const [config, secretless, another] = await Promise.all([
      there.configured(client, key, account[key]!),
      there.configured(client, key, account[key]!, null),
      there.configured(client, key, account[key]!, key === "resend" ? "whsec_YW5vdGhlcg==" : "another secret"),
    ]);
    const { id, call } = await there.told(client, config, `${key}-forged@example.net`, name("delivered"));
    expect(await passFor(call, secretless, config.webhookSecret)).toBe(forgedStatus(key));
    expect(await passFor(call, another, config.webhookSecret)).toBe(forgedStatus(key));
    const bare = new URL(call.url);
    bare.searchParams.delete("secret");
    const unsigned = Object.fromEntries(Object.keys(call.headers).flatMap((name) => (/signature|token/.test(name) ? [[name, ""]] : [])));
    if (key !== "mailgun") expect(await there.pass(call, { url: bare, headers: unsigned })).toBe(forgedStatus(key));
    inTheEnd.push(async () => expect(await sendOf(client, id)).toMatchObject({ events: [] }));
  });

  test("changes nothing of another organization's send, however well it is proven", async () => {
    const [config, theirs] = await Promise.all([there.configured(client, key, account[key]!), there.configured(other, key, account[key]!)]);
    const { id, call } = await there.told(client, config, `bounced+${key}@simulator.pennymail.test`, name("bounced"));
    expect(await passFor(call, theirs)).toBe(200);
    inTheEnd.push(async () => {
      expect(await sendOf(client, id)).toMatchObject({ status: "sent", events: [] });
      expect(await total(other)).toBe(0);
    });
  });

  test("answers HEAD with 200: providers try a URL before they use it", async () => {
    const answer = await fetch(`${there.service.url}/api/v1/webhooks/${key}?config_id=1`, { method: "HEAD" });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe("");
  });
});

test("SES is heard once its topic's subscription was confirmed, and from no other topic", async () => {
  const strangers = await there.account();
  const [config, strange] = await Promise.all([
    there.configured(client, "ses", account.ses!),
    there.configured(client, "ses", strangers.ses!),
  ]);
  // The sandbox posts events to confirmed subscriptions only.
  const mine = await there.told(client, config, "topic@example.net", /Delivery/);
  const theirs = await there.told(client, strange, "topic@example.net", /Delivery/);
  expect(await there.pass(mine.call)).toBe(200);
  expect(await there.pass(theirs.call, { url: config.hook })).toBe(401);
  expect(await there.pass(theirs.call)).toBe(200);
});

describe("a call with several events", () => {
  const json = (rows: unknown[]) => JSON.stringify(rows);
  const rowsOf: Record<string, (body: string) => unknown[]> = {
    mandrill: (body) => JSON.parse(new URLSearchParams(body).get("mandrill_events")!),
  };
  const bodyOf: Record<string, (rows: unknown[]) => string> = {
    mandrill: (rows) => new URLSearchParams({ mandrill_events: json(rows) }).toString(),
  };
  const nonsense = [null, 7, "delivered", [], {}, { event: "delivered" }, { event: "constructor", email: 1, msys: { message_event: [] } }];

  test.concurrent.each(["sendgrid", "sparkpost", "brevo", "mailjet", "mandrill"])(
    "of %s keeps the good ones among bad ones",
    async (key) => {
      // SendGrid's are signed over the body: here by a key of ours.
      const secret = key === "sendgrid" ? secrets.sendgrid! : account[key]!.webhookSecret;
      const config = await there.configured(client, key, account[key]!, secret);
      const told = await Promise.all(
        [1, 2].map((n) => there.told(client, config, `${key}-batch${n}@example.net`, new RegExp(names[key]!.delivered!))),
      );
      const rows = told.flatMap(({ call: { body } }) => (rowsOf[key] ?? ((text) => [JSON.parse(text)].flat()))(body));
      const mixed = [...nonsense.slice(0, 3), rows[0], ...nonsense.slice(3), ...rows.slice(1), null];
      const body = (bodyOf[key] ?? json)(mixed);
      const { call } = told[0]!;
      const signatures: Record<string, () => Record<string, string>> = {
        mandrill: () => mandrillSignature(call.url.href, body, secret),
        sendgrid: () => calls.sendgrid!(mixed, new Date()).headers as Record<string, string>,
      };
      expect(await there.pass(call, { body, headers: signatures[key]?.() ?? {} })).toBe(200);
      for (const { id } of told) expect(await heard(client, id)).toMatchObject({ status: "delivered", events: [{ type: "delivered" }] });
    },
  );
});

test("nothing else comes of all that once it is worked off", async () => {
  const settled = await fetch(`${there.service.url}/_local/settle`, { method: "POST", body: "{}" });
  expect(await settled.json()).toMatchObject({ data: { dead: 0 } });
  expect(inTheEnd).toHaveLength(3 * contractProviders.length);
  for (const look of inTheEnd) await look();
});

test("no secret and no query string ever reaches a log, at any level and whatever the answer", () => {
  const output = there.service.output();
  expect(contractProviders.filter((key) => !output.includes(`POST /api/v1/webhooks/${key}`))).toEqual([]);
  const known = [...Object.values(account).map(({ webhookSecret }) => webhookSecret), secrets.sendgrid!, "another secret", "whsec_"];
  const wanted = [...known, ...known.map(encodeURIComponent), "secret=", "config_id=", "@example.net"];
  expect(wanted.filter((text) => output.includes(text))).toEqual([]);
});
