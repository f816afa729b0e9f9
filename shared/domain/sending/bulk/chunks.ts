// Chunks: up to 500 recipients of bulk mail in one compressed item. A block of 1,000 send ids has
// two chunks, so the id of a send tells where its recipient is stored. An accepted bulk send is a
// line of its chunk and an entry in the RESULT of its provider call. It gets an item of its own at
// its first delivery event, or at the hand-over if the provider did not accept it.

import { type Condition, exists } from "../../../adapters/dynamodb/conditions.ts";
import { get, getMany, transact, update, type Write } from "../../../adapters/dynamodb/table.ts";
import { epochSeconds } from "../../../clock.ts";
import { type CompressedValue, compress, decompress } from "../../../kernel/compressed-values.ts";
import { splitIntoBatches } from "../../../kernel/parallel.ts";
import { idsPerBlock, type Key, keys } from "../../../keys.ts";
import type { MailTopic } from "../../audience/topics/topic-subscription.ts";
import type { PinnedBrand } from "../../content/mail-brand.ts";
import { chooseTranslation, type TemplateLanguages } from "../../content/template-translations.ts";
import type { TrackingMode } from "../../senders/tracking-modes.ts";
import type { MailSource } from "../mail-sources.ts";
import type { MailContent } from "../rendering/mail-content.ts";
import { withTracking } from "../rendering/own-tracking.ts";

export const recipientsPerChunk = 500;
/** A chunk whose hand-over has not begun by then expires. */
const chunkTtlSeconds = 60 * 24 * 3600;

/** One recipient; its send id is `block * 1000 + i`. */
export interface ChunkRecipient {
  i: number;
  to: string;
  /** Set on marketing mail. */
  contactId?: number | undefined;
  name?: string | undefined;
  variables?: Record<string, unknown> | undefined;
  metadata?: Record<string, unknown> | undefined;
  opens?: boolean | undefined;
  clicks?: boolean | undefined;
  /** The language that the recipient reads, if the mail may have translations. */
  locale?: string | undefined;
  /** Why the mail is not sent. */
  error?: string | undefined;
}

/** The fields that all recipients of a chunk share. */
export interface ChunkHead {
  siteId: number;
  sendingConfigId: number;
  provider: string;
  batchId: number;
  templateId?: number | undefined;
  fromEmail: string;
  fromName?: string | undefined;
  /** How the config tracks its mail to which the chunk moved. */
  movedTracking?: TrackingMode | undefined;
  bcc?: string | undefined;
  tags?: string[] | undefined;
  /** With Liquid. */
  subject: string;
  /** The language of the mail without translation. */
  locale?: TemplateLanguages["locale"];
  /** The subject of each translation, with Liquid. */
  subjects?: TemplateLanguages["subjects"];
  variables: Record<string, unknown>;
  brand?: PinnedBrand | undefined;
  createdAt: string;
  /** The time for Liquid (ISO 8601). Absent: `createdAt`. */
  liquidNow?: string | undefined;
  scheduledAt?: string | undefined;
  secure?: boolean | undefined;
  /** Set on marketing mail. */
  source?: MailSource | undefined;
  /**
   * The price of each mail from this index on, in thousandths of a US cent. The mails before are
   * included in the plan.
   */
  charge?: { from: number; each: number } | undefined;
  /** Set on marketing mail: contacts who got marketing mail within this many days are left out. */
  capDays?: number | undefined;
  /** Contacts who are not subscribed to it are left out. */
  topic?: MailTopic | undefined;
  /** The mail also goes to contacts who unsubscribed. */
  isNotice?: true | undefined;
  /** Accepted mails are counted by the mail log, not on their contacts. */
  isLogged?: boolean | undefined;
  /**
   * When the recipients began to be read (ISO 8601). Absent: they are all read again at the
   * hand-over.
   */
  readAt?: string | undefined;
}

/** The stored content has the sender and the tracking of the first config of the chunk. */
export const withSenderOf = (
  { fromEmail: email, fromName: name, movedTracking }: ChunkHead,
  content: MailContent,
): MailContent => withTracking({ ...content, from: { email, name } }, movedTracking);

export interface ChunkItem extends CompressedValue {
  n: number;
  /** Its campaign was cancelled: sends that were not handed over are cancelled. */
  cancelled?: true;
  /** Absent once the hand-over has begun: then the chunk lives as long as its sends. */
  expires?: number;
}

export interface Chunk {
  head: ChunkHead;
  lines: ChunkRecipient[];
}

interface StoredChunk extends Chunk {
  /** Accepted sends get items of their own at the hand-over, and the chunk expires. */
  needsItems: boolean;
}

// A page of 50 sends reads at most 10 chunks, and their results.
const minRecipientsWithoutItems = 5;
// Every page and every round of events reads the whole chunk.
const maxBytesWithoutItems = 64_000;

/** Chunks over 200 KB are stored in S3, where they expire. */
const needsItems = ({ n, gz }: ChunkItem): boolean =>
  n < minRecipientsWithoutItems || gz === undefined || gz.length > maxBytesWithoutItems;

/** `subject` replaces that of each translation. */
export const toHeadLanguages = (
  { locale, subjects }: TemplateLanguages = {},
  subject: string | undefined,
): Pick<ChunkHead, "locale" | "subjects"> => ({
  locale: locale ?? undefined,
  subjects:
    subjects && subject !== undefined
      ? Object.fromEntries(Object.keys(subjects).map((translation) => [translation, subject]))
      : subjects,
});

/** The recipients with the translation that each gets, in place of the language that each reads. */
export const withTranslations = (head: ChunkHead, lines: ChunkRecipient[]): ChunkRecipient[] =>
  lines.map((line) =>
    line.locale === undefined ? line : { ...line, locale: chooseTranslation(head, line.locale) },
  );

export const sendIdOf = (block: number, { i }: Pick<ChunkRecipient, "i">): number =>
  block * idsPerBlock + i;
/** The ids of the first `n` sends of a block. */
export const listSendIds = (block: number, n: number): number[] =>
  Array.from({ length: n }, (_, i) => sendIdOf(block, { i }));
export const chunkNumberOf = (sendId: number): number =>
  Math.floor((sendId % idsPerBlock) / recipientsPerChunk);

/** The chunk items of a block, for a conditional insert. */
export const buildChunkItems = (
  { orgId, block }: { orgId: number; block: number },
  head: ChunkHead,
  lines: ChunkRecipient[],
) =>
  Promise.all(
    splitIntoBatches(lines, recipientsPerChunk).map(async (chunkLines, chunk) => {
      const key = keys.chunk(orgId, block, chunk);
      return {
        key,
        item: {
          ...(await compress(key, { head, lines: chunkLines })),
          n: chunkLines.length,
          expires: epochSeconds() + chunkTtlSeconds,
        },
      };
    }),
  );

/** Undefined when the chunk has expired. */
export async function getChunk(
  orgId: number,
  block: number,
  chunk: number,
): Promise<Chunk | undefined> {
  const item = await get<CompressedValue>(keys.chunk(orgId, block, chunk));
  return item && decompress<Chunk>(item);
}

/**
 * Reads a chunk for its hand-over. Removes its expiry if it is the record of its accepted sends.
 * Undefined when the chunk has expired.
 */
export async function getChunkForHandOver(
  orgId: number,
  block: number,
  chunk: number,
): Promise<StoredChunk | undefined> {
  const key = keys.chunk(orgId, block, chunk);
  const item = await get<ChunkItem>(key);
  if (!item) return undefined;
  if (item.expires !== undefined && !needsItems(item)) {
    const isKept = await transact(update(key, { remove: ["expires"] }, { if: exists }));
    if (!isKept) return undefined;
  }
  return { ...(await decompress<Chunk>(item)), needsItems: needsItems(item) };
}

/**
 * Replaces the recipients of a chunk. Its other attributes stay: a hand-over that begins at the
 * same time removes the expiry.
 */
export async function replaceChunkWrite(
  key: Key,
  chunk: Chunk,
  unchanged: Condition,
): Promise<Write> {
  const { gz, blob } = await compress(key, chunk);
  const change = gz ? { set: { gz }, remove: ["blob"] } : { set: { blob }, remove: ["gz"] };
  return update(key, change, { if: unchanged });
}

/**
 * The number of sends of a batch: the most possible once its chunks have expired, 0 when there is
 * no such batch.
 */
export async function getBatchSize(orgId: number, block: number): Promise<number> {
  const [first, second, send] = await getMany<{ n: number }>([
    keys.chunk(orgId, block, 0),
    keys.chunk(orgId, block, 1),
    keys.send(orgId, block * idsPerBlock),
  ]);
  if (first) return first.n + (second?.n ?? 0);
  return send ? idsPerBlock : 0;
}
