// Recounts the counters of a campaign or holiday from its sends when they are impossible. It runs
// only while no mail is being sent.
import { queryAll, write } from "../../../adapters/dynamodb/table.ts";
import * as log from "../../../kernel/log.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { ranges } from "../../../keys.ts";
import * as chunks from "../../sending/bulk/chunks.ts";
import type { QueuedChunk } from "../../sending/bulk/lanes.ts";
import * as sources from "../../sending/mail-sources.ts";
import * as reading from "../../sending/read-sends.ts";
import type { SendItem } from "../../sending/sends.ts";
import { type BroadcastRef, sourceOf } from "./broadcast.ts";
import * as reached from "./fan-out-log.ts";

/**
 * `queued` or `sending` is negative. Other counters can be negative for a moment, when an event
 * arrives before the provider's response.
 */
export const isImpossible = ({ queued, sending }: sources.SourceTotals): boolean =>
  queued < 0 || sending < 0;

type StateCounts = Map<number | undefined, sources.SourceCounts>;

/**
 * Safe to repeat. Does nothing while mail is being sent or events are being counted; the next poll
 * tries again. Logs an error, because it means that mail was counted twice.
 */
export async function recount(key: BroadcastRef, configId: number): Promise<void> {
  const { orgId, kind, id } = key;
  const before = await sources.getSourceTotals(orgId, sourceOf(key));
  const { queued, sending } = before.all;
  log.error(
    "negative counters",
    new Error("Mail was counted twice. The counters are corrected when all mail is sent"),
    { orgId, kind, id, queued, sending },
  );
  if (await isUnderway(key, configId)) return;
  const counted = await countStates(key);
  const { accepted = 0, ...placed } = counted.get(undefined) ?? {};
  // A read may be stale: the next poll counts again.
  if (Object.values(placed).reduce((sum, n) => sum + n, 0) !== accepted) return;
  const after = await sources.getSourceTotals(orgId, sourceOf(key));
  if (JSON.stringify(after.all) !== JSON.stringify(before.all)) return;
  const parts = [...counted.keys()].filter((part) => part !== undefined);
  const corrections = parts.map((part) => ({
    source: { ...sourceOf(key), part },
    counts: difference(counted.get(part)!, before.parts.get(part)),
  }));
  const whole = difference(counted.get(undefined) ?? {}, before.all);
  for (const { counts } of corrections)
    for (const name of countedNames) whole[name] = (whole[name] ?? 0) - (counts[name] ?? 0);
  await write(
    ...sources.addSourceCountWrites(orgId, 0, [
      ...corrections,
      { source: sourceOf(key), counts: whole },
    ]),
  );
}

const countedNames = ["accepted", ...sources.mailStates] as const;

const difference = (
  is: sources.SourceCounts,
  was: sources.SourceTotals | undefined,
): sources.SourceCounts =>
  Object.fromEntries(countedNames.map((name) => [name, (is[name] ?? 0) - (was?.[name] ?? 0)]));

async function isUnderway({ orgId, kind, id }: BroadcastRef, configId: number): Promise<boolean> {
  const [waiting, held] = await Promise.all([
    queryAll<QueuedChunk>(ranges.queuedChunks(orgId, configId), { consistent: true }),
    queryAll<QueuedChunk>(ranges.suspendedChunks(orgId, { kind, id }), { consistent: true }),
  ]);
  return held.length > 0 || waiting.some(({ source }) => source?.kind === kind && source.id === id);
}

/** The number of mails in each state, by part. `undefined` has those of the whole broadcast. */
async function countStates(key: BroadcastRef): Promise<StateCounts> {
  const counted: StateCounts = new Map();
  const add = (part: number | undefined, name: sources.SourceCounter) => {
    const counts = counted.get(part) ?? {};
    counted.set(part, { ...counts, [name]: (counts[name] ?? 0) + 1 });
  };
  let after: string | undefined;
  do {
    const { items, next } = await reached.listLogEntries(key, undefined, after);
    const blocks = items.flatMap(({ blocks }) => blocks);
    const sends = await inParallel(4, blocks, ([block, n]) =>
      reading.getSends(key.orgId, chunks.listSendIds(block, n)),
    );
    for (const send of sends.flat())
      if (send && !isLeftOut(send))
        for (const part of new Set([undefined, send.variantId ?? undefined])) {
          add(part, "accepted");
          const place = sources.mailStates.find((one) => one === send.status);
          if (place) add(part, place);
        }
    after = next;
  } while (after !== undefined);
  return counted;
}

/**
 * The recipient was excluded at hand-over, so the mail counts under the exclusion reason and not as
 * accepted.
 */
const isLeftOut = ({ status, error }: SendItem): boolean =>
  status === "failed" && sources.exclusionReasons.some((reason) => reason === error);
