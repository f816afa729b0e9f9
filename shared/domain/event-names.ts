// Names of custom events, as they were first told: what segments, rules and sequences can ask for. A site has so many and no more.
import type { Caller } from "../caller.ts";
import { absent, any, below } from "../conditions.ts";
import { get, put, queryAll, Unmet, update, write } from "../doors/table.ts";
import { invalid } from "../errors.ts";
import { keys, ranges } from "../keys.ts";
import { inParallel } from "../parallel.ts";
import * as sites from "./sites.ts";

export const maxNames = 1000;

// Names never go away, so what was seen once need not be looked for again.
const seen = new Set<string>();
const mostSeen = 10_000;

/** Safe to repeat. 400 when the site has too many other names. */
export async function keep(orgId: number, siteId: number, name: string): Promise<void> {
  const address = keys.eventName(orgId, siteId, name);
  const mark = `${address.pk} ${name}`;
  if (seen.has(mark)) return;
  if (!(await get(address, { consistent: false }))) await insert(orgId, siteId, name);
  if (seen.size >= mostSeen) seen.clear();
  seen.add(mark);
}

async function insert(orgId: number, siteId: number, name: string): Promise<void> {
  const room = { if: any(absent("count"), below("count", maxNames)) };
  try {
    await write(
      put(keys.eventName(orgId, siteId, name), { name }, { new: true }),
      update(keys.eventNameCount(orgId, siteId), { add: { count: 1 } }, room),
    );
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    if (error.index === 0) return;
    const message = `eventName: a site may have at most ${maxNames} different names of events`;
    throw invalid(message, { details: [{ path: "eventName", message }] });
  }
}

/** Of one site, or of all that the caller may see; each once, sorted. */
export async function list(who: Pick<Caller, "orgId" | "siteId">, siteId: number | undefined): Promise<string[]> {
  const siteIds = await sites.visible(who, siteId);
  const found = await inParallel(8, siteIds, (id) => queryAll<{ name: string }>(ranges.eventNames(who.orgId, id)));
  return [...new Set(found.flat().map(({ name }) => name))].sort();
}
