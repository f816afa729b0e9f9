// The stored content of one mail, single or bulk, and its recipient. It is kept for 60 days.
import { get } from "../../adapters/dynamodb/table.ts";
import { type CompressedValue, decompress } from "../../kernel/compressed-values.ts";
import { erasedEmail } from "../../kernel/email-fields.ts";
import { blockOf, keys } from "../../keys.ts";
import * as chunks from "./bulk/chunks.ts";
import { getIndexedContent } from "./recipient-index/recipient-log.ts";
import type { MailRecipient } from "./rendering/compose.ts";
import type { MailContent } from "./rendering/mail-content.ts";
import type { SendItem } from "./send-schema.ts";
import { isBulk, type SingleSendItem } from "./single/single-send-item.ts";

export type SingleContent = MailContent & { toName?: string | undefined };

export interface StoredMail {
  content: MailContent;
  recipient: MailRecipient;
  /** Bulk mail: its recipient in the chunk, and what the recipients share. */
  line?: chunks.ChunkRecipient;
  head?: chunks.ChunkHead;
}

/** Undefined when the content is no longer stored, or the recipient was erased. */
export async function findStoredMail(
  orgId: number,
  send: SendItem,
): Promise<StoredMail | undefined> {
  if (send.toEmail === erasedEmail) return undefined;
  return isBulk(send) ? findBulkMail(orgId, send) : findSingleMail(orgId, send);
}

/** Short content is in the send until it is handed over, and in the recipient index. */
async function findSingleMail(
  orgId: number,
  send: SingleSendItem,
): Promise<StoredMail | undefined> {
  const item =
    send.content ??
    (await get<CompressedValue>(keys.singleContent(orgId, send.id))) ??
    (await getIndexedContent(orgId, send));
  if (!item) return undefined;
  const content = await decompress<SingleContent>(item);
  return { content, recipient: { sendId: send.id, to: send.toEmail, name: content.toName } };
}

async function findBulkMail(orgId: number, send: SendItem): Promise<StoredMail | undefined> {
  const block = blockOf(send.id);
  const [item, chunk] = await Promise.all([
    get<CompressedValue>(keys.bulkContent(orgId, block)),
    chunks.getChunk(orgId, block, chunks.chunkNumberOf(send.id)),
  ]);
  const line = chunk?.lines.find((one) => chunks.sendIdOf(block, one) === send.id);
  if (!item || !chunk || !line || line.error) return undefined;
  const content = chunks.withSenderOf(chunk.head, await decompress<MailContent>(item));
  return {
    content: { ...content, locale: line.locale },
    recipient: { sendId: send.id, ...line },
    line,
    head: chunk.head,
  };
}
