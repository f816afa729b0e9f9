// Contacts as lists. Without a filter newest first, over all sites that the caller may see; by a tag or list alone its members, highest
// id first; with any other filter by address, because that is the order in which they are read.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { all, type Condition, contains, equals } from "../../conditions.ts";
import { getMany } from "../../doors/table.ts";
import { invalid, overLimit } from "../../errors.ts";
import { type Address, type GroupKind, keys, ranges, shards, shelves } from "../../keys.ts";
import { decodeCursor, type PageRequest, type Pagination, pagination, skipped } from "../../paging.ts";
import * as contacts from "../contacts.ts";
import * as counters from "../counters.ts";
import { mostAhead, newest } from "../newest.ts";
import * as records from "../records.ts";
import * as segments from "../segments.ts";
import * as sites from "../sites.ts";
import { type Contact, type ContactItem, contactStatuses, groupSet } from "./contact.ts";
import * as groups from "./groups.ts";
import * as reader from "./reader.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

const Id = z.coerce.number().int().positive();
/** Which contacts: of a list of them, or of an export. */
export const Filter = z.object({
  siteId: Id.optional(),
  search: z.string().trim().min(1).max(200).optional().describe("A part of the email address or of the name, in any case"),
  status: z.enum(contactStatuses).optional(),
  tagId: Id.optional(),
  listId: Id.optional(),
  segmentId: Id.optional(),
});
export type Filter = z.output<typeof Filter>;

/** `total` is exact without a filter and by a tag or list alone, null otherwise. */
export async function list(caller: Caller, request: PageRequest, filter: Filter): Promise<{ items: Contact[]; pagination: Pagination }> {
  const { orgId } = caller;
  const { items, next, total } = await found(caller, request, filter);
  return { items: await contacts.tellAll(orgId, items), pagination: pagination(request, total, next) };
}

interface Found {
  items: ContactItem[];
  next: string | undefined;
  total: number | null;
}

async function found(caller: Caller, request: PageRequest, filter: Filter): Promise<Found> {
  const { siteId, ...narrow } = filter;
  const [[name, value] = [], ...others] = Object.entries(narrow).filter(([, one]) => one !== undefined);
  if (name === undefined) return newestOf(caller, request, siteId);
  if (!others.length && name in kinds) return membersOf(caller, request, kinds[name as keyof typeof kinds], value as number, siteId);
  const wanted = await wantedOf(caller, filter);
  const { items, next } = await reader.page(caller.orgId, wanted.siteId, request, wanted);
  return { items, next, total: null };
}

const kinds = { tagId: "TAG", listId: "LIST" } as const satisfies Record<string, GroupKind>;

/** The site and the filter of a reader. 404 for a tag, list or segment that is not there, 400 for one of another site. */
export async function wantedOf(
  who: Who,
  { siteId: given, search, status, tagId, listId, segmentId }: Filter,
): Promise<reader.Wanted & { siteId: number }> {
  const [tag, list, segment] = await Promise.all([
    tagId === undefined ? undefined : records.find<groups.Group>("TAG", who, tagId),
    listId === undefined ? undefined : records.find<groups.Group>("LIST", who, listId),
    segmentId === undefined ? undefined : segments.find(who, segmentId),
  ]);
  const siteId = await siteOf(who, given, { tagId: tag, listId: list, segmentId: segment });
  const ruled = segment && (await segments.wantedBy(who.orgId, siteId, segment.rules));
  const conditions: Condition[] = [
    ...(status === undefined ? [] : [equals("status", status)]),
    ...(search === undefined ? [] : [contains("search", search.toLowerCase())]),
    ...(tag ? [contains("tags", tag.id)] : []),
    ...(list ? [contains("lists", list.id)] : []),
    ...(ruled?.filter ? [ruled.filter] : []),
  ];
  return { siteId, filter: conditions.length ? all(...conditions) : undefined, matches: ruled?.matches };
}

/** The one that is named, or that the things named belong to. */
async function siteOf(who: Who, given: number | undefined, named: Record<string, { siteId: number } | undefined>): Promise<number> {
  const owners = Object.entries(named).flatMap(([path, one]) => (one ? [{ path, siteId: one.siteId }] : []));
  const siteId = given !== undefined || !owners.length ? await sites.resolve(who, given) : owners[0]!.siteId;
  const stranger = owners.find((one) => one.siteId !== siteId);
  if (stranger)
    throw invalid(`${stranger.path} belongs to another site`, { details: [{ path: stranger.path, message: "of another site" }] });
  return siteId;
}

/** What stands on the index of new contacts. */
type Place = Address & { newsk: string };
const mostSites = 20;

async function newestOf(who: Who, request: PageRequest, given: number | undefined): Promise<Found> {
  const { orgId } = who;
  const siteIds = await sites.visible(who, given);
  if (siteIds.length > mostSites)
    throw overLimit("siteId", `siteId is needed: contacts of more than ${mostSites} sites cannot be listed together`);
  const collections = siteIds.flatMap((siteId) => shards.map((shard) => shelves.newContacts(orgId, siteId, shard)));
  const [{ page, next }, total] = await Promise.all([
    merged<Place>(collections, ({ newsk }) => newsk, request, /^\d{4}-\d\d-\d\dT[\d:.]{12}Z#\d{16}$/),
    counters.total(...siteIds.map((siteId) => ranges.contactCounts(orgId, siteId))),
  ]);
  const items = await getMany<ContactItem>(page);
  return {
    // The index lags a little behind: who is gone is not shown any more.
    items: items.flatMap((one) => one ?? []),
    next,
    total,
  };
}

type Member = Address & { contactId: number; email: string };

async function membersOf(who: Who, request: PageRequest, kind: GroupKind, id: number, given: number | undefined): Promise<Found> {
  const { orgId } = who;
  const group = await records.find<groups.Group>(kind, who, id);
  await siteOf(who, given, { [kind === "TAG" ? "tagId" : "listId"]: group });
  const collections = shards.map((shard) => ranges.members(orgId, kind, id, shard));
  const [{ page, next }, total] = await Promise.all([
    merged<Member>(collections, ({ sk }) => sk, request, /^\d{16}$/),
    groups.count(kind, orgId, id),
  ]);
  const items = await present(orgId, group.siteId, page);
  return { items: items.filter((one) => one[groupSet(kind)]?.has(id)), next, total };
}

/** By the address they had when they joined, else by their id. */
async function present(orgId: number, siteId: number, members: Member[]): Promise<ContactItem[]> {
  const guessed = await getMany<ContactItem>(members.map(({ email }) => keys.contact(orgId, siteId, email)));
  const moved = members.flatMap(({ contactId }, i) => (guessed[i]?.id === contactId ? [] : [contactId]));
  const byId = new Map((await contacts.byIds(orgId, moved)).map((one) => [one.id, one]));
  return members.flatMap(({ contactId }, i) => (guessed[i]?.id === contactId ? guessed[i] : (byId.get(contactId) ?? [])));
}

async function merged<T>(collections: Parameters<typeof newest>[0], sortOf: (item: T) => string, request: PageRequest, shape: RegExp) {
  const skip = skipped(request);
  const wanted = skip + request.limit;
  const below = decodeCursor(request.cursor, (place) => shape.test(place));
  const places: T[] = [];
  const size = Math.min(mostAhead, Math.ceil((wanted * 1.25) / collections.length) + 4);
  for await (const place of newest<T>(collections, sortOf, { below, size })) {
    places.push(place);
    if (places.length > wanted) break;
  }
  const page = places.slice(skip, wanted);
  const last = page.at(-1);
  return { page, next: places.length > wanted && last !== undefined ? sortOf(last) : undefined };
}
