// Receives a webhook request of a provider: verifies it, converts its events and queues them. A
// queue worker applies them to sends later.
import { createHash } from "node:crypto";
import { absent, any, equals, isNew } from "../../adapters/dynamodb/conditions.ts";
import { get, put, transact, update } from "../../adapters/dynamodb/table.ts";
import { epochSeconds, now } from "../../clock.ts";
import { Problem } from "../../errors.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { keys } from "../../keys.ts";
import type { InboundAdapter, InboundRequest } from "../../providers/inbound/inbound-adapter.ts";
import { getInboundAdapter } from "../../providers/inbound/registry.ts";
import * as snsCertificates from "../../providers/inbound/sns-certificates.ts";
import * as attemptLimits from "../identity/attempt-limits.ts";
import { decryptWebhookSecret } from "../senders/config-secrets.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import { enqueueProviderEvents } from "./enqueue-provider-events.ts";

interface InboundConfig {
  id: number;
  orgId: number;
  provider: string;
  /** Decrypted; absent if none is set. */
  secret?: string | undefined;
  /** The SNS topic that delivers the events of the config. */
  source?: string;
  /** Whether the provider has reported to the config before. */
  isReporting: boolean;
}

interface WebhookSource {
  /** The id in the URL. Undefined: one of the configs that the events name. */
  configId: number | undefined;
  clientIp: string;
}

/**
 * Accepts a request. A request that is not verified, or whose events cannot be stored, gets the
 * status that makes this provider give up or send the request again. An unknown config gets the
 * same response as a wrong secret, so that nobody learns which configs exist. Throws 429 after too
 * many requests that were not verified.
 */
export async function receiveWebhook(
  provider: string,
  { configId, clientIp }: WebhookSource,
  request: InboundRequest,
): Promise<void> {
  const adapter = getInboundAdapter(provider)!;
  if (adapter.isProbe?.(request)) return;
  const limit = attemptLimits.webhookLimit(clientIp, configId);
  if (request.rawBody.length > maxLimitedBytes) attemptLimits.refuseIfUsedUp(limit);
  const candidates =
    configId === undefined ? (adapter.claimedConfigIds?.(request) ?? []) : [configId];
  const config = await orRetryLater(adapter, () => findSender(provider, candidates, request));
  if (!config) return refuse(adapter, limit);
  const { events, subscribeUrl, snsTopic, nonce } = adapter.readEvents(request);
  await orRetryLater(adapter, async () => {
    if (snsTopic !== undefined && !(await isKnownTopic(config, snsTopic))) throw rejection(adapter);
    if (nonce !== undefined && !(await isFirstUse(config.id, nonce, request)))
      throw rejection(adapter);
    if (subscribeUrl !== undefined) return snsCertificates.confirmSubscription(subscribeUrl);
    if (events.length) await enqueueProviderEvents(config, events);
    // Events of test emails belong to no send, and prove all the same that the provider reports.
    if (!config.isReporting) await sendingConfigs.setReporting(config, config.id);
  });
}

/** The first config whose secret verifies the request. Nothing of the request is trusted before. */
async function findSender(
  provider: string,
  configIds: number[],
  request: InboundRequest,
): Promise<InboundConfig | undefined> {
  const adapter = getInboundAdapter(provider)!;
  for (const id of configIds) {
    const config = await getInboundConfig(id);
    if (config?.provider === provider && (await isGenuine(adapter, config, request))) return config;
  }
  return undefined;
}

// Caches decrypted secrets only. The config is read for every request, so that a changed secret
// takes effect at once.
const decryptedSecrets = createLruCache<string>(1_000_000);

/** Finds the config by its id alone: the URL of a webhook does not name the organization. */
export async function getInboundConfig(configId: number): Promise<InboundConfig | undefined> {
  const stored = await get<Omit<InboundConfig, "id" | "isReporting">>(keys.inboundConfig(configId));
  if (!stored) return undefined;
  const config = await sendingConfigs.find({ orgId: stored.orgId }, configId);
  const pointer = { ...stored, id: configId, isReporting: Boolean(config.firstEventAt) };
  const sealed = config.sealedWebhookSecret;
  if (sealed === undefined) return pointer;
  const secret =
    decryptedSecrets.get(sealed) ?? (await decryptWebhookSecret(pointer.orgId, config));
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
    fetchCertificate: snsCertificates.fetchCertificate,
  });

// An event has a few KB. Larger bodies take time, so they are not even parsed once the limit is
// used up. Small ones still are: customers of a provider share its addresses, so others could
// keep the events of a config away with requests that the provider sends for them.
const maxLimitedBytes = 64 * 1024;

/** Counts the failure. A request that is verified costs no write. */
async function refuse(adapter: InboundAdapter, limit: attemptLimits.AttemptLimit): Promise<never> {
  await orRetryLater(adapter, () => attemptLimits.countFailure(limit));
  throw rejection(adapter);
}

const rejection = ({ statuses, rejectionAdvice = defaultAdvice }: InboundAdapter) =>
  new Problem("unauthenticated", `The webhook request is not verified. ${rejectionAdvice}`, {
    status: statuses.rejected,
  });

const defaultAdvice =
  "Check that config_id in the URL is that of the sending config, and that webhookSecret of the " +
  "sending config is the one that the provider uses.";

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

// Stores the first SNS topic that delivers events for a config, and rejects other topics.
async function isKnownTopic({ id, source }: InboundConfig, snsTopic: string): Promise<boolean> {
  if (source !== undefined) return source === snsTopic;
  const isOwn = any(absent("source"), equals("source", snsTopic));
  return transact(update(keys.inboundConfig(id), { set: { source: snsTopic } }, { if: isOwn }));
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
