// Reads all contacts of a site: 16 shards in parallel, page by page, in email order within a shard.
// DynamoDB evaluates the filter as far as it can. Segments, exports, campaigns and filtered lists
// read contacts here.
import type { Condition } from "../../../adapters/dynamodb/conditions.ts";
import { count as countOf, type QueryPage, query } from "../../../adapters/dynamodb/table.ts";
import type { SiteRef } from "../../../caller.ts";
import { countSkipped, type PageRequest, positionOf } from "../../../kernel/paging.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { emailShards, ranges } from "../../../keys.ts";
import type { MailReader } from "../mail-counts/mail-counts.ts";
import type { EventReader } from "../segments/event-history.ts";
import type { ContactItem } from "./contact-schema.ts";

/** Selects contacts; all of them when it is empty. */
export interface ContactQuery {
  /** Evaluated by DynamoDB. */
  filter?: Condition | undefined;
  /** Evaluated in code, for contacts that pass the filter. */
  test?: ((contact: ContactItem) => boolean) | undefined;
  /** Adds the mails that `test` needs. */
  readMails?: MailReader | undefined;
  /** Adds the events that `test` needs. */
  readEvents?: EventReader | undefined;
  /** Attributes that `test` reads. A count reads only these. */
  attributes?: string[] | undefined;
}

export interface SitePageQuery extends ContactQuery {
  /** From the last email back. */
  descending?: boolean | undefined;
}

interface ReadOptions extends SitePageQuery {
  after?: string | undefined;
  /** Reads only these attributes. */
  projection?: string[] | undefined;
}

/** About as many contacts as one query can return: 1 MB. */
const maxPageSize = 2000;

/**
 * Yields one shard page by page. DynamoDB reads `limit` contacts per page before it filters, so a
 * page may be short or empty. To continue later, pass `next` of a page as `after`; the last page
 * has none.
 */
export async function* readShard(
  site: SiteRef,
  shard: string,
  {
    after,
    limit = maxPageSize,
    ...contactQuery
  }: ReadOptions & { limit?: number | undefined } = {},
): AsyncGenerator<QueryPage<ContactItem>> {
  let position = after;
  do {
    const page = await readPage(site, shard, { ...contactQuery, after: position, limit });
    yield page;
    position = page.next;
  } while (position !== undefined);
}

async function readPage(
  site: SiteRef,
  shard: string,
  {
    filter,
    test,
    readMails,
    readEvents,
    projection: attributes,
    after,
    descending = false,
    limit,
  }: ReadOptions & { limit: number },
): Promise<QueryPage<ContactItem>> {
  const page = await query<ContactItem>(ranges.contacts(site.orgId, site.siteId, shard), {
    filter,
    attributes,
    after,
    newestFirst: descending,
    limit,
  });
  return { ...page, items: await filterInCode(page.items, { test, readMails, readEvents }) };
}

/** Returns the contacts as they are stored. */
export async function filterInCode(
  items: ContactItem[],
  { test, readMails, readEvents }: Pick<ContactQuery, "test" | "readMails" | "readEvents">,
): Promise<ContactItem[]> {
  if (!test || !items.length) return items;
  const counted = readMails ? await readMails(items) : items;
  const tested = readEvents ? await readEvents(counted) : counted;
  return items.filter((_, i) => test(tested[i]!));
}

/** Exact. Reads the whole site: 76 read units per 1,000 contacts. */
export async function countContacts(
  site: SiteRef,
  { filter, test, attributes, ...readers }: ContactQuery = {},
): Promise<number> {
  const counted = await inParallel(emailShards.length, emailShards, (shard) =>
    test
      ? countInCode(site, shard, { filter, test, ...readers, projection: attributes })
      : countOf(ranges.contacts(site.orgId, site.siteId, shard), { filter, limit: maxPageSize }),
  );
  return counted.reduce((sum, n) => sum + n, 0);
}

async function countInCode(
  site: SiteRef,
  shard: string,
  contactQuery: ReadOptions,
): Promise<number> {
  let total = 0;
  for await (const { items } of readShard(site, shard, contactQuery)) total += items.length;
  return total;
}

/**
 * Queries of 1 MB per page, about 1.5 million contacts. After that a page ends short, with a
 * cursor.
 */
const maxReadsPerPage = 1000;

/**
 * One page of the site in email order, or in the opposite order. `next` is the email to continue
 * after, so contacts created or removed in between do not shift later pages. With a rare filter, a
 * page may be short and still have a `next`.
 */
export async function readSitePage(
  site: SiteRef,
  request: PageRequest,
  contactQuery: SitePageQuery,
): Promise<{ items: ContactItem[]; next?: string | undefined }> {
  const skip = countSkipped(request);
  const needed = skip + request.limit + 1;
  const found: ContactItem[] = [];
  const size = Math.min(maxPageSize, Math.ceil((needed * 1.25) / emailShards.length) + 4);
  for await (const { items, reach, reads } of mergeShardsByEmail(site, contactQuery, {
    after: positionOf(request, /^[^\s@]+@[^\s@]+$/),
    size,
  })) {
    found.push(...items);
    if (found.length >= needed) break;
    if (reads >= maxReadsPerPage && found.length >= skip)
      return { items: found.slice(skip), next: reach };
  }
  const items = found.slice(skip, skip + request.limit);
  return { items, next: found.length >= needed ? items.at(-1)?.sk : undefined };
}

/** One shard: contacts read but not yet yielded, and the email up to which it was read. */
interface ShardStream {
  shard: string;
  items: ContactItem[];
  reach: string | undefined;
  done: boolean;
}

/**
 * Yields contacts in email order. `reach` is the email up to which the result is complete;
 * undefined at the end.
 */
async function* mergeShardsByEmail(
  site: SiteRef,
  contactQuery: SitePageQuery,
  { after, size }: { after: string | undefined; size: number },
): AsyncGenerator<{ items: ContactItem[]; reach: string | undefined; reads: number }> {
  const streams: ShardStream[] = emailShards.map((shard) => ({
    shard,
    items: [],
    reach: after,
    done: false,
  }));
  const isBefore: IsBefore = contactQuery.descending ? (a, b) => a > b : (a, b) => a < b;
  let reads = 0;
  for (let limit = size; ; limit = Math.min(limit * 2, maxPageSize)) {
    const emptyStreams = streams.filter(({ items, done }) => !done && !items.length);
    await Promise.all(
      emptyStreams.map((stream) => readMore(site, stream, { ...contactQuery, limit })),
    );
    reads += emptyStreams.length;
    const reach = mergeBoundary(streams, isBefore);
    yield {
      items: streams
        .flatMap((stream) => takeUpTo(stream, reach, isBefore))
        .sort((a, b) => (isBefore(a.sk, b.sk) ? -1 : 1)),
      reach,
      reads,
    };
    if (reach === undefined) return;
  }
}

/** Whether the first email comes before the second in the order of the list. */
type IsBefore = (a: string, b: string) => boolean;

async function readMore(
  site: SiteRef,
  stream: ShardStream,
  contactQuery: ReadOptions & { limit: number },
): Promise<void> {
  const { items, next } = await readPage(site, stream.shard, {
    ...contactQuery,
    after: stream.reach,
  });
  stream.items.push(...items);
  stream.done = next === undefined;
  stream.reach = next;
}

/** The email up to which every shard has been read. */
const mergeBoundary = (streams: ShardStream[], isBefore: IsBefore): string | undefined =>
  streams
    .flatMap(({ done, reach: readUpTo }) => (done ? [] : [readUpTo!]))
    .reduce<string | undefined>(
      (first, one) => (first === undefined || isBefore(one, first) ? one : first),
      undefined,
    );

/** Removes and returns the contacts up to an email. */
function takeUpTo(
  stream: ShardStream,
  readUpTo: string | undefined,
  isBefore: IsBefore,
): ContactItem[] {
  const end =
    readUpTo === undefined
      ? stream.items.length
      : stream.items.findIndex(({ sk }) => isBefore(readUpTo, sk));
  return stream.items.splice(0, end < 0 ? stream.items.length : end);
}
