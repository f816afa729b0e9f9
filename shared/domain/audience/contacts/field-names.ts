// The custom fields of a site: two spellings that differ only in letter case are one field. The
// first spelling that the site saw is the name under which later writes store the field.
import { absent, all, any, atMost } from "../../../adapters/dynamodb/conditions.ts";
import { get, transact, update } from "../../../adapters/dynamodb/table.ts";
import { keys } from "../../../keys.ts";
import type { ContactItem } from "./contact-schema.ts";

type Fields = NonNullable<ContactItem["customFields"]>;
type FieldName = `f.${string}`;

/** One item per site. */
interface Stored {
  /** The name, by the name in lower case. */
  [name: FieldName]: string | undefined;
  count: number;
}

/** Fields beyond it keep the spelling that each write gives them. */
const maxNames = 500;
const cacheMs = 3000;

interface CachedNames {
  item: Stored;
  /** On the clock of `performance`, in milliseconds. */
  until: number;
}
const cache = new Map<string, CachedNames>();
const maxSites = 2000;

const nameOf = (field: string): FieldName => `f.${field.toLowerCase()}`;
const isOpen = (item: Stored, field: string): boolean =>
  item.count < maxNames && item[nameOf(field)] === undefined;

/**
 * The given rows, with their custom fields under the names that the site has for them. Adds names
 * that are new to the site.
 */
export async function applySpellings<T extends { customFields?: Fields | null | undefined }>(
  orgId: number,
  siteId: number,
  rows: T[],
): Promise<T[]> {
  // A value of null removes a field: it names none.
  const given = [
    ...new Set(
      rows.flatMap(({ customFields }) =>
        Object.entries(customFields ?? {}).flatMap(([name, value]) =>
          value === null ? [] : [name],
        ),
      ),
    ),
  ];
  if (!given.length) return rows;
  const item = await addNames(orgId, siteId, given);
  return rows.map((row) =>
    row.customFields ? { ...row, customFields: renameFields(item, row.customFields) } : row,
  );
}

const renameFields = (item: Stored, fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [item[nameOf(name)] ?? name, value]),
  );

/** Returns a function that tells the spelling of a field that the site uses. */
export async function createSpellingLookup(
  orgId: number,
  siteId: number,
): Promise<(field: string) => string> {
  const cached = cache.get(`${orgId} ${siteId}`);
  const item = cached && cached.until > performance.now() ? cached.item : await load(orgId, siteId);
  return (field) => item[nameOf(field)] ?? field;
}

/** Names of the custom fields that the site has seen, at most 500, each in the spelling it uses. */
export async function listNames(orgId: number, siteId: number): Promise<string[]> {
  const item = await load(orgId, siteId);
  return Object.entries(item).flatMap(([name, spelling]) =>
    name.startsWith("f.") ? [String(spelling)] : [],
  );
}

/**
 * Returns a function that tells whether contacts of the site may have the custom field. Letter case
 * does not count.
 */
export async function createNameTest(
  orgId: number,
  siteId: number,
): Promise<(field: string) => boolean> {
  const item = await load(orgId, siteId);
  return (field) => !isOpen(item, field);
}

/** Stores the names that are new to the site, as long as it has fewer than 500. */
async function addNames(orgId: number, siteId: number, fields: string[]): Promise<Stored> {
  // A stored spelling never changes, so the process can trust what it once read.
  const cached = cache.get(`${orgId} ${siteId}`)?.item;
  if (cached && !fields.some((field) => isOpen(cached, field))) return cached;
  for (;;) {
    const item = await load(orgId, siteId);
    const field = fields.find((one) => isOpen(item, one));
    if (field === undefined) return item;
    const added = new Map<FieldName, string>();
    for (const one of fields)
      if (isOpen(item, one) && !added.has(nameOf(one))) added.set(nameOf(one), one);
    const some = [...added].slice(0, Math.min(maxNamesPerWrite, maxNames - item.count));
    await transact(
      update(
        keys.fieldNames(orgId, siteId),
        { set: Object.fromEntries(some), add: { count: some.length } },
        {
          if: all(
            any(absent("count"), atMost("count", maxNames - some.length)),
            ...some.map(([name]) => absent(name)),
          ),
        },
      ),
    );
  }
}

/** An expression holds 4 KB. */
const maxNamesPerWrite = 50;

async function load(orgId: number, siteId: number): Promise<Stored> {
  const item = (await get<Stored>(keys.fieldNames(orgId, siteId))) ?? { count: 0 };
  if (cache.size >= maxSites) cache.clear();
  cache.set(`${orgId} ${siteId}`, { item, until: performance.now() + cacheMs });
  return item;
}
