// A service whose DATA_DIR is a backup starts without workers. What it still has to send may have
// gone out after the backup, so the operator first says what to do: `npm run after-restore`.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { now } from "../../shared/clock.ts";
import { conflict, invalid } from "../../shared/errors.ts";
import type { SendingStop } from "../../shared/kernel/sending-stop.ts";
import { type Settled, settleRestored, skipAllocatedIds } from "../aws/after-restore.ts";
import { type BackupManifest, manifestName } from "./backup.ts";

/** The manifest of a backup whose sending was resumed. */
const resumedName = "restored-backup.json";

/** Undefined if the data is no backup, or its sending was resumed. */
export function findSendingStop(dataFolder: string | undefined): SendingStop | undefined {
  const file = dataFolder && join(dataFolder, manifestName);
  if (!file || !existsSync(file)) return undefined;
  const { finishedAt, restoredAt } = readManifest(file);
  return { backedUpAt: finishedAt, since: restoredAt ?? now().toISOString() };
}

interface RestoredManifest extends BackupManifest {
  /** When a service first started with the backup. */
  restoredAt?: string;
}

const readManifest = (file: string): RestoredManifest =>
  JSON.parse(readFileSync(file, "utf8")) as RestoredManifest;

/**
 * For the first start with a backup: skips ids that were allocated after it, because providers may
 * know them. New records of this service then have other ids.
 */
export async function prepareRestored(dataFolder: string, { since }: SendingStop): Promise<void> {
  const file = join(dataFolder, manifestName);
  const manifest = readManifest(file);
  if (manifest.restoredAt) return;
  await skipAllocatedIds(process.env.TABLE_NAME!);
  writeFileSync(file, `${JSON.stringify({ ...manifest, restoredAt: since }, null, 2)}\n`);
}

const ResumeRequest = z.object({
  /** When the service stopped that the backup is of. Absent: when this one first started. */
  stopped: z.iso.datetime({ offset: true }).optional(),
  /** That service was stopped before the backup, so nothing went out since. */
  nothingSent: z.boolean().optional(),
});

/** Settles what may have gone out, then resumes sending. Safe to repeat after a crash. */
export function createResume(
  dataFolder: string | undefined,
  stop: SendingStop | undefined,
  startSending: () => Promise<void>,
): (input: unknown) => Promise<Settled> {
  let isResuming = false;
  return async (input) => {
    const { data } = ResumeRequest.safeParse(input);
    if (!data) throw invalid("stopped: must be a time such as 2026-11-30T09:12:00Z");
    if (!stop || !existsSync(join(dataFolder!, manifestName)))
      throw conflict("This service does not run on a restored backup: it sends already");
    if (isResuming) throw conflict("Another command resumes the service at this moment");
    isResuming = true;
    try {
      const { stopped = stop.since, nothingSent } = data;
      const settled = nothingSent
        ? { uncertain: 0, paused: [], counters: 0 }
        : await settleRestored(process.env.TABLE_NAME!, new Date(stopped).toISOString());
      renameSync(join(dataFolder!, manifestName), join(dataFolder!, resumedName));
      await startSending();
      return settled;
    } finally {
      isResuming = false;
    }
  };
}
