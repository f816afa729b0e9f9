// An import in the hands of a worker. What is noted of it is noted only while it is still theirs.
import { after, epochSeconds, now } from "../../clock.ts";
import { absent, any, atMost, equals } from "../../conditions.ts";
import { claim, get, update, updateReturning, type Write } from "../../doors/table.ts";
import * as ids from "../../ids.ts";
import { keys, off } from "../../keys.ts";
import { queues } from "../../queues.ts";
import { dueAfter } from "../imports.ts";
import type { File } from "./bytes.ts";
import type { Counts, Run, Stored } from "./import.ts";

export interface Job {
  record: Stored;
  run: Run;
  until: Date;
}

/** `lost`: somebody else is at it. */
export type State = "done" | "paused" | "lost";

const leaseSeconds = queues.import.timeoutSeconds + 30;

/** Undefined when it is over, or somebody is at work. */
export async function begun(orgId: number, id: number): Promise<Job | undefined> {
  const address = keys.importRun(orgId, id);
  const there = await get<Run>(address);
  if (!there || there.status === "completed" || there.status === "failed") return undefined;
  const time = epochSeconds();
  const set = { run: ids.randomText(12), lease: time + leaseSeconds, status: "running", ...dueAfter(id, leaseSeconds + 30) };
  const mine = await updateReturning<Run>(update(address, { set }, { if: any(absent("lease"), atMost("lease", time)) }));
  const record = mine && (await get<Stored>(keys.record(orgId, "IMPORT", id)));
  return record && { record, run: mine, until: after(queues.import.timeoutSeconds - 30) };
}

interface Noted {
  /** What the counters move by. */
  add?: Partial<Counts>;
  over?: boolean;
  with?: Write[];
}

/** False when somebody else has taken it over. */
export async function note({ run }: Job, set: Partial<Run>, { add = {}, over = false, with: others = [] }: Noted = {}): Promise<boolean> {
  const moved = Object.fromEntries(Object.entries(add).filter(([, by]) => by)) as Record<keyof Counts, number>;
  const change = {
    set: { ...set, updatedAt: now().toISOString() },
    add: moved,
    remove: over ? ["run", "lease", ...off("due")] : [],
  };
  const noted = await claim(update(keys.importRun(run.orgId, run.id), change, { if: equals("run", run.run) }), ...others);
  if (noted) Object.assign(run, set, Object.fromEntries(Object.entries(moved).map(([name, by]) => [name, run[name as keyof Counts] + by])));
  return noted;
}

export const fileOf = ({ record: { blob, size }, run }: Job): File => ({ blob, size, tag: run.look!.tag });
export const format = ({ run: { look: found } }: Job) => ({
  delimiter: found!.delimiter,
  cr: found!.cr,
  encoding: found!.encoding ?? ("utf-8" as const),
});
