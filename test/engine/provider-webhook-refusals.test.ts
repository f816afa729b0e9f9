// Refused webhooks of providers reveal no ids of sending configs and cost little.
import { beforeEach, expect, test } from "vitest";
import { providerWebhooks } from "../../functions/http/provider-webhooks.ts";
import * as clock from "../../shared/clock.ts";
import { NewSendingConfig } from "../../shared/domain/senders/sending-config-schema.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { getInboundAdapter } from "../../shared/providers/inbound/registry.ts";
import { webhookProviderKeys } from "../../shared/providers/provider-keys.ts";
import { createAccount } from "../support/accounts.ts";
import { invokeRoute } from "../support/lambda-requests.ts";
import { signMailgunNotice } from "../support/signed-provider-webhooks.ts";

const secret = "a-long-webhook-secret";
const unknownId = 987_654_321;
let network = 0;
let address: string;
beforeEach(() => {
  address = `198.51.100.${++network}`;
});

async function createMailgunConfig(): Promise<number> {
  const { caller } = await createAccount();
  const config = NewSendingConfig.parse({
    provider: "mailgun",
    fromEmail: "news@example.com",
    credentials: { apiKey: "key", domain: "example.com" },
    webhookSecret: secret,
  });
  return (await sendingConfigs.create(caller, config)).id;
}

async function deliver(key: string, configId: number, raw: Buffer) {
  const { status, headers, body } = await invokeRoute(providerWebhooks, `POST /webhooks/${key}`, {
    raw,
    address,
    headers: { "content-type": "application/json" },
    query: { config_id: String(configId), secret: "wrong" },
  });
  const { requestId: _, ...shown } = body as { requestId?: string };
  return { status, retryAfter: headers["retry-after"], body: shown };
}

const forged = Buffer.from(JSON.stringify([{ event: "delivered", padding: "x" }]));
const genuine = () =>
  signMailgunNotice({ signature: { token: "token" } }, clock.now(), secret).rawBody;

test.each(webhookProviderKeys)("%s: an unknown config looks like a wrong secret", async (key) => {
  const [known, ofAnother] = [await createMailgunConfig(), await createMailgunConfig()];
  const refused = await deliver("mailgun", known, forged);
  expect(refused.status).toBe(getInboundAdapter("mailgun")!.statuses.rejected);
  expect(await deliver("mailgun", unknownId, forged)).toEqual(refused);
  // What to check differs by the provider in the URL, which the caller chooses.
  const ofUnknown = await deliver(key, unknownId, forged);
  expect(ofUnknown.status).toBe(getInboundAdapter(key)!.statuses.rejected);
  if (key !== "mailgun") expect(await deliver(key, ofAnother, forged)).toEqual(ofUnknown);
});

test("failed signatures are limited per address and config, known or not", async () => {
  const [known, other] = [await createMailgunConfig(), await createMailgunConfig()];
  for (const id of [known, unknownId]) {
    const statuses: number[] = [];
    for (let i = 0; i < 52; i++) statuses.push((await deliver("mailgun", id, forged)).status);
    expect(statuses).toEqual([...Array(50).fill(406), 429, 429]);
  }
  const limited = await deliver("mailgun", known, forged);
  expect(Number(limited.retryAfter)).toBeGreaterThan(0);
  expect((await deliver("mailgun", other, forged)).status).toBe(406);
  // A provider has few addresses, and others can make it send forged events for a config.
  expect((await deliver("mailgun", known, genuine())).status).toBe(200);
  expect((await deliver("mailgun", known, Buffer.alloc(70_000, " "))).status).toBe(429);
  clock.advanceClock(15 * 60);
  expect((await deliver("mailgun", known, forged)).status).toBe(406);
});

test.each(webhookProviderKeys)(
  "%s: a body has at most the size that the provider sends",
  async (key) => {
    const { maxBodyBytes } = getInboundAdapter(key)!;
    const fits = await deliver(key, unknownId, Buffer.alloc(maxBodyBytes, "x"));
    expect(fits.status).toBe(getInboundAdapter(key)!.statuses.rejected);
    expect((await deliver(key, unknownId, Buffer.alloc(maxBodyBytes + 1, "x"))).status).toBe(413);
  },
);

test("Mailgun, Postmark, Resend and SMTP2GO send one event, and SNS at most 256 KB", () => {
  const sizes = ["mailgun", "postmark", "resend", "smtp2go", "ses"].map(
    (key) => getInboundAdapter(key)!.maxBodyBytes / 1024,
  );
  expect(sizes).toEqual([1024, 1024, 1024, 1024, 256]);
});
