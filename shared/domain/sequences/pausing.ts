// A sequence that cannot go on pauses itself, and says why.
import { claim } from "../../doors/table.ts";
import * as sources from "../sending/sources.ts";
import { revising, type SequenceItem } from "./record.ts";
import * as triggers from "./triggers.ts";

/** As long as nobody has changed it meanwhile. */
export async function pause(orgId: number, sequence: SequenceItem, statusReason: string): Promise<void> {
  const paused = { status: "paused" as const, statusReason };
  await claim(
    revising(orgId, sequence, { ...paused, waitsAt: null }),
    ...(await triggers.arming(orgId, sequence, { ...sequence, ...paused })),
    sources.setting(orgId, { kind: "sequence", id: sequence.id }, "paused"),
  );
}
