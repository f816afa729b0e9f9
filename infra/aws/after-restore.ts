// Prepares a restored table, which is older than the state at the providers. Marks mails that may
// have been sent since as uncertain, so that they are not sent twice, pauses what would continue to
// send, and skips ids that were allocated since.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { update, write } from "../../shared/adapters/dynamodb/table.ts";
import type { SequenceItem } from "../../shared/domain/automation/sequence-schema.ts";
import { pauseWithReason } from "../../shared/domain/automation/sequences.ts";
import type { Broadcast } from "../../shared/domain/campaigns/engine/broadcast.ts";
import * as transitions from "../../shared/domain/campaigns/engine/transitions.ts";
import { pause as pauseSeries } from "../../shared/domain/campaigns/series/series.ts";
import type { StoredSeries } from "../../shared/domain/campaigns/series/series-schema.ts";
import * as claimCall from "../../shared/domain/sending/bulk/claim-call.ts";
import type { QueuedChunk } from "../../shared/domain/sending/bulk/queued-chunk.ts";
import { markUncertain } from "../../shared/domain/sending/single/claim.ts";
import type { SingleSendItem } from "../../shared/domain/sending/single/single-send-item.ts";
import type { Key } from "../../shared/keys.ts";

export interface Settled {
  /** Number of mails that became uncertain. */
  uncertain: number;
  /** The paused campaigns, series, holidays and sequences. */
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
  for await (const item of scan(table)) await settleItem(item, stopped, settled);
  return settled;
}

/** Skips ids that were allocated since the backup. Settling does it, too. */
export async function skipAllocatedIds(table: string): Promise<void> {
  for await (const item of scan(table)) await skipIdsOf(item);
}

async function* scan(table: string): AsyncGenerator<Item> {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  let after: Record<string, unknown> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({ TableName: table, ConsistentRead: true, ExclusiveStartKey: after }),
    );
    yield* (page.Items ?? []) as Item[];
    after = page.LastEvaluatedKey;
  } while (after);
}

/** Returns whether the item is an id counter. */
async function skipIdsOf({ pk, sk }: Item): Promise<boolean> {
  const [first, kind = ""] = pk.split("#");
  if (first !== "IDS") return false;
  await write(update({ pk, sk }, { add: { last: skippedIds(kind) } }));
  return true;
}

async function settleItem(item: Item, stopped: string, settled: Settled): Promise<void> {
  const { pk, sk } = item;
  const [first = "", second = ""] = pk.split("#");
  if (await skipIdsOf(item)) settled.counters++;
  const orgId = Number(first);
  if (!Number.isInteger(orgId)) return;
  if (/^L\d+$/.test(second) && sk.startsWith("W#"))
    settled.uncertain += await settleChunk(orgId, item, stopped);
  if (/^S\d+$/.test(second) && /^\d+$/.test(sk))
    settled.uncertain += await settleSingle(orgId, item, stopped);
  if (second === "SEQUENCE") await settleSequence(orgId, item, settled);
  if (second === "SERIES") await settleSeries(orgId, item, { stopped, settled });
  if (second === "CAMPAIGN" || second === "HOLIDAY") await settleBroadcast(item, stopped, settled);
}

async function settleChunk(orgId: number, item: Item, stopped: string): Promise<number> {
  const chunk = item as unknown as QueuedChunk;
  if ((chunk.since ?? chunk.at) > stopped) return 0;
  const mails = await claimCall.markUncertain(orgId, chunk);
  if (mails === undefined)
    throw new Error("A worker is running on this table: stop all workers, then run this again");
  return mails;
}

async function settleSingle(orgId: number, item: Item, stopped: string): Promise<number> {
  const send = item as unknown as SingleSendItem;
  // A send in status `sending` is retried with its own idempotency key, as after the crash of a
  // worker.
  const isDue = send.status === "scheduled" && (send.scheduledAt ?? "") <= stopped;
  const isQueued = send.status === "queued" && send.createdAt <= stopped;
  if (!(isQueued || isDue)) return 0;
  if (!(await markUncertain(orgId, send)))
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
      ? await transitions.pause(broadcast, reason)
      : isDue && (await transitions.hold(broadcast, reason));
  if (changed) settled.paused.push(`${broadcast.kind} ${broadcast.id} "${broadcast.name}"`);
}

/** Campaigns that the series has started since the backup are unknown. */
async function settleSeries(
  orgId: number,
  item: Item,
  { stopped, settled }: { stopped: string; settled: Settled },
): Promise<void> {
  const series = item as unknown as StoredSeries;
  if (series.status !== "active" || series.nextAt! > stopped) return;
  await pauseSeries({ orgId }, series.id, reason);
  settled.paused.push(`campaign series ${series.id} "${series.name}"`);
}
