import {
  insertMany,
  put,
  transact,
  type Write,
  writeMany,
} from "../../../adapters/dynamodb/table.ts";
import type { Caller } from "../../../caller.ts";
import { epochSeconds, now } from "../../../clock.ts";
import { conflict, invalid } from "../../../errors.ts";
import * as ids from "../../../ids.ts";
import { compress } from "../../../kernel/compressed-values.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { findMistakenName } from "../../../kernel/field-names.ts";
import { validationMessages } from "../../../kernel/validation-messages.ts";
import { idsPerBlock, type Key, keys } from "../../../keys.ts";
import { chargeMails, type MailCharge } from "../../billing/charge.ts";
import { requireAffordable } from "../../billing/quota.ts";
import { pinTemplate } from "../../content/templates.ts";
import { trackingOf } from "../../senders/tracking-modes.ts";
import { getChunkSend } from "../bulk/chunk-sends.ts";
import * as chunks from "../bulk/chunks.ts";
import * as lanes from "../bulk/lanes.ts";
import * as recipientLog from "../recipient-index/recipient-log.ts";
import { contentTtlSeconds } from "../rendering/mail-content.ts";
import { encryptMessages } from "../secure-messages/encrypt-messages.ts";
import { noticeVariables } from "../secure-messages/secure-message-item.ts";
import * as sendFeed from "../send-feed.ts";
import { type BatchMessage, BatchRecipient } from "./batch-message.ts";
import {
  buildContent,
  fromOf,
  type IntakeContext,
  parseSchedule,
  toSharedSendFields,
} from "./intake.ts";
import { listIntakeWarnings, requireVariables } from "./intake-warnings.ts";
import { renderedFlaws } from "./rendered-flaws.ts";

interface BatchResultRow {
  index: number;
  to: string;
  id: number | null;
  status: "queued" | "scheduled" | "failed" | "rejected";
  error: string | null;
}

interface CheckedRecipient {
  index: number;
  to: string;
  /** Absent when the recipient is rejected: `error` is the reason and `path` the invalid field. */
  recipient?: BatchRecipient & { to: string };
  error?: string;
  path?: string;
}

/** Validates each recipient. Throws 400 only when all are invalid. */
export function validateRecipients({ recipients }: BatchMessage): CheckedRecipient[] {
  const seen = new Set<string>();
  const rows = recipients.map((input, index): CheckedRecipient => {
    const { data, error } = BatchRecipient.safeParse(input, { error: validationMessages });
    const given = { index, to: String(input.to ?? input.email ?? "").slice(0, 320) };
    const mistake = findMistakenName(BatchRecipient, input);
    if (mistake) return { ...given, path: mistake.path, error: mistake.message };
    if (!data) {
      const path = error.issues[0]?.path.join(".").slice(0, 200) ?? "";
      return { ...given, path, error: `${path || "recipient"}: ${error.issues[0]?.message}` };
    }
    const to = (data.to ?? data.email)!;
    if (seen.has(normalizeEmail(to))) return { index, to, error: "duplicate" };
    seen.add(normalizeEmail(to));
    return { index, to, recipient: { ...data, to } };
  });
  return requireOneValid(rows);
}

/**
 * Rejects the recipients whose mail the provider would refuse. Throws 400 only when it would refuse
 * all.
 */
const rejectFlawed = (
  rows: CheckedRecipient[],
  flawOf: ReturnType<typeof renderedFlaws>,
): CheckedRecipient[] =>
  requireOneValid(
    rows.map((row) => {
      const flaw = row.recipient && flawOf(row.recipient);
      return flaw
        ? { index: row.index, to: row.to, path: flaw.path, error: `${flaw.path}: ${flaw.message}` }
        : row;
    }),
  );

function requireOneValid(rows: CheckedRecipient[]): CheckedRecipient[] {
  if (rows.some(({ recipient }) => recipient)) return rows;
  const details = rows.slice(0, 20).map(({ index, path, error = "" }) => ({
    path: path ? `recipients.${index}.${path}` : `recipients.${index}`,
    message: error,
  }));
  throw invalid(`None of the recipients is valid: recipients.0: ${details[0]!.message}`, {
    details,
  });
}

export interface CheckedBatch {
  message: BatchMessage;
  checked: CheckedRecipient[];
}

/**
 * Rejects what the provider would refuse too, and marks what is suppressed. Throws 400 if the
 * message is strict and a recipient has no value for a variable.
 */
export function prepareRecipients({ message, checked }: CheckedBatch, context: IntakeContext) {
  const rows = rejectFlawed(checked, renderedFlaws(message, context, now()));
  const validRecipients = rows.flatMap(({ index, recipient }) =>
    recipient ? [{ index, ...recipient }] : [],
  );
  requireVariables(context, message, validRecipients);
  const lines = validRecipients.map((recipient, i) => toBatchChunkRecipient(recipient, i, context));
  return { rows, validRecipients, lines };
}

/**
 * Accepts up to 1,000 mails with one content. accepted + rejected = recipients. Invalid, duplicate
 * and suppressed ones are rejected.
 */
export async function acceptBatch({ orgId }: Caller, batch: CheckedBatch, context: IntakeContext) {
  const { message } = batch;
  const scheduledAt = parseSchedule(message);
  const { rows, validRecipients, lines } = prepareRecipients(batch, context);
  const block = await ids.nextSendBlock();
  const stored = await storeBatch({ orgId, block, message, context, lines, scheduledAt });
  const byIndex = new Map(validRecipients.map(({ index }, i) => [index, stored[i]!]));
  const results = rows.map(({ index, to, error }): BatchResultRow => {
    const line = byIndex.get(index);
    if (!line) return { index, to, id: null, status: "rejected", error: error ?? null };
    const acceptedStatus = scheduledAt ? "scheduled" : "queued";
    return {
      index,
      to,
      id: chunks.sendIdOf(block, line),
      status: line.error ? "failed" : acceptedStatus,
      error: line.error ?? null,
    };
  });
  const accepted = stored.filter(({ error }) => !error).length;
  return {
    batchId: block,
    accepted,
    rejected: rows.length - accepted,
    results,
    warnings: listIntakeWarnings(context, message, validRecipients),
  };
}

interface NewBatch {
  orgId: number;
  block: number;
  message: BatchMessage;
  context: IntakeContext;
  lines: chunks.ChunkRecipient[];
}

const toBatchChunkRecipient = (
  { to, toName, variables, metadata, locale, ...choice }: BatchRecipient & { to: string },
  i: number,
  { suppressed, localeOf, config }: IntakeContext,
): chunks.ChunkRecipient => ({
  i,
  to,
  name: toName,
  variables,
  metadata,
  ...(trackingOf(config) !== "off" && { opens: choice.trackOpens, clicks: choice.trackClicks }),
  locale: localeOf({ to, locale }),
  error: suppressed.has(normalizeEmail(to)) ? "suppressed" : undefined,
});

/**
 * Stores content and recipients, then lists, charges and enqueues them in one transaction. Returns
 * the recipients as stored. Throws 402.
 */
async function storeBatch({
  scheduledAt,
  ...batch
}: NewBatch & { scheduledAt: string | undefined }): Promise<chunks.ChunkRecipient[]> {
  const { orgId, block, message, context, lines } = batch;
  const at = now();
  const head: chunks.ChunkHead = {
    ...toSharedSendFields(context, message, {
      from: fromOf(message, context.config),
      at,
      scheduledAt,
    }),
    batchId: block,
    subject: message.subject ?? context.template?.subject ?? "",
    ...chunks.toHeadLanguages(context.template && pinTemplate(context.template), message.subject),
    variables: message.variables,
    ...(context.brand && { brand: context.brand }),
  };
  const n = lines.filter(({ error }) => !error).length;
  let stored = lines;
  try {
    const quota = await requireAffordable(orgId, n, context.quota);
    const prepared = message.secure
      ? await encryptBatch(batch, head)
      : { ...batch, head, secureFeedWrites: [] };
    stored = prepared.lines;
    const content = await buildContentItem(prepared, at);
    const siteSends = { siteId: head.siteId, n: lines.length };
    await chargeMails(
      { orgId, n, reference: `batch:${block}`, siteSends },
      (charge) => insertBatch(prepared, content, charge),
      quota,
    );
  } catch (error) {
    // A repeated request continues as the first one was accepted. The first one may have spent the
    // credits that are missing now.
    const earlier = await getAcceptedRecipients(orgId, block);
    if (!earlier) throw error;
    stored = earlier;
  }
  await lanes.wakeLane(orgId, head.sendingConfigId);
  return stored;
}

interface PreparedBatch extends NewBatch {
  head: chunks.ChunkHead;
  /** Empty for batches that are not secure. */
  secureFeedWrites: Write[];
}

/**
 * Encrypts the message for each recipient, stores it in S3, and puts the notice in its place. A
 * repeated request must not restore a revoked message, so a batch that is already accepted is not
 * encrypted again. A recipient whose message cannot be rendered fails alone.
 */
async function encryptBatch(
  { orgId, block, message, context, lines }: NewBatch,
  head: chunks.ChunkHead,
): Promise<PreparedBatch> {
  if (await getAcceptedRecipients(orgId, block)) throw alreadyAccepted;
  const sendable = lines.filter(({ error }) => !error);
  const times = { at: new Date(head.createdAt), scheduledAt: head.scheduledAt };
  const recipients = sendable.map((line) => ({ ...line, id: chunks.sendIdOf(block, line) }));
  const encrypted = await encryptMessages({ orgId, message, context, recipients, ...times });
  await writeMany(encrypted.writes);
  const byIndex = new Map(sendable.map(({ i }, k) => [i, encrypted.recipients[k]!]));
  const noticeRecipients = lines.map((line): chunks.ChunkRecipient => {
    const { subject, error } = byIndex.get(line.i) ?? { subject: head.subject, error: line.error };
    return { ...line, variables: { [noticeVariables.subject]: subject }, clicks: undefined, error };
  });
  return {
    orgId,
    block,
    message: encrypted.message,
    context: encrypted.context,
    lines: noticeRecipients,
    head: { ...head, subject: encrypted.message.subject!, subjects: undefined, variables: {} },
    secureFeedWrites: sendFeed.addToSecureFeedWrites(orgId, {
      siteId: head.siteId,
      at: head.createdAt,
      firstId: block * idsPerBlock,
      count: lines.length,
      secureCount: encrypted.writes.length,
    }),
  };
}

async function buildContentItem({ orgId, block, message, context }: NewBatch, at: Date) {
  const key = keys.bulkContent(orgId, block);
  const content = await compress(key, await buildContent(orgId, message, { context, at }));
  return { key, item: { ...content, expires: epochSeconds(at) + contentTtlSeconds } };
}

/** Throws `alreadyAccepted` when an earlier request inserted the batch. */
async function insertBatch(
  { orgId, block, head, lines, secureFeedWrites }: PreparedBatch,
  content: { key: Key; item: object },
  { writes, cost }: MailCharge,
): Promise<void> {
  const charge = cost && {
    from: lines.filter(({ error }) => !error)[cost.includedMails]!.i,
    each: cost.pricePerMail,
  };
  const chunkItems = await chunks.buildChunkItems({ orgId, block }, { ...head, charge }, lines);
  const indexItems = recipientLog.buildIndexItems({ orgId, block }, head, lines);
  const items = [content, ...chunkItems, ...indexItems];
  // Items without a feed entry are left over from a request that failed.
  if (!(await insertMany(items)).every(Boolean)) {
    if (await getAcceptedRecipients(orgId, block)) throw alreadyAccepted;
    await writeMany(items.map(({ key, item }) => put(key, item)));
  }
  await recipientLog.enqueueFolds(orgId, block, indexItems);
  const queuedChunks = chunkItems.map(({ item: { n } }, chunk) => ({
    block,
    chunk,
    n,
    siteId: head.siteId,
    at: head.scheduledAt ?? head.createdAt,
  }));
  const isInserted = await transact(
    sendFeed.addToFeedWrite(orgId, {
      siteId: head.siteId,
      at: head.createdAt,
      firstId: block * idsPerBlock,
      count: lines.length,
    }),
    ...lanes.enqueueChunkWrites(orgId, head.sendingConfigId, queuedChunks),
    ...writes,
    ...secureFeedWrites,
  );
  if (!isInserted) throw alreadyAccepted;
}

const alreadyAccepted = conflict("The batch was already accepted");

/** The stored recipients of a batch that is in the feed; undefined when it was not accepted. */
async function getAcceptedRecipients(
  orgId: number,
  block: number,
): Promise<chunks.ChunkRecipient[] | undefined> {
  const first = await getChunkSend(orgId, block * idsPerBlock);
  if (
    !first ||
    !(await sendFeed.isListed(orgId, {
      siteId: first.siteId,
      at: first.createdAt,
      firstId: first.id,
    }))
  )
    return undefined;
  const count = Math.ceil((await chunks.getBatchSize(orgId, block)) / chunks.recipientsPerChunk);
  const stored = await Promise.all(
    Array.from({ length: count }, (_, chunk) => chunks.getChunk(orgId, block, chunk)),
  );
  return stored.flatMap((chunk) => chunk?.lines ?? []);
}
