// During an outage each provider gets the status that makes it send the request again.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { providerWebhooks } from "../../functions/http/provider-webhooks.ts";
import { now } from "../../shared/clock.ts";
import { NewSendingConfig } from "../../shared/domain/senders/sending-config-schema.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import type { InboundRequest } from "../../shared/providers/inbound/inbound-adapter.ts";
import { webhookProviderKeys } from "../../shared/providers/provider-keys.ts";
import { createAccount } from "../support/accounts.ts";
import {
  type FaultyService,
  installFaultHooks,
  setFault,
  timeoutFault,
} from "../support/adapter-faults.ts";
import type { AwsCall, CallInterceptor } from "../support/aws-calls.ts";
import { invokeRoute } from "../support/lambda-requests.ts";
import {
  fetchSampleCertificate,
  mandrillSignatureHeader,
  readFixture,
  readSamples,
  signByProvider,
  signSnsNotice,
  webhookSecrets,
} from "../support/signed-provider-webhooks.ts";

/** The status that makes each provider retry. */
const busy: Record<string, number> = { brevo: 429 };

const credentials: Record<string, Record<string, string>> = {
  ses: { accessKeyId: "AKIA", secretAccessKey: "secret", region: "us-east-1" },
  mailgun: { apiKey: "key", domain: "mg.example.com" },
  mailjet: { apiKey: "key", secretKey: "secret" },
};

/** Serves SNS_URL. */
let amazon: Server;
let amazonStatus = 200;
let visits = 0;
/** Messages; a notice about a new sender has no events. */
const queued: { events?: { providerEventId: string }[] }[] = [];

beforeAll(async () => {
  const pem = await fetchSampleCertificate(readFixture("ses", "vectors").sns.certificateUrl);
  amazon = createServer((_, response) => {
    visits++;
    response.writeHead(amazonStatus).end(pem);
  });
  await new Promise<void>((resolve) => amazon.listen(0, "127.0.0.1", resolve));
  process.env.SNS_URL = `http://127.0.0.1:${(amazon.address() as AddressInfo).port}`;
  installFaultHooks();
  recording();
});
afterAll(() => void amazon.close());
afterEach(() => {
  for (const service of ["dynamodb", "sqs", "kms"] as const) setFault(service, undefined);
  recording();
  queued.length = 0;
  amazonStatus = 200;
});

const entriesOf = ({ input }: AwsCall) => input.Entries as { Id: string; MessageBody: string }[];
const enqueued = (entries: { MessageBody: string }[]) =>
  queued.push(...entries.map(({ MessageBody }) => JSON.parse(MessageBody)));

const recording = () =>
  setFault("sqs", async (command) => {
    enqueued(entriesOf(command));
    return {};
  });

/** A config of a new organization, and how its provider sends a verified event. */
async function createVerifiedEvent(key: string) {
  const { caller } = await createAccount();
  const fields = {
    provider: key,
    fromEmail: "shop@example.com",
    credentials: credentials[key] ?? { apiKey: "key" },
    webhookSecret: webhookSecrets[key],
  };
  const { id } = await sendingConfigs.create(caller, NewSendingConfig.parse(fields));
  const { body, contentType } = readSamples(key).find((sample) => sample.expect.length > 0)!;
  // A retry has the time and signature of the first request.
  const notice = signByProvider[key]!(body, now(), contentType);
  return { id, call: () => calling(key, id, notice) };
}

async function calling(
  key: string,
  id: number,
  { headers, rawBody, querySecret }: InboundRequest,
): Promise<number> {
  const query = { config_id: String(id), ...(querySecret && { secret: querySecret }) };
  const url = `${process.env.PUBLIC_URL}/api/v1/webhooks/${key}?${new URLSearchParams(query)}`;
  const signed =
    key === "mandrill"
      ? mandrillSignatureHeader(url, rawBody.toString(), webhookSecrets.mandrill!)
      : {};
  const given = Object.fromEntries(
    Object.entries({ ...headers, ...signed }).map(([name, value]) => [name, value ?? ""]),
  );
  const request = { raw: rawBody, headers: given, query };
  return (await invokeRoute(providerWebhooks, `POST /webhooks/${key}`, request)).status;
}

const ids = () =>
  queued.flatMap(({ events = [] }) => events.map(({ providerEventId }) => providerEventId));

// Runs first, because a fetched certificate is cached.
test("SNS gets a status that makes it retry while its certificate cannot be fetched", async () => {
  const { call } = await createVerifiedEvent("ses");
  amazonStatus = 500;
  expect(await call()).toBe(503);
  amazonStatus = 200;
  expect(await call()).toBe(200);
});

describe.each(webhookProviderKeys)("%s", (key) => {
  const outages: [FaultyService, string, CallInterceptor][] = [
    ["dynamodb", "the table is unavailable", timeoutFault],
    ["kms", "KMS is unavailable", timeoutFault],
    ["sqs", "the queue is unavailable", timeoutFault],
    [
      "sqs",
      "the queue rejects all messages",
      async (command) => ({ Failed: entriesOf(command).map(({ Id }) => ({ Id })) }),
    ],
  ];
  test.each(outages)(
    "gets a status that makes it retry while (%s) %s, and is then accepted",
    async (service, _, answer) => {
      const { call } = await createVerifiedEvent(key);
      setFault(service, answer);
      expect(await call()).toBe(busy[key] ?? 503);
      expect(ids()).toEqual([]);
      setFault(service, undefined);
      recording();
      expect(await call()).toBe(200);
      expect(ids().length).toBeGreaterThan(0);
    },
  );
});

test("an event that the queue accepts at the third call is queued once", async () => {
  const { call } = await createVerifiedEvent("postmark");
  let times = 0;
  setFault("sqs", async (command) => {
    if (++times < 3) return { Failed: entriesOf(command).map(({ Id }) => ({ Id })) };
    enqueued(entriesOf(command));
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
    Timestamp: now().toISOString(),
  });
  const confirming = async (id: number) => {
    const raw = signSnsNotice(subscription()).rawBody;
    return (
      await invokeRoute(providerWebhooks, "POST /webhooks/ses", {
        raw,
        query: { config_id: String(id), secret: webhookSecrets.ses! },
      })
    ).status;
  };

  test("gets a status that makes it retry if its subscription could not be confirmed", async () => {
    const { id } = await createVerifiedEvent("ses");
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
