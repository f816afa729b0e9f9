// Those who waited for the winner of a test get what won: their chunks, made ready and held back at the start, are written anew with
// the winner's words before they are let into the lane.
import { packed } from "../../bodies.ts";
import { epochSeconds } from "../../clock.ts";
import { put, write } from "../../doors/table.ts";
import { keys } from "../../keys.ts";
import { keepSeconds } from "../sending/accept.ts";
import * as chunks from "../sending/chunks.ts";
import type { Dealt } from "../sending/held.ts";
import * as sources from "../sending/sources.ts";
import * as staging from "../sending/staging.ts";
import type { Broadcast } from "./broadcast.ts";
import type { Plan } from "./plan.ts";
import { shooter } from "./shots.ts";

/** What is held back because of a pause goes as it is; what waits for a winner that there is not yet stays. */
export function dealing(broadcast: Broadcast, plan: Plan): Dealt {
  const { orgId, winner } = broadcast;
  const winning = plan.parts.find(({ id }) => id === winner?.variantId);
  let shot: Promise<staging.Mailshot> | undefined;
  return async ({ block, chunk, n, source }) => {
    if (!plan.test || source?.part !== undefined) return {};
    if (!winner || !winning) return undefined;
    shot ??= shooter(broadcast, plan).then((shotOf) => shotOf(winning));
    const won = await shot;
    if (!(await rewrite(won, block, chunk))) return {};
    // It was counted as accepted when it was made ready, for no variant.
    const { part: _, ...whole } = won.source;
    const counted = [
      { source: won.source, tallies: { candidates: n, accepted: n } },
      { source: whole, tallies: { candidates: -n, accepted: -n } },
    ];
    return { change: { source: won.source }, further: sources.counting(orgId, block, counted) };
  };
}

/** The same, however often it is written. False when the chunk is not kept any more. */
async function rewrite(won: staging.Mailshot, block: number, chunk: number): Promise<boolean> {
  const { orgId } = won;
  const stored = await chunks.read(orgId, block, chunk);
  if (!stored) return false;
  const { lines, head: before } = stored;
  const content = keys.content(orgId, block);
  const head = { ...before, ...staging.headOf(won, block) };
  const [item] = await chunks.items(orgId, block, head, lines);
  const expires = epochSeconds() + keepSeconds;
  await Promise.all([
    write(put(content, { ...(await packed(content, await staging.contentOf(won))), expires })),
    write(put(item!.address, item!.item)),
  ]);
  return true;
}
