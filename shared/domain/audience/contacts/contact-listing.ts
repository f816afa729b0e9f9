// Lists contacts. Without a filter: newest first, over all sites that the caller may see. With only
// a tag or list: its members, highest id first. With any other filter: in email order, because
// contacts are read in that order.
import * as z from "zod";
import { all, type Condition, contains, equals } from "../../../adapters/dynamodb/conditions.ts";
import { getMany } from "../../../adapters/dynamodb/table.ts";
import type { Caller, CallerScope } from "../../../caller.ts";
import { invalid, limitExceeded } from "../../../errors.ts";
import { QueryId } from "../../../kernel/digits.ts";
import { maxReadAhead, readNewestFirst } from "../../../kernel/newest-first.ts";
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
  type GroupKind,
  indexes,
  type Key,
  keys,
  ranges,
} from "../../../keys.ts";
import * as sites from "../../identity/sites.ts";
import * as groups from "../groups/groups.ts";
import * as segments from "../segments/segments.ts";
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
  request: PageRequest,
  filter: ContactFilter,
): Promise<{ items: Contact[]; pagination: Pagination }> {
  const { orgId } = caller;
  const { items, next, total } = await queryContacts(caller, request, filter);
  return {
    items: await contacts.toApiAll(orgId, items),
    pagination: toPagination(request, total, next),
  };
}

interface ContactPage {
  items: ContactItem[];
  next: string | undefined;
  total: number | null;
}

async function queryContacts(
  caller: Caller,
  request: PageRequest,
  filter: ContactFilter,
): Promise<ContactPage> {
  const { siteId, ...criteria } = filter;
  const [[name, value] = [], ...others] = Object.entries(criteria).filter(
    ([, one]) => one !== undefined,
  );
  if (name === undefined) return listNewest(caller, request, siteId);
  if (!others.length && filter.externalId !== undefined)
    return listByExternalId(caller, request, { siteId, externalId: filter.externalId });
  if (!others.length && name in groupKindByFilter)
    return listMembers(caller, request, {
      kind: groupKindByFilter[name as keyof typeof groupKindByFilter],
      id: value as number,
      siteId,
    });
  const { search, status, externalId, ...named } = filter;
  const siteIds = Object.values(named).every((one) => one === undefined)
    ? await sites.listVisibleSiteIds(caller, undefined)
    : [];
  if (siteIds.length > 1)
    return listAcrossSites({ orgId: caller.orgId, siteIds }, request, {
      filter: all(...plainConditions({ search, status, externalId })),
    });
  const wanted = await resolveFilter(caller, filter);
  const { items, next } = await contactReader.readSitePage(
    { orgId: caller.orgId, siteId: wanted.siteId },
    request,
    wanted,
  );
  return { items, next, total: null };
}

async function listByExternalId(
  caller: Caller,
  request: PageRequest,
  { siteId, externalId }: { siteId: number | undefined; externalId: string },
): Promise<ContactPage> {
  const siteIds = await sites.listVisibleSiteIds(caller, siteId);
  refuseTooMany(siteIds);
  const contactIds = await getContactIds(caller.orgId, siteIds, externalId);
  const items = await contacts.getByIds(caller.orgId, contactIds, { consistent: true });
  const skip = countSkipped(request);
  const shown = items.slice(skip, skip + request.limit);
  return { items: shown, next: undefined, total: items.length };
}

const sitePattern = /^\d{1,16}#[^\s@]+@[^\s@]+$/;

/**
 * Site by site, newest site first, in email order within a site. A cursor position is
 * `<site>#<email>`.
 */
async function listAcrossSites(
  { orgId, siteIds }: { orgId: number; siteIds: number[] },
  request: PageRequest,
  wanted: contactReader.ContactQuery,
): Promise<ContactPage> {
  refuseTooMany(siteIds);
  const position = positionOf(request, sitePattern);
  const split = position?.indexOf("#") ?? 0;
  const [first, address] =
    position === undefined
      ? [undefined, undefined]
      : [Number(position.slice(0, split)), position.slice(split + 1)];
  const skip = countSkipped(request);
  const enough = skip + request.limit + 1;
  const items: ContactItem[] = [];
  for (const siteId of siteIds
    .toSorted((a, b) => b - a)
    .filter((id) => first === undefined || id <= first)) {
    const after = siteId === first ? address : undefined;
    const page = await contactReader.readSitePage(
      { orgId, siteId },
      { limit: enough - items.length, cursor: after },
      wanted,
    );
    items.push(...page.items);
    if (items.length >= enough) break;
    // The reader stopped after reading very many contacts: the page ends short.
    if (page.next !== undefined)
      return { items: items.slice(skip), next: `${siteId}#${page.next}`, total: null };
  }
  const shown = items.slice(skip, enough - 1);
  const last = shown.at(-1);
  return {
    items: shown,
    next: items.length >= enough && last ? `${last.siteId}#${last.sk}` : undefined,
    total: null,
  };
}

const groupKindByFilter = { tagId: "TAG", listId: "LIST" } as const satisfies Record<
  string,
  GroupKind
>;

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
const maxSites = 20;

function refuseTooMany(siteIds: number[]) {
  if (siteIds.length > maxSites)
    throw limitExceeded(
      "siteId",
      `siteId is needed: contacts of more than ${maxSites} sites cannot be listed together`,
    );
}

async function listNewest(
  caller: CallerScope,
  request: PageRequest,
  given: number | undefined,
): Promise<ContactPage> {
  const { orgId } = caller;
  const siteIds = await sites.listVisibleSiteIds(caller, given);
  refuseTooMany(siteIds);
  const collections = siteIds.flatMap((siteId) =>
    emailShards.map((shard) => indexes.newContacts(orgId, siteId, shard)),
  );
  const [{ page, next }, total] = await Promise.all([
    readMergedPage<IndexEntry>(collections, request, {
      sortKeyOf: ({ newsk }) => newsk,
      cursorPattern: newestPattern,
    }),
    shardedCounters.sumShards(...siteIds.map((siteId) => ranges.contactCounts(orgId, siteId))),
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

async function readMergedPage<T>(
  shardRanges: Parameters<typeof readNewestFirst>[0],
  request: PageRequest,
  { sortKeyOf, cursorPattern }: { sortKeyOf: (item: T) => string; cursorPattern: RegExp },
) {
  const skip = countSkipped(request);
  const wanted = skip + request.limit;
  const below = positionOf(request, cursorPattern);
  const places: T[] = [];
  const size = Math.min(maxReadAhead, Math.ceil((wanted * 1.25) / shardRanges.length) + 4);
  for await (const place of readNewestFirst<T>(shardRanges, sortKeyOf, { below, size })) {
    places.push(place);
    if (places.length > wanted) break;
  }
  const page = places.slice(skip, wanted);
  const last = page.at(-1);
  return { page, next: places.length > wanted && last !== undefined ? sortKeyOf(last) : undefined };
}
