// Hands single sends over to the provider: one claim, one call, one write of the outcome.

import { measureUnits } from "../../adapters/dynamodb/capacity.ts";
import { all, equals, not, oneOf } from "../../adapters/dynamodb/conditions.ts";
import {
  claimAtOnce,
  get,
  getTogether,
  transact,
  update,
  updateTogether,
} from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds, epochSeconds, now } from "../../clock.ts";
import { invalid, missing } from "../../errors.ts";
import { randomBase62 } from "../../ids.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { endedBy } from "../../kernel/lease.ts";
import * as log from "../../kernel/log.ts";
import { indexAttributeNames, keys } from "../../keys.ts";
import { recipientFlaw } from "../../providers/limits.ts";
import type {
  Attachment,
  HandOverOutcome,
  Mailbox,
  Mailing,
  ProviderAdapter,
} from "../../providers/provider-adapter.ts";
import { getProvider as providerOf } from "../../providers/registry.ts";
import { queues } from "../../queues.ts";
import * as engagement from "../audience/contacts/engagement.ts";
import * as suppressions from "../audience/suppressions/suppressions.ts";
import * as organizations from "../identity/organizations.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import * as warmUp from "../senders/warm-up.ts";
import { type Contacts, countOutcome } from "./count-outcome.ts";
import * as dailyCounters from "./daily-counters.ts";
import * as eligibility from "./eligibility.ts";
import * as inFlight from "./in-flight.ts";
import * as attachments from "./intake/attachments.ts";
import type { AcceptedSend, DirectHandOver } from "./intake/direct-hand-over.ts";
import { getSourceState, sourceOf } from "./mail-sources.ts";
import * as outcomeRuns from "./outcome-runs.ts";
import {
  applyRetryLimit,
  canRepeatCall,
  findConfig,
  lastCallBefore,
  logCall,
  mayBeHandedOver,
  openIdempotencyWindow,
  sendOneByOne,
  toDelay,
  toPermanentMessage,
  toSendFields,
  workerDiedOutcome,
} from "./provider-calls/provider-call.ts";
import * as limiter from "./provider-calls/rate-limiter.ts";
import { compose } from "./rendering/compose.ts";
import { loadMailParts, type MailContent, type MailParts } from "./rendering/mail-content.ts";
import type { SendItem } from "./sends.ts";
import {
  dueAttributes,
  lookUpAttributes,
  type SingleSendItem,
  unchangedCondition,
} from "./single-send-item.ts";
import { findStoredMail, type SingleContent, type StoredMail } from "./stored-mail.ts";

const leaseSeconds = queues.send.timeoutSeconds + 90;
const graceSeconds = 120;
// A little less than the longest delay of a queue message.
const maxSlotAheadMs = 890_000;
const memoryRetrySeconds = 5;
/** A mail of a paused campaign that is handed over again looks at it so often. */
const pausedRetrySeconds = 300;

/**
 * Hands a single send over. Safe to repeat: it leaves a send alone that is settled or that another
 * worker has claimed.
 */
export async function handOverSingle(orgId: number, sendId: number): Promise<void> {
  queuedHandOvers++;
  try {
    await handOverQueued(orgId, sendId);
  } finally {
    queuedHandOvers--;
    // A function on AWS stops after its last message.
    if (!queuedHandOvers) await outcomeRuns.commitIdleRuns();
  }
}

let queuedHandOvers = 0;

async function handOverQueued(orgId: number, sendId: number): Promise<void> {
  const send = await getTogether<SingleSendItem>(keys.send(orgId, sendId), { consistent: true });
  if (!send) return;
  const entry = await inFlight.enter(orgId, send.sendingConfigId);
  if (!entry)
    return enqueue(queues.send, [{ orgId, sendId }], {
      group: orgId,
      delaySeconds: memoryRetrySeconds,
    });
  try {
    const current = entry.atOnce ? send : await get<SingleSendItem>(keys.send(orgId, sendId));
    if (current) await deliverNow(orgId, current);
  } finally {
    entry.leave();
  }
}

async function deliverNow(orgId: number, send: SingleSendItem): Promise<void> {
  if (!isDue(send)) {
    // Without a due entry, the process that stored the outcome is counting it.
    if (send.uncounted && !(send.run && !send.duesk)) return countOutcome(orgId, send);
    return isSettledElsewhere(send) ? settleByEvent(orgId, send) : undefined;
  }
  send.doubt ||= send.status === "sending";
  const prepared = await prepareSend(orgId, send).catch(toPermanentMessage);
  if (prepared === undefined) return postpone(orgId, send, { seconds: memoryRetrySeconds });
  if (prepared === "paused") return postpone(orgId, send, { seconds: pausedRetrySeconds });
  if (typeof prepared === "string")
    return settleSend(orgId, send, {
      outcome: send.doubt ? workerDiedOutcome : { status: "refused", error: prepared },
    });
  await claimAndCall(orgId, send, prepared).finally(prepared.releaseMemory);
}

async function claimAndCall(
  orgId: number,
  send: SingleSendItem,
  prepared: PreparedSend,
): Promise<void> {
  const { config, contacts, slot, mailing, credentials, provider } = prepared;
  if (send.doubt && !canRepeatCall(send.key, config))
    return settleSend(orgId, send, { outcome: workerDiedOutcome, contacts });
  const { waitSeconds, isReserved } = slot;
  if (waitSeconds > 0)
    return postpone(orgId, send, {
      seconds: waitSeconds,
      turnAt: isReserved ? addSeconds(waitSeconds).toISOString() : undefined,
    });
  const claimed = await claimSend(orgId, send, prepared);
  if (!claimed) return;
  // The contact may have left between the first check and the claim.
  const reason = await findExclusionReason(orgId, send, prepared.mail);
  if (reason)
    return settleSend(orgId, claimed, {
      outcome: claimed.doubt ? workerDiedOutcome : { status: "refused", error: reason },
      contacts,
    });
  await warmUp.countMails(orgId, config, countAddresses(send));
  // The lease may have expired while this process was frozen. Then another worker settles the send.
  if (claimed.lease! <= now().toISOString()) return;
  const [outcome] = await sendOneByOne(provider, {
    mailing: { ...mailing, notAfter: lastCallBefore(new Date(claimed.lease!)) },
    credentials,
    term: claimed.key,
    repeated: (claimed.attempt ?? 1) > 1,
  });
  logCall(orgId, config, [outcome!]);
  await applyOutcome(orgId, claimed, { ...prepared, callOutcome: outcome! });
}

/** Hand-overs of this process that no queue message waits for. */
const directHandOvers = new Set<Promise<void>>();

/**
 * Waits for the direct hand-overs of this process and counts their outcomes. Returns whether there
 * were any.
 */
export async function finishDirectHandOvers(): Promise<boolean> {
  const hasAny = directHandOvers.size > 0;
  while (directHandOvers.size) await Promise.all(directHandOvers);
  return (await outcomeRuns.commitAllRuns()) || hasAny;
}

/**
 * Claims a mail for the process that accepts it; see intake/direct-hand-over.ts. Undefined when it
 * cannot be handed over at once: then the queue takes it.
 */
export async function claimDirectly(accepted: AcceptedSend): Promise<DirectHandOver | undefined> {
  const { orgId, send, config } = accepted;
  const provider = providerOf(config.provider);
  if (!provider || sendingConfigs.handOverRate(config)) return undefined;
  const [lane, key] = await Promise.all([
    limiter.getRecentState(orgId, config.id),
    openIdempotencyWindow(provider, config),
  ]);
  if (limiter.isPaused(lane)) return undefined;
  const entry = inFlight.enterAtOnce(orgId, config.id);
  if (!entry) return undefined;
  const claim = { ...createClaim(send, provider, config), key };
  let hasStarted = false;
  const start = (content: SingleContent, claimed: SendItem) => {
    hasStarted = true;
    const work = deliverDirectly({ ...accepted, content, lane }, claimed as SingleSendItem)
      .catch((error: unknown) => log.error("direct hand-over failed", error, { orgId }))
      .finally(() => {
        entry.leave();
        directHandOvers.delete(work);
      });
    directHandOvers.add(work);
  };
  const cancel = () => {
    if (!hasStarted) entry.leave();
  };
  return { claim, start, cancel };
}

type DirectMail = AcceptedSend & { content: SingleContent; lane: limiter.LimiterState };

async function deliverDirectly(accepted: DirectMail, claimed: SingleSendItem): Promise<void> {
  const started = performance.now();
  const { usage } = await measureUnits(() => callDirectly(accepted, claimed));
  log.info("message", {
    queue: queues.send.name,
    orgId: accepted.orgId,
    sendId: claimed.id,
    milliseconds: Math.round(performance.now() - started),
    readUnits: usage.readUnits,
    writeUnits: usage.writeUnits,
  });
}

async function callDirectly(
  { orgId, config, content, timezone, lane }: DirectMail,
  claimed: SingleSendItem,
): Promise<void> {
  const parts = await prepareDirectly({ orgId, content, config }, claimed).catch(
    async (error: unknown) => {
      // The provider has not received the mail, so the queue can start again.
      await postpone(orgId, claimed, { seconds: memoryRetrySeconds });
      throw error;
    },
  );
  if (typeof parts === "string")
    return settleSend(orgId, claimed, { outcome: { status: "refused", error: parts } });
  if (claimed.lease! <= now().toISOString()) return;
  // Only the statistics need the contact. If it cannot be read now, it is read when it is counted.
  const reading = (claimed.system ? Promise.resolve([]) : findContact(orgId, claimed)).catch(
    () => undefined,
  );
  const [outcome] = await sendOneByOne(parts.provider, {
    mailing: { ...parts.mailing, notAfter: lastCallBefore(new Date(claimed.lease!)) },
    credentials: parts.credentials,
    term: claimed.key,
    repeated: false,
  });
  logCall(orgId, config, [outcome!]);
  const slot = limiter.toFreeSlot(lane);
  const prepared = { ...parts, config, slot, contacts: await reading, timezone };
  await applyOutcome(orgId, claimed, { ...prepared, callOutcome: outcome! });
}

const findContact = (orgId: number, send: SingleSendItem): Promise<Contacts> =>
  engagement.getAddressees(orgId, [send]);

const countAddresses = ({ copies = [] }: SingleSendItem): number => 1 + copies.length;

/** Renders the mail. Returns the message of an error that a retry cannot solve. */
async function prepareDirectly(
  { orgId, content, config }: Pick<DirectMail, "orgId" | "content" | "config">,
  send: SingleSendItem,
) {
  try {
    const [parts, credentials] = await Promise.all([
      loadMailParts(orgId, content),
      sendingConfigs.decryptCredentials(orgId, config),
      warmUp.countMails(orgId, config, countAddresses(send)),
    ]);
    const recipient = { sendId: send.id, to: send.toEmail, name: content.toName };
    return { ...composeMailing({ content, recipient }, { parts, files: [] }, config), credentials };
  } catch (error) {
    return toPermanentMessage(error);
  }
}

function isDue({ status, scheduledAt, lease, turnAt }: SingleSendItem): boolean {
  const time = now().toISOString();
  if (status === "scheduled") return (scheduledAt ?? "") <= time;
  if (status === "queued") return (turnAt ?? "") <= time;
  return status === "sending" && (lease ?? "") <= endedBy(leaseSeconds).toISOString();
}

const unsettledStatuses: SendItem["status"][] = ["scheduled", "queued", "sending"];

// A provider event can settle the send after its worker crashed. While the lease is valid, the
// worker is alive and removes the transient attributes itself.
const isSettledElsewhere = ({ status, duesk, lease }: SingleSendItem): boolean =>
  duesk !== undefined &&
  (lease ?? "") <= endedBy(leaseSeconds).toISOString() &&
  status !== "uncertain" &&
  !unsettledStatuses.includes(status);

interface PreparedSend {
  mail: StoredMail;
  config: sendingConfigs.SendingConfig;
  provider: ProviderAdapter;
  credentials: Record<string, unknown>;
  mailing: Mailing;
  slot: limiter.RateSlot;
  /** The contact with this address, if there is one. Undefined if it is not known yet. */
  contacts: Contacts | undefined;
  /** The organization's time zone, if it is known. */
  timezone?: string;
  releaseMemory(): void;
}

/**
 * Reads and renders the mail. Undefined while the attachments of others fill the memory, `paused`
 * while its campaign is paused. Throws a Problem when it can never be sent.
 */
async function prepareSend(
  orgId: number,
  send: SingleSendItem,
): Promise<PreparedSend | "paused" | undefined> {
  const [mail, config, contacts, lane, timezone] = await Promise.all([
    findMail(orgId, send),
    findConfig(orgId, send.sendingConfigId),
    send.system ? [] : findContact(orgId, send),
    limiter.readState(orgId, send.sendingConfigId),
    organizations.getTimezone(orgId),
    requireNotSuppressed(orgId, send),
  ]);
  const source = sourceOf(send);
  if (source && mail.line) {
    const state = await getSourceState(orgId, source);
    if (state === "paused") return "paused";
    if (state === "cancelled") throw invalid("cancelled");
    const reason = await findExclusionReason(orgId, send, mail);
    if (reason) throw invalid(reason);
  }
  const releaseMemory = attachments.reserveMemory(mail.content.attachments);
  if (!releaseMemory) return undefined;
  try {
    const mailing = await buildMailing({ orgId, mail, config, lane }, send);
    return { ...mailing, mail, contacts, timezone, releaseMemory };
  } catch (error) {
    releaseMemory();
    throw error;
  }
}

type QueuedMail = Pick<DirectMail, "orgId" | "config" | "lane"> & { mail: StoredMail };

async function buildMailing({ orgId, mail, config, lane }: QueuedMail, send: SingleSendItem) {
  const [parts, files, credentials, slot] = await Promise.all([
    loadMailParts(orgId, mail.content),
    attachments.loadAttachments(mail.content.attachments),
    sendingConfigs.decryptCredentials(orgId, config),
    // A send that returns for its reserved slot checks only whether the whole config is paused.
    config.ratePerSecond && !send.turnAt
      ? limiter.acquireSlot(orgId, config, { n: 1, maxAheadMs: maxSlotAheadMs })
      : acquireUnlimitedSlot(orgId, config.id, lane),
  ]);
  const { provider, mailing } = composeMailing(mail, { parts, files }, config);
  return { config, provider, credentials, mailing, slot };
}

/** `lane` has just been read. */
const acquireUnlimitedSlot = async (
  orgId: number,
  configId: number,
  lane: limiter.LimiterState,
): Promise<limiter.RateSlot> =>
  limiter.isPaused(lane)
    ? limiter.acquireSlot(orgId, { id: configId }, { n: 1, maxAheadMs: maxSlotAheadMs })
    : limiter.toFreeSlot(lane);

/** Throws a Problem when the mail can never be sent. */
function composeMailing(
  { content, recipient: addressee, line }: StoredMail,
  { parts, files }: { parts: MailParts; files: Attachment[] },
  config: sendingConfigs.SendingConfig,
) {
  const { common, renderRecipient } = compose(content, parts, files);
  const provider = providerOf(config.provider)!;
  const recipient = renderRecipient(addressee);
  const flaw = recipientFlaw(provider, common, recipient);
  if (flaw) throw invalid(flaw);
  const { opens: trackOpens = common.trackOpens, clicks: trackClicks = common.trackClicks } =
    line ?? {};
  return { provider, mailing: { ...common, trackOpens, trackClicks, recipients: [recipient] } };
}

async function findMail(orgId: number, send: SingleSendItem): Promise<StoredMail> {
  const mail = await findStoredMail(orgId, send);
  if (!mail) throw missing("The send was never accepted: its content is missing");
  return { ...mail, content: await leaveOutSuppressedCopies(orgId, send, mail.content) };
}

/** Why the contact gets no marketing mail any more. Undefined for other mail. */
async function findExclusionReason(
  orgId: number,
  send: SingleSendItem,
  { line, head }: StoredMail,
): Promise<string | undefined> {
  if (!sourceOf(send) || !line || !head) return undefined;
  const { siteId, capDays, topic } = head;
  const limits = { orgId, siteId, capDays, topic };
  const [reason] = await eligibility.listExclusionReasons(limits, [line], { consistent: true });
  return reason;
}

// Acceptance checks suppressions too, so only mail that has waited is checked again.
async function requireNotSuppressed(
  orgId: number,
  { toEmail, createdAt }: SingleSendItem,
): Promise<void> {
  if (!hasWaited(createdAt)) return;
  if (
    (await suppressions.filterSuppressed(orgId, [toEmail], { purpose: "transactional" })).has(
      normalizeEmail(toEmail),
    )
  )
    throw invalid("suppressed");
}

const hasWaited = (createdAt: string): boolean =>
  epochSeconds() - Date.parse(createdAt) / 1000 >= 60;

async function leaveOutSuppressedCopies(
  orgId: number,
  { createdAt }: SingleSendItem,
  content: MailContent,
): Promise<MailContent> {
  const { copies } = content;
  if (!copies || !hasWaited(createdAt)) return content;
  const emails = [...copies.to, ...copies.cc, ...copies.bcc].map(({ email }) => email);
  const suppressed = await suppressions.filterSuppressed(orgId, emails, {
    purpose: "transactional",
  });
  const reachable = (mailboxes: Mailbox[]) =>
    mailboxes.filter(({ email }) => !suppressed.has(normalizeEmail(email)));
  const { to, cc, bcc } = copies;
  const left = { to: reachable(to), cc: reachable(cc), bcc: reachable(bcc) };
  return { ...content, copies: left };
}

/** Marks the send as about to be handed over. Undefined when another worker claimed it. */
async function claimSend(
  orgId: number,
  send: SingleSendItem,
  { provider, config }: PreparedSend,
): Promise<SingleSendItem | undefined> {
  const set = {
    ...createClaim(send, provider, config),
    ...(send.doubt ? { doubt: true } : { key: await openIdempotencyWindow(provider, config) }),
  };
  const { status, attempt, turnAt, by } = send;
  const key = keys.send(orgId, send.id);
  const isStored = async () => (await get<SingleSendItem>(key))?.by === set.by;
  // The response of a write may be lost. Then the write fails, or the SDK repeats it, and the
  // repeat fails because of its own first try.
  const isClaimed = await updateTogether({
    key,
    set,
    remove: ["turnAt"],
    ifEquals: { status, attempt, turnAt, by },
  }).catch(async (error: unknown) => {
    if (await isStored()) return true;
    throw error;
  });
  if (!isClaimed && !(await isStored())) return undefined;
  const { turnAt: _, ...rest } = send;
  return { ...rest, ...set } as SingleSendItem;
}

const createClaim = (
  send: SingleSendItem,
  provider: ProviderAdapter,
  { revision }: sendingConfigs.SendingConfig,
) => ({
  status: "sending" as const,
  attempt: (send.attempt ?? 0) + 1,
  by: randomBase62(8),
  lease: addSeconds(leaseSeconds).toISOString(),
  firstClaimedAt: send.firstClaimedAt ?? now().toISOString(),
  provider: provider.key,
  revision,
});

/**
 * After a restore, the provider may have a mail that the table does not know of: the send becomes
 * `uncertain`.
 */
export const markUncertain = (orgId: number, send: SingleSendItem): Promise<boolean> => {
  const set = {
    status: "sending" as const,
    attempt: (send.attempt ?? 0) + 1,
    by: randomBase62(8),
    lease: now().toISOString(),
    doubt: true,
    ...dueAttributes(orgId, send.id, now()),
  };
  const change = { set, remove: ["key", "turnAt", "revision"] };
  return transact(update(keys.send(orgId, send.id), change, { if: unchangedCondition(send) }));
};

async function applyOutcome(
  orgId: number,
  claimed: SingleSendItem,
  {
    config,
    slot,
    contacts,
    timezone,
    callOutcome,
  }: Omit<PreparedSend, "releaseMemory" | "mail"> & { callOutcome: HandOverOutcome },
): Promise<void> {
  const send = { ...claimed, doubt: claimed.doubt || mayBeHandedOver(callOutcome) };
  const outcome = applyRetryLimit(callOutcome, config, {
    stalledSince: send.firstClaimedAt,
    maybeHandedOver: send.doubt,
  });
  if (outcome.status === "held") {
    const delay = toDelay(outcome, backOffSeconds(send));
    await postpone(orgId, send, { seconds: delay.seconds });
    return limiter.recordHeldSend(orgId, config.id, delay);
  }
  await settleSend(orgId, send, { outcome, contacts, timezone });
  await limiter.applyPauses(orgId, config.id, [outcome]);
  if (outcome.status === "uncertain")
    await limiter.recordHeldSend(orgId, config.id, { reason: "fault", seconds: 0 });
  if (outcome.status === "accepted" && slot.isAfterFailure)
    await limiter.resetBreaker(orgId, config.id);
}

const backOffSeconds = ({ attempt = 1 }: SingleSendItem): number =>
  Math.min(2 ** (attempt - 1), 300);

/**
 * Stores the outcome in a write of its own, so that an error in the statistics cannot lose it, and
 * then counts it. After a crash in between, the due index finds the send and it is counted.
 */
interface Settlement {
  outcome: HandOverOutcome;
  contacts?: Contacts | undefined;
  /** The organization's time zone, if it is known. */
  timezone?: string | undefined;
}

type FieldsToStore = Omit<Settlement, "outcome"> & { fields: Partial<SendItem> };

async function settleSend(
  orgId: number,
  send: SingleSendItem,
  { outcome, contacts, timezone }: Settlement,
): Promise<void> {
  const key = keys.send(orgId, send.id);
  const fields = {
    ...toSendFields(outcome, now().toISOString()),
    contactId: send.contactId ?? contacts?.[0]?.id,
  };
  if (await settleInRun(orgId, send, { fields, contacts, timezone })) return;
  if (await settleAndCount(orgId, send, { fields, contacts, timezone })) return;
  const toUncounted = (status: SingleSendItem["uncounted"]) => ({
    uncounted: send.system ? undefined : status,
  });
  const isUncertain = fields.status === "uncertain";
  const found: object = isUncertain ? lookUpAttributesOf(orgId, send) : {};
  const remove = (send.system ? transientAttributes : handOverAttributes).filter(
    // A look-up may find that the mail has to be handed over again.
    (name) => !(name in found || (name === "content" && "lookUp" in found)),
  );
  // What a user knew of the hand-over before is not known of this one.
  if (isUncertain) remove.push("resolution");
  const set = {
    ...fields,
    ...found,
    ...toUncounted(fields.status as SingleSendItem["uncounted"]),
  };
  // Incrementing `v` makes events that were applied to the old state apply again.
  const isSettled = await transact(
    update(key, { set, add: { v: 1 }, remove }, { if: unchangedCondition(send) }),
  );
  if (isSettled) return countOutcome(orgId, { ...send, ...set }, contacts);
  // If an event settled the send first, add only the other fields from the provider's response. If
  // another worker returned it to the queue, leave it as it is.
  const { status: _, error: __, ...others } = fields;
  if (send.by)
    await transact(
      update(
        key,
        { set: { ...others, ...toUncounted("sent") }, remove },
        { if: all(equals("by", send.by), not(oneOf("status", unsettledStatuses))) },
      ),
    );
  const current = await get<SingleSendItem>(key);
  if (current) await countOutcome(orgId, current, contacts);
}

const lookUpAttributesOf = (orgId: number, send: SingleSendItem) => {
  const provider = providerOf(send.provider);
  return provider ? lookUpAttributes(orgId, send.id, { provider, revision: send.revision }) : {};
};

/**
 * Stores the outcome in a plain write, with a run that counts it together with others. Returns
 * false when it did not: outcomes are rare, or it is uncertain, or the mail has a contact, or an
 * entry on the due index, which is removed when the mail is counted.
 */
async function settleInRun(
  orgId: number,
  send: SingleSendItem,
  { fields, contacts, timezone }: FieldsToStore,
): Promise<boolean> {
  if (fields.status === "uncertain" || send.system || send.duesk) return false;
  if (!timezone || !contacts || contacts[0]) return false;
  if (!outcomeRuns.areOutcomesFrequent(orgId)) return false;
  const key = keys.send(orgId, send.id);
  const uncounted = fields.status as SingleSendItem["uncounted"];
  const date = organizations.dateIn(timezone, now());
  const { status, attempt, turnAt, by, v } = send;
  const store = async (run: string) => {
    const set = { ...fields, uncounted, run };
    const isStored = await updateTogether({
      key,
      set: { ...set, v: (v ?? 0) + 1 },
      remove: handOverAttributes,
      ifEquals: { status, attempt, turnAt, by, v },
    });
    // A repeat of the write after a lost response fails because of the first try.
    if (!isStored && (await get<SingleSendItem>(key))?.run !== run) return undefined;
    return { send: { ...send, ...set }, date, counts: { [uncounted!]: 1 } };
  };
  return outcomeRuns.countInRun(orgId, store, countStored).catch(() => false);
}

/** Counts a send as it is stored now. */
const countStored = async (orgId: number, { id }: SingleSendItem): Promise<void> => {
  const send = await get<SingleSendItem>(keys.send(orgId, id));
  if (send) await countOutcome(orgId, send);
};

/**
 * Stores and counts the outcome in one transaction, which costs less than two writes. Returns false
 * when it did not: the mail is or was uncertain, or it has a contact, whose counters need the
 * outcome to be stored first, or the transaction failed, so that the outcome is stored without it.
 */
async function settleAndCount(
  orgId: number,
  send: SingleSendItem,
  { fields, contacts, timezone }: FieldsToStore,
): Promise<boolean> {
  if (fields.status === "uncertain" || send.wasUncertain) return false;
  if (send.system || !contacts || contacts[0]) return false;
  const { siteId, sendingConfigId: configId } = send;
  const counterChange = { configId, counts: { [fields.status!]: 1 } };
  try {
    const date = timezone
      ? organizations.dateIn(timezone, now())
      : await organizations.getToday(orgId);
    const settleWrite = update(
      keys.send(orgId, send.id),
      { set: fields, add: { v: 1 }, remove: transientAttributes },
      { if: unchangedCondition(send) },
    );
    return await claimAtOnce(
      settleWrite,
      ...dailyCounters.dayCounterWrites(orgId, { siteId, date, shardSeed: send.id }, [
        counterChange,
      ]),
    );
  } catch {
    return false;
  }
}

/**
 * An event proved that the provider has the mail, after its worker crashed or before it was handed
 * over again. Counts it as sent, because nobody else does.
 */
async function settleByEvent(orgId: number, send: SingleSendItem): Promise<void> {
  const isCounted = send.system || !(send.wasUncertain || send.attempt);
  const set = { uncounted: isCounted ? undefined : ("sent" as const) };
  const remove = isCounted ? transientAttributes : handOverAttributes;
  const isSettled = await transact(
    update(keys.send(orgId, send.id), { set, remove }, { if: unchangedCondition(send) }),
  );
  if (isSettled) await countOutcome(orgId, { ...send, ...set });
}

/** Attributes that are needed only until the provider has responded. */
const handOverAttributes = [
  "content",
  "lease",
  "attempt",
  "by",
  "firstClaimedAt",
  "key",
  "revision",
  "doubt",
  "turnAt",
];
const transientAttributes = [...indexAttributeNames("due"), ...handOverAttributes];

/** Returns the send to the queue. With `turnAt`, it comes back for its reserved slot. */
async function postpone(
  orgId: number,
  send: SingleSendItem,
  { seconds, turnAt }: { seconds: number; turnAt?: string | undefined },
): Promise<void> {
  const due = dueAttributes(orgId, send.id, addSeconds(seconds + graceSeconds));
  const set = { status: "queued", turnAt, ...(send.doubt && { doubt: true }), ...due };
  const remove = ["lease", ...(turnAt ? [] : ["turnAt"]), ...(send.doubt ? [] : ["key"])];
  const isPostponed = await transact(
    update(keys.send(orgId, send.id), { set, remove }, { if: unchangedCondition(send) }),
  );
  if (isPostponed)
    await enqueue(queues.send, [{ orgId, sendId: send.id }], {
      group: orgId,
      delaySeconds: seconds,
    });
}
