// The start: from one transaction on it is sending, what is sent to whom is decided, and every collection waits to be read.

import { now } from "../../clock.ts";
import { all, equals, oneOf } from "../../conditions.ts";
import { claim } from "../../doors/table.ts";
import { shards } from "../../keys.ts";
import * as sources from "../sending/sources.ts";
import { type Broadcast, changing, dueSoon, kick, reach, sourceOf } from "./broadcast.ts";
import * as cursors from "./cursors.ts";
import * as plans from "./plan.ts";

/** As long as it may take until its people are seen to be reached. */
const firstLookSeconds = 5;

/** `start`: of the request, if it was one. False when it was changed since it was read, or started by somebody else. */
export async function begin(broadcast: Broadcast, plan: plans.Plan, start?: number): Promise<boolean> {
  const set = { status: "sending", startedAt: plan.at, start, nudged: { what: "all", at: now().toISOString() }, ...dueSoon(broadcast.id) };
  const begun = await claim(
    changing(
      broadcast,
      { set, add: { revision: 1 }, remove: ["statusReason"] },
      { if: all(equals("revision", broadcast.revision), oneOf("status", ["draft", "scheduled", "held"])) },
    ),
    await plans.keeping(broadcast, plan),
    ...cursors.opening(broadcast),
    sources.setting(broadcast.orgId, sourceOf(broadcast), "going"),
  );
  if (begun) await Promise.all([reach(broadcast, shards), kick(broadcast, firstLookSeconds)]);
  return begun;
}
