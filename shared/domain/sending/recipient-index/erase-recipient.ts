import { equals } from "../../../adapters/dynamodb/conditions.ts";
import {
  queryAll,
  queryPages,
  remove,
  update,
  write,
  writeMany,
} from "../../../adapters/dynamodb/table.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { type Key, keys, ranges } from "../../../keys.ts";
import {
  bucketOf,
  hashRecipient,
  type IndexedMail,
  mixedLog,
  packMails,
  packTags,
  parsePosition,
  unpackMails,
  unpackTags,
} from "./indexed-mails.ts";
import { type RecipientLog, readLog } from "./recipient-log.ts";

interface ErasedRecipient {
  orgId: number;
  email: string;
  /** Which of the sends to the address lose it. */
  isErased(sendId: number): boolean;
}

/** Removes sends to the address from the recipient index. Safe to repeat. */
export async function eraseRecipient({ orgId, email, isErased }: ErasedRecipient): Promise<void> {
  await eraseSingles({ orgId, email, isErased });
  const { shard, tag } = hashRecipient(email);
  const isErasedMail = (mail: Pick<IndexedMail, "tag" | "sendId">) =>
    mail.tag === tag && isErased(mail.sendId);
  for (const log of [shard, mixedLog]) {
    // A fold writes buckets before it reads the log again, so the log is erased first.
    await eraseLog({ orgId, log }, isErasedMail);
    await eraseBuckets({ orgId, log }, bucketOf(tag), isErasedMail);
  }
}

async function eraseSingles({ orgId, email, isErased }: ErasedRecipient): Promise<void> {
  const options = { limit: 500, attributes: ["pk", "sk"], consistent: true };
  for await (const { items } of queryPages<Key>(ranges.recipientSends(orgId, email), options)) {
    const erased = items.filter(({ sk }) => isErased(parsePosition(sk).sendId));
    await writeMany(erased.map((key) => remove(key)));
  }
}

type MailFilter = (mail: Pick<IndexedMail, "tag" | "sendId">) => boolean;

const eraseLog = ({ orgId, log }: RecipientLog, isErasedMail: MailFilter): Promise<void> =>
  retryOnConflict("A log of recipients", async () => {
    const entries = await readLog({ orgId, log });
    await inParallel(4, entries, async ({ sk, tags }) => {
      const { sendId } = parsePosition(sk);
      const kept = unpackTags(tags).map((tag, i) =>
        isErasedMail({ tag, sendId: sendId + i }) ? 0 : tag,
      );
      const erased = packTags(kept);
      if (Buffer.compare(erased, tags) === 0) return;
      const key = keys.recipientLogEntry(orgId, log, sk);
      await write(update(key, { set: { tags: erased } }, { if: equals("tags", tags) }));
    });
  });

const eraseBuckets = (
  { orgId, log }: RecipientLog,
  bucket: number,
  isErasedMail: MailFilter,
): Promise<void> =>
  retryOnConflict("A bucket of recipients", async () => {
    const range = ranges.recipientBuckets(orgId, { log, bucket });
    const items = await queryAll<{ sk: string; mails: Uint8Array }>(range, { consistent: true });
    await inParallel(4, items, async ({ sk, mails }) => {
      const before = unpackMails(mails);
      const kept = before.filter((mail) => !isErasedMail(mail));
      if (kept.length === before.length) return;
      const key = keys.recipientBucket(orgId, { log, bucket }, sk);
      const unchanged = { if: equals("mails", mails) };
      await write(update(key, { set: { mails: packMails(kept) } }, unchanged));
    });
  });
