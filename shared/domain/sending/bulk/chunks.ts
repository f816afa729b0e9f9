// Chunks: up to 500 recipients of bulk mail in one compressed item. A block of 1,000 send ids has
// two chunks, so the id of a send tells where its recipient is stored. An accepted bulk send is a
// line of its chunk and an entry in the RESULT of its provider call. It gets an item of its own at
// its first delivery event, or at the hand-over if the provider did not accept it.

import { type Condition, exists } from "../../../adapters/dynamodb/conditions.ts";
import {
  get,
  getMany,
  queryAll,
  transact,
  update,
  type Write,
} from "../../../adapters/dynamodb/table.ts";
import { epochSeconds, now } from "../../../clock.ts";
import * as liquid from "../../../email/liquid.ts";
import { type CompressedValue, compress, decompress } from "../../../kernel/compressed-values.ts";
import { inParallel, splitIntoBatches } from "../../../kernel/parallel.ts";
import { isStorable } from "../../../kernel/stored-json.ts";
import { blockOf, idsPerBlock, type Key, keys, ranges } from "../../../keys.ts";
import type { MailTopic } from "../../audience/topics/topic-subscription.ts";
import { type MailSource, toSourceFields } from "../mail-sources.ts";
import { toSendFields } from "../provider-calls/provider-call.ts";
import { mergeVariables } from "../rendering/compose.ts";
import type { SendItem } from "../sends.ts";
import type { CallResult } from "./lanes.ts";

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
  bcc?: string | undefined;
  tags?: string[] | undefined;
  /** With Liquid. */
  subject: string;
  variables: Record<string, unknown>;
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
  /** Accepted mails are counted by the mail log, not on their contacts. */
  isLogged?: boolean | undefined;
  /**
   * When the recipients began to be read (ISO 8601). Absent: they are all read again at the
   * hand-over.
   */
  readAt?: string | undefined;
}

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
// Every page and every run of events reads the whole chunk.
const maxBytesWithoutItems = 64_000;

/** Chunks over 200 KB are stored in S3, where they expire. */
const needsItems = ({ n, gz }: ChunkItem): boolean =>
  n < minRecipientsWithoutItems || gz === undefined || gz.length > maxBytesWithoutItems;

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

/** A send without an item of its own, read from its chunk. */
export async function getChunkSend(orgId: number, sendId: number): Promise<SendItem | undefined> {
  return (await getChunkSends(orgId, [sendId], { consistent: true }))[0];
}

// Each chunk has up to 500 recipients in memory while it is read.
const chunksInParallel = 16;

/**
 * Reads sends from their chunks and the results of their calls: accepted, or with the state before
 * the hand-over. Leaves out ids that are in no chunk.
 */
export async function getChunkSends(
  orgId: number,
  sendIds: number[],
  { consistent = false, rendersSubject = true } = {},
): Promise<SendItem[]> {
  const toItem = rendersSubject ? toSendItem : toUnrenderedSend;
  const sends = await inParallel(chunksInParallel, groupByChunk(sendIds), async (ids) => {
    const [block, chunk] = [blockOf(ids[0]!), chunkNumberOf(ids[0]!)];
    const [item, accepted] = await Promise.all([
      get<ChunkItem>(keys.chunk(orgId, block, chunk), { consistent }),
      getAcceptedFields(orgId, { block, chunk, consistent }),
    ]);
    if (!item) return [];
    const { head, lines } = await decompress<Chunk>(item);
    const wanted = new Set(ids);
    return lines
      .filter((recipient) => wanted.has(sendIdOf(block, recipient)))
      .map((recipient): SendItem => {
        const send = toItem(head, block, recipient);
        const result = accepted.get(recipient.i);
        if (result) return { ...send, ...result, contactId: send.contactId ?? result.contactId };
        return item.cancelled ? { ...send, status: "cancelled" } : send;
      });
  });
  return sends.flat();
}

const groupByChunk = (sendIds: number[]): number[][] => [
  ...Map.groupBy(sendIds, (id) => `${blockOf(id)}/${chunkNumberOf(id)}`).values(),
];

/** The fields of a send that the provider's response sets. */
type AcceptedFields = Pick<
  SendItem,
  "status" | "provider" | "providerMessageId" | "sentAt" | "contactId"
>;

/** By index: what the results of a chunk say about the accepted sends that have no items. */
async function getAcceptedFields(
  orgId: number,
  { block, chunk, consistent }: { block: number; chunk: number; consistent: boolean },
): Promise<Map<number, AcceptedFields>> {
  const items = await queryAll<CompressedValue>(ranges.chunkResults(orgId, block, chunk), {
    consistent,
  });
  const results = await Promise.all(items.map((item) => decompress<CallResult>(item)));
  return new Map(
    results.flatMap(({ at, provider, contactIds = {}, outcomes }) =>
      outcomes.flatMap(([i, outcome]): [number, AcceptedFields][] =>
        at !== undefined && outcome.status === "accepted"
          ? [
              [
                i,
                {
                  ...toSendFields(outcome, at),
                  provider,
                  contactId: contactIds[i],
                } as AcceptedFields,
              ],
            ]
          : [],
      ),
    ),
  );
}

/**
 * Completes sends whose item was inserted by an event before the provider's response was stored:
 * adds the fields from the response and keeps the state from the event.
 */
export async function addAcceptedFields<S extends SendItem | undefined>(
  orgId: number,
  sends: S[],
  { consistent = false } = {},
): Promise<S[]> {
  const early = sends.flatMap((send) => (send?.early && !send.sentAt ? send.id : []));
  if (!early.length) return sends;
  const fields = new Map<number, AcceptedFields>();
  await inParallel(chunksInParallel, groupByChunk(early), async ([id = 0]) => {
    const [block, chunk] = [blockOf(id), chunkNumberOf(id)];
    const accepted = await getAcceptedFields(orgId, { block, chunk, consistent });
    for (const [i, result] of accepted) fields.set(sendIdOf(block, { i }), result);
  });
  return sends.map((send) => {
    const result = send && !send.sentAt ? fields.get(send.id) : undefined;
    if (!send || !result) return send;
    const { status: _, contactId, ...response } = result;
    // An erased send has null as its contact.
    return { ...send, ...response, ...(send.contactId === undefined && { contactId }) };
  });
}

/**
 * The send of a recipient before the hand-over: scheduled or queued, or failed if it has an error.
 */
export const toSendItem = (
  head: ChunkHead,
  block: number,
  recipient: ChunkRecipient,
): SendItem => ({
  ...toUnrenderedSend(head, block, recipient),
  subject: renderSubjectOrSource(head, recipient),
});

/** The same with the Liquid source of the subject, which takes most of the time to render. */
function toUnrenderedSend(head: ChunkHead, block: number, recipient: ChunkRecipient): SendItem {
  const pendingStatus =
    head.scheduledAt && head.scheduledAt > now().toISOString() ? "scheduled" : "queued";
  return {
    id: sendIdOf(block, recipient),
    siteId: head.siteId,
    contactId: recipient.contactId,
    toEmail: recipient.to,
    fromEmail: head.fromEmail,
    fromName: head.fromName,
    bcc: head.bcc,
    tags: head.tags,
    subject: head.subject,
    status: recipient.error ? "failed" : pendingStatus,
    error: recipient.error,
    provider: head.provider,
    sendingConfigId: head.sendingConfigId,
    templateId: head.templateId,
    batchId: head.source ? undefined : head.batchId,
    ...(head.source && toSourceFields(head.source)),
    metadata: isStorable(recipient.metadata) ? recipient.metadata : undefined,
    charged:
      head.charge && !recipient.error && recipient.i >= head.charge.from
        ? head.charge.each
        : undefined,
    secure: head.secure,
    createdAt: head.createdAt,
    scheduledAt: head.scheduledAt,
    v: 0,
  };
}

/** The rendered subject, or its Liquid source if it cannot be rendered for this recipient. */
function renderSubjectOrSource(head: ChunkHead, recipient: ChunkRecipient): string {
  try {
    const compiled = liquid.compile(head.subject, { escape: false, field: "subject" });
    const { text } = liquid.render(compiled, mergeVariables(head, recipient), {
      now: new Date(head.liquidNow ?? head.createdAt),
      budget: liquid.Budget.forSubject(),
    });
    return text.replace(/\s+/g, " ").slice(0, 300);
  } catch {
    return head.subject.slice(0, 300);
  }
}
