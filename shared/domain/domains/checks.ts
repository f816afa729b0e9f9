// The worker that looks at the DNS records of a domain.
import { now } from "../../clock.ts";
import { any, equals, isNew } from "../../conditions.ts";
import { claim, get, put, queryAll, remove, Unmet, update, type Write, write } from "../../doors/table.ts";
import { dueShard, keys, off, on, ranges, shelves } from "../../keys.ts";
import type { SendingConfig } from "../sending-configs.ts";
import { type Named, wanted } from "./dns.ts";
import { look, type Seen } from "./seen.ts";
import { holds, next, type Standing } from "./states.ts";

/** As it is stored. */
export interface Stored extends Named, Standing {
  id: number;
  orgId: number;
  lastCheckedAt: string | null;
  seen: Record<string, Seen>;
  /** Counts changes of its standing: who has read an older one does not write. */
  revision: number;
}

/** Looks, and writes down what it sees. A domain that is gone, or that somebody else is quicker with, is left. */
export async function check(orgId: number, domainId: number): Promise<void> {
  const [domain, providers] = await Promise.all([get<Stored>(keys.record(orgId, "DOMAIN", domainId)), providersOf(orgId)]);
  if (!domain) return;
  const { seen, ownership } = await look(domain.name, wanted(domain, providers), domain.seen);
  const standing = next(domain, ownership, now());
  try {
    await write(...settling(domain, standing, seen));
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    if (error.index !== holder) return;
    await claim(...settling(domain, heldByAnother(domain), seen));
  }
}

/** Of its sending configs, each once. */
export async function providersOf(orgId: number): Promise<string[]> {
  const configs = await queryAll<SendingConfig>(ranges.records(orgId, "CONFIG"));
  return [...new Set(configs.map(({ provider }) => provider))];
}

/** It proved the domain to be its own, and so did another organization before. */
const heldByAnother = (domain: Stored): Standing => ({
  ...next(domain, { state: "pending", found: [] }, now()),
  statusReason: "Another organization has verified this domain: it must remove its ownership record first",
});

/** Place of the write that only one organization can make. */
const holder = 2;

function settling(domain: Stored, standing: Standing, seen: Record<string, Seen>): Write[] {
  const { orgId, id, name, revision } = domain;
  const at = now().toISOString();
  const due = standing.nextCheckAt ? on(shelves.due("DOMAIN", dueShard(id)), standing.nextCheckAt) : {};
  const set = { ...standing, seen, lastCheckedAt: at, updatedAt: at, revision: revision + 1, ...due };
  return [
    update(keys.record(orgId, "DOMAIN", id), { set, remove: standing.nextCheckAt ? [] : off("due") }, { if: equals("revision", revision) }),
    update(keys.domainName(orgId, name), { set: { verified: holds(standing) } }, { if: equals("domainId", id) }),
    ...(holds(standing) ? [taking(domain)] : holds(domain) ? [releasing(domain)] : []),
  ];
}

const taking = ({ orgId, id, name }: Stored): Write =>
  put(keys.domainHolder(name), { orgId, domainId: id }, { if: any(isNew, equals("domainId", id)) });

/** Only what it holds itself. */
export const releasing = ({ id, name }: Pick<Stored, "id" | "name">): Write =>
  remove(keys.domainHolder(name), { if: any(isNew, equals("domainId", id)) });
