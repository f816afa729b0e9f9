// Runs an action on contacts. First it stores the ids of all selected contacts, so that its own
// changes do not alter the selection. Then it changes them, a hundred at a time, and saves how far
// it came: a worker that continues repeats at most one hundred, for which nothing happens twice.
import { get } from "../../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../../clock.ts";
import { type CompressedValue, decompress } from "../../../kernel/compressed-values.ts";
import {
  finishJob,
  type JobOutcome,
  runLeasedJob,
  saveProgress,
  takeJob,
} from "../../../kernel/leased-job.ts";
import type { Lease } from "../../../kernel/leases.ts";
import { isDeleted } from "../../../kernel/site-access.ts";
import { emailShards, keys } from "../../../keys.ts";
import { jobSeconds } from "../../../queues.ts";
import * as contactListing from "../../audience/contacts/contact-listing.ts";
import * as contactReader from "../../audience/contacts/contact-reader.ts";
import type { ContactActionItem } from "./action-schema.ts";
import { applyAction } from "./apply-action.ts";
import { dueAttributes, enqueueRun, selectedPageWrite } from "./contact-actions.ts";

interface TakenAction {
  item: ContactActionItem;
  lease: Lease;
  until: Date;
}

/**
 * Works until the action is done or the time is up; then another message continues. Idempotent.
 * Does nothing while another worker has the lease.
 */
export async function runAction(orgId: number, id: number): Promise<void> {
  const timeoutSeconds = jobSeconds["contact-action"];
  const taken = await takeJob<ContactActionItem>(keys.contactAction(orgId, id), {
    timeoutSeconds,
    dueAttributes: (seconds) => dueAttributes(id, seconds),
  });
  if (!taken) return;
  const job = { ...taken, until: addSeconds(timeoutSeconds - 30) };
  await runLeasedJob(job.lease, {
    work: () => runSteps(job),
    enqueueNext: () => enqueueRun(orgId, id),
    // For example, the list was deleted in between.
    fail: ({ message }) => finishJob(job, { status: "failed", error: message }),
  });
}

async function runSteps(job: TakenAction): Promise<JobOutcome> {
  for (const step of [selectContacts, changeContacts]) {
    const outcome = await step(job);
    if (outcome === "cancelled") await finishJob(job, { status: "cancelled" });
    if (outcome === "cancelled") return "done";
    if (outcome !== "done") return outcome;
  }
  await finishJob(job, { status: "completed" });
  return "done";
}

type StepOutcome = JobOutcome | "cancelled";

/** Why the work stops now. Undefined: it goes on. */
async function findStop({ item, until }: TakenAction): Promise<StepOutcome | undefined> {
  const { orgId, siteId, id } = item;
  if (await isDeleted(orgId, siteId)) return "lost";
  const current = await get<ContactActionItem>(keys.contactAction(orgId, id));
  if (current?.cancelRequested) return "cancelled";
  return now() >= until ? "paused" : undefined;
}

/** One shard after the other. The page of ids and the position after it are one transaction. */
async function selectContacts(job: TakenAction): Promise<StepOutcome> {
  const { item } = job;
  if (item.selected) return "done";
  const site = { orgId: item.orgId, siteId: item.siteId };
  const query = await contactListing.resolveFilter(site, { siteId: item.siteId, ...item.filter });
  while (item.shard < emailShards.length) {
    const { shard, after } = item;
    const options = { ...query, after: after ?? undefined };
    for await (const page of contactReader.readShard(site, emailShards[shard]!, options)) {
      const ids = page.items.map(({ id }) => id);
      const writes = ids.length ? [await selectedPageWrite(item, item.pages, ids)] : [];
      const progress = {
        pages: item.pages + writes.length,
        total: item.total + ids.length,
        after: page.next ?? null,
        shard: page.next === undefined ? shard + 1 : shard,
      };
      if (!(await saveProgress(job, progress, ...writes))) return "lost";
      const stop = await findStop(job);
      if (stop) return stop;
    }
  }
  return (await saveProgress(job, { selected: true })) ? "done" : "lost";
}

const contactsPerStep = 100;
const maxFailures = 100;

async function changeContacts(job: TakenAction): Promise<StepOutcome> {
  const { item } = job;
  while (item.page < item.pages) {
    const ids = await readSelectedPage(item);
    while (item.offset < ids.length) {
      const stop = await findStop(job);
      if (stop) return stop;
      const some = ids.slice(item.offset, item.offset + contactsPerStep);
      const failed = await applyAction(item, some);
      const progress = {
        offset: item.offset + some.length,
        processed: item.processed + some.length,
        failed: item.failed + failed.length,
        failures: [...item.failures, ...failed].slice(0, maxFailures),
      };
      if (!(await saveProgress(job, progress))) return "lost";
    }
    if (!(await saveProgress(job, { page: item.page + 1, offset: 0 }))) return "lost";
  }
  return "done";
}

async function readSelectedPage({ orgId, id, page }: ContactActionItem): Promise<number[]> {
  const stored = await get<CompressedValue>(keys.selectedContacts(orgId, id, page));
  return decompress<number[]>(stored ?? {});
}
