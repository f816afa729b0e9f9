// Many contacts join or leave a list at once: one transaction to a collection, so that its counter moves with its members.
import type { Caller } from "../../caller.ts";
import { claim, type Write } from "../../doors/table.ts";
import { conflict, invalid } from "../../errors.ts";
import type { GroupKind } from "../../keys.ts";
import { chunked, inParallel } from "../../parallel.ts";
import * as contacts from "../contacts.ts";
import * as records from "../records.ts";
import { type ContactItem, groupSet } from "./contact.ts";
import * as groups from "./groups.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

export interface Moved {
  /** How many joined or left. */
  changed: number;
  /** How many were members already, or none. */
  unchanged: number;
  failed: { contactId: number; error: string }[];
}

/** Idempotent. An id that names no contact of the group's site fails alone. */
export const add = (who: Who, kind: GroupKind, id: number, contactIds: number[]): Promise<Moved> =>
  move(who, kind, id, contactIds, { wanted: (member) => !member, writes: groups.adding });

/** Idempotent. */
export const drop = (who: Who, kind: GroupKind, id: number, contactIds: number[]): Promise<Moved> =>
  move(who, kind, id, contactIds, { wanted: (member) => member, writes: groups.dropping });

interface Direction {
  wanted(member: boolean): boolean;
  writes(kind: GroupKind, group: number, contacts: ContactItem[]): Write[];
}

// Two writes for each contact and one for the counter, of the 100 of a transaction.
const mostAtOnce = 49;
const mostTries = 8;

async function move(who: Who, kind: GroupKind, id: number, contactIds: number[], { wanted, writes }: Direction): Promise<Moved> {
  const group = await records.find<groups.Group>(kind, who, id);
  const ids = [...new Set(contactIds)];
  let changed = 0;
  for (let tries = 1; ; tries++) {
    const { found, failed } = await among(who, group.siteId, ids);
    const open = found.filter((contact) => wanted(contact[groupSet(kind)]?.has(id) === true));
    const done = await inParallel(4, byCollection(open), async (some) => ((await claim(...writes(kind, id, some))) ? some.length : 0));
    changed += done.reduce((sum, n) => sum + n, 0);
    if (done.every(Boolean)) return { changed, unchanged: ids.length - failed.length - changed, failed };
    if (tries >= mostTries) throw conflict("The contacts are being changed by too many requests at once");
  }
}

async function among(who: Who, siteId: number, ids: number[]) {
  const known = new Map((await contacts.byIds(who.orgId, ids, { consistent: true })).map((contact) => [contact.id, contact]));
  const wrong = (contact: ContactItem | undefined): string | undefined => {
    if (!contact) return "There is no such contact";
    return contact.siteId === siteId ? undefined : "The contact belongs to another site";
  };
  const failed = ids.flatMap((contactId) => {
    const error = wrong(known.get(contactId));
    return error === undefined ? [] : [{ contactId, error }];
  });
  return { found: [...known.values()].filter((contact) => !wrong(contact)), failed };
}

const byCollection = (open: ContactItem[]): ContactItem[][] =>
  Object.values(Object.groupBy(open, groups.homeOf)).flatMap((some) => chunked(some ?? [], mostAtOnce));

/** One contact, which must be there. */
export async function only(who: Who, contactId: number, moved: Moved): Promise<Moved> {
  const [failed] = moved.failed;
  if (!failed) return moved;
  await contacts.item(who, contactId);
  throw invalid(failed.error, { details: [{ path: "contactId", message: failed.error }] });
}
