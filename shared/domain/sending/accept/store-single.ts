// Stores one accepted mail: lists it, and then stores and charges it in one transaction. A repeated
// request finds what an earlier try of it stored.
import {
  get,
  insertMany,
  put,
  transact,
  type Write,
  write,
  writeManyTogether,
} from "../../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds } from "../../../clock.ts";
import { contended, invalid } from "../../../errors.ts";
import { type CompressedValue, compress } from "../../../kernel/compressed-values.ts";
import { type Key, keys } from "../../../keys.ts";
import type { Addressees, Mailbox } from "../../../providers/provider-adapter.ts";
import { chargeMails, type MailCharge } from "../../billing/charge.ts";
import { type MailCost, type QuotaState, requireAffordable } from "../../billing/quota.ts";
import * as organizations from "../../identity/organizations.ts";
import { countSiteSendsWrite } from "../../identity/site-send-counts.ts";
import * as dailyCounters from "../daily-counters.ts";
import { indexSingleWrites } from "../recipient-index/recipient-log.ts";
import { contentTtlSeconds } from "../rendering/mail-content.ts";
import type { encryptMessages } from "../secure-messages/encrypt-messages.ts";
import { noticeVariables } from "../secure-messages/secure-message-item.ts";
import * as sendFeed from "../send-feed.ts";
import type { SendItem } from "../send-schema.ts";
import { dueAttributes } from "../single/single-send-item.ts";
import { markWindow } from "../single/sweep-windows.ts";
import { buildContent, type IntakeContext } from "./intake.ts";
import type { SingleMessage } from "./single-message.ts";

/**
 * Passed in by callers that accept secure messages, so that the bundles of others do not include
 * encryption.
 */
export type EncryptMessages = typeof encryptMessages;

export const listAddresses = (addressees: Addressees | undefined): string[] =>
  Object.values<Mailbox[]>({ ...addressees })
    .flat()
    .map(({ email }) => email);

export interface MailToStore {
  orgId: number;
  send: SendItem;
  message: SingleMessage;
  copies: Addressees | undefined;
  context: IntakeContext;
  /** When the due index finds the send, if the sweep of its window does not. */
  due: Date;
}

/** Each address counts as a mail. */
const countMails = ({ copies }: Pick<MailToStore, "copies">): number =>
  1 + listAddresses(copies).length;

export async function acceptAffordable(
  mail: MailToStore,
  encrypt: EncryptMessages | undefined,
): Promise<SendItem> {
  const quota = await requireAffordable(mail.orgId, countMails(mail), mail.context.quota);
  return mail.message.secure ? storeSecure(mail, quota, encrypt!) : storeAndCharge(mail, quota);
}

/**
 * Encrypts the message into a blob and puts a notice in its place. A repeated request must not
 * restore a revoked message.
 */
async function storeSecure(
  mail: MailToStore,
  quota: QuotaState,
  encrypt: EncryptMessages,
): Promise<SendItem> {
  const { orgId, send } = mail;
  const existing = await getStoredSend(orgId, send.id);
  if (existing) return existing;
  const { to, toName, locale } = mail.message;
  const { message, context, recipients, writes } = await encrypt({
    orgId,
    message: mail.message,
    context: mail.context,
    recipients: [{ id: send.id, to, name: toName, variables: {}, locale }],
    at: new Date(send.createdAt),
    scheduledAt: send.scheduledAt ?? undefined,
  });
  const [{ error, subject } = { subject: "" }] = recipients;
  if (error) throw invalid(error);
  const variables = { ...message.variables, [noticeVariables.subject]: subject };
  const notice = { ...mail, message: { ...message, variables }, context };
  return storeAndCharge(notice, quota, [
    ...writes,
    ...sendFeed.addToSecureFeedWrites(orgId, {
      siteId: send.siteId,
      at: send.createdAt,
      firstId: send.id,
      count: 1,
      secureCount: 1,
    }),
  ]);
}

/** Lists the send, and then stores and charges it in one transaction. */
async function storeAndCharge(
  mail: MailToStore,
  quota: QuotaState,
  extraWrites: Write[] = [],
): Promise<SendItem> {
  const { orgId, send, copies } = mail;
  const body = await compressContent(mail);
  const { item, contentItem } = toStoredItems(orgId, send, body);
  await Promise.all([
    listSend(orgId, send, { body, copies }),
    contentItem && insertContent(orgId, send.id, contentItem),
  ]);
  const n = countMails(mail);
  const siteSends = send.system ? undefined : { siteId: send.siteId, n: 1 };
  const order = { orgId, n, isSingle: true as const, reference: `send:${send.id}`, siteSends };
  const insertCharged = ({ writes, cost }: MailCharge) =>
    insertSend(orgId, { ...item, ...dueUnlessSwept(mail), charged: cost && priceOf(cost, n) }, [
      ...writes,
      ...extraWrites,
    ]);
  // The response may be lost although the send was stored.
  return chargeMails(order, insertCharged, quota).catch((error: unknown) =>
    findSend(orgId, send.id, error),
  );
}

const priceOf = ({ includedMails, pricePerMail }: MailCost, n: number): number =>
  (n - includedMails) * pricePerMail;

/** A process that was paused for so long may store the send after its window was swept. */
const maxStoringSeconds = 240;

/**
 * A send that waits for a time, or that is in no feed, has an entry on the due index. The others
 * are found by the sweep of their window.
 */
function dueUnlessSwept({ orgId, send, due }: MailToStore): object {
  const isLate = send.createdAt < addSeconds(-maxStoringSeconds).toISOString();
  return send.status === "scheduled" || send.system || isLate
    ? dueAttributes(orgId, send.id, due)
    : {};
}

async function compressContent(mail: MailToStore): Promise<CompressedValue> {
  const { orgId, send, message, copies, context } = mail;
  const at = new Date(send.createdAt);
  const parts = await buildContent(orgId, message, { context, at });
  const content = { ...parts, toName: message.toName, copies };
  return compress(keys.singleContent(orgId, send.id), content);
}

const getStoredSend = (orgId: number, id: number): Promise<SendItem | undefined> =>
  get<SendItem>(keys.send(orgId, id));

/** Throws `error` if the send does not exist. */
export async function findSend(orgId: number, id: number, error: unknown): Promise<SendItem> {
  const existing = await getStoredSend(orgId, id);
  if (!existing) throw error;
  return existing;
}

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
 * Adds the send to the feed and to the recipient index, which keeps short content, and marks the
 * window that is swept. These are plain writes before the send is stored: so none of them misses an
 * accepted send, and a plain write costs half of a transactional one.
 */
async function listSend(
  orgId: number,
  send: SendItem,
  { body, copies }: { body?: CompressedValue; copies?: Addressees | undefined } = {},
): Promise<void> {
  if (send.system) return;
  const { siteId, createdAt, id } = send;
  const content = body && isShort(body) ? body : undefined;
  const window = markWindow(orgId, { siteId, createdAt });
  await writeManyTogether([
    sendFeed.listSingleWrite(orgId, { siteId, at: createdAt, firstId: id }),
    ...indexSingleWrites(orgId, { ...send, content }, listAddresses(copies)),
    ...(window ? [window.write] : []),
  ]);
  window?.noteMarked();
}

/** When an earlier try of the same request inserted the send, that one is returned. */
async function insertSend(orgId: number, send: SendItem, writes: Write[]): Promise<SendItem> {
  const key = keys.send(orgId, send.id);
  const isNew = await transact(put(key, send, { ifAbsent: true }), ...writes);
  return isNew ? send : findSend(orgId, send.id, contended("The send"));
}

/** Counts the send at once, because it has no hand-over that would count it. */
export async function insertSuppressed(orgId: number, send: SendItem): Promise<SendItem> {
  if (send.system) return insertSend(orgId, send, []);
  const [date] = await Promise.all([organizations.getToday(orgId), listSend(orgId, send)]);
  const { id, siteId, sendingConfigId: configId } = send;
  const failed = dailyCounters.dayCounterWrites(orgId, { siteId, date, shardSeed: id }, [
    { configId, counts: { failed: 1 } },
  ]);
  return insertSend(orgId, send, [countSiteSendsWrite(orgId, { siteId, n: 1 }), ...failed]);
}

// Short content, such as a template's id and variables, is stored inside the send. This saves 1 of
// 13 write units. A send should stay under 1 KB, because each further KB is paid at every change.
const maxInlineContentBytes = 350;

const isShort = ({ gz }: CompressedValue): boolean =>
  gz !== undefined && gz.length <= maxInlineContentBytes;

function toStoredItems(orgId: number, send: SendItem, body: CompressedValue) {
  if (isShort(body)) return { item: { ...send, content: body } };
  const key = keys.singleContent(orgId, send.id);
  const contentItem = { ...body, expires: epochSeconds() + contentTtlSeconds };
  return { item: send, contentItem: { key, item: contentItem } };
}
