// Adds mails to the recipient index before they are accepted, so that no accepted send is missing.
import { get, put, queryAll, type Write } from "../../../adapters/dynamodb/table.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import { epochSeconds } from "../../../clock.ts";
import type { CompressedValue } from "../../../kernel/compressed-values.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { splitIntoBatches } from "../../../kernel/parallel.ts";
import { idsPerBlock, type Key, keys, ranges, sha256, zeroPad } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import type { ChunkHead, ChunkRecipient } from "../bulk/chunks.ts";
import {
  hashRecipient,
  type IndexedMail,
  indexSeconds,
  mixedLog,
  packTags,
  parsePosition,
  positionOfMail,
  unpackTags,
} from "./indexed-mails.ts";

interface IndexedSingle {
  id: number;
  toEmail: string;
  createdAt: string;
  scheduledAt?: string | null | undefined;
  /** Short content, which the send itself loses when it is handed over. */
  content?: CompressedValue | undefined;
}

/**
 * Plain writes that add a single send for each of its addresses. Each costs one write unit. Safe to
 * repeat.
 */
export function indexSingleWrites(
  orgId: number,
  { id, toEmail, createdAt, scheduledAt, content }: IndexedSingle,
  copies: string[],
): Write[] {
  const expires = epochSeconds(new Date(scheduledAt ?? createdAt)) + indexSeconds;
  const emails = new Set([toEmail, ...copies].map(normalizeEmail));
  return [...emails].map((email, i) => {
    const key = indexedSingleKey(orgId, { id, toEmail: email, createdAt });
    return put(key, { id, expires, ...(i === 0 && content && { content }) });
  });
}

const indexedSingleKey = (
  orgId: number,
  { id, toEmail, createdAt }: Pick<IndexedSingle, "id" | "toEmail" | "createdAt">,
): Key => keys.recipientSend(orgId, toEmail, `${createdAt}#${zeroPad(id)}`);

/** The short content of a single send; undefined if it is stored elsewhere or expired. */
export const getIndexedContent = async (
  orgId: number,
  send: Pick<IndexedSingle, "id" | "toEmail" | "createdAt">,
): Promise<CompressedValue | undefined> =>
  (await get<Pick<IndexedSingle, "content">>(indexedSingleKey(orgId, send)))?.content;

export interface LogEntryItem {
  sk: string;
  /** 4 bytes for each recipient in the order of the chunk. 0: the recipient was erased. */
  tags: Uint8Array;
  expires: number;
}

const maxTagsPerEntry = 500;

/** An item of an address costs as much as an entry, and needs no fold. */
const minTagsPerEntry = 5;

interface NewIndexItem {
  /** The log of an entry; absent for the item of an address. */
  log?: string;
  key: Key;
  item: { id: number; staged: true; expires: number } | Omit<LogEntryItem, "sk">;
}

/**
 * The index items of a block, for a plain insert before the block is accepted: a log entry for each
 * chunk. Recipients of the smallest chunks have an item for each address instead.
 */
export function buildIndexItems(
  { orgId, block }: { orgId: number; block: number },
  { createdAt, scheduledAt }: Pick<ChunkHead, "createdAt" | "scheduledAt">,
  recipients: Pick<ChunkRecipient, "i" | "to">[],
): NewIndexItem[] {
  const second = epochSeconds(new Date(createdAt));
  const expires = epochSeconds(new Date(scheduledAt ?? createdAt)) + indexSeconds;
  return splitIntoBatches(recipients, maxTagsPerEntry).flatMap((some): NewIndexItem[] => {
    if (some.length < minTagsPerEntry)
      return some.map(({ i, to: toEmail }) => {
        const id = block * idsPerBlock + i;
        const key = indexedSingleKey(orgId, { id, toEmail, createdAt });
        return { key, item: { id, staged: true, expires } };
      });
    const hashes = some.map(({ to }) => hashRecipient(to));
    const shards = new Set(hashes.map(({ shard }) => shard));
    const log = shards.size === 1 ? hashes[0]!.shard : mixedLog;
    const position = positionOfMail({ second, sendId: block * idsPerBlock + some[0]!.i });
    const key = keys.recipientLogEntry(orgId, log, position);
    return [{ log, key, item: { tags: packTags(hashes.map(({ tag }) => tag)), expires } }];
  });
}

/** The mails of an entry, without those of erased recipients. */
export function listMails({ sk, tags }: Pick<LogEntryItem, "sk" | "tags">): IndexedMail[] {
  const { second, sendId } = parsePosition(sk);
  return unpackTags(tags).flatMap((tag, i) => (tag ? { tag, sendId: sendId + i, second } : []));
}

export interface RecipientLog {
  orgId: number;
  /** An email shard, or `mixed`. */
  log: string;
}

/** Oldest first. */
export const readLog = ({ orgId, log }: RecipientLog): Promise<LogEntryItem[]> =>
  queryAll<LogEntryItem>(ranges.recipientLog(orgId, log), { consistent: true });

/** From these numbers on, a log is folded: it is read with each look-up. */
export const minMailsPerFold = 4000;
export const minEntriesPerFold = 400;

/**
 * Enqueues a fold about as often as the log has enough mails or entries for one. The hash of the
 * block decides, so processes need no common count.
 */
export async function enqueueFolds(
  orgId: number,
  block: number,
  items: NewIndexItem[],
): Promise<void> {
  const draw = Number.parseInt(sha256(String(block)).slice(0, 8), 16);
  for (const { log, item } of items) {
    if (log === undefined || !("tags" in item)) continue;
    const mails = unpackTags(item.tags).length;
    const entriesPerFold = Math.min(Math.ceil(minMailsPerFold / mails), minEntriesPerFold);
    if (draw % entriesPerFold === 0)
      await enqueue(queues.jobs, [{ job: "fold-recipient-log", orgId, log }], { group: orgId });
  }
}
