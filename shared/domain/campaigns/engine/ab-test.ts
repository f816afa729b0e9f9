// A/B tests: picks the winner by the rate of opens or clicks by people, and releases the hold-out
// chunks with the winner's content.
import { absent, all, exists } from "../../../adapters/dynamodb/conditions.ts";
import { put, transact } from "../../../adapters/dynamodb/table.ts";
import { epochSeconds, now } from "../../../clock.ts";
import { compress } from "../../../kernel/compressed-values.ts";
import { rate } from "../../../kernel/rates.ts";
import { keys } from "../../../keys.ts";
import * as stageChunks from "../../sending/accept/stage-chunks.ts";
import * as chunks from "../../sending/bulk/chunks.ts";
import type { ReleaseRule } from "../../sending/bulk/suspended-chunks.ts";
import * as mailSources from "../../sending/mail-sources.ts";
import { contentTtlSeconds } from "../../sending/rendering/mail-content.ts";
import type { AbTest, AbTestWinner } from "../ab-test-schema.ts";
import type { Broadcast } from "./broadcast.ts";
import type { BroadcastPart, BroadcastPlan } from "./broadcast-plan.ts";
import { createPartMessageBuilder } from "./part-messages.ts";

/**
 * The variant with the best rate wins. With equal rates, or without any opens or clicks, the
 * highest weight wins, then the oldest variant.
 * There is always a winner, however small the test, because hold-out mail without a winner would
 * never be sent.
 */
export function pickWinner(
  parts: BroadcastPart[],
  numbers: Map<number, mailSources.SourceTotals>,
  metric: AbTest["metric"],
): AbTestWinner {
  const results = parts.map(({ id }) => toVariantResult(id!, numbers.get(id!), metric));
  const best = Math.max(...results.map(({ rate }) => rate));
  const bestParts = parts
    .filter((_, i) => results[i]!.rate === best)
    .toSorted((a, b) => b.weight - a.weight || a.id! - b.id!);
  const reasonWithData = bestParts.length > 1 ? "tie" : "best";
  const reason = best === 0 ? "no_data" : reasonWithData;
  return { variantId: bestParts[0]!.id!, reason, decidedAt: now().toISOString(), results };
}

function toVariantResult(
  variantId: number,
  numbers: mailSources.SourceTotals | undefined,
  metric: AbTest["metric"],
): AbTestWinner["results"][number] {
  const {
    delivered = 0,
    uniqueOpened: opened = 0,
    uniqueClicked: clicked = 0,
  } = numbers?.events ?? {};
  return {
    variantId,
    delivered,
    opened,
    clicked,
    rate: rate(metric === "open_rate" ? opened : clicked, delivered),
  };
}

/**
 * A chunk suspended by a pause is released unchanged. A hold-out chunk is released only after the
 * winner is known, with the winner's content.
 */
export function createReleaseRule(broadcast: Broadcast, plan: BroadcastPlan): ReleaseRule {
  const { orgId, winner } = broadcast;
  const winning = plan.parts.find(({ id }) => id === winner?.variantId);
  let loading: Promise<stageChunks.MarketingMessage> | undefined;
  return async ({ block, chunk, n, source }) => {
    if (!plan.test || source?.part !== undefined) return {};
    if (!winner || !winning) return undefined;
    loading ??= createPartMessageBuilder(broadcast, plan).then((build) => build(winning));
    const message = await loading;
    if (!(await rewriteChunk(message, block, chunk))) return {};
    // Staging counted these mails for the campaign without a variant. Now they count for the winner
    // too.
    const { part: _, ...withoutPart } = message.source;
    const changes = [
      { source: message.source, counts: { candidates: n, accepted: n } },
      { source: withoutPart, counts: { candidates: -n, accepted: -n } },
    ];
    return {
      change: { source: message.source },
      extraWrites: mailSources.addSourceCountWrites(orgId, block, changes),
    };
  };
}

/** Replaces the content of a hold-out chunk. Safe to repeat. False when the chunk has expired. */
async function rewriteChunk(
  winnerMessage: stageChunks.MarketingMessage,
  block: number,
  chunk: number,
): Promise<boolean> {
  const { orgId } = winnerMessage;
  const stored = await chunks.getChunk(orgId, block, chunk);
  if (!stored) return false;
  const { lines, head: before } = stored;
  const content = keys.bulkContent(orgId, block);
  const head = { ...before, ...stageChunks.toChunkHead(winnerMessage, block) };
  const expires = epochSeconds() + contentTtlSeconds;
  const compressed = await compress(
    content,
    await stageChunks.buildMarketingContent(winnerMessage),
  );
  const replaceChunk = await chunks.replaceChunkWrite(
    keys.chunk(orgId, block, chunk),
    { head, lines },
    all(exists, absent("cancelled")),
  );
  // The conditions stop a worker that was frozen from restoring a chunk that was cancelled or
  // removed in the meantime.
  await Promise.all([
    transact(put(content, { ...compressed, expires }, { if: exists })),
    transact(replaceChunk),
  ]);
  return true;
}
