// The work of an import: first the whole file is read, then its rows are stored.
import { Problem } from "../../errors.ts";
import { runSoon } from "../imports.ts";
import * as sites from "../sites.ts";
import { begun, type Job, note, type State } from "./job.ts";
import { stored } from "./storing.ts";
import { counted, looked } from "./survey.ts";

/** Works until it is done or the time is up; then another message goes on. Safe to repeat, and left alone while somebody is at work. */
export async function run(orgId: number, id: number): Promise<void> {
  const job = await begun(orgId, id);
  if (!job) return;
  try {
    await work(job);
  } catch (error) {
    // It cannot be mended by waiting: no column is an address, a quote is not closed.
    if (!(error instanceof Problem)) throw error;
    await note(job, { status: "failed", error: error.message }, { over: true });
  }
}

async function work(job: Job): Promise<void> {
  const { orgId, id } = job.run;
  await sites.find({ orgId }, job.record.siteId);
  const state = await stepsOf(job);
  if (state === "done") await note(job, { status: "completed" }, { over: true });
  if (state === "paused" && (await note(job, { lease: 0 }))) await runSoon(orgId, id);
}

async function stepsOf(job: Job): Promise<State> {
  for (const step of [looked, counted, stored]) {
    const state = await step(job);
    if (state !== "done") return state;
  }
  return "done";
}
