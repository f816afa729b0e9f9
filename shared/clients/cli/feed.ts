// New items of a list, which is read again and again.
import { setTimeout as pause } from "node:timers/promises";
import { PennymailError } from "../sdk/errors.ts";
import type { PagedList } from "../sdk/paged-list.ts";
import { explainError } from "./exit-codes.ts";
import type { Terminal } from "./terminal.ts";

interface FeedItem {
  id: number;
}

type Page = Record<string, unknown>;

/** Pages that are searched for new items. */
const maxPages = 10;

/**
 * Returns a function that returns the items that are new since its last call, oldest first; in its
 * first call, the latest page. `readNewest` reads a list that is newest first.
 */
export function createFeed<Item extends FeedItem>(
  readNewest: () => PagedList<Item, Page>,
): () => Promise<Item[]> {
  const seen = new Set<number>();
  let isFirst = true;
  return async () => {
    const fresh = await readUnseen(readNewest(), seen, isFirst ? 1 : maxPages);
    isFirst = false;
    for (const { id } of fresh) seen.add(id);
    return fresh.reverse();
  };
}

/** Reads pages until one has nothing new. */
async function readUnseen<Item extends FeedItem>(
  list: PagedList<Item, Page>,
  seen: Set<number>,
  pagesLeft: number,
): Promise<Item[]> {
  const fresh: Item[] = [];
  let left = pagesLeft;
  for await (const page of list.pages()) {
    const items = Object.values(page).find((value) => Array.isArray(value)) as Item[];
    const unseen = items.filter(({ id }) => !seen.has(id));
    fresh.push(...unseen);
    left--;
    if (!unseen.length || !left) break;
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
