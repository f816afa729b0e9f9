// Deletes received mail with its files before it expires.
import { getMany, queryPages, remove, writeMany } from "../../adapters/dynamodb/table.ts";
import * as objects from "../../adapters/s3/objects.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { type Key, type KeyRange, keys, ranges } from "../../keys.ts";
import type { InboundEmailItem } from "./inbound-email.ts";

/** Deletes all mail from an address. Safe to repeat: the list of the sender is deleted last. */
export async function eraseInboundFrom(orgId: number, email: string): Promise<void> {
  for await (const _ of eraseListed(orgId, ranges.inboundFrom(orgId, email)));
}

/** Deletes all mail of a site, page by page, and yields how many mails. */
export const eraseInboundOfSite = (orgId: number, siteId: number): AsyncGenerator<number> =>
  eraseListed(orgId, ranges.inboundFeed(orgId, siteId));

async function* eraseListed(orgId: number, range: KeyRange): AsyncGenerator<number> {
  for await (const { items } of queryPages<Key>(range, { limit: 100, attributes: ["pk", "sk"] })) {
    const found = await getMany<InboundEmailItem & Key>(
      items.map(({ sk }) => keys.inboundEmail(orgId, Number(sk))),
    );
    const mails = found.flatMap((mail) => mail ?? []);
    await inParallel(8, mails, ({ files, blob }) =>
      Promise.all([...files.map((file) => file.blob), ...(blob ? [blob] : [])].map(objects.remove)),
    );
    await writeMany(
      mails.flatMap((mail) => [
        remove(mail),
        remove(keys.inboundFeed(orgId, mail.siteId, mail.id)),
        remove(keys.inboundFrom(orgId, mail.from, mail.id)),
      ]),
    );
    await writeMany(items.map((entry) => remove(entry)));
    if (items.length) yield mails.length;
  }
}
