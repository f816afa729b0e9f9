// The names and current versions of all snippets of a site, in one item: a mail finds everything
// that it uses in one read, and a change sees every other snippet.
import { all, equals, present } from "../../adapters/dynamodb/conditions.ts";
import { checkCondition, get, put, type Write } from "../../adapters/dynamodb/table.ts";
import { invalid } from "../../errors.ts";
import { type Key, keys } from "../../keys.ts";

export interface SnippetEntry {
  id: number;
  name: string;
  version: number;
  /** The names of the snippets that it uses itself. */
  uses: string[];
}

/**
 * Item: each attribute `s<id>` is a snippet. While it is being deleted or renamed it is
 * `d<id>`: mail still finds it, and nothing new can use it.
 */
export interface SnippetDirectory {
  v: number;
  [entry: `s${number}` | `d${number}`]: SnippetEntry;
}

/** Name to id and version, as stored with a mail. */
export type PinnedSnippets = Record<string, [id: number, version: number]>;

export const maxSnippets = 200;

export async function readDirectory(
  orgId: number,
  siteId: number,
  { consistent = true } = {},
): Promise<SnippetDirectory> {
  const key = keys.snippetDirectory(orgId, siteId);
  const {
    pk: _,
    sk: __,
    ...stored
  } = (await get<SnippetDirectory & Key>(key, { consistent })) ?? {
    ...key,
    v: 0,
  };
  return stored as SnippetDirectory;
}

/** Replaces the directory if nobody else has changed it since it was read. */
export function replaceDirectoryWrite(
  orgId: number,
  siteId: number,
  { v, ...entries }: SnippetDirectory,
): Write {
  const key = keys.snippetDirectory(orgId, siteId);
  const next = { ...entries, v: v + 1 };
  return v === 0 ? put(key, next, { ifAbsent: true }) : put(key, next, { if: equals("v", v) });
}

const isEntry = (name: string): boolean => /^[sd]\d+$/.test(name);

/** Including those that are being deleted, unless `usable` is set. */
export const listEntries = (directory: SnippetDirectory, { usable = false } = {}): SnippetEntry[] =>
  Object.entries(directory).flatMap(([name, entry]) =>
    isEntry(name) && !(usable && name.startsWith("d")) ? [entry as SnippetEntry] : [],
  );

/**
 * The snippets of these names and those that they use. A name that does not exist is left out: the
 * template that uses it does not compile.
 */
export function pinSnippets(directory: SnippetDirectory, names: string[]): PinnedSnippets {
  const byName = new Map(listEntries(directory).map((entry) => [entry.name, entry]));
  const pinned: PinnedSnippets = {};
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const entry = byName.get(name);
    if (!entry || Object.hasOwn(pinned, name)) continue;
    pinned[name] = [entry.id, entry.version];
    open.push(...entry.uses);
  }
  return pinned;
}

/** The cycle that begins and ends with this snippet. Undefined if there is none. */
export function findCycle(
  directory: SnippetDirectory,
  { name, uses }: Pick<SnippetEntry, "name" | "uses">,
): string[] | undefined {
  const byName = new Map(listEntries(directory).map((entry) => [entry.name, entry]));
  const seen = new Set<string>();
  const search = (path: string[], next: string[]): string[] | undefined => {
    for (const one of next) {
      if (one === name) return [...path, one];
      if (seen.has(one)) continue;
      seen.add(one);
      const found = search([...path, one], byName.get(one)?.uses ?? []);
      if (found) return found;
    }
    return undefined;
  };
  return search([name], uses);
}

/** How many snippets lie within each other at most, after a change of one. */
export function chainLength(
  directory: SnippetDirectory,
  changed: Pick<SnippetEntry, "name" | "uses">,
): number {
  const usesOf = new Map(listEntries(directory).map(({ name, uses }) => [name, uses]));
  usesOf.set(changed.name, changed.uses);
  const lengths = new Map<string, number>();
  const lengthOf = (name: string): number => {
    const known = lengths.get(name);
    if (known !== undefined) return known;
    lengths.set(name, 1);
    const length = 1 + Math.max(0, ...(usesOf.get(name) ?? []).map(lengthOf));
    lengths.set(name, length);
    return length;
  };
  return Math.max(...[...usesOf.keys()].map(lengthOf));
}

/** The directory in which new things can use the snippet as it is now. */
export function putEntry(directory: SnippetDirectory, entry: SnippetEntry): SnippetDirectory {
  const { [`d${entry.id}` as const]: _, ...others } = directory;
  return { ...others, [`s${entry.id}`]: entry } as SnippetDirectory;
}

export const isClosed = (directory: SnippetDirectory, id: number): boolean =>
  directory[`d${id}`] !== undefined;

/** For the transaction that stores something that uses these snippets. */
export function usableChecks(
  { orgId, siteId }: { orgId: number; siteId: number },
  directory: SnippetDirectory,
  names: string[],
): Write[] {
  const entries = listEntries(directory).filter(({ name }) => names.includes(name));
  if (!entries.length) return [];
  const condition = all(...entries.map(({ id }) => present(`s${id}`)));
  return [
    checkCondition(
      keys.snippetDirectory(orgId, siteId),
      condition,
      invalid("A snippet that it uses has just been deleted", {
        details: [{ path: "html", message: "uses a snippet that was deleted" }],
      }),
    ),
  ];
}
