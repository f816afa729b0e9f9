// Receives a webhook request of a provider: verifies it, converts its events and queues them. A
// queue worker applies them to sends later.
import { createHash } from "node:crypto";
import { absent, any, equals, isNew } from "../../adapters/dynamodb/conditions.ts";
import { get, put, transact, update } from "../../adapters/dynamodb/table.ts";
import * as web from "../../adapters/http/client.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { epochSeconds, now } from "../../clock.ts";
import { missing, Problem } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { splitByBytes, splitIntoBatches } from "../../kernel/parallel.ts";
import { keys } from "../../keys.ts";
import type {
  InboundAdapter,
  InboundRequest,
  ProviderEvent,
} from "../../providers/inbound/inbound-adapter.ts";
import { getInboundAdapter } from "../../providers/inbound/registry.ts";
import * as certificates from "../../providers/inbound/sns-certificates.ts";
import { maxMessageBytes, queues } from "../../queues.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";

interface InboundConfig {
  orgId: number;
  provider: string;
  /** Decrypted; absent if none is set. */
  secret?: string | undefined;
  /** The SNS topic that delivers the events of the config. */
  source?: string;
}

/**
 * Accepts a request. Throws 404 for an unknown config. A request that is not verified, or whose
 * events cannot be stored, gets the status that makes this provider give up or send the request
 * again.
 */
export async function receiveWebhook(
  provider: string,
  configId: number,
  request: InboundRequest,
): Promise<void> {
  const adapter = getInboundAdapter(provider)!;
  if (adapter.isProbe?.(request)) return;
  const config = await orRetryLater(adapter, () => getInboundConfig(configId));
  if (!config || config.provider !== provider) throw missing("Sending config not found");
  if (!(await orRetryLater(adapter, () => isGenuine(adapter, config, request))))
    throw rejection(adapter);
  const { events, subscribeUrl, snsTopic, nonce } = adapter.readEvents(request);
  await orRetryLater(adapter, async () => {
    if (snsTopic !== undefined && !(await isKnownTopic(config, configId, snsTopic)))
      throw rejection(adapter);
    if (nonce !== undefined && !(await isFirstUse(configId, nonce, request)))
      throw rejection(adapter);
    if (subscribeUrl !== undefined) await confirmSubscription(subscribeUrl);
    if (events.length) await enqueueEvents(config, events);
  });
}

// Caches decrypted secrets only. The config is read for every request, so that a changed secret
// takes effect at once.
const decryptedSecrets = createLruCache<string>(1_000_000);

/** Finds the config by its id alone: the URL of a webhook does not name the organization. */
export async function getInboundConfig(configId: number): Promise<InboundConfig | undefined> {
  const pointer = await get<InboundConfig>(keys.inboundConfig(configId));
  if (!pointer) return undefined;
  const config = await sendingConfigs.find({ orgId: pointer.orgId }, configId);
  const sealed = config.sealedWebhookSecret;
  if (sealed === undefined) return pointer;
  const secret =
    decryptedSecrets.get(sealed) ??
    (await sendingConfigs.decryptWebhookSecret(pointer.orgId, config));
  if (secret !== undefined) decryptedSecrets.set(sealed, secret, sealed.length + secret.length);
  return { ...pointer, secret };
}

const isGenuine = async (
  adapter: InboundAdapter,
  { secret }: InboundConfig,
  request: InboundRequest,
): Promise<boolean> =>
  Boolean(secret) &&
  adapter.verify(request, secret!, {
    now: now(),
    fetchCertificate: certificates.fetchCertificate,
  });

const rejection = ({ statuses }: InboundAdapter) =>
  new Problem("unauthenticated", "Unauthorized", { status: statuses.rejected });

/**
 * An outage on our side must not lose an event, so the provider is told to send the request again.
 */
async function orRetryLater<T>({ statuses }: InboundAdapter, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(
      "unavailable",
      "The events cannot be stored right now: send them again later",
      { status: statuses.retryLater, cause: error },
    );
  }
}

async function confirmSubscription(url: string): Promise<void> {
  const { status } = await web.request({
    url: certificates.withConfiguredOrigin(url),
    timeoutSeconds: 10,
    maxBytes: 100_000,
  });
  if (status >= 300) throw new Error(`The subscription could not be confirmed: status ${status}`);
}

// Stores the first SNS topic that delivers events for a config, and rejects other topics.
async function isKnownTopic(
  { source }: InboundConfig,
  configId: number,
  snsTopic: string,
): Promise<boolean> {
  if (source !== undefined) return source === snsTopic;
  const isOwn = any(absent("source"), equals("source", snsTopic));
  return transact(
    update(keys.inboundConfig(configId), { set: { source: snsTopic } }, { if: isOwn }),
  );
}

// The signature does not cover the body, so a token is valid for one body. The same body again is a
// retry.
const nonceSeconds = 2 * 24 * 3600;
const isFirstUse = (
  configId: number,
  token: string,
  { rawBody }: InboundRequest,
): Promise<boolean> => {
  const body = createHash("sha256").update(rawBody).digest("hex");
  const isUnused = any(isNew, equals("body", body));
  return transact(
    put(
      keys.usedToken(configId, token),
      { body, expires: epochSeconds() + nonceSeconds },
      { if: isUnused },
    ),
  );
};

const maxEventsPerMessage = 200;

async function enqueueEvents(
  { orgId, provider }: InboundConfig,
  events: ProviderEvent[],
): Promise<void> {
  const first = await ids.nextEventIds(events.length);
  const numbered = events.map((event, i) => ({ ...event, id: first + i }));
  const messages = splitIntoBatches(numbered, maxEventsPerMessage).flatMap((batch) =>
    splitByBytes(batch, maxMessageBytes),
  );
  await enqueue(
    queues.providerEvents,
    messages.map((group) => ({ orgId, provider, events: group })),
    { group: orgId },
  );
}
