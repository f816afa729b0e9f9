// Lists contacts. Without a filter: newest first, over all sites that the caller may see. With only
// a tag or list: its members, highest id first. With any other filter: in email order, because
// contacts are read in that order. contact-order.ts has the other orders.
import * as z from "zod";
import { all, type Condition, contains, equals } from "../../../adapters/dynamodb/conditions.ts";
import { getMany } from "../../../adapters/dynamodb/table.ts";
import type { Caller, CallerScope } from "../../../caller.ts";
import { invalid } from "../../../errors.ts";
import { QueryId } from "../../../kernel/digits.ts";
import { maxReadAhead, readInOrder } from "../../../kernel/newest-first.ts";
import {
  countSkipped,
  type PageRequest,
  type Pagination,
  positionOf,
  positionParts,
  toPagination,
} from "../../../kernel/paging.ts";
import * as records from "../../../kernel/records.ts";
import * as shardedCounters from "../../../kernel/sharded-counters.ts";
import {
  emailShards,
  type GroupKey,
  indexes,
  type Key,
  type KeyRange,
  keys,
  ranges,
} from "../../../keys.ts";
import * as sites from "../../identity/sites.ts";
import * as groups from "../groups/groups.ts";
import * as segments from "../segments/segments.ts";
import { type ContactPageRequest, resolveOrder } from "./contact-order.ts";
import * as contactReader from "./contact-reader.ts";
import {
  type Contact,
  type ContactItem,
  contactStatuses,
  ExternalId,
  groupAttribute,
} from "./contact-schema.ts";
import { searchCondition } from "./contact-search-text.ts";
import * as contacts from "./contacts.ts";
import { type ContactPage, listAcrossSites, refuseTooManySites } from "./contacts-across-sites.ts";
import { getContactIds } from "./external-ids.ts";

const Id = QueryId;
/** Selects contacts for a list or an export. */
export const ContactFilter = z.object({
  siteId: Id.optional().describe(
    "Site of the contacts. Defaults to the site of the tag, list or segment. With other " +
      "filters: the site of the API key, else the only site. Without filters: all sites that " +
      "the caller can access, at most 20.",
  ),
  search: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .optional()
    .describe(
      "Part of the email address or the name, ignoring case. `muller` and `mueller` find Müller.",
    ),
  status: z.enum(contactStatuses).optional().describe("Only items with this status."),
  tagId: Id.optional().describe("Only contacts with this tag."),
  listId: Id.optional().describe("Only contacts on this list."),
  segmentId: Id.optional().describe("Only contacts that match this segment."),
  externalId: ExternalId.optional().describe(
    "Only the contact with this id in your own system: at most one of each site.",
  ),
});
export type ContactFilter = z.output<typeof ContactFilter>;

/** `total` is exact without a filter and with only a tag or list, else null. */
export async function list(
  caller: Caller,
  request: ContactPageRequest,
  filter: ContactFilter,
): Promise<{ items: Contact[]; pagination: Pagination }> {
  const { orgId } = caller;
  const { items, next, total } = await queryContacts(caller, request, filter);
  return {
    items: await contacts.toApiAll(orgId, items),
    pagination: toPagination(request, total, next),
  };
}

async function queryContacts(
  caller: Caller,
  request: ContactPageRequest,
  filter: ContactFilter,
): Promise<ContactPage> {
  const { siteId, externalId, tagId, listId } = filter;
  const { sort, descending } = resolveOrder(request, filter);
  if (sort === "createdAt") return listByTime(caller, request, { siteId, descending });
  if (sort === "email") return listByEmail(caller, request, { ...filter, descending });
  if (externalId !== undefined) return listByExternalId(caller, request, { siteId, externalId });
  if (tagId !== undefined) return listMembers(caller, request, { kind: "TAG", id: tagId, siteId });
  return listMembers(caller, request, { kind: "LIST", id: listId!, siteId });
}

async function listByEmail(
  caller: Caller,
  request: PageRequest,
  { descending, ...filter }: ContactFilter & { descending: boolean },
): Promise<ContactPage> {
  const { orgId } = caller;
  const { siteId: given, search, status, externalId, ...groupIds } = filter;
  const plain = plainConditions({ search, status, externalId });
  const hasGroup = Object.values(groupIds).some((one) => one !== undefined);
  const siteIds = hasGroup ? [] : await sites.listVisibleSiteIds(caller, given);
  const total = hasGroup || plain.length ? null : await countSites(orgId, siteIds);
  if (siteIds.length > 1)
    return listAcrossSites({ orgId, siteIds, total }, request, {
      filter: plain.length ? all(...plain) : undefined,
      descending,
    });
  const wanted = await resolveFilter(caller, filter);
  const { items, next } = await contactReader.readSitePage(
    { orgId, siteId: wanted.siteId },
    request,
    { ...wanted, descending },
  );
  return { items, next, total };
}

const countSites = (orgId: number, siteIds: number[]): Promise<number> =>
  shardedCounters.sumShards(...siteIds.map((siteId) => ranges.contactCounts(orgId, siteId)));

async function listByExternalId(
  caller: Caller,
  request: PageRequest,
  { siteId, externalId }: { siteId: number | undefined; externalId: string },
): Promise<ContactPage> {
  const siteIds = await sites.listVisibleSiteIds(caller, siteId);
  refuseTooManySites(siteIds);
  const contactIds = await getContactIds(caller.orgId, siteIds, externalId);
  const items = await contacts.getByIds(caller.orgId, contactIds, { consistent: true });
  const skip = countSkipped(request);
  const shown = items.slice(skip, skip + request.limit);
  return { items: shown, next: undefined, total: items.length };
}

/**
 * The query for a filter. 404 for a tag, list or segment that does not exist, 400 for one of
 * another site.
 */
export async function resolveFilter(
  caller: CallerScope,
  { siteId: given, search, status, tagId, listId, segmentId, externalId }: ContactFilter,
): Promise<contactReader.ContactQuery & { siteId: number }> {
  const [tag, list, segment] = await Promise.all([
    tagId === undefined ? undefined : records.find<groups.Group>("TAG", caller, tagId),
    listId === undefined ? undefined : records.find<groups.Group>("LIST", caller, listId),
    segmentId === undefined ? undefined : segments.find(caller, segmentId),
  ]);
  const siteId = await resolveSite(caller, given, { tagId: tag, listId: list, segmentId: segment });
  const segmentQuery =
    segment && (await segments.queryForRules({ orgId: caller.orgId, siteId }, segment.rules));
  const conditions: Condition[] = [
    ...plainConditions({ search, status, externalId }),
    ...(tag ? [contains("tags", tag.id)] : []),
    ...(list ? [contains("lists", list.id)] : []),
    ...(segmentQuery?.filter ? [segmentQuery.filter] : []),
  ];
  return {
    ...segmentQuery,
    siteId,
    filter: conditions.length ? all(...conditions) : undefined,
  };
}

const plainConditions = ({
  search,
  status,
  externalId,
}: Pick<ContactFilter, "search" | "status" | "externalId">): Condition[] => [
  ...(externalId === undefined ? [] : [equals("externalId", externalId)]),
  ...(status === undefined ? [] : [equals("status", status)]),
  ...(search === undefined ? [] : [searchCondition(search)]),
];

/** The requested site, or the site that the tag, list or segment belongs to. */
async function resolveSite(
  caller: CallerScope,
  given: number | undefined,
  named: Record<string, { siteId: number } | undefined>,
): Promise<number> {
  const owners = Object.entries(named).flatMap(([path, one]) =>
    one ? [{ path, siteId: one.siteId }] : [],
  );
  const siteId =
    given !== undefined || !owners.length
      ? await sites.resolveSiteId(caller, given)
      : owners[0]!.siteId;
  const foreign = owners.find((one) => one.siteId !== siteId);
  if (foreign)
    throw invalid(`${foreign.path} belongs to another site`, {
      details: [{ path: foreign.path, message: "belongs to another site" }],
    });
  return siteId;
}

/** An entry of the index of new contacts. */
type IndexEntry = Key & { newsk: string };
const newestPattern = new RegExp(`^${positionParts.time}#${positionParts.id}$`);

async function listByTime(
  caller: CallerScope,
  request: PageRequest,
  { siteId: given, descending }: { siteId: number | undefined; descending: boolean },
): Promise<ContactPage> {
  const { orgId } = caller;
  const siteIds = await sites.listVisibleSiteIds(caller, given);
  refuseTooManySites(siteIds);
  const collections = siteIds.flatMap((siteId) =>
    emailShards.map((shard) => indexes.newContacts(orgId, siteId, shard)),
  );
  const [{ page, next }, total] = await Promise.all([
    readMergedPage<IndexEntry>(collections, request, {
      sortKeyOf: ({ newsk }) => newsk,
      cursorPattern: newestPattern,
      newestFirst: descending,
    }),
    countSites(orgId, siteIds),
  ]);
  const items = await getMany<ContactItem>(page);
  return {
    // The index lags behind: it may still list deleted contacts.
    items: items.flatMap((one) => one ?? []),
    next,
    total,
  };
}

type Member = Key & { contactId: number; email: string };

async function listMembers(
  caller: CallerScope,
  request: PageRequest,
  { kind, id, siteId: given }: GroupKey & { siteId: number | undefined },
): Promise<ContactPage> {
  const { orgId } = caller;
  const group = await records.find<groups.Group>(kind, caller, id);
  await resolveSite(caller, given, { [kind === "TAG" ? "tagId" : "listId"]: group });
  const collections = emailShards.map((shard) => ranges.members(orgId, { kind, id }, shard));
  const [{ page, next }, total] = await Promise.all([
    readMergedPage<Member>(collections, request, {
      sortKeyOf: ({ sk }) => sk,
      cursorPattern: /^\d{16}$/,
      newestFirst: true,
    }),
    groups.count(kind, orgId, id),
  ]);
  const items = await loadMembers(orgId, group.siteId, page);
  return { items: items.filter((one) => one[groupAttribute(kind)]?.has(id)), next, total };
}

/** Tries the remembered email, then the id. */
async function loadMembers(
  orgId: number,
  siteId: number,
  members: Member[],
): Promise<ContactItem[]> {
  const byEmail = await getMany<ContactItem>(
    members.map(({ email }) => keys.contact(orgId, siteId, email)),
  );
  const moved = members.flatMap(({ contactId }, i) =>
    byEmail[i]?.id === contactId ? [] : [contactId],
  );
  const byId = new Map((await contacts.getByIds(orgId, moved)).map((one) => [one.id, one]));
  return members.flatMap(({ contactId }, i) =>
    byEmail[i]?.id === contactId ? byEmail[i] : (byId.get(contactId) ?? []),
  );
}

interface MergedOrder<T> {
  sortKeyOf(item: T): string;
  cursorPattern: RegExp;
  newestFirst: boolean;
}

async function readMergedPage<T>(
  shardRanges: KeyRange[],
  request: PageRequest,
  { sortKeyOf, cursorPattern, newestFirst }: MergedOrder<T>,
) {
  const skip = countSkipped(request);
  const wanted = skip + request.limit;
  const position = positionOf(request, cursorPattern);
  const places: T[] = [];
  const size = Math.min(maxReadAhead, Math.ceil((wanted * 1.25) / shardRanges.length) + 4);
  const order = { position, newestFirst, size };
  for await (const place of readInOrder<T>(shardRanges, sortKeyOf, order)) {
    places.push(place);
    if (places.length > wanted) break;
  }
  const page = places.slice(skip, wanted);
  const last = page.at(-1);
  return { page, next: places.length > wanted && last !== undefined ? sortKeyOf(last) : undefined };
}
