import {
  get,
  insertMany,
  insertTogether,
  put,
  transact,
  type Write,
  write,
  writeManyTogether,
} from "../../../adapters/dynamodb/table.ts";
import { enqueue, maxDelaySeconds } from "../../../adapters/sqs/enqueue.ts";
import type { Caller } from "../../../caller.ts";
import { addSeconds, epochSeconds, now } from "../../../clock.ts";
import * as liquid from "../../../email/liquid.ts";
import { invalid } from "../../../errors.ts";
import * as ids from "../../../ids.ts";
import { type CompressedValue, compress } from "../../../kernel/compressed-values.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { type Key, keys } from "../../../keys.ts";
import type { Addressees, Mailbox } from "../../../providers/provider-adapter.ts";
import { queues } from "../../../queues.ts";
import * as quota from "../../billing/quota.ts";
import { areSendsFrequent, type WatchedSend } from "../../billing/watched-shares.ts";
import { isStoredSend, mayStoreCondition } from "../../identity/open-charges.ts";
import * as organizations from "../../identity/organizations.ts";
import { countSiteSendsWrite } from "../../identity/site-send-counts.ts";
import { hashCopyAddress } from "../copy-hashes.ts";
import * as dailyCounters from "../daily-counters.ts";
import { indexSingleWrites } from "../recipient-index/recipient-log.ts";
import type { encryptMessages } from "../secure-messages/encrypt-messages.ts";
import { noticeVariables } from "../secure-messages/secure-message-item.ts";
import * as feed from "../send-feed.ts";
import type { SendItem } from "../sends.ts";
import { dueAttributes } from "../single-send-item.ts";
import type { DirectHandOver } from "./direct-hand-over.ts";
import * as directHandOver from "./direct-hand-over.ts";
import {
  buildContent,
  contentTtlSeconds,
  fromOf,
  type IntakeContext,
  listIntakeWarnings,
  parseSchedule,
  refuse,
  renderedFlaws,
  requireVariables,
  toSharedSendFields,
} from "./intake.ts";
import { addressesOf, type SingleMessage } from "./message.ts";

/**
 * Passed in by callers that accept secure messages, so that the bundles of others do not include
 * encryption.
 */
type EncryptMessages = typeof encryptMessages;

interface AcceptOptions {
  context: IntakeContext;
  encrypt?: EncryptMessages;
  /** The id of the send, if it is reserved already. */
  id?: number;
}

/**
 * Accepts one mail: stores, lists and charges it, then enqueues it. Returns its id and status. For
 * a suppressed address it records a send with the status `failed`. After a crash before the
 * enqueue, the due index finds the send. Throws 402.
 */
export async function acceptSingle(
  { orgId }: Pick<Caller, "orgId">,
  given: SingleMessage & Pick<SendItem, "system">,
  { context, encrypt, id: reservedId }: AcceptOptions,
) {
  if (given.secure && !encrypt)
    throw new Error("A secure message must be encrypted before it is accepted");
  const at = now();
  const scheduledAt = parseSchedule(given);
  const { message, copies, leftOut } = leaveOutSuppressed(given, context.suppressed);
  requireVariables(context, message, [{ toName: message.toName }]);
  refuse(renderedFlaws(message, context, at)(message));
  const isSuppressed = leftOut.includes(message.to);
  const id = reservedId ?? (await ids.nextSendId());
  const acceptedStatus = scheduledAt ? "scheduled" : "queued";
  const send: SendItem = {
    id,
    ...toSharedSendFields(context, message, {
      from: fromOf(message, context.config),
      at,
      scheduledAt,
    }),
    contactId: context.contactId,
    toEmail: message.to,
    subject: renderSubject(message, context, at),
    status: isSuppressed ? "failed" : acceptedStatus,
    error: isSuppressed ? "suppressed" : undefined,
    metadata: message.metadata,
    ...(copies && { copies: listAddresses(copies).map(hashCopyAddress) }),
    ...(message.system && { system: true }),
    v: 0,
  };
  const { isQueuedNow, delaySeconds, due } = planTiming(scheduledAt, at);
  const accepted: AcceptedMail = { orgId, send, message, copies, context, due };
  const stored = await (isSuppressed
    ? insertSuppressed(orgId, send)
    : acceptAffordable(accepted, encrypt)
  ).catch(
    // An earlier try of the same request may have spent the credits that are missing now.
    (error: unknown) => findSend(orgId, id, error),
  );
  if (isPending(stored) && isQueuedNow)
    await enqueue(queues.send, [{ orgId, sendId: id }], { group: orgId, delaySeconds });
  return {
    id,
    status: toAcceptedStatus(stored),
    warnings: isRecordedAsSuppressed(stored)
      ? [suppressedWarning(message.to)]
      : [
          ...(isSuppressed ? [] : leftOut.map(leftOutWarning)),
          ...listIntakeWarnings(context, message, [{ toName: message.toName }]),
        ],
  };
}

/**
 * Removes the suppressed addresses. The first of `to` that is left becomes the recipient. If none
 * is left, nobody gets the mail.
 */
function leaveOutSuppressed<M extends SingleMessage>(message: M, suppressed: Set<string>) {
  const { to, toName, alsoTo = [], cc = [], bcc = [] } = message;
  const isReachable = ({ email }: Mailbox) => !suppressed.has(normalizeEmail(email));
  const [first = { email: to, name: toName }, ...others] = [
    { email: to, name: toName },
    ...alsoTo,
  ].filter(isReachable);
  const copies = { to: others, cc: cc.filter(isReachable), bcc: bcc.filter(isReachable) };
  return {
    message: { ...message, to: first.email, toName: first.name },
    copies: listAddresses(copies).length ? copies : undefined,
    leftOut: addressesOf(message).filter((email) => !isReachable({ email })),
  };
}

const listAddresses = (addressees: Addressees | undefined): string[] =>
  Object.values<Mailbox[]>({ ...addressees })
    .flat()
    .map(({ email }) => email);

interface AcceptedMail {
  orgId: number;
  send: SendItem;
  message: SingleMessage;
  copies: Addressees | undefined;
  context: IntakeContext;
  /** When the due index finds the send, unless a share of the account watches over it. */
  due: Date;
}

/** Each address counts as a mail. */
const countMails = ({ copies }: Pick<AcceptedMail, "copies">): number =>
  1 + listAddresses(copies).length;

async function acceptAffordable(
  mail: AcceptedMail,
  encrypt: EncryptMessages | undefined,
): Promise<SendItem> {
  await quota.requireAffordable(mail.orgId, countMails(mail), mail.context.quota);
  return mail.message.secure ? storeSecure(mail, encrypt!) : storeAndCharge(mail);
}

/**
 * Encrypts the message into a blob and puts a notice in its place. A repeated request must not
 * restore a revoked message.
 */
async function storeSecure(mail: AcceptedMail, encrypt: EncryptMessages): Promise<SendItem> {
  const { orgId, send } = mail;
  const existing = await getStoredSend(orgId, send.id);
  if (existing) return existing;
  const { to, toName } = mail.message;
  const { message, context, recipients, writes } = await encrypt({
    orgId,
    message: mail.message,
    context: mail.context,
    recipients: [{ id: send.id, to, name: toName, variables: {} }],
    at: new Date(send.createdAt),
    scheduledAt: send.scheduledAt ?? undefined,
  });
  const [{ error, subject } = { subject: "" }] = recipients;
  if (error) throw invalid(error);
  const variables = { ...message.variables, [noticeVariables.subject]: subject };
  const notice = { ...mail, message: { ...message, variables }, context };
  return storeAndCharge(notice, [
    ...writes,
    ...feed.addToSecureFeedWrites(orgId, {
      siteId: send.siteId,
      at: send.createdAt,
      firstId: send.id,
      count: 1,
      secureCount: 1,
    }),
  ]);
}

async function storeAndCharge(mail: AcceptedMail, extraWrites: Write[] = []): Promise<SendItem> {
  const { orgId, send } = mail;
  const claiming = claimForThisProcess(mail);
  const storing = prepareContent(mail).then(async ({ content, body }) => {
    const stored = await insertAndCharge(mail, { body, claiming, extraWrites }).catch(
      // The response may be lost although the send was stored.
      (error: unknown) => findSend(orgId, send.id, error),
    );
    return { content, stored };
  });
  try {
    const [{ content, stored }, direct] = await Promise.all([storing, claiming]);
    if (direct && (stored as { by?: string }).by === direct.claim.by) direct.start(content, stored);
    return stored;
  } finally {
    (await claiming.catch(() => undefined))?.cancel();
  }
}

async function prepareContent({ orgId, send, message, copies, context }: AcceptedMail) {
  const at = new Date(send.createdAt);
  const parts = await buildContent(orgId, message, { context, at });
  const content = { ...parts, toName: message.toName, copies };
  return { content, body: await compress(keys.singleContent(orgId, send.id), content) };
}

async function getStoredSend(orgId: number, id: number): Promise<SendItem | undefined> {
  const item = await get<SendItem>(keys.send(orgId, id));
  return isStoredSend(item) ? item : undefined;
}

/** Throws `error` if the send does not exist. */
async function findSend(orgId: number, id: number, error: unknown): Promise<SendItem> {
  const existing = await getStoredSend(orgId, id);
  if (!existing) throw error;
  return existing;
}

interface ChargedMail {
  body: CompressedValue;
  claiming: Promise<DirectHandOver | undefined>;
  extraWrites: Write[];
}

async function insertAndCharge(
  { orgId, send, copies, context, due }: AcceptedMail,
  { body, claiming, extraWrites }: ChargedMail,
): Promise<SendItem> {
  const { item, contentItem } = toStoredItems(orgId, send, body);
  const n = countMails({ copies });
  const listing = Promise.all([
    listSend(orgId, send, { body, copies }),
    contentItem && insertContent(orgId, send.id, contentItem),
  ]);
  const insertWithPayment = async ({ writes, cost, isWatched, open }: quota.MailCharge) => {
    const [direct] = await Promise.all([claiming, listing]);
    const claim = direct && hasTimeLeft(direct.claim) ? direct.claim : undefined;
    const foundAt = claim ? new Date(claim.lease) : due;
    const charged = {
      ...item,
      ...claim,
      ...(!isWatched && dueAttributes(orgId, send.id, foundAt)),
      charged: cost && priceOf(cost, n),
    };
    return insertSend(orgId, charged, { writes: [...writes, ...extraWrites], open });
  };
  const siteSends = send.system ? undefined : { siteId: send.siteId, n: 1 };
  const order = {
    orgId,
    n,
    reference: `send:${send.id}`,
    siteSends,
    watched: send.scheduledAt ? undefined : toWatchedSend(orgId, send),
  };
  // The shares for single sends pay one mail at a time.
  const payer = n === 1 ? { sendId: send.id } : {};
  const [stored] = await Promise.all([
    quota.chargeMails(order, insertWithPayment, { quota: context.quota, ...payer }),
    listing,
  ]);
  return stored;
}

const toWatchedSend = (orgId: number, { id, createdAt }: SendItem): WatchedSend => ({
  sendId: id,
  createdAt,
  startsWatch: areSendsFrequent(orgId),
});

const priceOf = ({ includedMails, pricePerMail }: quota.MailCost, n: number): number =>
  (n - includedMails) * pricePerMail;

/**
 * An earlier try of the same request may have left content behind without a send. It is replaced,
 * because that try may have chosen another sending config.
 */
async function insertContent(
  orgId: number,
  id: number,
  { key, item }: { key: Key; item: object },
): Promise<void> {
  const [isNew] = await insertMany([{ key, item }]);
  if (!isNew && !(await getStoredSend(orgId, id))) await write(put(key, item));
}

/**
 * If the process was suspended, or the charge was repeated, the lease may be nearly over. The send
 * is then stored without the claim, and the queue takes it.
 */
const hasTimeLeft = ({ lease }: DirectHandOver["claim"]): boolean =>
  lease > addSeconds(minLeaseSeconds).toISOString();

/** Time to store the send and to start the call to the provider. */
const minLeaseSeconds = 60;

/** Claims a mail that is due now, if this process hands mail over itself. */
async function claimForThisProcess({
  orgId,
  send,
  message,
  context,
}: AcceptedMail): Promise<DirectHandOver | undefined> {
  const { config, files, timezone } = context;
  if (timezone === undefined || send.status !== "queued") return undefined;
  if (send.system || message.secure || files.length) return undefined;
  return directHandOver.claimDirectly({ orgId, send, config, timezone });
}

/**
 * Adds the send to the feed and to the recipient index, which keeps short content. These are plain
 * writes before the send is stored: so neither misses an accepted send, and a plain write costs
 * half of a transactional one.
 */
async function listSend(
  orgId: number,
  send: SendItem,
  { body, copies }: { body?: CompressedValue; copies?: Addressees | undefined } = {},
): Promise<void> {
  if (send.system) return;
  const { siteId, createdAt, id } = send;
  const content = body && isShort(body) ? body : undefined;
  await writeManyTogether([
    feed.listSingleWrite(orgId, { siteId, at: createdAt, firstId: id }),
    ...indexSingleWrites(orgId, { ...send, content }, listAddresses(copies)),
  ]);
}

/**
 * When an earlier try of the same request inserted the send, that one is returned. Throws
 * `quotaChanged` when the open charge was taken back.
 */
async function insertSend(
  orgId: number,
  send: SendItem,
  { writes, open }: Pick<quota.MailCharge, "writes" | "open">,
): Promise<SendItem> {
  const item = { ...send, chargeId: open?.id };
  const key = keys.send(orgId, send.id);
  const isNew =
    (!writes.length && (await insertTogether(key, item))) ||
    (await transact(put(key, item, { if: mayStoreCondition(open?.id) }), ...writes));
  const stored = isNew ? item : await findSend(orgId, send.id, quota.quotaChanged());
  if (open && stored.chargeId === open.id) open.afterStore();
  return stored;
}

/** Counts the send at once, because it has no hand-over that would count it. */
async function insertSuppressed(orgId: number, send: SendItem): Promise<SendItem> {
  if (send.system) return insertSend(orgId, send, { writes: [] });
  const [date] = await Promise.all([organizations.getToday(orgId), listSend(orgId, send)]);
  const { id, siteId, sendingConfigId: configId } = send;
  const failed = dailyCounters.dayCounterWrites(orgId, { siteId, date, shardSeed: id }, [
    { configId, counts: { failed: 1 } },
  ]);
  return insertSend(orgId, send, {
    writes: [countSiteSendsWrite(orgId, { siteId, n: 1 }), ...failed],
  });
}

const leftOutWarning = (email: string): string =>
  `${email} is suppressed and left out: GET /suppressions/check/:email shows the reason`;

const suppressedWarning = (to: string): string =>
  `${to} is suppressed, so nothing is sent and the send is recorded as failed: GET ` +
  "/suppressions/check/:email shows the reason";

const isPending = ({ status }: SendItem): boolean => status === "queued" || status === "scheduled";

const isRecordedAsSuppressed = ({ status, error }: SendItem): boolean =>
  status === "failed" && error === "suppressed";

/**
 * A repeated request may find the mail sent, or bounced and its address suppressed since. It still
 * returns `queued`.
 */
const toAcceptedStatus = (stored: SendItem): "failed" | "scheduled" | "queued" => {
  if (isRecordedAsSuppressed(stored)) return "failed";
  return stored.status === "scheduled" ? "scheduled" : "queued";
};

/** Time for the queue to hand the send over, before the due index finds it. */
const graceSeconds = 120;

// Mail due within 15 minutes uses the delay of the queue. Later mail waits on the due index, which
// may be a minute late.
function planTiming(scheduledAt: string | undefined, at: Date) {
  const delaySeconds = scheduledAt ? Math.ceil((Date.parse(scheduledAt) - at.getTime()) / 1000) : 0;
  const isQueuedNow = delaySeconds <= maxDelaySeconds;
  return {
    isQueuedNow,
    delaySeconds,
    due: isQueuedNow ? addSeconds(delaySeconds + graceSeconds, at) : new Date(scheduledAt!),
  };
}

// Short content, such as a template's id and variables, is stored inside the send. This saves one
// of five calls that a request makes one after the other, and 1 of 10 write units. A send should
// stay under 1 KB, because each further KB is paid at every change.
const maxInlineContentBytes = 350;

const isShort = ({ gz }: CompressedValue): boolean =>
  gz !== undefined && gz.length <= maxInlineContentBytes;

function toStoredItems(orgId: number, send: SendItem, body: CompressedValue) {
  if (isShort(body)) return { item: { ...send, content: body } };
  const key = keys.singleContent(orgId, send.id);
  const contentItem = { ...body, expires: epochSeconds() + contentTtlSeconds };
  return { item: send, contentItem: { key, item: contentItem } };
}

/** The rendered subject for lists: one line of at most 300 characters. */
function renderSubject(message: SingleMessage, { template }: IntakeContext, at: Date): string {
  const compiled = liquid.compile(message.subject ?? template?.subject ?? "", {
    escape: false,
    field: "subject",
  });
  const { text } = liquid.render(
    compiled,
    { email: message.to, name: message.toName, ...message.variables },
    { now: at, budget: liquid.Budget.forSubject() },
  );
  return text.replace(/\s+/g, " ").slice(0, 300);
}
