// Settings-like records (sites, templates, sending configs, ...). Each is one item by id. They are
// counted and listed newest first.
import {
  absent,
  all,
  any,
  type Condition,
  exists,
  lessThan,
  oneOf,
} from "../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  get,
  getMany,
  getTogether,
  put,
  query,
  queryAll,
  remove,
  update,
  type Write,
  write,
} from "../adapters/dynamodb/table.ts";
import type { CallerScope } from "../caller.ts";
import { now } from "../clock.ts";
import {
  conflict,
  invalid,
  missing,
  type Problem,
  type ProblemDetail,
  undefinedIfMissing,
} from "../errors.ts";
import * as ids from "../ids.ts";
import { type KeyRange, keys, type RecordKind, ranges, zeroPad } from "../keys.ts";
import { foldLetters } from "./fold-letters.ts";
import {
  countSkipped,
  type PageRequest,
  type Pagination,
  positionOf,
  toPagination,
} from "./paging.ts";
import { deletedSites, permitSite } from "./site-access.ts";

export interface StoredRecord {
  id: number;
  siteId?: number | null | undefined;
  createdAt: string;
  updatedAt: string;
}

const displayNames: Record<RecordKind, string> = {
  USER: "member",
  INVITATION: "invitation",
  SITE: "site",
  APIKEY: "API key",
  FOLDER: "template folder",
  TEMPLATE: "template",
  MEDIA: "picture",
  SNIPPET: "snippet",
  CONFIG: "sending config",
  WEBHOOK: "webhook endpoint",
  LIST: "list",
  TAG: "tag",
  TOPIC: "topic",
  SEGMENT: "segment",
  FORM: "form",
  RULE: "scoring rule",
  IMPORT: "import",
  EXPORT: "export",
  CAMPAIGN: "campaign",
  HOLIDAY: "holiday",
  SERIES: "campaign series",
  REPORT: "report schedule",
  SEQUENCE: "sequence",
  DOMAIN: "domain",
};
const maxRecordsPerKind = 10_000;
const notFound = (kind: RecordKind): Problem => missing(`The ${displayNames[kind]} does not exist`);

/** A new id and the current time, for a record to be created. */
export async function newRecordFields(kind: RecordKind): Promise<StoredRecord> {
  const time = now().toISOString();
  return { id: await ids.nextId(kind), createdAt: time, updatedAt: time };
}

/**
 * Stores a new record, counts it and makes extra writes, in one transaction. If an earlier attempt
 * of the same request has stored the record, returns that.
 */
export async function insert<T extends StoredRecord>(
  kind: RecordKind,
  { orgId }: CallerScope,
  { record, extraWrites = [] }: { record: T; extraWrites?: Write[] },
): Promise<T> {
  const key = keys.record(orgId, kind, record.id);
  try {
    await write(
      put(key, record, { ifAbsent: true }),
      countWrite(orgId, kind),
      ...extraWrites,
      ...siteCountWrites(orgId, kind, { records: [record], change: 1 }),
    );
    return record;
  } catch (error) {
    if (error instanceof ConditionFailed && error.index === 0) return (await get<T>(key)) ?? record;
    throw error;
  }
}

/** The writes that store and count several new records of one kind. */
export const insertWrites = <T extends StoredRecord>(
  kind: RecordKind,
  { orgId }: CallerScope,
  records: T[],
): Write[] =>
  records.length
    ? [
        ...records.map((record) =>
          put(keys.record(orgId, kind, record.id), record, { ifAbsent: true }),
        ),
        countWrite(orgId, kind, records.length),
        ...siteCountWrites(orgId, kind, { records, change: 1 }),
      ]
    : [];

/** Counts new records, up to the limit of an organization. */
function countWrite(orgId: number, kind: RecordKind, n = 1): Write {
  const belowLimit = any(absent("count"), lessThan("count", maxRecordsPerKind - n + 1));
  const limitReached = conflict(
    `An organization has at most ${maxRecordsPerKind.toLocaleString("en")} records of one kind`,
    { code: "too_many" },
  );
  return update(
    keys.recordCount(orgId, kind),
    { add: { count: n } },
    { if: belowLimit, orThrow: limitReached },
  );
}

/** The number of records of one kind for one site, or for every site (site 0). */
interface SiteCount {
  count: number;
}

const everySite = 0;

function siteCountWrites(
  orgId: number,
  kind: RecordKind,
  { records, change }: { records: Pick<StoredRecord, "siteId">[]; change: 1 | -1 },
): Write[] {
  const siteIds = records.flatMap(({ siteId }) =>
    siteId === undefined ? [] : [siteId ?? everySite],
  );
  return [...new Set(siteIds)].map((siteId) => {
    const count = change * siteIds.filter((id) => id === siteId).length;
    return update(keys.siteRecordCount(orgId, siteId, kind), { add: { count } });
  });
}

async function countForSite(orgId: number, kind: RecordKind, siteId: number): Promise<number> {
  const key = keys.siteRecordCount(orgId, siteId, kind);
  return (await get<SiteCount>(key, { consistent: false }))?.count ?? 0;
}

/**
 * Throws 404 if the record does not exist or its site was deleted, and 403 if a site-bound API key
 * may not access its site.
 */
export const find = <T extends StoredRecord>(
  kind: RecordKind,
  caller: CallerScope,
  id: number,
): Promise<T> => readRecord<T>(kind, caller, { id, consistent: true });

/** Like `find`, for half a read unit. May miss the changes of the last second. */
export const findEventually = <T extends StoredRecord>(
  kind: RecordKind,
  caller: CallerScope,
  id: number,
): Promise<T> => readRecord<T>(kind, caller, { id, consistent: false });

async function readRecord<T extends StoredRecord>(
  kind: RecordKind,
  caller: CallerScope,
  { id, consistent }: { id: number; consistent: boolean },
): Promise<T> {
  const [record] = await Promise.all([
    consistent
      ? get<T>(keys.record(caller.orgId, kind, id))
      : getTogether<T>(keys.record(caller.orgId, kind, id)),
    deletedSites(caller.orgId),
  ]);
  if (!record) throw notFound(kind);
  if (typeof record.siteId === "number")
    await await permitSite(caller, record.siteId, () => notFound(kind));
  return record;
}

/** For workers: undefined if the record does not exist or its site was deleted. */
export const findAlive = <T extends StoredRecord>(
  kind: RecordKind,
  orgId: number,
  id: number,
): Promise<T | undefined> => find<T>(kind, { orgId }, id).catch(undefinedIfMissing);

interface RecordReference {
  id: number;
  /** The site of the record that refers to this one. */
  siteId: number;
  /** The field of the request with the id. */
  path: string;
}

/** Finds a record that another record refers to. Throws 400 if it belongs to another site. */
export async function findOfSite<T extends StoredRecord>(
  kind: RecordKind,
  caller: CallerScope,
  { id, siteId, path }: RecordReference,
): Promise<T> {
  const record = await find<T>(kind, caller, id);
  if (record.siteId !== siteId)
    throw invalid(`${path} belongs to another site`, {
      details: [{ path, message: "belongs to another site" }],
    });
  return record;
}

/** A field of a record that has the id of another record. */
export interface Reference {
  /** Dotted name of the field. */
  path: string;
  kind: RecordKind;
  id: number;
}

/** No reference if the field is empty. */
export const reference = (
  path: string,
  kind: RecordKind,
  id: number | null | undefined,
): Reference[] => (id == null ? [] : [{ path, kind, id }]);

/** The references whose record was deleted. Takes up to half a read unit for each reference. */
export async function listMissing(
  { orgId }: Pick<CallerScope, "orgId">,
  references: Reference[],
): Promise<ProblemDetail[]> {
  const found = await getMany<StoredRecord>(
    references.map(({ kind, id }) => keys.record(orgId, kind, id)),
    { consistent: true },
  );
  return references.flatMap(({ path, kind, id }, i) =>
    found[i] ? [] : [{ path, message: `${displayNames[kind]} ${id} no longer exists` }],
  );
}

/** The name of a kind in sentences. */
export const nameOfKind = (kind: RecordKind): string => displayNames[kind];

interface ListRequest extends PageRequest {
  /** Leaves out records that are not counted. */
  counted?: Condition | undefined;
  /** One site or several. Undefined: all sites. */
  siteIds?: readonly number[] | undefined;
  /** With `siteIds`, also include records that serve every site. */
  andEverySite?: boolean;
  filter?: Condition | undefined;
  /** Part of the name, ignoring case and accents. */
  search?: string | undefined;
}

/** Names are compared here, because DynamoDB knows neither case nor accents. */
function createNameFilter(search: string | undefined): (record: StoredRecord) => boolean {
  if (search === undefined) return () => true;
  const folded = foldLetters(search);
  return (record) => foldLetters((record as { name?: string }).name ?? "").includes(folded);
}

/**
 * One page, newest first. `total` is exact for an organization or a site, and null with a `filter`
 * or `search`.
 */
export async function list<T extends StoredRecord>(
  kind: RecordKind,
  { orgId }: CallerScope,
  request: ListRequest,
): Promise<{ items: T[]; pagination: Pagination }> {
  const { siteIds, andEverySite = false, filter: extraFilter, search, counted } = request;
  const isCounted = extraFilter === undefined && search === undefined;
  const hasName = createNameFilter(search);
  const deleted = await deletedSites(orgId);
  const isOfLiveSite = (record: StoredRecord) =>
    typeof record.siteId !== "number" || !deleted.has(record.siteId);
  const countedSites = siteIds && [...siteIds, ...(andEverySite ? [everySite] : [])];
  // All sites that the caller is limited to were deleted.
  if (countedSites?.length === 0)
    return { items: [], pagination: toPagination(request, isCounted ? 0 : null, undefined) };
  const conditions = [
    ...(siteIds ? [oneOf("siteId", andEverySite ? [...siteIds, null] : siteIds)] : []),
    ...(extraFilter ? [extraFilter] : []),
    ...(counted ? [counted] : []),
  ];
  const filter = conditions.length ? all(...conditions) : undefined;
  const total = async () => {
    if (!isCounted) return null;
    if (countedSites) {
      const counts = countedSites.map((id) => countForSite(orgId, kind, id));
      return (await Promise.all(counts)).reduce((sum, n) => sum + n, 0);
    }
    if (!deleted.size) return count(orgId, kind);
    // The counter includes records of deleted sites until they are erased.
    const stored = await queryAll<StoredRecord>(ranges.records(orgId, kind), { filter: counted });
    return stored.filter(isOfLiveSite).length;
  };
  const [{ items, next }, totalCount] = await Promise.all([
    readPage<T>(ranges.records(orgId, kind), request, {
      filter,
      ...((deleted.size || search !== undefined) && {
        isWanted: (record) => isOfLiveSite(record) && hasName(record),
      }),
    }),
    total(),
  ]);
  return { items, pagination: toPagination(request, totalCount, next) };
}

export async function count(orgId: number, kind: RecordKind): Promise<number> {
  const counter = await get<{ count: number }>(keys.recordCount(orgId, kind), {
    consistent: false,
  });
  return counter?.count ?? 0;
}

interface RecordUpdate {
  id: number;
  set: object;
  /** Names of attributes. */
  remove?: string[];
}

/** Changes the given attributes and `updatedAt`. Throws 404 if the record no longer exists. */
export const updateWrite = (
  kind: RecordKind,
  { orgId }: CallerScope,
  { id, set, remove: removed = [] }: RecordUpdate,
): Write =>
  update(
    keys.record(orgId, kind, id),
    { set: { ...set, updatedAt: now().toISOString() }, remove: removed },
    { if: exists, orThrow: notFound(kind) },
  );

interface RecordRemoval extends Pick<StoredRecord, "id" | "siteId"> {
  condition?: Parameters<typeof remove>[1];
  /** Whether the counts include it. */
  isCounted?: boolean;
}

/**
 * The writes that delete a record and update the counts, for one transaction. Throws 404 if it no
 * longer exists, unless `condition` differs.
 */
export function removeWrites(
  kind: RecordKind,
  { orgId }: CallerScope,
  removal: RecordRemoval,
): Write[] {
  const { id, siteId, isCounted = true } = removal;
  const { condition = { if: exists, orThrow: notFound(kind) } } = removal;
  const removeRecord = remove(keys.record(orgId, kind, id), condition);
  if (!isCounted) return [removeRecord];
  return [
    removeRecord,
    update(keys.recordCount(orgId, kind), { add: { count: -1 } }),
    ...siteCountWrites(orgId, kind, { records: [{ siteId }], change: -1 }),
  ];
}

// With a filter, DynamoDB may return short pages. Reads until the page is full, and one more item
// to know whether another page follows.
async function readPage<T extends StoredRecord>(
  range: KeyRange,
  request: PageRequest,
  {
    filter,
    isWanted,
  }: { filter: Condition | undefined; isWanted?: (record: StoredRecord) => boolean },
) {
  const endOfPage = countSkipped(request) + request.limit;
  const found: T[] = [];
  let after = positionOf(request, /^\d{16}$/);
  do {
    const page = await query<T>(range, {
      newestFirst: true,
      limit: filter || isWanted ? 1000 : endOfPage + 1 - found.length,
      after,
      filter,
    });
    found.push(...(isWanted ? page.items.filter(isWanted) : page.items));
    after = page.next;
  } while (after !== undefined && found.length <= endOfPage);
  const items = found.slice(endOfPage - request.limit, endOfPage);
  const last = items.at(-1);
  return {
    items,
    next: found.length > endOfPage && last ? zeroPad(last.id) : undefined,
  };
}
