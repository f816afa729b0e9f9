// Bulk mail waits in the lane of its sending config, chunk by chunk, until a runner comes to it (see lane-runner.ts). Whoever lets mail
// in leaves the lane on the due index, so that it is never forgotten.
import { after, now } from "../../clock.ts";
import { absent, all, type Condition, equals, exists } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import { claim, get, put, remove, update, type Write, write } from "../../doors/table.ts";
import { type Address, dueShard, keys, on, shelves, sortable } from "../../keys.ts";
import { queues } from "../../queues.ts";
import type { Wait } from "./pace.ts";
import type { KeyTerm } from "./provider-call.ts";
import type { Source } from "./sources.ts";

/** A chunk that waits, and how far each of its provider calls (`c0`, `c1`, ...) has come. */
export interface Waiting {
  pk: string;
  sk: string;
  block: number;
  chunk: number;
  n: number;
  siteId: number;
  /** When it may go (ISO 8601), and first might when it was set aside since. */
  at: string;
  since?: string;
  /** Recipients to a call, fixed when the first is claimed. */
  callSize?: number;
  /** Lines that were cancelled while it waited. */
  cancels?: number;
  /** Of marketing mail: what it belongs to, and how many of its lines are done with. */
  source?: Source;
  doneLines?: number;
  /** Rises with every claim and every end of a call: who takes the chunk elsewhere must have seen the last. */
  moves?: number;
  [call: `c${number}`]: Claim | undefined;
  [done: `d${number}`]: true | undefined;
  configId?: number;
}

/** The last attempt at a call. */
export interface Claim {
  attempt: number;
  /** Of the worker that claimed it, and nobody else. */
  by: string;
  /** Of the first question that may have been heard; absent where the provider has no keys. */
  key?: KeyTerm | undefined;
  /** Mail by mail, not in the provider's batch form. */
  alone?: true | undefined;
  /** Lines left out, by index, with the reason. */
  skip: Record<string, string>;
  /** Lines that are asked for later, by index. */
  later?: number[] | undefined;
}

/** What came of a chunk: it is done with, or the lane has to wait. */
export interface Verdict {
  done: boolean;
  wait?: Wait | undefined;
  /** Something of it was settled. */
  moved: boolean;
  /** It can go on after so long; those behind it need not wait. */
  asideSeconds?: number | undefined;
}

/** Where a chunk waits. */
export const placeOf = (orgId: number, configId: number, place: Pick<Waiting, "block" | "chunk" | "at">): Address =>
  keys.waiting(orgId, configId, sortOf(place));

export const sortOf = ({ block, chunk, at }: Pick<Waiting, "block" | "chunk" | "at">): string => `5${at}#${sortable(block)}#${chunk}`;

/** Lets chunks into a lane. It is due at once, though they may have to wait: the next runner sets it to when there is work. */
export const queueing = (orgId: number, configId: number, waiting: Pick<Waiting, "block" | "chunk" | "n" | "siteId" | "at">[]): Write[] => [
  ...waiting.map((one) => put(placeOf(orgId, configId, one), one)),
  arriving(orgId, configId),
];

const arriving = (orgId: number, configId: number): Write =>
  update(keys.lane(orgId, configId), { add: { arrivals: 1 }, set: { orgId, configId, ...dueAt(configId, now()) } });

/** When somebody is to look after the lane, if nobody has by then. */
export const dueAt = (configId: number, at: Date) => on(shelves.due("LANE", dueShard(configId)), at.toISOString());

/**
 * For those who let chunks in by transactions of their own, many side by side, which would all meet at the lane: to be told after
 * the transaction, and again by whoever takes up the work of one who died.
 */
export async function arrived(orgId: number, configId: number): Promise<void> {
  await write(arriving(orgId, configId));
  await wake(orgId, configId);
}

export const wake = (orgId: number, configId: number, delaySeconds = 0): Promise<void> =>
  enqueue(queues.lane, [{ orgId, configId }], { group: orgId, delaySeconds });

/** Nobody has done anything to the chunk since it was read, not even a runner whose lease is over. */
export const asRead = ({ moves, cancels }: Waiting): Condition =>
  all(
    exists,
    moves === undefined ? absent("moves") : equals("moves", moves),
    cancels === undefined ? absent("cancels") : equals("cancels", cancels),
  );

/** Lets those behind it pass, for so long. False when it has changed meanwhile. */
export async function setAside(orgId: number, configId: number, { pk, sk }: Address, seconds: number): Promise<boolean> {
  const waiting = await get<Waiting>({ pk, sk });
  if (!waiting) return false;
  const { pk: _, sk: __, ...rest } = waiting;
  const later = { ...rest, at: after(Math.max(seconds, 1)).toISOString(), since: rest.since ?? rest.at };
  return claim(remove({ pk, sk }, { if: asRead(waiting) }), put(placeOf(orgId, configId, later), later));
}
