// Many contacts join or leave a list at once: one transaction to a collection, so that its counter moves with its members.
import type { Caller } from "../../caller.ts";
import { claim, type Write } from "../../doors/table.ts";
import { conflict, invalid } from "../../errors.ts";
import type { GroupKind } from "../../keys.ts";
import { chunked, inParallel } from "../../parallel.ts";
import * as contacts from "../contacts.ts";
import * as records from "../records.ts";
import type { Begun } from "../sequences/begun.ts";
import * as triggers from "../sequences/triggers.ts";
import { type ContactItem, groupSet } from "./contact.ts";
import type * as groups from "./groups.ts";
import * as memberships from "./memberships.ts";

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
  move(who, kind, id, contactIds, { wanted: (member) => !member, starts: true, writes: memberships.adding });

/** Idempotent. */
export const drop = (who: Who, kind: GroupKind, id: number, contactIds: number[]): Promise<Moved> =>
  move(who, kind, id, contactIds, { wanted: (member) => member, starts: false, writes: memberships.dropping });

interface Direction {
  wanted(member: boolean): boolean;
  /** Sequences that it starts, on its record. */
  starts: boolean;
  writes(kind: GroupKind, group: number, contacts: ContactItem[], points: undefined, begun: Begun): Write[];
}

// Two writes for each contact and one for each sequence it enters, and their counters and cohorts, of the 100 of a transaction.
const mostAtOnce = (sequences: number): number => Math.floor((99 - 2 * sequences) / (2 + sequences));
const mostTries = 8;

async function move(who: Who, kind: GroupKind, id: number, contactIds: number[], { wanted, starts, writes }: Direction): Promise<Moved> {
  const group = await records.find<groups.Group>(kind, who, id);
  const ids = [...new Set(contactIds)];
  const sequenceIds = starts ? [...(group.starts ?? [])] : [];
  const begin = (some: ContactItem[]) => triggers.beginning(some.map((contact) => ({ contact, sequenceIds })));
  let changed = 0;
  for (let tries = 1; ; tries++) {
    const { found, failed } = await among(who, group.siteId, ids);
    const open = found.filter((contact) => wanted(contact[groupSet(kind)]?.has(id) === true));
    const done = await inParallel(4, byCollection(open, mostAtOnce(sequenceIds.length)), async (some) => {
      const begun = await begin(some);
      const joined = await claim(...writes(kind, id, some, undefined, begun), ...begun.writes);
      if (joined) await triggers.started(begun);
      return joined ? some.length : 0;
    });
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

const byCollection = (open: ContactItem[], most: number): ContactItem[][] =>
  Object.values(Object.groupBy(open, memberships.homeOf)).flatMap((some) => chunked(some ?? [], most));

/** One contact, which must be there. */
export async function only(who: Who, contactId: number, moved: Moved): Promise<Moved> {
  const [failed] = moved.failed;
  if (!failed) return moved;
  await contacts.item(who, contactId);
  throw invalid(failed.error, { details: [{ path: "contactId", message: failed.error }] });
}
