// The recipient index finds the sends to an address, for 90 days. A single send has an item for
// each of its addresses. The recipients of a chunk share one log entry with 4 bytes of each
// address's hash, unless they are fewer than 5; a fold moves the entries into buckets, so that a
// look-up reads few of them.
// The index has hashes only, and can name a send of another address or one that was never
// accepted. Readers read the send and compare.
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { emailShardOf, sha256, zeroPad } from "../../../keys.ts";

export const indexSeconds = 90 * 24 * 3600;

/** Chunks with recipients of one email shard share the log of the shard, others have this one. */
export const mixedLog = "mixed";

/** What the index has of an address: its email shard and 32 bits of its hash, which are not 0. */
export interface RecipientHash {
  shard: string;
  tag: number;
}

export function hashRecipient(email: string): RecipientHash {
  const address = normalizeEmail(email);
  const tag = Number.parseInt(sha256(address).slice(1, 9), 16) || 1;
  return { shard: emailShardOf(address), tag };
}

const bucketsPerFold = 64;

/** The number of the bucket that has an address in each fold. */
export const bucketOf = (tag: number): number => tag % bucketsPerFold;

/** One mail of a chunk. */
export interface IndexedMail {
  tag: number;
  sendId: number;
  /** When it was accepted (seconds since 1970). */
  second: number;
}

/** Sorts mails by time. */
export const positionOfMail = ({ sendId, second }: Omit<IndexedMail, "tag">): string =>
  `${new Date(second * 1000).toISOString()}#${zeroPad(sendId)}`;

/** The sort key of a log entry is the position of its first mail. */
export function parsePosition(position: string): Omit<IndexedMail, "tag"> {
  const [at = "", id] = position.split("#");
  return { second: Math.floor(Date.parse(at) / 1000), sendId: Number(id) };
}

const bytesPerTag = 4;

export function packTags(tags: number[]): Uint8Array {
  const bytes = Buffer.alloc(tags.length * bytesPerTag);
  for (const [i, tag] of tags.entries()) bytes.writeUInt32BE(tag, i * bytesPerTag);
  return bytes;
}

export function unpackTags(packed: Uint8Array): number[] {
  const bytes = Buffer.from(packed);
  return Array.from({ length: bytes.length / bytesPerTag }, (_, i) =>
    bytes.readUInt32BE(i * bytesPerTag),
  );
}

const bytesPerMail = 14;

export function packMails(mails: IndexedMail[]): Uint8Array {
  const bytes = Buffer.alloc(mails.length * bytesPerMail);
  for (const [i, { tag, sendId, second }] of mails.entries()) {
    bytes.writeUInt32BE(tag, i * bytesPerMail);
    bytes.writeUIntBE(sendId, i * bytesPerMail + 4, 6);
    bytes.writeUInt32BE(second, i * bytesPerMail + 10);
  }
  return bytes;
}

export function unpackMails(packed: Uint8Array): IndexedMail[] {
  const bytes = Buffer.from(packed);
  return Array.from({ length: bytes.length / bytesPerMail }, (_, i) => ({
    tag: bytes.readUInt32BE(i * bytesPerMail),
    sendId: bytes.readUIntBE(i * bytesPerMail + 4, 6),
    second: bytes.readUInt32BE(i * bytesPerMail + 10),
  }));
}
