// Why a queued mail is not handed over yet.
import { addSeconds, now } from "../../clock.ts";
import { undefinedIfMissing } from "../../errors.ts";
import { domainOf } from "../../kernel/email-fields.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import * as warmUp from "../senders/warm-up.ts";
import * as slowDomains from "./bulk/slow-domains.ts";
import { getSourceState, sourceOf } from "./mail-sources.ts";
import * as rateLimiter from "./provider-calls/rate-limiter.ts";
import type { Send } from "./send-schema.ts";

export const holdKinds = [
  "paused",
  "provider_failing",
  "provider_limit",
  "warm_up",
  "domain",
] as const;

export interface MailHold {
  kind: (typeof holdKinds)[number];
  /** When the hand-over goes on by itself (ISO 8601), or null. */
  until: string | null;
  /** The provider's own words, at most 300 characters, or null. */
  providerMessage: string | null;
}

/** From this many mails below the limit of the day on, whole calls of bulk mail wait. */
const mailsPerCall = 100;

/** Undefined when nothing holds the mail: it waits for its turn. Reads at most 3.5 units. */
export async function findHold(orgId: number, send: Send): Promise<MailHold | undefined> {
  const source = sourceOf(send);
  const isBulk = source !== undefined || send.batchId !== null;
  if (source && (await getSourceState(orgId, source)) === "paused")
    return { kind: "paused", until: null, providerMessage: null };
  const lane = await rateLimiter.readState(orgId, send.sendingConfigId);
  const providerHold = toProviderHold(lane);
  if (providerHold) return providerHold;
  if (!isBulk) return undefined;
  const pauseEnd = slowDomains.getPauseEnd(lane, domainOf(send.toEmail));
  if (pauseEnd !== undefined)
    return { kind: "domain", until: new Date(pauseEnd).toISOString(), providerMessage: null };
  const config = await sendingConfigs
    .findEventually({ orgId }, send.sendingConfigId)
    .catch(undefinedIfMissing);
  const use = config && (await warmUp.getTodaysUse(orgId, config));
  if (!use) return undefined;
  const callSize = Math.min(mailsPerCall, config.warmUp!.firstDayMails);
  return use.limit - use.mails < callSize
    ? { kind: "warm_up", until: tomorrow(), providerMessage: null }
    : undefined;
}

/** Between two attempts, the provider still holds the mail. */
function toProviderHold(lane: rateLimiter.LimiterState): MailHold | undefined {
  const isPaused = rateLimiter.isPaused(lane);
  if (!isPaused && !rateLimiter.hasFailures(lane)) return undefined;
  return {
    kind: lane.faults ? "provider_failing" : "provider_limit",
    until: isPaused ? new Date(lane.notBefore!).toISOString() : null,
    providerMessage: lane.heldError ?? null,
  };
}

export async function findProviderHold(
  orgId: number,
  configId: number,
): Promise<MailHold | undefined> {
  return toProviderHold(await rateLimiter.readState(orgId, configId));
}

/** Continues a sentence with "because". */
export const describeProviderHold = ({
  kind,
  providerMessage,
}: Pick<MailHold, "kind" | "providerMessage">): string =>
  (kind === "provider_failing"
    ? "the provider of the sending config fails."
    : "the provider accepts no more email for now: its rate limit is reached, or the account " +
      "has no emails or credits left.") + quoteProvider(providerMessage);

/** The provider's words as a sentence of their own, with a space before it. */
export const quoteProvider = (message: string | null | undefined): string =>
  message ? ` The provider says: “${message}”` : "";

const tomorrow = (): string =>
  `${addSeconds(24 * 3600, now())
    .toISOString()
    .slice(0, 10)}T00:00:00.000Z`;
