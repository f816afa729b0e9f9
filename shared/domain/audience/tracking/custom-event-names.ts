// Names of the custom events of a site, for segments, rules and sequences. Their number is limited.
import * as z from "zod";
import { absent, any, exists, lessThan } from "../../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  get,
  put,
  queryAll,
  remove as removal,
  transact,
  update,
  write,
} from "../../../adapters/dynamodb/table.ts";
import type { CallerScope, SiteRef } from "../../../caller.ts";
import { addSeconds, now } from "../../../clock.ts";
import { invalid, missing } from "../../../errors.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { RecordSiteId, Timestamp } from "../../../kernel/record-fields.ts";
import { keys, ranges } from "../../../keys.ts";
import * as sites from "../../identity/sites.ts";

export const maxNameLength = 100;
export const maxEventNamesPerSite = 1000;
/**
 * Unproven visitors can use half of the names, so that they cannot crowd out the site's own events.
 */
export const maxUnproven = maxEventNamesPerSite / 2;

interface NameItem {
  name: string;
  lastUsedAt?: string;
}

export const EventNameUse = z
  .object({
    name: z.string().describe("Name of the custom event."),
    siteId: RecordSiteId,
    lastUsedAt: Timestamp.nullable().describe(
      "When the name was last used, to ten minutes. `null`: before this was recorded.",
    ),
  })
  .meta({ id: "EventNameUse" });
export type EventNameUse = z.output<typeof EventNameUse>;

/** Names seen by this process, with the time until which another use is not recorded. */
const knownNames = new Map<string, number>();
const maxCached = 10_000;
const seenSeconds = 600;
const markOf = (orgId: number, siteId: number, name: string): string =>
  `${orgId} ${siteId} ${name}`;

/** Idempotent. 400 when the site has too many other names. */
export async function registerName(site: SiteRef, name: string): Promise<void> {
  if (await register(site, name)) return;
  const limit = `at most ${maxEventNamesPerSite} different event names`;
  const message = `eventName: a site can have ${limit}`;
  throw invalid(message, { details: [{ path: "eventName", message }] });
}

/** Records a use of a name. Returns false when the name is new and the site has too many. */
export async function register(
  { orgId, siteId }: SiteRef,
  name: string,
  proven = true,
): Promise<boolean> {
  const cacheKey = markOf(orgId, siteId, name);
  if ((knownNames.get(cacheKey) ?? 0) > now().getTime()) return true;
  const address = keys.eventName(orgId, siteId, name);
  const known = await get<NameItem>(address, { consistent: false });
  const touched =
    known !== undefined &&
    (await transact(update(address, { set: { lastUsedAt: now().toISOString() } }, { if: exists })));
  if (
    !touched &&
    !(await insertName({ orgId, siteId }, name, proven ? maxEventNamesPerSite : maxUnproven))
  )
    return false;
  if (knownNames.size >= maxCached) knownNames.clear();
  knownNames.set(cacheKey, addSeconds(seenSeconds).getTime());
  return true;
}

async function insertName(
  { orgId, siteId }: SiteRef,
  name: string,
  most: number,
): Promise<boolean> {
  const item: NameItem = { name, lastUsedAt: now().toISOString() };
  try {
    await write(
      put(keys.eventName(orgId, siteId, name), item, { ifAbsent: true }),
      update(
        keys.eventNameCount(orgId, siteId),
        { add: { count: 1 } },
        { if: any(absent("count"), lessThan("count", most)) },
      ),
    );
    return true;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    return error.index === 0;
  }
}

/**
 * The event names of one site, or of all sites that the caller can access. `names` has no
 * duplicates; both results are sorted by name.
 */
export async function listNames(
  caller: CallerScope,
  siteId: number | undefined,
): Promise<{ names: string[]; uses: EventNameUse[] }> {
  const siteIds = await sites.listVisibleSiteIds(caller, siteId);
  const found = await inParallel(8, siteIds, async (id) => {
    const items = await queryAll<NameItem>(ranges.eventNames(caller.orgId, id));
    return items.map(
      ({ name, lastUsedAt = null }): EventNameUse => ({ name, siteId: id, lastUsedAt }),
    );
  });
  const uses = found.flat();
  const names = [...new Set(uses.map(({ name }) => name))].sort();
  const place = new Map(names.map((name, i) => [name, i]));
  return {
    names,
    uses: uses.sort((a, b) => place.get(a.name)! - place.get(b.name)! || a.siteId - b.siteId),
  };
}

/**
 * Removes a name. Its events stay, and the next event with this name registers it again. Throws
 * 404.
 */
export async function remove(
  caller: CallerScope,
  given: number | undefined,
  name: string,
): Promise<void> {
  const siteId = await sites.resolveSiteId(caller, given);
  const notFound = missing("The event name does not exist");
  // A sort key has up to 1,024 bytes.
  if (name.length > maxNameLength) throw notFound;
  await write(
    removal(keys.eventName(caller.orgId, siteId, name), { if: exists, orThrow: notFound }),
    update(keys.eventNameCount(caller.orgId, siteId), { add: { count: -1 } }),
  );
  knownNames.delete(markOf(caller.orgId, siteId, name));
}
