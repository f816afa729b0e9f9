// A broadcast is one mail to many contacts, sent once: a campaign or a holiday. One engine runs
// both. broadcast-kinds.ts has the differences.

import type { Condition } from "../../../adapters/dynamodb/conditions.ts";
import type { Write } from "../../../adapters/dynamodb/table.ts";
import { update } from "../../../adapters/dynamodb/table.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../../../clock.ts";
import type { Problem } from "../../../errors.ts";
import type * as records from "../../../kernel/records.ts";
import { dueShardOf, indexAttributes, indexes, keys, type RecordKind } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import type { MailSource } from "../../sending/mail-sources.ts";
import type { StoredWinner } from "../ab-test-schema.ts";

export type BroadcastKind = "campaign" | "holiday";
export type BroadcastStatus =
  | "draft"
  | "scheduled"
  | "held"
  | "sending"
  | "paused"
  | "sent"
  | "cancelled"
  | "failed";

/** The fields of campaign and holiday records that the engine uses. */
export interface Broadcast extends records.StoredRecord {
  orgId: number;
  kind: BroadcastKind;
  siteId: number;
  name: string;
  status: BroadcastStatus;
  statusReason?: string | null;
  scheduledAt?: string | null;
  startedAt?: string;
  /** Id of the request that started it. */
  start?: number;
  finishedAt?: string;
  /**
   * Incremented by every user change and by the start, so that writes can require the revision that
   * was read.
   */
  revision: number;
  /** Number of the current chain of poll messages. Messages of older chains are ignored. */
  beat?: number;
  /** How often the start has failed and is tried again. */
  failedStarts?: number;
  /** Which shards were last enqueued for the fan-out, and when (ISO 8601). */
  nudged?: { what: "all" | "late"; at: string };
  /** When the test mails of the A/B test were handed over. */
  testedAt?: string;
  /** How many of the looks that may end the A/B test early are done. */
  testLooks?: number;
  winner?: StoredWinner;
  /** The counts at the last resume. The bounce alarm judges the mails after it. */
  watchedFrom?: BounceCounts;
}

export interface BounceCounts {
  handedOver: number;
  bounced: number;
  complained: number;
}

export type BroadcastRef = Pick<Broadcast, "orgId" | "kind" | "id">;

const recordKinds: Record<BroadcastKind, RecordKind> = { campaign: "CAMPAIGN", holiday: "HOLIDAY" };
export const recordKey = ({ orgId, kind, id }: BroadcastRef) =>
  keys.record(orgId, recordKinds[kind], id);
export const sourceOf = ({ kind, id }: Pick<BroadcastRef, "kind" | "id">): MailSource => ({
  kind,
  id,
});

export const broadcastDueAttributes = (id: number, at: Date) =>
  indexAttributes(indexes.due("BROADCAST", dueShardOf(id)), at.toISOString());

/** When no queue message arrives within this time, the due index finds the broadcast again. */
export const graceSeconds = 120;
export const dueSoonAttributes = (id: number) =>
  broadcastDueAttributes(id, addSeconds(graceSeconds));

export const enqueuePoll = ({ orgId, kind, id }: BroadcastRef, delaySeconds = 0): Promise<void> =>
  enqueue(queues.campaigns, [{ orgId, kind, id }], { group: orgId, delaySeconds });

export const enqueueFanOut = ({ orgId, kind, id }: BroadcastRef, shards: string[]): Promise<void> =>
  enqueue(
    queues.fanOut,
    shards.map((shard) => ({ orgId, kind, id, shard })),
    { group: orgId },
  );

/** Updates the record and its `updatedAt`. */
export const updateWrite = (
  broadcast: BroadcastRef,
  { set = {}, ...changes }: { set?: object; add?: Record<string, number>; remove?: string[] },
  condition: { if: Condition; orThrow?: Problem },
): Write =>
  update(
    recordKey(broadcast),
    { set: { updatedAt: now().toISOString(), ...set }, ...changes },
    condition,
  );
