// Keeps the settings that every send reads for a second: organization, site, sending config, domain
// and template. Only for a process that makes all writes of its installation: each write of a
// setting removes it at once, so a reader never sees less than an answered request has stored.
import { createLruCache } from "../../kernel/lru-cache.ts";
import { isSettingPartition, type Key } from "../../keys.ts";

interface RecentItem {
  item: unknown;
  readAt: number;
}

const keptMs = 1000;
const keyText = ({ pk, sk }: Key) => `${pk}\n${sk}`;
const recentItems = createLruCache<RecentItem>(10_000);
/** How many writes of settings have begun or ended. */
let changes = 0;
let writesUnderWay = 0;

/** Reads the items with `read`, apart from those that are known. Undefined: there is none. */
export async function readRecent(
  keys: Key[],
  read: (missing: Key[]) => Promise<unknown[]>,
): Promise<unknown[]> {
  const known = keys.map(findRecent);
  const missing = keys.filter((_, i) => !known[i]);
  if (!missing.length) return known.map((one) => one!.item);
  const changesBefore = changes;
  const found = await read(missing);
  // A read that overlaps a write may be older than it.
  if (!writesUnderWay && changes === changesBefore)
    for (const [i, key] of missing.entries()) remember(key, found[i]);
  let next = 0;
  return known.map((one) => (one ? one.item : found[next++]));
}

function findRecent(key: Key): RecentItem | undefined {
  const recent = recentItems.get(keyText(key));
  return recent && performance.now() - recent.readAt < keptMs ? recent : undefined;
}

function remember(key: Key, item: unknown) {
  if (isSettingPartition(key.pk))
    recentItems.set(keyText(key), { item: freeze(item), readAt: performance.now() }, 1);
}

/** Several requests get the same object. */
function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}

/** Makes a write of these keys, so that no reader gets older items of them afterwards. */
export async function forgetAround<T>(written: Key[], write: () => Promise<T>): Promise<T> {
  const settings = written.filter(({ pk }) => isSettingPartition(pk));
  if (!settings.length) return write();
  const forget = () => {
    changes++;
    for (const key of settings) recentItems.delete(keyText(key));
  };
  writesUnderWay++;
  forget();
  try {
    return await write();
  } finally {
    writesUnderWay--;
    forget();
  }
}
