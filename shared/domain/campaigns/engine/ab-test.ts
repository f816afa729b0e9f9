// A/B tests: picks the winner by the rate of opens, clicks or conversions, and releases the waiting
// chunks with the winner's content.
import { absent, all, exists } from "../../../adapters/dynamodb/conditions.ts";
import { put, transact } from "../../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds, now } from "../../../clock.ts";
import { compress } from "../../../kernel/compressed-values.ts";
import { rate } from "../../../kernel/rates.ts";
import { keys } from "../../../keys.ts";
import * as stageChunks from "../../sending/accept/stage-chunks.ts";
import * as chunks from "../../sending/bulk/chunks.ts";
import type { ReleaseRule } from "../../sending/bulk/suspended-chunks.ts";
import * as mailSources from "../../sending/mail-sources.ts";
import { contentTtlSeconds } from "../../sending/rendering/mail-content.ts";
import type { AbTest, AbTestWinner } from "../ab-test-schema.ts";
import { certainFrom, certaintyOfBest, type Share } from "../conversions/share-comparison.ts";
import type { Broadcast } from "./broadcast.ts";
import type { BroadcastPart, BroadcastPlan } from "./broadcast-plan.ts";
import { createPartMessageBuilder } from "./part-messages.ts";

/** A test that may stop early is looked at so many times, the last at its end. */
const looksPerTest = 10;

export interface TestLook {
  /** 0 before the first. */
  look: number;
  isLast: boolean;
  nextAt: Date;
}

/** Looks are at fixed times, because each further one would raise the risk of a false winner. */
export function findLook(
  { durationMinutes, stopEarly }: AbTest,
  testedAt: string,
  at = now(),
): TestLook {
  const looks = countLooks({ stopEarly });
  const secondsPerLook = (durationMinutes * 60) / looks;
  const seconds = (at.getTime() - Date.parse(testedAt)) / 1000;
  const look = Math.min(looks, Math.max(0, Math.floor(seconds / secondsPerLook)));
  const nextAt = addSeconds((look + 1) * secondsPerLook, new Date(testedAt));
  return { look, isLast: look === looks, nextAt };
}

const countLooks = ({ stopEarly }: Pick<AbTest, "stopEarly">): number =>
  stopEarly ? looksPerTest : 1;

/**
 * The variant with the best rate wins. With equal rates, or with nothing to count, the highest
 * weight wins, then the oldest variant.
 * There is always a winner, however small the test, because waiting mail without a winner would
 * never be sent.
 */
export function pickWinner(
  parts: BroadcastPart[],
  numbers: Map<number, mailSources.SourceTotals>,
  { metric, stopEarly }: Pick<AbTest, "metric" | "stopEarly">,
): AbTestWinner {
  const shares = parts.map(({ id }) => toShare(numbers.get(id!), metric));
  const results = parts.map(({ id }, i) => toVariantResult(id!, numbers.get(id!), shares[i]!));
  const best = Math.max(...results.map(({ rate }) => rate));
  const bestParts = parts
    .filter((_, i) => results[i]!.rate === best)
    .toSorted((a, b) => b.weight - a.weight || a.id! - b.id!);
  const reasonWithData = bestParts.length > 1 ? "tie" : "best";
  const reason = best === 0 ? "no_data" : reasonWithData;
  return {
    variantId: bestParts[0]!.id!,
    reason,
    decidedAt: now().toISOString(),
    decidedEarly: false,
    certainty: reason === "best" ? certaintyOfBest(shares, countLooks({ stopEarly })) : 0,
    results,
  };
}

/** Undefined while it is not certain which variant is the best. */
export function pickCertainWinner(
  ...given: Parameters<typeof pickWinner>
): AbTestWinner | undefined {
  const winner = pickWinner(...given);
  return (winner.certainty ?? 0) >= certainFrom ? { ...winner, decidedEarly: true } : undefined;
}

function toShare(numbers: mailSources.SourceTotals | undefined, metric: AbTest["metric"]): Share {
  const { delivered = 0, uniqueOpened = 0, uniqueClicked = 0 } = numbers?.events ?? {};
  const hits: Record<AbTest["metric"], number> = {
    open_rate: uniqueOpened,
    click_rate: uniqueClicked,
    conversion_rate: numbers?.conversions.contacts ?? 0,
  };
  return { hits: hits[metric], of: delivered };
}

function toVariantResult(
  variantId: number,
  numbers: mailSources.SourceTotals | undefined,
  { hits, of }: Share,
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
    conversions: numbers?.conversions.contacts ?? 0,
    rate: rate(hits, of),
  };
}

/**
 * A chunk suspended by a pause is released unchanged. A waiting chunk is released only after the
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

/** Replaces the content of a waiting chunk. Safe to repeat. False when the chunk has expired. */
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
