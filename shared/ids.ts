// Integer ids, unique per kind over the whole installation. They come from counter items; gaps are fine, and only ids of
// settings-like records are in order of age.
import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { now } from "./clock.ts";
import { exists } from "./conditions.ts";
import { update, updateReturning, write } from "./doors/table.ts";
import { type Address, idsPerBlock, keys } from "./keys.ts";

/**
 * Ids that a request took, remembered beside its idempotency key: when the request died and is made again, it takes the same
 * ids in the same order, so what it had already written is written once more and not twice.
 */
export interface Memory {
  address: Address;
  taken: Record<string, number[]>;
}
interface Remembering {
  memory: Memory;
  used: Record<string, number>;
  /** Ids are taken one after another, in the order asked: no writing overtakes a later one, and each is found in its place. */
  last: Promise<unknown>;
}
const memory = new AsyncLocalStorage<Remembering>();

export const remembering = <T>(remembered: Memory, work: () => Promise<T>): Promise<T> =>
  memory.run({ memory: remembered, used: {}, last: Promise.resolve() }, work);

/** `n` fresh ids in a row; answers the first. One write. */
export const take = (kind: string, n = 1): Promise<number> => remembered(kind, () => reserve(kind, n));

let open: { next: number; end: number } | undefined;

/** An id for a single send, from a block that this process keeps: no round trip most of the time. */
export const takeSend = (): Promise<number> =>
  remembered("SENDONE", async () => {
    if (!open || open.next >= open.end) {
      const block = await reserve("SENDBLOCK");
      if (!open || open.next >= open.end) open = { next: block * idsPerBlock, end: (block + 1) * idsPerBlock };
    }
    return open.next++;
  });

const blocksAtOnce = 8;
const spare: number[] = [];

/** A whole block of send ids: `block * idsPerBlock` and the following. One write for every eight. */
export const takeBlock = (): Promise<number> =>
  remembered("SENDBLOCK", async () => {
    const kept = spare.shift();
    if (kept !== undefined) return kept;
    const first = await reserve("SENDBLOCK", blocksAtOnce);
    spare.push(...Array.from({ length: blocksAtOnce - 1 }, (_, i) => first + 1 + i));
    return first;
  });

const contactsAtOnce = 100;
const spareContacts: number[] = [];

/** `n` ids for contacts: many in a row, a single one from those that this process keeps. */
export async function takeContacts(n: number): Promise<number[]> {
  if (n !== 1) {
    const first = n ? await take("CONTACT", n) : 0;
    return Array.from({ length: n }, (_, i) => first + i);
  }
  const one = await remembered("CONTACT", async () => {
    if (!spareContacts.length) {
      const first = await reserve("CONTACT", contactsAtOnce);
      spareContacts.push(...Array.from({ length: contactsAtOnce }, (_, i) => first + i));
    }
    return spareContacts.shift()!;
  });
  return [one];
}

/** When this request came first (milliseconds since 1970): made again after it died, it goes on under the same time. */
export const time = (): Promise<number> => remembered("TIME", async () => now().getTime());

const activitiesAtOnce = 100;
let openActivities = { next: 0, end: 0 };

/** An id for what a contact or visitor did, from those that this process keeps. */
export const takeActivity = (): Promise<number> =>
  remembered("ACTIVITY", async () => {
    if (openActivities.next >= openActivities.end) {
      const first = await reserve("ACTIVITY", activitiesAtOnce);
      openActivities = { next: first, end: first + activitiesAtOnce };
    }
    return openActivities.next++;
  });

const eventsAtOnce = 1000;
let openEvents = { next: 0, end: 0 };

/** `n` event ids in a row, from those that this process keeps; answers the first. */
export async function takeEvents(n: number): Promise<number> {
  if (openEvents.end - openEvents.next < n) {
    const size = Math.max(n, eventsAtOnce);
    const first = await reserve("EVENT", size);
    openEvents = { next: first, end: first + size };
  }
  openEvents.next += n;
  return openEvents.next - n;
}

const enrollmentsAtOnce = 100;
let openEnrollments = { next: 0, end: 0 };

/** `n` numbers in a row for enrollments, from those that this process keeps; answers the first. */
export async function takeEnrollments(n: number): Promise<number> {
  if (openEnrollments.end - openEnrollments.next < n) {
    const size = Math.max(n, enrollmentsAtOnce);
    const first = await reserve("ENROLLMENT", size);
    openEnrollments = { next: first, end: first + size };
  }
  openEnrollments.next += n;
  return openEnrollments.next - n;
}

async function reserve(kind: string, n = 1): Promise<number> {
  const counter = await updateReturning<{ last: number }>(update(keys.idCounter(kind), { add: { last: n } }));
  return counter!.last - n + 1;
}

async function remembered(kind: string, fresh: () => Promise<number>): Promise<number> {
  const store = memory.getStore();
  if (!store) return fresh();
  const place = store.used[kind] ?? 0;
  store.used[kind] = place + 1;
  const known = store.memory.taken[kind]?.[place];
  if (known !== undefined) return known;
  const taking = store.last.then(async () => {
    const id = await fresh();
    store.memory.taken[kind] = [...(store.memory.taken[kind] ?? []), id];
    // What was removed meanwhile, such as the submission of a form, must not come back as a ghost.
    await write(update(store.memory.address, { set: { taken: store.memory.taken } }, { if: exists }));
    return id;
  });
  store.last = taking.catch(() => undefined);
  return taking;
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** `length` random base62 characters (5.95 bits each), without bias. */
export function randomText(length: number): string {
  let text = "";
  while (text.length < length)
    for (const byte of randomBytes(length * 2)) if (byte < 248 && text.length < length) text += base62[byte % 62];
  return text;
}
