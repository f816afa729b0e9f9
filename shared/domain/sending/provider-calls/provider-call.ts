// Calls to a provider, for chunks and single sends: idempotency keys, retry limits, and what an
// outcome changes on a send.
import { addSeconds, epochSeconds, now } from "../../../clock.ts";
import { missing, Problem, undefinedIfMissing } from "../../../errors.ts";
import { idempotencyPrefix } from "../../../kernel/installation-secrets.ts";
import * as log from "../../../kernel/log.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import type {
  HandOverOutcome,
  Mailing,
  ProviderAdapter,
} from "../../../providers/provider-adapter.ts";
import { timeoutSeconds } from "../../../providers/provider-http.ts";
import * as accountLimits from "../../senders/account-limits.ts";
import type { SendingConfig } from "../../senders/sending-config-schema.ts";
import * as sendingConfigs from "../../senders/sending-configs.ts";
import type { SendItem } from "../send-schema.ts";
import type { HandOverDelay } from "./rate-limiter.ts";

type SettledOutcome = Exclude<HandOverOutcome, { status: "held" }>;
type RetryLaterOutcome = Extract<HandOverOutcome, { status: "held" }>;

/**
 * The time in which the provider answers a repeated call with the same idempotency key without
 * sending again.
 */
export interface IdempotencyWindow {
  /** Revision of the sending config. The window is valid for this revision only. */
  revision: number;
  /** ISO 8601 */
  until: string;
  /** First part of the idempotency keys. */
  prefix: string;
}

/**
 * `parts` name what the call is for, such as a send id. A repeat of a call that the provider may
 * have received uses the same key.
 */
export const idempotencyKey = (term: IdempotencyWindow | undefined, ...parts: number[]): string =>
  [term?.prefix ?? "pm", ...parts].join("-");

// The provider's window starts when it receives the first call, and the last repeat needs time to
// reach it.
const keyMarginSeconds = 60;

/** Undefined when the provider has no idempotency keys. */
export async function openIdempotencyWindow(
  { idempotencySeconds }: ProviderAdapter,
  { revision }: SendingConfig,
): Promise<IdempotencyWindow | undefined> {
  if (idempotencySeconds === 0) return undefined;
  return {
    revision,
    until: addSeconds(idempotencySeconds - keyMarginSeconds).toISOString(),
    prefix: await idempotencyPrefix(),
  };
}

/** Whether a call that the provider may have received can be repeated without sending twice. */
export const canRepeatCall = (
  term: IdempotencyWindow | undefined,
  { revision }: SendingConfig,
): boolean => term !== undefined && term.revision === revision && term.until > now().toISOString();

/**
 * No call starts later, so that it is over when the lease ends. Then another worker may ask the
 * provider for the mail.
 */
export const lastCallBefore = (leaseEnd: Date): Date => addSeconds(-timeoutSeconds - 5, leaseEnd);

/** The provider may have the mail, without confirming it. */
export const mayBeHandedOver = (outcome: HandOverOutcome): boolean =>
  outcome.status === "held" && outcome.heard === true;

export const workerDiedOutcome: HandOverOutcome = {
  status: "uncertain",
  error:
    "The worker stopped during the call to the provider, so it is unknown whether the mail " +
    "was sent",
};
export const answerLostOutcome: HandOverOutcome = {
  status: "uncertain",
  error:
    "The provider's response was lost and the request cannot be repeated, so it is unknown " +
    "whether the mail was sent",
};

export const notRepeatableOutcome: HandOverOutcome = {
  status: "held",
  why: "fault",
  error: "The request to the provider cannot be repeated yet",
};

const retryLimitSeconds = 24 * 3600;

/**
 * Gives up after 24 hours in which the provider accepted nothing. A refusal caused by the account
 * names the sending config. When an earlier attempt may have been sent, such a refusal makes the
 * mail `uncertain`, not `failed`.
 */
export function applyRetryLimit(
  outcome: HandOverOutcome,
  config: Pick<SendingConfig, "id">,
  { stalledSince, maybeHandedOver }: { stalledSince: string | undefined; maybeHandedOver: boolean },
): HandOverOutcome {
  if (outcome.status === "refused" && outcome.config) {
    const advice =
      `The provider rejects mail from sending config ${config.id}: check its credentials and ` +
      "sender.";
    const error = `${advice} ${outcome.error}`.slice(0, 300);
    return maybeHandedOver ? { status: "uncertain", error } : { ...outcome, error };
  }
  const stalledSeconds =
    stalledSince === undefined ? 0 : epochSeconds() - Date.parse(stalledSince) / 1000;
  if (outcome.status !== "held" || stalledSeconds <= retryLimitSeconds) return outcome;
  if (maybeHandedOver) return answerLostOutcome;
  return {
    status: "refused",
    error: `The mail could not be sent within 24 hours: ${outcome.error}`.slice(0, 300),
  };
}

export const toDelay = (
  { why, retryAfterSeconds, error }: RetryLaterOutcome,
  usualSeconds = 1,
): HandOverDelay => ({
  reason: why === "pace" ? "pace" : "fault",
  seconds: retryAfterSeconds ?? usualSeconds,
  isNamed: retryAfterSeconds !== undefined,
  error,
});

/**
 * The message of a Problem that a retry cannot solve: something is missing, or a template cannot be
 * rendered. Rethrows other errors.
 */
export function toPermanentMessage(error: unknown): string {
  if (error instanceof Problem && permanentKinds.has(error.kind))
    return error.message.slice(0, 300);
  throw error;
}

const permanentKinds = new Set<Problem["kind"]>(["missing", "invalid"]);

/**
 * The sending config of accepted mail, with the rate at which its mail is handed over. The first
 * read is eventually consistent; a config that was just created needs the second.
 */
export async function findConfig(orgId: number, id: number): Promise<SendingConfig> {
  for (const find of [sendingConfigs.findEventually, sendingConfigs.find]) {
    const found = await find({ orgId }, id).catch(undefinedIfMissing);
    if (!found) continue;
    const config = await accountLimits.withCurrentLimits(orgId, found);
    return { ...config, ratePerSecond: sendingConfigs.handOverRate(config) };
  }
  throw missing("The mail's sending config was deleted");
}

/** Parallel calls when each call sends one mail. */
export const maxParallelSingles = 25;

// Base64 characters of attachments. Every call in flight holds its own copy.
const maxParallelCharacters = 80_000_000;

/** The number of parallel calls with one mail each. Large attachments reduce it. */
export function limitParallelMails({ attachments }: Pick<Mailing, "attachments">): number {
  const characters = attachments.reduce((sum, { content }) => sum + content.length, 1);
  return Math.max(1, Math.min(maxParallelSingles, Math.floor(maxParallelCharacters / characters)));
}

/** Whether one batch call of the provider can send the mailing. */
export const fitsBatchCall = ({ batch }: ProviderAdapter, mailing: Mailing): boolean => {
  const { length } = mailing.recipients;
  return length > 1 && length <= (batch?.max ?? 1) && batch!.supports(mailing);
};

/**
 * Logs one line for each call, for the operator's dashboard and the terminal. It has counts, but no
 * addresses.
 */
export function logCall(
  orgId: number,
  config: Pick<SendingConfig, "id" | "provider">,
  outcomes: HandOverOutcome[],
): void {
  const count = (status: HandOverOutcome["status"]) =>
    outcomes.filter((outcome) => outcome.status === status).length;
  log.info("provider call", {
    orgId,
    configId: config.id,
    provider: config.provider,
    accepted: count("accepted"),
    refused: count("refused"),
    uncertain: count("uncertain"),
    held: count("held"),
  });
}

// After this many failures the provider is at fault, not the mails.
const maxFailures = 5;

interface OneByOne {
  mailing: Mailing;
  credentials: Record<string, unknown>;
  term: IdempotencyWindow | undefined;
  /** There was an earlier attempt, so the idempotency keys may be in use already. */
  repeated: boolean;
}

/**
 * Sends each mail in a call of its own, with a key of its own. When the provider asks for a pause
 * or fails repeatedly, the remaining mails are not tried. The first `held` outcome always belongs
 * to a mail that was tried.
 */
export async function sendOneByOne(
  provider: ProviderAdapter,
  { mailing, credentials, term, repeated }: OneByOne,
): Promise<HandOverOutcome[]> {
  let failures = 0;
  let skippedOutcome: HandOverOutcome | undefined;
  return inParallel(limitParallelMails(mailing), mailing.recipients, async (recipient) => {
    if (skippedOutcome) return skippedOutcome;
    const [outcome] = await provider.send({
      mailing: { ...mailing, recipients: [recipient] },
      credentials,
      idempotencyKey: idempotencyKey(term, recipient.sendId),
      repeated,
    });
    if (outcome!.status === "uncertain" || outcome!.status === "held") {
      failures += failuresOf(outcome!);
      const why = outcome!.status === "held" ? "pace" : "fault";
      if (failures >= maxFailures)
        skippedOutcome ??= { status: "held", why, error: outcome!.error };
    }
    return outcome!;
  });
}

/** A recipient who cannot get mail now is no failure of the provider. */
function failuresOf(outcome: HandOverOutcome): number {
  if (outcome.status !== "held") return 1;
  if (outcome.why === "recipient") return 0;
  return outcome.why === "pace" ? maxFailures : 1;
}

const sendFieldsByStatus: {
  [Status in SettledOutcome["status"]]: (
    outcome: Extract<SettledOutcome, { status: Status }>,
    at: string,
  ) => Partial<SendItem>;
} = {
  accepted: ({ messageId }, sentAt) => ({ status: "sent", providerMessageId: messageId, sentAt }),
  refused: ({ error }, updatedAt) =>
    error === "cancelled"
      ? { status: "cancelled", updatedAt }
      : { status: "failed", error, updatedAt },
  uncertain: ({ error }, updatedAt) => ({ status: "uncertain", error, updatedAt }),
};

/** The fields of a send that the outcome sets. */
export const toSendFields = (outcome: HandOverOutcome, at: string): Partial<SendItem> =>
  outcome.status === "held"
    ? {}
    : (
        sendFieldsByStatus[outcome.status] as (
          outcome: HandOverOutcome,
          at: string,
        ) => Partial<SendItem>
      )(outcome, at);
