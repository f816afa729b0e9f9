// The chain of hashes of the audit log. A link has the hashes of up to 90 entries and the hash of
// the link before it, so nobody can remove or change an entry without changing every later link.
// Entries keep their place by time; the chain has the order in which the job found them.
import { absent, equals } from "../../adapters/dynamodb/conditions.ts";
import { get, getMany, put, queryPages, transact, update } from "../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds, now } from "../../clock.ts";
import { indexAttributeNames, indexes, type Key, keys, sha256 } from "../../keys.ts";
import { jobSeconds } from "../../queues.ts";
import { type AuditItem, chainDueAttributes, idleSeconds, isUnchanged } from "./entries.ts";

export const retentionDays = 400;
const daySeconds = 86_400;

export interface ChainedEntry {
  /** The sort key of the entry. */
  id: string;
  hash: string;
}

export interface ChainLink {
  n: number;
  /** When the link was made (ISO 8601). */
  at: string;
  /** Hash and time of the link before. */
  previous: { hash: string; at: string } | null;
  entries: ChainedEntry[];
  hash: string;
}

/** The item at the end of the chain. */
export interface ChainEnd {
  n?: number;
  at?: string;
  hash?: string;
  /** When a process last announced entries (ISO 8601). */
  markedAt?: string;
}

/** Covers all fields except those that the chain itself sets. */
export const hashEntry = (item: AuditItem): string =>
  sha256(
    JSON.stringify([
      item.sk,
      item.action,
      item.actor.type,
      item.actor.id,
      item.target,
      item.outcome,
      item.fields ?? [],
      item.changes ?? null,
      item.count,
      item.address,
      item.userAgent,
      item.requestId,
    ]),
  );

export const hashLink = ({ n, at, previous, entries }: Omit<ChainLink, "hash">): string =>
  sha256(
    JSON.stringify([
      n,
      at,
      previous && [previous.hash, previous.at],
      entries.map(({ id, hash }) => [id, hash]),
    ]),
  );

/** Entries and links expire together, when the retention of the whole link is over. */
export const endOfRetention = (linkAt: string): number =>
  epochSeconds(new Date(linkAt)) + retentionDays * daySeconds;

const entriesPerLink = 90;
/** While entries are added, the job runs this often. */
const nextRunSeconds = 300;
const workSeconds = jobSeconds["chain-audit-log"] - 60;

/**
 * Adds all complete entries to the chain. Safe to repeat and to run twice at the same time: a link
 * is only added to the end of the chain that it was made for, in one transaction with the marks of
 * its entries.
 */
export async function chainEntries(orgId: number, seconds = workSeconds): Promise<void> {
  const until = addSeconds(seconds);
  const started = await get<ChainEnd>(keys.auditChain(orgId));
  let found = 0;
  for await (const entries of readUnchained(orgId)) {
    found += entries.length;
    const complete = entries.filter(isComplete);
    for (let i = 0; i < complete.length; i += entriesPerLink)
      if (!(await addLink(orgId, complete.slice(i, i + entriesPerLink)))) return;
    if (now() >= until) return;
  }
  await scheduleNext(orgId, started, found > 0);
}

const isComplete = ({ openUntil }: AuditItem): boolean =>
  openUntil === undefined || openUntil <= epochSeconds();

/** Entries that are not chained, by time. The index lags behind, so the items are read again. */
async function* readUnchained(orgId: number): AsyncGenerator<AuditItem[]> {
  const range = indexes.unchainedEntries(orgId);
  for await (const page of queryPages<Key>(range, { limit: entriesPerLink })) {
    const items = await getMany<AuditItem>(page.items, { consistent: true });
    yield items.filter((item) => item !== undefined).filter(({ link }) => link === undefined);
  }
}

/** Returns false if another job has added a link, or an entry has changed. */
async function addLink(orgId: number, entries: AuditItem[]): Promise<boolean> {
  const end = await get<ChainEnd>(keys.auditChain(orgId));
  const n = (end?.n ?? 0) + 1;
  const at = now().toISOString();
  const previous = end?.hash === undefined ? null : { hash: end.hash, at: end.at! };
  const chained = entries.map((item) => ({ id: item.sk, hash: hashEntry(item) }));
  const link = { n, at, previous, entries: chained };
  const hash = hashLink(link);
  // TTL deletes late and never early. The extra day keeps it from deleting what is still shown.
  const expires = endOfRetention(at) + daySeconds;
  return transact(
    put(keys.auditLink(orgId, n), { ...link, hash, expires }, { ifAbsent: true }),
    update(
      keys.auditChain(orgId),
      { set: { orgId, n, at, hash } },
      { if: end?.n === undefined ? absent("n") : equals("n", end.n) },
    ),
    ...entries.map((item) =>
      update(
        keys.auditEntry(orgId, item.sk),
        { set: { link: n, expires }, remove: ["openUntil", ...indexAttributeNames("new")] },
        { if: isUnchanged(item) },
      ),
    ),
  );
}

/**
 * Runs again later, because the index may not show the newest entries yet. The last run is the
 * first that finds no entries when no process has announced any for a while.
 */
async function scheduleNext(
  orgId: number,
  started: ChainEnd | undefined,
  foundEntries: boolean,
): Promise<void> {
  if (started?.markedAt === undefined) return;
  const isIdle = started.markedAt < addSeconds(-idleSeconds).toISOString();
  const changes =
    foundEntries || !isIdle
      ? { set: chainDueAttributes(orgId, nextRunSeconds) }
      : { remove: indexAttributeNames("due") };
  const unchanged = equals("markedAt", started.markedAt);
  await transact(update(keys.auditChain(orgId), changes, { if: unchanged }));
}
