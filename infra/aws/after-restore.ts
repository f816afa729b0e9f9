// Prepares a restored table, which is older than the state at the providers. Marks mails that may
// have been sent since as uncertain, so that they are not sent twice, pauses what would continue to
// send, and skips ids that were allocated since.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { update, write } from "../../shared/adapters/dynamodb/table.ts";
import type { SequenceItem } from "../../shared/domain/automation/sequence-schema.ts";
import { pauseWithReason } from "../../shared/domain/automation/sequences.ts";
import type { Broadcast } from "../../shared/domain/campaigns/engine/broadcast.ts";
import * as broadcasts from "../../shared/domain/campaigns/engine/transitions.ts";
import * as calls from "../../shared/domain/sending/bulk/calls.ts";
import type { QueuedChunk } from "../../shared/domain/sending/bulk/lanes.ts";
import type { SingleSendItem } from "../../shared/domain/sending/single-send-item.ts";
import * as singles from "../../shared/domain/sending/single-sends.ts";
import type { Key } from "../../shared/keys.ts";

export interface Settled {
  /** Number of mails that became uncertain. */
  uncertain: number;
  /** The paused campaigns, holidays and sequences. */
  paused: string[];
  /** Number of id counters that were advanced. */
  counters: number;
}

type Item = Key & Record<string, unknown>;

const reason =
  "The table was restored: check at the provider who has received it, then resume or cancel it";

/** More ids than an installation allocates in a day. A block has 1,000 sends. */
const skippedIds = (kind: string): number => (kind === "SENDBLOCK" ? 10_000 : 1_000_000);

/** `stopped` is the time when the workers stopped (ISO 8601). Safe to repeat. */
export async function settleRestored(table: string, stopped: string): Promise<Settled> {
  const settled: Settled = { uncertain: 0, paused: [], counters: 0 };
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  let after: Record<string, unknown> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({ TableName: table, ConsistentRead: true, ExclusiveStartKey: after }),
    );
    for (const item of (page.Items ?? []) as Item[]) await settleItem(item, stopped, settled);
    after = page.LastEvaluatedKey;
  } while (after);
  return settled;
}

async function settleItem(item: Item, stopped: string, settled: Settled): Promise<void> {
  const { pk, sk } = item;
  const [first = "", second = ""] = pk.split("#");
  if (first === "IDS") {
    await write(update({ pk, sk }, { add: { last: skippedIds(second) } }));
    settled.counters++;
  }
  const orgId = Number(first);
  if (!Number.isInteger(orgId)) return;
  if (/^L\d+$/.test(second) && sk.startsWith("W#"))
    settled.uncertain += await settleChunk(orgId, item, stopped);
  if (/^S\d+$/.test(second) && /^\d+$/.test(sk))
    settled.uncertain += await settleSingle(orgId, item, stopped);
  if (second === "SEQUENCE") await settleSequence(orgId, item, settled);
  if (second === "CAMPAIGN" || second === "HOLIDAY") await settleBroadcast(item, stopped, settled);
}

async function settleChunk(orgId: number, item: Item, stopped: string): Promise<number> {
  const chunk = item as unknown as QueuedChunk;
  if ((chunk.since ?? chunk.at) > stopped) return 0;
  const mails = await calls.markUncertain(orgId, chunk);
  if (mails === undefined)
    throw new Error("A worker is running on this table: stop all workers, then run this again");
  return mails;
}

async function settleSingle(orgId: number, item: Item, stopped: string): Promise<number> {
  const send = item as unknown as SingleSendItem;
  // A send in status `sending` is retried with its own idempotency key, as after the crash of a
  // worker.
  const isDue = send.status === "scheduled" && (send.scheduledAt ?? "") <= stopped;
  if (!(send.status === "queued" || isDue)) return 0;
  if (!(await singles.markUncertain(orgId, send)))
    throw new Error("A worker is running on this table: stop all workers, then run this again");
  return 1;
}

async function settleSequence(orgId: number, item: Item, settled: Settled): Promise<void> {
  const sequence = item as unknown as SequenceItem;
  if (sequence.status !== "active") return;
  await pauseWithReason(orgId, sequence, reason);
  settled.paused.push(`sequence ${sequence.id} "${sequence.name}"`);
}

async function settleBroadcast(item: Item, stopped: string, settled: Settled): Promise<void> {
  const broadcast = item as unknown as Broadcast;
  const isDue = broadcast.status === "scheduled" && String(item.duesk ?? "") <= stopped;
  const changed =
    broadcast.status === "sending"
      ? await broadcasts.pause(broadcast, reason)
      : isDue && (await broadcasts.hold(broadcast, reason));
  if (changed) settled.paused.push(`${broadcast.kind} ${broadcast.id} "${broadcast.name}"`);
}
