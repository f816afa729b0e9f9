// Lists of the contacts who got the mails of a broadcast, with their send ids: items of up to 1,000
// mails in the order of the contact ids, for each fold. Mails that are not folded yet are in the
// mail log, so a reader reads the log first and these lists afterwards.
import { put, query, queryAll, type Write, writeMany } from "../../../adapters/dynamodb/table.ts";
import type { SiteRef } from "../../../caller.ts";
import { type CompressedValue, compress, decompress } from "../../../kernel/compressed-values.ts";
import { inParallel, splitIntoBatches } from "../../../kernel/parallel.ts";
import { keys, ranges, zeroPad } from "../../../keys.ts";
import {
  type BroadcastSource,
  type LoggedCall,
  type LoggedMail,
  positionOfSource,
  readMailLog,
} from "./mail-log.ts";

/** As stored: the distances between the contact ids compress better than the ids. */
interface StoredMails {
  distances: number[];
  sendIds: number[];
}

/** Says that a fold has mails of a broadcast. */
interface MailedFold {
  sk: string;
  fold: number;
}

const contactsPerItem = 1000;

/** Safe to repeat. */
export async function storeMailedContacts(
  { orgId, siteId }: SiteRef,
  fold: number,
  calls: LoggedCall[],
): Promise<void> {
  const bySource = Map.groupBy(calls, ({ source }) => positionOfSource(source));
  const writes: Write[] = [];
  for (const [source, ofSource] of bySource) {
    const position = `${source}${zeroPad(fold)}`;
    const mails = ofSource
      .flatMap((call) => call.mails)
      .toSorted((a, b) => a.contactId - b.contactId || a.sendId - b.sendId);
    for (const some of splitIntoBatches(mails, contactsPerItem)) {
      const last = some.at(-1)!;
      const key = keys.mailedContacts(orgId, siteId, `${position}#${toSortText(last)}`);
      writes.push(put(key, await compress(key, toStored(some))));
    }
    writes.push(put(keys.mailedFold(orgId, siteId, position), { fold }));
  }
  await writeMany(writes);
}

const toSortText = ({ contactId, sendId }: LoggedMail): string =>
  `${zeroPad(contactId)}#${zeroPad(sendId)}`;

const toStored = (mails: LoggedMail[]): StoredMails => ({
  distances: mails.map(({ contactId }, i) => contactId - (mails[i - 1]?.contactId ?? 0)),
  sendIds: mails.map(({ sendId }) => sendId),
});

async function toMails(item: CompressedValue): Promise<LoggedMail[]> {
  const { distances, sendIds } = await decompress<StoredMails>(item);
  let contactId = 0;
  return sendIds.map((sendId, i) => {
    contactId += distances[i]!;
    return { sendId, contactId };
  });
}

const foldsInParallel = 16;

/** Ids of the sends of all broadcasts to a contact, in no order. It may have had other ids. */
export async function listSendIds(site: SiteRef, contactIds: number[]): Promise<number[]> {
  const { entries } = await readMailLog(site);
  const logged = entries.flatMap(({ mails }) => mails);
  const folded: LoggedMail[] = [];
  for (const id of contactIds) folded.push(...(await listFolded(site, id)));
  return [...logged, ...folded].flatMap(({ contactId, sendId }) =>
    contactIds.includes(contactId) ? [sendId] : [],
  );
}

/** Whether the fold lists of the broadcast have the contact. */
export const isMailed = async (
  site: SiteRef,
  source: BroadcastSource,
  contactId: number,
): Promise<boolean> => (await listFolded(site, contactId, source)).length > 0;

/** The folded mails to one contact. */
async function listFolded(
  site: SiteRef,
  contactId: number,
  source?: BroadcastSource,
): Promise<LoggedMail[]> {
  const folds = await queryAll<MailedFold>(
    ranges.mailedFolds(site.orgId, site.siteId, source && positionOfSource(source)),
    { consistent: true },
  );
  const found = await inParallel(foldsInParallel, folds, ({ sk }) =>
    findInFold(site, sk, contactId),
  );
  return found.flat();
}

/** The mails to one contact can be in two items. */
async function findInFold(
  { orgId, siteId }: SiteRef,
  position: string,
  contactId: number,
): Promise<LoggedMail[]> {
  const found: LoggedMail[] = [];
  let after: string | undefined = `${position}#${zeroPad(contactId)}`;
  while (after !== undefined) {
    const page: { items: CompressedValue[]; next?: string } = await query<CompressedValue>(
      ranges.mailedContacts(orgId, siteId, `${position}#`),
      { after, limit: 1, consistent: true },
    );
    const mails = (await Promise.all(page.items.map(toMails))).flat();
    found.push(...mails.filter((mail) => mail.contactId === contactId));
    after = mails.at(-1)?.contactId === contactId ? page.next : undefined;
  }
  return found;
}

/** Ids of all contacts in the fold lists of the broadcast. */
export async function getMailedIds(
  { orgId, siteId }: SiteRef,
  source: BroadcastSource,
): Promise<Set<number>> {
  const items = await queryAll<CompressedValue>(
    ranges.mailedContacts(orgId, siteId, positionOfSource(source)),
  );
  const mailed = new Set<number>();
  await inParallel(8, items, async (item) => {
    for (const { contactId } of await toMails(item)) mailed.add(contactId);
  });
  return mailed;
}
