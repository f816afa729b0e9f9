// What is sent once to many: campaigns and holidays. One machine moves both; what they differ in stands in kinds.ts.
import { after, now } from "../../clock.ts";
import type { Condition } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import type { Write } from "../../doors/table.ts";
import { update } from "../../doors/table.ts";
import type { Problem } from "../../errors.ts";
import { dueShard, keys, on, type RecordKind, shelves } from "../../keys.ts";
import { queues } from "../../queues.ts";
import type { Winner } from "../campaigns/campaign.ts";
import type * as records from "../records.ts";
import type { Source } from "../sending/sources.ts";

export type Kind = "campaign" | "holiday";
export type Status = "draft" | "scheduled" | "held" | "sending" | "paused" | "sent" | "cancelled" | "failed";

/** What the machine knows of a record; both are stored with it. */
export interface Broadcast extends records.Stored {
  orgId: number;
  kind: Kind;
  siteId: number;
  name: string;
  status: Status;
  statusReason?: string | null;
  scheduledAt?: string | null;
  startedAt?: string;
  /** Of the request that started it. */
  start?: number;
  finishedAt?: string;
  /** Moves with every change by a person, and with the start: who acts on what he read notices. */
  revision: number;
  /** Of the one message that keeps it moving. */
  beat?: number;
  /** Which collections were last told to be read, and when (ISO 8601). */
  nudged?: { what: "all" | "late"; at: string };
  /** The test is handed over. */
  testedAt?: string;
  winner?: Winner;
  /** What had been handed over, had bounced and complained when it was last resumed: from there on it is watched. */
  watchedFrom?: Watched;
}

export interface Watched {
  handedOver: number;
  bounced: number;
  complained: number;
}

export type Key = Pick<Broadcast, "orgId" | "kind" | "id">;

const recordKinds: Record<Kind, RecordKind> = { campaign: "CAMPAIGN", holiday: "HOLIDAY" };
export const addressOf = ({ orgId, kind, id }: Key) => keys.record(orgId, recordKinds[kind], id);
export const sourceOf = ({ kind, id }: Pick<Key, "kind" | "id">): Source => ({ kind, id });

/** Puts it on the due index. */
export const dueAt = (id: number, at: Date) => on(shelves.due("BROADCAST", dueShard(id)), at.toISOString());

/** In case whoever was told forgets: a tick looks after it. */
export const graceSeconds = 120;
export const dueSoon = (id: number) => dueAt(id, after(graceSeconds));

/** Has the machine look at it now. */
export const kick = ({ orgId, kind, id }: Key, delaySeconds = 0): Promise<void> =>
  enqueue(queues.campaigns, [{ orgId, kind, id }], { group: orgId, delaySeconds });

/** Has these collections read. */
export const reach = ({ orgId, kind, id }: Key, shards: string[]): Promise<void> =>
  enqueue(
    queues.fanOut,
    shards.map((shard) => ({ orgId, kind, id, shard })),
    { group: orgId },
  );

/** A change of the record, with `updatedAt`: as it is given, else now. */
export const changing = (
  broadcast: Key,
  { set = {}, ...changes }: { set?: object; add?: Record<string, number>; remove?: string[] },
  rule: { if: Condition; otherwise?: Problem },
): Write => update(addressOf(broadcast), { set: { updatedAt: now().toISOString(), ...set }, ...changes }, rule);
