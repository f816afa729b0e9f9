// Settings-like records (sites, templates, sending configs, ...) all live alike: one item by id, a count, newest first.
import { type Caller, permit } from "../caller.ts";
import { now } from "../clock.ts";
import { absent, any, below, type Condition, exists } from "../conditions.ts";
import { get, put, query, remove, Unmet, update, type Write, write } from "../doors/table.ts";
import { conflict, invalid, missing, type Problem } from "../errors.ts";
import * as ids from "../ids.ts";
import { keys, type RecordKind, ranges } from "../keys.ts";
import { decodeCursor, type PageRequest, type Pagination, pagination, skipped } from "../paging.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

export interface Stored {
  id: number;
  siteId?: number | null | undefined;
  createdAt: string;
  updatedAt: string;
}

const names: Record<RecordKind, string> = {
  SITE: "site",
  APIKEY: "API key",
  FOLDER: "template folder",
  TEMPLATE: "template",
  CONFIG: "sending config",
  WEBHOOK: "webhook endpoint",
  LIST: "list",
  TAG: "tag",
  SEGMENT: "segment",
  FORM: "form",
  RULE: "scoring rule",
  IMPORT: "import",
  EXPORT: "export",
  CAMPAIGN: "campaign",
  HOLIDAY: "holiday",
  REPORT: "report schedule",
  SEQUENCE: "sequence",
  DOMAIN: "domain",
};
const mostRecords = 10_000;
const notFound = (kind: RecordKind): Problem => missing(`There is no such ${names[kind]}`);

/** The next id of this kind, and the time, for a record about to be made. */
export async function stamp(kind: RecordKind): Promise<Stored> {
  const at = now().toISOString();
  return { id: await ids.take(kind), createdAt: at, updatedAt: at };
}

/**
 * Makes a record, counted, together with further writes. A record that an earlier attempt of the same request made under the
 * same id is left as it is.
 */
export async function insert<T extends Stored>(kind: RecordKind, { orgId }: Who, record: T, ...further: Write[]): Promise<T> {
  const address = keys.record(orgId, kind, record.id);
  try {
    await write(put(address, record, { new: true }), counting(orgId, kind), ...further);
    return record;
  } catch (error) {
    if (error instanceof Unmet && error.index === 0) return (await get<T>(address)) ?? record;
    throw error;
  }
}

/** Several of one kind, for a transaction that makes something else besides. */
export const inserting = <T extends Stored>(kind: RecordKind, { orgId }: Who, some: T[]): Write[] =>
  some.length
    ? [...some.map((record) => put(keys.record(orgId, kind, record.id), record, { new: true })), counting(orgId, kind, some.length)]
    : [];

/** Room is bounded, so that no organization can fill the table for ever. */
function counting(orgId: number, kind: RecordKind, n = 1): Write {
  const room = any(absent("count"), below("count", mostRecords - n + 1));
  const full = conflict(`An organization has at most ${mostRecords.toLocaleString("en")} records of one kind`, { code: "too_many" });
  return update(keys.recordCount(orgId, kind), { add: { count: n } }, { if: room, otherwise: full });
}

/** Throws 404 when there is none in this organization, 403 when a site-bound key asks for another site's. */
export async function find<T extends Stored>(kind: RecordKind, who: Who, id: number, { consistent = true } = {}): Promise<T> {
  const record = await get<T>(keys.record(who.orgId, kind, id), { consistent });
  if (!record) throw notFound(kind);
  if (typeof record.siteId === "number") permit(who, record.siteId);
  return record;
}

/** As `find`, for what a record of `siteId` is to refer to by the field `path`: 400 when it is of another site. */
export async function ofSite<T extends Stored>(kind: RecordKind, who: Who, id: number, siteId: number, path: string): Promise<T> {
  const record = await find<T>(kind, who, id);
  if (record.siteId !== siteId) throw invalid(`${path} belongs to another site`, { details: [{ path, message: "of another site" }] });
  return record;
}

/** One page, newest first. `total` is exact without a filter, null with one. */
export async function list<T extends Stored>(
  kind: RecordKind,
  { orgId }: Who,
  request: PageRequest,
  filter?: Condition,
): Promise<{ items: T[]; pagination: Pagination }> {
  const [{ items, next }, total] = await Promise.all([collect<T>(kind, orgId, request, filter), filter ? null : count(orgId, kind)]);
  return { items, pagination: pagination(request, total, next) };
}

export async function count(orgId: number, kind: RecordKind): Promise<number> {
  const counter = await get<{ count: number }>(keys.recordCount(orgId, kind), { consistent: false });
  return counter?.count ?? 0;
}

/** Changes what is given, and `updatedAt`; 404 when the record is gone meanwhile. */
export const changing = (kind: RecordKind, { orgId }: Who, id: number, changes: object, drop: string[] = []): Write =>
  update(
    keys.record(orgId, kind, id),
    { set: { ...changes, updatedAt: now().toISOString() }, remove: drop },
    { if: exists, otherwise: notFound(kind) },
  );

/** Takes a record away, uncounted; make them together with `write`. 404 when it is gone already, unless `rule` says more of it. */
export const removing = (
  kind: RecordKind,
  { orgId }: Who,
  id: number,
  rule: Parameters<typeof remove>[1] = { if: exists, otherwise: notFound(kind) },
): [removal: Write, uncounting: Write] => [
  remove(keys.record(orgId, kind, id), rule),
  update(keys.recordCount(orgId, kind), { add: { count: -1 } }),
];

// With a filter DynamoDB answers short pages: go on until the page is full, one item further to know whether more follow.
async function collect<T extends Stored>(kind: RecordKind, orgId: number, request: PageRequest, filter: Condition | undefined) {
  const wanted = skipped(request) + request.limit;
  const found: T[] = [];
  let after = decodeCursor(request.cursor);
  do {
    const page = await query<T>(ranges.records(orgId, kind), {
      newestFirst: true,
      limit: filter ? 1000 : wanted + 1 - found.length,
      after,
      filter,
    });
    found.push(...page.items);
    after = page.next;
  } while (after !== undefined && found.length <= wanted);
  const items = found.slice(wanted - request.limit, wanted);
  const last = items.at(-1);
  return { items, next: found.length > wanted && last ? keys.record(orgId, kind, last.id).sk : undefined };
}
