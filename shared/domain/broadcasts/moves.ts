// Who takes another address while people are being reached moves from one collection to another: ahead of a cursor, and would be met
// twice, or behind one, and would never be met. Every move is noted; those who moved are reached at the end, unless they have it.
import { after } from "../../clock.ts";
import { query, queryAll } from "../../doors/table.ts";
import { emailShard, ranges, sortable } from "../../keys.ts";
import { chunked } from "../../parallel.ts";
import type { ContactItem } from "../contacts/contact.ts";
import type { Move } from "../contacts/items.ts";
import type * as reader from "../contacts/reader.ts";
import * as contacts from "../contacts.ts";
import type { Key } from "./broadcast.ts";
import * as log from "./log.ts";
import type { Plan } from "./plan.ts";

// Clocks differ a little.
const marginSeconds = 60;
const sinceOf = ({ at }: Pick<Plan, "at">): string => after(-marginSeconds, new Date(at)).toISOString();

export const hasMoved = (plan: Pick<Plan, "at">, { movedAt }: ContactItem): boolean => (movedAt ?? "") >= sinceOf(plan);

/** By id, so that who moves again meanwhile keeps the place. */
export const placeOf = ({ id }: Pick<ContactItem, "id">): string => sortable(id);

const atOnce = 50;

interface Page {
  items: ContactItem[];
  next?: string;
}

/** Those of them who are wanted and were reached at no address they had. */
export async function* pages(key: Key, plan: Plan, wanted: reader.Wanted, start = ""): AsyncGenerator<Page> {
  const noted = await queryAll<Move>(ranges.contactMoves(key.orgId, plan.siteId), { consistent: true });
  const recent = new Set(noted.flatMap(({ id, at }) => (at >= sinceOf(plan) ? [id] : [])));
  const groups = chunked(
    [...recent].sort((a, b) => a - b).filter((id) => placeOf({ id }) > start),
    atOnce,
  );
  const known = new Map<string, Promise<Set<number>>>();
  const reachedIn = (shard: string) => {
    const reached = known.get(shard) ?? log.reachedIn(key, shard);
    known.set(shard, reached);
    return reached;
  };
  const isFresh = async (contact: ContactItem): Promise<boolean> => {
    const homes = new Set([...(contact.movedFrom ?? []), emailShard(contact.sk)]);
    const reached = await Promise.all([...homes].map(reachedIn));
    return !reached.some((ids) => ids.has(contact.id)) && isWanted(key.orgId, plan, wanted, contact);
  };
  for (const [i, some] of groups.entries()) {
    const there = await contacts.byIds(key.orgId, some, { consistent: true });
    const fresh = await Promise.all(there.map(isFresh));
    yield { items: there.filter((_, k) => fresh[k]), ...(i < groups.length - 1 && { next: placeOf({ id: some.at(-1)! }) }) };
  }
}

async function isWanted(orgId: number, { siteId }: Plan, { filter, matches }: reader.Wanted, { sk, id }: ContactItem): Promise<boolean> {
  const range = { ...ranges.contacts(orgId, siteId, emailShard(sk)), prefix: sk };
  const { items } = await query<ContactItem>(range, { filter, consistent: true, limit: 100 });
  const found = items.find((item) => item.id === id);
  return found !== undefined && (matches?.(found) ?? true);
}
