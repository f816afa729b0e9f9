import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { expectStatus, type TestClient } from "../support/api-client.ts";
import { eventNamesByProvider } from "../support/provider-event-names.ts";
import { providerKeysInOrder } from "../support/provider-keys.ts";
import type { ProviderKeys } from "../support/provider-sandbox.ts";
import {
  mandrillSignatureHeader,
  signByProvider,
  webhookSecrets,
} from "../support/signed-provider-webhooks.ts";
import { waitFor } from "../support/wait-for.ts";
import type { ReceivedWebhook } from "../support/webhook-receiver.ts";
import { type RelayedConfig, startRelay, type WebhookRelay } from "../support/webhook-relay.ts";

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

let relay: WebhookRelay;
let client: TestClient;
let other: TestClient;
let account: Record<string, ProviderKeys>;
beforeAll(async () => {
  relay = await startRelay({ LOG_LEVEL: "DEBUG" });
  [client, other, account] = await Promise.all([relay.client(), relay.client(), relay.account()]);
});
afterAll(() => relay.stop());

/** Providers with a native signature or token. Their events can tell the sending config. */
const signing = ["sendgrid", "mailgun", "sparkpost", "mandrill", "resend"];

/** The status that makes a provider stop retrying a request that cannot be verified. */
const forged: Record<string, number> = { mailgun: 406 };
const forgedStatus = (key: string) => forged[key] ?? 401;

const sendOf = async ({ call }: TestClient, id: number) =>
  expectStatus(200, await call<Send>("GET", `/sends/${id}`)).body.data;

async function waitForEvents(owner: TestClient, id: number, n = 1): Promise<Send> {
  return waitFor(async () => {
    const send = await sendOf(owner, id);
    expect(send.events.length).toBeGreaterThanOrEqual(n);
    return send;
  });
}

const total = async ({ call }: TestClient): Promise<number> =>
  expectStatus(200, await call<{ pagination: { total: number } }>("GET", "/events?limit=1")).body
    .data.pagination.total;

/** Checks that run after all queued messages are processed. */
const finalChecks: (() => Promise<void>)[] = [];

const withConfig = ({ url }: ReceivedWebhook, id: number | string | undefined): URL => {
  const copy = new URL(url);
  copy.searchParams.delete("config_id");
  if (id !== undefined) copy.searchParams.set("config_id", String(id));
  return copy;
};

/** Forwards the request as the provider would make it for another sending config. */
function forwardFor(
  call: ReceivedWebhook,
  { id, key, webhookSecret }: Omit<RelayedConfig, "id"> & { id: number | undefined },
  secret = webhookSecret,
): Promise<number> {
  const url = withConfig(call, id);
  return relay.forward(call, {
    url,
    headers: key === "mandrill" ? mandrillSignatureHeader(url.href, call.body, secret) : {},
  });
}

/** Changes one byte of the body or signature, or of the secret in the URL. */
function flipOneByte({ url, headers, body }: ReceivedWebhook): {
  url?: URL;
  body?: string;
  headers?: Record<string, string>;
} {
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
    body: body.includes('"signature"')
      ? body.replace(/("signature":\s*"\w{63})(\w)/, (_, head, last) => head + flip(last))
      : `${body} `,
  };
}

describe.concurrent.each(providerKeysInOrder)("POST /webhooks/%s", (key) => {
  const name = (kind: string) => new RegExp(eventNamesByProvider[key]![kind]!.split(" ")[0]!);

  test("counts a verified event once, however often it is sent, and rejects a forged one", async () => {
    const config = await relay.createConfig(client, key, account[key]!);
    const { id, call } = await relay.sendAndAwaitEvent(
      client,
      config,
      `${key}-good@example.net`,
      name("delivered"),
    );
    expect(await relay.forward(call, flipOneByte(call))).toBe(forgedStatus(key));
    expect(await Promise.all([1, 2, 3].map(() => relay.forward(call)))).toEqual([200, 200, 200]);
    const send = await waitForEvents(client, id);
    expect(await relay.forward(call)).toBe(200);
    finalChecks.push(async () => expect(await sendOf(client, id)).toEqual(send));
    expect(send).toMatchObject({
      status: "delivered",
      events: [{ sendId: id, type: "delivered", provider: key }],
    });
    const { events } = expectStatus(
      200,
      await client.call<{ events: Event[] }>("GET", "/events?limit=100"),
    ).body.data;
    expect(events.filter(({ sendId }) => sendId === id)).toEqual(send.events);
  });

  test("refuses an unknown or foreign config like a forged request, and 400 without a valid config_id", async () => {
    const otherProvider =
      providerKeysInOrder[(providerKeysInOrder.indexOf(key) + 1) % providerKeysInOrder.length]!;
    const [config, otherConfig] = await Promise.all([
      relay.createConfig(client, key, account[key]!),
      relay.createConfig(client, otherProvider, account[otherProvider]!),
    ]);
    const { call } = await relay.sendAndAwaitEvent(
      client,
      config,
      `${key}-lost@example.net`,
      name("delivered"),
    );
    expect(await forwardFor(call, { ...config, id: 999_999_999 })).toBe(forgedStatus(key));
    expect(await forwardFor(call, { ...config, id: otherConfig.id })).toBe(forgedStatus(key));
    expect(await relay.forward(call, { url: withConfig(call, "seven") })).toBe(400);
    if (!signing.includes(key))
      expect(await relay.forward(call, { url: withConfig(call, undefined) })).toBe(400);
  });

  test.skipIf(!signing.includes(key))(
    "without config_id, finds the config by the id in the event, and then verifies",
    async () => {
      const config = await relay.createConfig(client, key, account[key]!);
      const { id, call } = await relay.sendAndAwaitEvent(
        client,
        config,
        `${key}-unnamed@example.net`,
        name("delivered"),
      );
      const url = withConfig(call, undefined);
      const forged = await relay.forward(call, { ...flipOneByte(call), url });
      expect(forged).toBe(forgedStatus(key));
      // The signature of Mailgun and the token of SparkPost do not cover the body.
      if (key === "mailgun" || key === "sparkpost") {
        const body = call.body.replace(`"configId":"${config.id}"`, '"configId":"999999999"');
        expect(body).not.toBe(call.body);
        expect(await relay.forward(call, { body, url })).toBe(forgedStatus(key));
      }
      expect((await sendOf(client, id)).events).toEqual([]);
      expect(await forwardFor(call, { ...config, id: undefined })).toBe(200);
      const send = await waitForEvents(client, id);
      expect(send.events).toMatchObject([{ sendId: id, type: "delivered", provider: key }]);
    },
  );

  test("rejects requests to a config without a secret or with another secret", async () => {
    const [config, secretless, another] = await Promise.all([
      relay.createConfig(client, key, account[key]!),
      relay.createConfig(client, key, account[key]!, null),
      relay.createConfig(
        client,
        key,
        account[key]!,
        key === "resend" ? "whsec_YW5vdGhlcg==" : "another secret",
      ),
    ]);
    const { id, call } = await relay.sendAndAwaitEvent(
      client,
      config,
      `${key}-forged@example.net`,
      name("delivered"),
    );
    expect(await forwardFor(call, secretless, config.webhookSecret)).toBe(forgedStatus(key));
    expect(await forwardFor(call, another, config.webhookSecret)).toBe(forgedStatus(key));
    const bare = new URL(call.url);
    bare.searchParams.delete("secret");
    const unsigned = Object.fromEntries(
      Object.keys(call.headers).flatMap((name) =>
        /signature|token/.test(name) ? [[name, ""]] : [],
      ),
    );
    if (key !== "mailgun")
      expect(await relay.forward(call, { url: bare, headers: unsigned })).toBe(forgedStatus(key));
    finalChecks.push(async () => expect(await sendOf(client, id)).toMatchObject({ events: [] }));
  });

  test("a verified event of one organization does not change the send of another", async () => {
    const [config, otherOrgConfig] = await Promise.all([
      relay.createConfig(client, key, account[key]!),
      relay.createConfig(other, key, account[key]!),
    ]);
    const { id, call } = await relay.sendAndAwaitEvent(
      client,
      config,
      `bounced+${key}@simulator.pennymail.test`,
      name("bounced"),
    );
    expect(await forwardFor(call, otherOrgConfig)).toBe(200);
    finalChecks.push(async () => {
      expect(await sendOf(client, id)).toMatchObject({ status: "sent", events: [] });
      expect(await total(other)).toBe(0);
    });
  });

  test("responds 200 to HEAD, because providers check a URL before they use it", async () => {
    const answer = await fetch(`${relay.service.url}/api/v1/webhooks/${key}?config_id=1`, {
      method: "HEAD",
    });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe("");
  });
});

test("SES events are accepted from the confirmed topic of the config and from no other topic", async () => {
  const otherAccount = await relay.account();
  const [config, otherConfig] = await Promise.all([
    relay.createConfig(client, "ses", account.ses!),
    relay.createConfig(client, "ses", otherAccount.ses!),
  ]);
  // The sandbox posts events to confirmed subscriptions only.
  const ownTopic = await relay.sendAndAwaitEvent(client, config, "topic@example.net", /Delivery/);
  const otherTopic = await relay.sendAndAwaitEvent(
    client,
    otherConfig,
    "topic@example.net",
    /Delivery/,
  );
  expect(await relay.forward(ownTopic.call)).toBe(200);
  expect(await relay.forward(otherTopic.call, { url: config.webhookUrl })).toBe(401);
  expect(await relay.forward(otherTopic.call)).toBe(200);
  // A raw message has no envelope. An unknown config gets the same words.
  const { pathname, search } = new URL(config.webhookUrl);
  const ownUrl = new URL(pathname + search, inject("baseUrl"));
  const post = async (url: URL) => {
    const response = await fetch(url, { method: "POST", body: '{"eventType":"Delivery"}' });
    const { error } = (await response.json()) as { error: string };
    return [response.status, error];
  };
  const ofRaw = await post(ownUrl);
  expect(ofRaw).toEqual([401, expect.stringMatching(/raw message delivery is off.*one SNS topic/)]);
  const unknown = new URL(ownUrl);
  unknown.searchParams.set("config_id", "999999999");
  expect(await post(unknown)).toEqual(ofRaw);
});

describe("a call with several events", () => {
  const json = (rows: unknown[]) => JSON.stringify(rows);
  const rowsOf: Record<string, (body: string) => unknown[]> = {
    mandrill: (body) => JSON.parse(new URLSearchParams(body).get("mandrill_events")!),
  };
  const bodyOf: Record<string, (rows: unknown[]) => string> = {
    mandrill: (rows) => new URLSearchParams({ mandrill_events: json(rows) }).toString(),
  };
  const nonsense = [
    null,
    7,
    "delivered",
    [],
    {},
    { event: "delivered" },
    { event: "constructor", email: 1, msys: { message_event: [] } },
  ];

  test.concurrent.each(["sendgrid", "sparkpost", "brevo", "mailjet", "mandrill"])(
    "of %s keeps the valid events among invalid ones",
    async (key) => {
      // SendGrid signs the body, so the test uses its own key.
      const secret = key === "sendgrid" ? webhookSecrets.sendgrid! : account[key]!.webhookSecret;
      const config = await relay.createConfig(client, key, account[key]!, secret);
      const sent = await Promise.all(
        [1, 2].map((n) =>
          relay.sendAndAwaitEvent(
            client,
            config,
            `${key}-batch${n}@example.net`,
            new RegExp(eventNamesByProvider[key]!.delivered!),
          ),
        ),
      );
      const rows = sent.flatMap(({ call: { body } }) =>
        (rowsOf[key] ?? ((text) => [JSON.parse(text)].flat()))(body),
      );
      const mixed = [
        ...nonsense.slice(0, 3),
        rows[0],
        ...nonsense.slice(3),
        ...rows.slice(1),
        null,
      ];
      const body = (bodyOf[key] ?? json)(mixed);
      const { call } = sent[0]!;
      const signatures: Record<string, () => Record<string, string>> = {
        mandrill: () => mandrillSignatureHeader(call.url.href, body, secret),
        sendgrid: () =>
          signByProvider.sendgrid!(mixed, new Date()).headers as Record<string, string>,
      };
      expect(await relay.forward(call, { body, headers: signatures[key]?.() ?? {} })).toBe(200);
      for (const { id } of sent)
        expect(await waitForEvents(client, id)).toMatchObject({
          status: "delivered",
          events: [{ type: "delivered" }],
        });
    },
  );
});

test("after all messages are processed, repeated and forged requests have no effect", async () => {
  const settled = await fetch(`${relay.service.url}/_local/settle`, { method: "POST", body: "{}" });
  expect(await settled.json()).toMatchObject({ data: { deadLetters: 0 } });
  expect(finalChecks).toHaveLength(3 * providerKeysInOrder.length);
  for (const look of finalChecks) await look();
});

test("the DEBUG log contains no secret, query string or address", () => {
  const output = relay.service.output();
  expect(
    providerKeysInOrder.filter((key) => !output.includes(`POST /api/v1/webhooks/${key}`)),
  ).toEqual([]);
  const known = [
    ...Object.values(account).map(({ webhookSecret }) => webhookSecret),
    webhookSecrets.sendgrid!,
    "another secret",
    "whsec_",
  ];
  const secrets = [
    ...known,
    ...known.map(encodeURIComponent),
    "secret=",
    "config_id=",
    "@example.net",
  ];
  expect(secrets.filter((text) => output.includes(text))).toEqual([]);
});
