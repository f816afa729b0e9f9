// Why a queued mail is not handed over yet.
import { addSeconds, now } from "../../clock.ts";
import { undefinedIfMissing } from "../../errors.ts";
import { domainOf } from "../../kernel/email-fields.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import * as warmUp from "../senders/warm-up.ts";
import * as slowDomains from "./bulk/slow-domains.ts";
import { getSourceState, sourceOf } from "./mail-sources.ts";
import * as limiter from "./provider-calls/rate-limiter.ts";
import type { Send } from "./sends.ts";

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
}

/** From this many mails below the limit of the day on, whole calls of bulk mail wait. */
const mailsPerCall = 100;

/** Undefined when nothing holds the mail: it waits for its turn. Reads at most 3.5 units. */
export async function findHold(orgId: number, send: Send): Promise<MailHold | undefined> {
  const source = sourceOf(send);
  const isBulk = source !== undefined || send.batchId !== null;
  if (source && (await getSourceState(orgId, source)) === "paused")
    return { kind: "paused", until: null };
  const lane = await limiter.readState(orgId, send.sendingConfigId);
  if (limiter.isPaused(lane))
    return {
      kind: limiter.isBreakerOpen(lane) ? "provider_failing" : "provider_limit",
      until: new Date(lane.notBefore!).toISOString(),
    };
  if (!isBulk) return undefined;
  const pauseEnd = slowDomains.getPauseEnd(lane, domainOf(send.toEmail));
  if (pauseEnd !== undefined) return { kind: "domain", until: new Date(pauseEnd).toISOString() };
  const config = await sendingConfigs
    .findEventually({ orgId }, send.sendingConfigId)
    .catch(undefinedIfMissing);
  const use = config && (await warmUp.getTodaysUse(orgId, config));
  if (!use) return undefined;
  const callSize = Math.min(mailsPerCall, config.warmUp!.firstDayMails);
  return use.limit - use.mails < callSize ? { kind: "warm_up", until: tomorrow() } : undefined;
}

const tomorrow = (): string =>
  `${addSeconds(24 * 3600, now())
    .toISOString()
    .slice(0, 10)}T00:00:00.000Z`;
