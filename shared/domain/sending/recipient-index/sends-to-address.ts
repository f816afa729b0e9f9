// Finds the sends to an address, newest first. A look-up reads the sends of the address alone, two
// logs and the buckets of two logs, each bucket with the mails of about a 64th of the addresses.
import { queryPages } from "../../../adapters/dynamodb/table.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { mergeNewestFirst } from "../../../kernel/newest-first.ts";
import { positionParts } from "../../../kernel/paging.ts";
import { type Key, ranges } from "../../../keys.ts";
import { hashCopyAddress } from "../copy-hashes.ts";
import type { FeedPosition } from "../send-feed.ts";
import type { SendItem } from "../send-schema.ts";
import {
  bucketOf,
  hashRecipient,
  mixedLog,
  parsePosition,
  positionOfMail,
  unpackMails,
} from "./indexed-mails.ts";
import { listMails, readLog } from "./recipient-log.ts";

export interface AddressQuery {
  orgId: number;
  email: string;
  /** Only sends before this position, or before this time (ISO 8601). */
  before?: string | undefined;
}

interface IndexPosition {
  sk: string;
  /** Set for single sends: the exact time of acceptance. */
  at?: string;
}

/** The text of a position for regular expressions. */
export const addressPosition = `${positionParts.time}#${positionParts.id}`;

/**
 * Yields positions of sends, each send once: a repeated request can have indexed it at two times.
 * The caller reads the sends and skips those for which `isRecipient` is
 * false.
 */
export async function* readSendsTo({
  orgId,
  email,
  before,
}: AddressQuery): AsyncGenerator<FeedPosition> {
  const { shard, tag } = hashRecipient(email);
  // A fold deletes entries after it has written buckets, so the logs are read first.
  const logs = await Promise.all(
    [shard, mixedLog].map(async (log) => ({ log, entries: await readLog({ orgId, log }) })),
  );
  const sources = [
    readSingles({ orgId, email, before }),
    ...logs.flatMap(({ log, entries }) => [
      yieldEach(sortPositions(entries.flatMap(listMails), tag)),
      readBuckets({ orgId, log, tag }),
    ]),
  ];
  const seen = new Set<number>();
  for await (const { sk, at } of mergeNewestFirst<IndexPosition>(sources)) {
    const id = parsePosition(sk).sendId;
    if (seen.has(id) || (before !== undefined && sk >= before)) continue;
    seen.add(id);
    yield {
      id,
      next: sk,
      ...(at === undefined ? { staged: true } : { at }),
    };
  }
}

/** Whether the send went to this address, as its recipient or as a copy. */
export const isRecipient = ({ toEmail, copies }: SendItem, email: string): boolean =>
  normalizeEmail(toEmail) === normalizeEmail(email) ||
  (copies?.includes(hashCopyAddress(email)) ?? false);

const singlesPerRead = 50;

async function* readSingles({ orgId, email, before }: AddressQuery) {
  const options = { newestFirst: true, limit: singlesPerRead, below: before, consistent: true };
  const range = ranges.recipientSends(orgId, email);
  for await (const { items } of queryPages<Key & { staged?: true }>(range, options))
    for (const { sk, staged } of items)
      yield { sk, ...(!staged && { at: sk.slice(0, sk.indexOf("#")) }) };
}

async function* yieldEach<T>(all: T[]): AsyncGenerator<T> {
  yield* all;
}

const sortPositions = (mails: ReturnType<typeof listMails>, tag: number): IndexPosition[] =>
  mails
    .filter((mail) => mail.tag === tag)
    .map((mail) => ({ sk: positionOfMail(mail) }))
    .toSorted((a, b) => (a.sk < b.sk ? 1 : -1));

const bucketsPerRead = 20;

/** No mail of a bucket is newer than the sort key of the bucket. */
async function* readBuckets({ orgId, log, tag }: { orgId: number; log: string; tag: number }) {
  let waiting: IndexPosition[] = [];
  const range = ranges.recipientBuckets(orgId, { log, bucket: bucketOf(tag) });
  const options = { newestFirst: true, limit: bucketsPerRead, consistent: true };
  for await (const { items } of queryPages<{ sk: string; mails: Uint8Array }>(range, options))
    for (const { sk, mails } of items) {
      const newer = waiting.filter((mail) => mail.sk > sk);
      yield* newer;
      const older = waiting.slice(newer.length);
      waiting = [...older, ...sortPositions(unpackMails(mails), tag)].toSorted((a, b) =>
        a.sk < b.sk ? 1 : -1,
      );
    }
  yield* waiting;
}
