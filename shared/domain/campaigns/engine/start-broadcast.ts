// Starts a broadcast in one transaction: sets the status, stores the plan and creates a cursor for
// each shard.

import { all, equals, oneOf } from "../../../adapters/dynamodb/conditions.ts";
import { transact, type Write } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { emailShards } from "../../../keys.ts";
import * as mailSources from "../../sending/mail-sources.ts";
import { clearGoalCache, storeGoalWrite } from "../conversions/campaign-goals.ts";
import {
  type Broadcast,
  dueSoonAttributes,
  enqueueFanOut,
  enqueuePoll,
  sourceOf,
  updateWrite,
} from "./broadcast.ts";
import * as broadcastPlan from "./broadcast-plan.ts";
import * as fanOutCursors from "./fan-out-cursors.ts";

const firstPollSeconds = 5;

/**
 * `start` is the id of the request, if any. False when the broadcast changed since it was read, or
 * was already started.
 */
export async function startBroadcast(
  broadcast: Broadcast,
  plan: broadcastPlan.BroadcastPlan,
  start?: number,
): Promise<boolean> {
  const set = {
    status: "sending",
    startedAt: plan.at,
    start,
    nudged: { what: "all", at: now().toISOString() },
    ...dueSoonAttributes(broadcast.id),
  };
  const isStarted = await transact(
    updateWrite(
      broadcast,
      {
        set,
        add: { revision: 1 },
        // A campaign that is sent at once does not wait for a local time.
        remove: ["statusReason", "failedStarts", ...(plan.localTime ? [] : ["localTime"])],
      },
      {
        if: all(
          equals("revision", broadcast.revision),
          oneOf("status", ["draft", "scheduled", "held"]),
        ),
      },
    ),
    await broadcastPlan.storePlanWrite(broadcast, plan),
    ...fanOutCursors.createCursorWrites(broadcast),
    mailSources.setSourceStateWrite(broadcast.orgId, sourceOf(broadcast), "going"),
    ...goalWrites(broadcast, plan),
  );
  if (isStarted) clearGoalCache(broadcast);
  if (isStarted)
    await Promise.all([
      enqueueFanOut(broadcast, emailShards),
      enqueuePoll(broadcast, firstPollSeconds),
    ]);
  return isStarted;
}

function goalWrites(
  broadcast: Broadcast,
  { conversion: goal, at: startedAt, holdOut }: broadcastPlan.BroadcastPlan,
): Write[] {
  if (!goal) return [];
  const { id: campaignId } = broadcast;
  const stored = { campaignId, goal, startedAt, ...(holdOut && { holdsOut: true as const }) };
  return [storeGoalWrite(broadcast, stored)];
}
