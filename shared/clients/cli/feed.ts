// New items of a list, which is read again and again.
import { setTimeout as pause } from "node:timers/promises";
import { PennymailError } from "../sdk/errors.ts";
import type { PagedList } from "../sdk/paged-list.ts";
import type { ListPage } from "./api-client.ts";
import { explainError } from "./exit-codes.ts";
import type { Terminal } from "./terminal.ts";

interface FeedItem {
  id: number;
}

/** Pages that are searched for new items. */
const maxPages = 10;
/** Ids that are remembered: more than those pages have. */
const maxRemembered = 10_000;

/**
 * Returns a function that returns the items that are new since its last call, oldest first; in its
 * first call, the latest page. `readNewest` reads a list that is newest first. An item can appear
 * below others that were there before, because events can be late.
 */
export function createFeed<Item extends FeedItem>(
  readNewest: () => PagedList<Item, ListPage>,
): () => Promise<Item[]> {
  const seen = new Set<number>();
  /** Items with older ones below that were never read. Empty if all were read. */
  let oldestRead: Set<number> | undefined;
  const readFirst = async () => {
    const page = await readNewest();
    const items = itemsOf<Item>(page);
    const hasOlder = typeof page.pagination?.nextCursor === "string";
    oldestRead = new Set(hasOlder ? items.map(({ id }) => id) : []);
    return items;
  };
  return async () => {
    const fresh = oldestRead ? await readUnseen(readNewest(), seen, oldestRead) : await readFirst();
    for (const { id } of fresh) seen.add(id);
    for (const id of [...seen].slice(0, -maxRemembered)) seen.delete(id);
    return [...fresh].reverse();
  };
}

const itemsOf = <Item>(page: ListPage): Item[] =>
  Object.values(page).find((value) => Array.isArray(value)) as Item[];

/** Reads pages until one has nothing new, or reaches what is older than the feed. */
async function readUnseen<Item extends FeedItem>(
  list: PagedList<Item, ListPage>,
  seen: Set<number>,
  oldestRead: Set<number>,
): Promise<Item[]> {
  const fresh: Item[] = [];
  let pagesLeft = maxPages;
  for await (const page of list.pages()) {
    const items = itemsOf<Item>(page);
    const end = items.findLastIndex(({ id }) => oldestRead.has(id));
    const newer = end < 0 ? items : items.slice(0, end);
    const unseen = newer.filter(({ id }) => !seen.has(id));
    fresh.push(...unseen);
    pagesLeft--;
    if (end >= 0 || !unseen.length || !pagesLeft) break;
  }
  return fresh;
}

/** Calls `poll` every `seconds`. After the first call, failures of the service are only noted. */
export async function follow(
  poll: () => Promise<void>,
  { seconds, terminal }: { seconds: number; terminal: Terminal },
): Promise<never> {
  await poll();
  while (true) {
    await pause(seconds * 1000);
    await poll().catch((error: unknown) => {
      if (!isTransient(error)) throw error;
      terminal.writeError(`${explainError(error)}\nTrying again.\n`);
    });
  }
}

const isTransient = (error: unknown): boolean =>
  error instanceof PennymailError && (error.status === 0 || error.status >= 429);
