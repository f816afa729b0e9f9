// While we cannot store what a provider tells, it is told to come again, in the status that it understands.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { providerWebhooks } from "../../functions/http/provider-webhooks.ts";
import * as sendingConfigs from "../../shared/domain/sending-configs.ts";
import { inboundKeys } from "../../shared/providers/inbound/index.ts";
import { account } from "../support/callers.ts";
import { ask } from "../support/events.ts";
import { calls, certificate, fixture, mandrillSignature, samplesOf, secrets, snsNotice } from "../support/notices.ts";
import { type Answer, answering, type Command, type Door, down, prepared } from "../support/outages.ts";

/** What each provider understands as "come again later". */
const busy: Record<string, number> = { brevo: 429 };

const credentials: Record<string, Record<string, string>> = {
  ses: { accessKeyId: "AKIA", secretAccessKey: "secret", region: "us-east-1" },
  mailgun: { apiKey: "key", domain: "mg.example.com" },
  mailjet: { apiKey: "key", secretKey: "secret" },
};

/** Stands where SNS_URL leads. */
let amazon: Server;
let amazonStatus = 200;
let visits = 0;
const queued: { events: { providerEventId: string }[] }[] = [];

beforeAll(async () => {
  const pem = await certificate(fixture("ses", "vectors").sns.certificateUrl);
  amazon = createServer((_, response) => {
    visits++;
    response.writeHead(amazonStatus).end(pem);
  });
  await new Promise<void>((resolve) => amazon.listen(0, "127.0.0.1", resolve));
  process.env.SNS_URL = `http://127.0.0.1:${(amazon.address() as AddressInfo).port}`;
  prepared();
  recording();
});
afterAll(() => void amazon.close());
afterEach(() => {
  for (const door of ["table", "queue", "vault"] as const) answering(door, undefined);
  recording();
  queued.length = 0;
  amazonStatus = 200;
});

const entriesOf = ({ input }: Command) => input.Entries as { Id: string; MessageBody: string }[];
const taken = (entries: { MessageBody: string }[]) => queued.push(...entries.map(({ MessageBody }) => JSON.parse(MessageBody)));

const recording = () =>
  answering("queue", async (command) => {
    taken(entriesOf(command));
    return {};
  });

/** The config of an organization of its own, and how its provider tells a genuine event. */
async function told(key: string) {
  const { caller } = await account();
  const fields = {
    provider: key,
    fromEmail: "shop@example.com",
    credentials: credentials[key] ?? { apiKey: "key" },
    webhookSecret: secrets[key],
  };
  const { id } = await sendingConfigs.create(caller, sendingConfigs.NewSendingConfig.parse(fields));
  const { body, contentType } = samplesOf(key).find((sample) => sample.expect.length > 0)!;
  return { id, call: () => calling(key, id, body, contentType) };
}

async function calling(key: string, id: number, body: unknown, contentType?: string): Promise<number> {
  const { headers, rawBody, querySecret } = calls[key]!(body, new Date(), contentType);
  const query = { config_id: String(id), ...(querySecret && { secret: querySecret }) };
  const url = `${process.env.PUBLIC_URL}/api/v1/webhooks/${key}?${new URLSearchParams(query)}`;
  const signed = key === "mandrill" ? mandrillSignature(url, rawBody.toString(), secrets.mandrill!) : {};
  const given = Object.fromEntries(Object.entries({ ...headers, ...signed }).map(([name, value]) => [name, value ?? ""]));
  const asked = { raw: rawBody, headers: given, query };
  return (await ask(providerWebhooks, `POST /webhooks/${key}`, asked)).status;
}

const ids = () => queued.flatMap(({ events }) => events.map(({ providerEventId }) => providerEventId));

// The first of all: a certificate that was fetched once is kept.
test("SNS comes again while its certificate cannot be fetched", async () => {
  const { call } = await told("ses");
  amazonStatus = 500;
  expect(await call()).toBe(503);
  amazonStatus = 200;
  expect(await call()).toBe(200);
});

describe.each(inboundKeys)("%s", (key) => {
  const outages: [Door, string, Answer][] = [
    ["table", "the table is gone", down],
    ["vault", "the key service is gone", down],
    ["queue", "the queue is gone", down],
    ["queue", "the queue takes nothing", async (command) => ({ Failed: entriesOf(command).map(({ Id }) => ({ Id })) })],
  ];
  test.each(outages)("comes again while (%s) %s, and is then heard", async (door, _, answer) => {
    const { call } = await told(key);
    answering(door, answer);
    expect(await call()).toBe(busy[key] ?? 503);
    expect(ids()).toEqual([]);
    answering(door, undefined);
    recording();
    expect(await call()).toBe(200);
    expect(ids().length).toBeGreaterThan(0);
  });
});

test("an event that the queue takes only at the third call is queued once", async () => {
  const { call } = await told("postmark");
  let times = 0;
  answering("queue", async (command) => {
    if (++times < 3) return { Failed: entriesOf(command).map(({ Id }) => ({ Id })) };
    taken(entriesOf(command));
    return {};
  });
  expect(await call()).toBe(200);
  expect([times, ids().length]).toEqual([3, 1]);
});

describe("SNS", () => {
  const origin = "https://sns.us-east-1.amazonaws.com";
  const subscription = (): Record<string, string> => ({
    Type: "SubscriptionConfirmation",
    MessageId: "4f5c1d2e-0000-4000-8000-000000000000",
    TopicArn: "arn:aws:sns:us-east-1:123456789012:ses-events",
    Token: "a-token",
    Message: "You have chosen to subscribe",
    SubscribeURL: `${origin}/?Action=ConfirmSubscription&TopicArn=arn:aws:sns:us-east-1:123456789012:ses-events&Token=a-token`,
    Timestamp: new Date().toISOString(),
  });
  const confirming = async (id: number) => {
    const raw = snsNotice(subscription()).rawBody;
    return (await ask(providerWebhooks, "POST /webhooks/ses", { raw, query: { config_id: String(id), secret: secrets.ses! } })).status;
  };

  test("comes again with a subscription that could not be confirmed", async () => {
    const { id } = await told("ses");
    for (const status of [500, 403, 404]) {
      amazonStatus = status;
      expect(await confirming(id)).toBe(503);
    }
    amazonStatus = 200;
    const before = visits;
    expect(await confirming(id)).toBe(200);
    expect(visits).toBe(before + 1);
  });
});
