// Asks providers for uncertain mails by our send id. A found mail is settled as sent, or as failed
// if the provider refused it. A mail that the provider twice did not have is handed over again. The
// others stay uncertain.

import { getMany } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../../clock.ts";
import { undefinedIfMissing } from "../../errors.ts";
import * as log from "../../kernel/log.ts";
import { inParallel, splitIntoBatches } from "../../kernel/parallel.ts";
import { keys } from "../../keys.ts";
import type { LookUpOutcome, ProviderAdapter } from "../../providers/provider-adapter.ts";
import { getProvider } from "../../providers/registry.ts";
import { queues } from "../../queues.ts";
import { decryptCredentials } from "../senders/config-secrets.ts";
import type { SendingConfig } from "../senders/sending-config-schema.ts";
import { findConfig } from "./provider-calls/provider-call.ts";
import * as rateLimiter from "./provider-calls/rate-limiter.ts";
import { settleUncertain } from "./single/settle.ts";
import { type SingleSendItem, uncertainDueAttributes } from "./single/single-send-item.ts";
import * as uncertainSends from "./uncertain-sends.ts";

// A message may run for 60 seconds. The pages of a search take up to 5, and the last one up to 25.
const maxRunSeconds = 25;

// The incident that made a mail uncertain may also delay the provider's search.
const secondLookUpSeconds = 3600;

/** The clocks of the provider and of this service may differ. */
const clockMarginSeconds = 3600;

/** A mail that the provider does not have looks so often whether its campaign is still paused. */
const pausedRetrySeconds = 3600;

/**
 * 5 minutes, 15, 45 and so on up to 7 hours: 14 look-ups within 72 hours. Longer pauses could miss
 * the hours in which the search of the provider is complete.
 */
const backOffSeconds = ({ n }: { n: number }): number => 300 * 3 ** Math.min(n, 4);

type SoughtSend = SingleSendItem & { lookUp: NonNullable<SingleSendItem["lookUp"]> };

/**
 * Asks the provider of a sending config for uncertain sends and settles those that it tells. Stops
 * while the config is paused or the provider does not answer. Safe to repeat and to run twice at a
 * time.
 */
export async function lookUpSends(
  orgId: number,
  configId: number,
  sendIds: number[],
): Promise<void> {
  const sought = await listSought(orgId, sendIds);
  if (!sought.length) return;
  const config = await findConfig(orgId, configId).catch(undefinedIfMissing);
  const provider = config && getProvider(config.provider);
  if (!config || !provider?.lookUp) {
    for (const send of sought) await uncertainSends.endLookUps(orgId, send);
    return;
  }
  const credentials = await decryptCredentials(orgId, config);
  const until = addSeconds(maxRunSeconds);
  for (const [i, batch] of splitIntoBatches(sought, provider.lookUp.max).entries()) {
    const { waitSeconds } = await rateLimiter.acquireSlot(orgId, config, { n: 1 });
    // The due index returns the sends that wait.
    if (waitSeconds > 0) return;
    if (now() >= until) {
      const left = sought.slice(i * provider.lookUp.max).map(({ id }) => id);
      return enqueue(queues.send, [{ orgId, configId, lookUp: left }], { group: orgId });
    }
    const outcomes = await lookUpBatch(orgId, batch, { config, provider, credentials });
    if (outcomes.length && outcomes.every(({ status }) => status === "unknown")) {
      // The others would get the same answer, so they wait as if they had it.
      await takeBatch(orgId, sought.slice((i + 1) * provider.lookUp.max));
      return;
    }
  }
}

/**
 * Ends look-ups that have no more use. A repeated message must not make the second look-up early:
 * then the next one is hours later.
 */
async function listSought(orgId: number, sendIds: number[]): Promise<SoughtSend[]> {
  const sends = await getMany<SingleSendItem>(
    sendIds.map((id) => keys.send(orgId, id)),
    { consistent: true },
  );
  const sought: SoughtSend[] = [];
  for (const send of sends) {
    if (!send?.lookUp) continue;
    const { at, missingSince, isMissing } = send.lookUp;
    const isOver = at <= addSeconds(-uncertainSends.settlingSeconds).toISOString();
    if (send.status !== "uncertain") await uncertainSends.endLookUps(orgId, send);
    else if (isMissing) await handOverMissing(orgId, send as SoughtSend);
    else if (isOver) await uncertainSends.endLookUps(orgId, send);
    else if (!missingSince || secondLookUpAt(missingSince) <= now())
      sought.push(send as SoughtSend);
  }
  return sought;
}

const secondLookUpAt = (missingSince: string): Date =>
  addSeconds(secondLookUpSeconds, new Date(missingSince));

interface Account {
  config: SendingConfig;
  provider: ProviderAdapter;
  credentials: Record<string, unknown>;
}

/** Makes one request and applies its answer. */
async function lookUpBatch(
  orgId: number,
  batch: SoughtSend[],
  { config, provider, credentials }: Account,
): Promise<LookUpOutcome[]> {
  const sends = await takeBatch(orgId, batch);
  if (!sends.length) return [];
  const askedAt = now();
  const outcomes = await provider.lookUp!.find({
    mails: sends.map(({ id, toEmail }) => ({ sendId: id, to: toEmail })),
    since: addSeconds(-clockMarginSeconds, earliestHandOver(sends)),
    credentials,
  });
  for (const [i, send] of sends.entries())
    await applyOutcome(orgId, send, { outcome: outcomes[i]!, config, provider, askedAt });
  const count = (status: LookUpOutcome["status"]) =>
    outcomes.filter((outcome) => outcome.status === status).length;
  const statuses = ["found", "refused", "missing", "unknown"] as const;
  const counts = Object.fromEntries(statuses.map((status) => [status, count(status)]));
  log.info("look-up", { orgId, configId: config.id, provider: provider.key, ...counts });
  return outcomes;
}

/**
 * Notes the look-ups before they are made: a crash delays the next ones, and a worker that took the
 * sends over makes the answer of this one void.
 */
async function takeBatch(orgId: number, batch: SoughtSend[]): Promise<SoughtSend[]> {
  const taken = await inParallel(10, batch, async (send) => {
    const lookUp = { ...send.lookUp, n: send.lookUp.n + 1 };
    const due = uncertainDueAttributes(orgId, send.id, addSeconds(backOffSeconds(send.lookUp)));
    const set = { lookUp, ...due };
    return (await uncertainSends.changeUncertain(orgId, send, { set }))
      ? [{ ...send, lookUp }]
      : [];
  });
  return taken.flat();
}

/** No mail was handed over before it was accepted, or before its scheduled time. */
const earliestHandOver = (sends: SoughtSend[]): Date =>
  new Date(sends.map(({ scheduledAt, createdAt }) => scheduledAt ?? createdAt).toSorted()[0]!);

interface Answer extends Omit<Account, "credentials"> {
  outcome: LookUpOutcome;
  askedAt: Date;
}

async function applyOutcome(orgId: number, send: SoughtSend, answer: Answer): Promise<void> {
  const { outcome } = answer;
  if (outcome.status === "found")
    return settleUncertain(orgId, send, {
      status: "sent",
      sentAt: send.lookUp.at,
      providerMessageId: outcome.messageId,
    });
  if (outcome.status === "refused")
    return settleUncertain(orgId, send, { status: "failed", error: outcome.error });
  if (outcome.status !== "missing" || !isCertain(send, answer)) return;
  const { missingSince } = send.lookUp;
  if (!missingSince) return lookUpAgain(orgId, send, answer.askedAt);
  if (secondLookUpAt(missingSince) <= answer.askedAt) await handOverMissing(orgId, send);
}

/** While its campaign is paused, the mail stays uncertain, and no further look-up is made. */
async function handOverMissing(orgId: number, send: SoughtSend): Promise<void> {
  const obstacle = await uncertainSends.handOverAgain(orgId, send);
  if (obstacle === "cancelled") return settleUncertain(orgId, send, { status: "cancelled" });
  if (obstacle !== "paused") return;
  const lookUp = { ...send.lookUp, isMissing: true };
  const due = uncertainDueAttributes(orgId, send.id, addSeconds(pausedRetrySeconds));
  await uncertainSends.changeUncertain(orgId, send, { set: { lookUp, ...due } });
}

async function lookUpAgain(orgId: number, send: SoughtSend, missingSince: Date): Promise<void> {
  const lookUp = { ...send.lookUp, missingSince: missingSince.toISOString() };
  const dueAt = secondLookUpAt(lookUp.missingSince);
  const set = { lookUp, ...uncertainDueAttributes(orgId, send.id, dueAt) };
  await uncertainSends.changeUncertain(orgId, send, { set });
}

/** The provider was asked late enough, and about the account that the mail was handed over to. */
function isCertain(
  send: SoughtSend,
  { provider: { key, lookUp }, config: { revision }, askedAt }: Answer,
): boolean {
  if (!lookUp?.missing) return false;
  const { afterSeconds, withinSeconds } = lookUp.missing;
  return (
    send.provider === key &&
    send.lookUp.revision === revision &&
    addSeconds(afterSeconds, new Date(send.lookUp.at)) <= askedAt &&
    addSeconds(withinSeconds, earliestHandOver([send])) > askedAt
  );
}
