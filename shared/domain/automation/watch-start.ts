// Looks at every contact of a site once, after a sequence begins to watch. Nothing is started: the
// look stores who is in the segment already, and when the dates of the contacts come.
import { all, equals, exists } from "../../adapters/dynamodb/conditions.ts";
import { query, remove, transact, update } from "../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../clock.ts";
import { type JobOutcome, runLeasedJob } from "../../kernel/leased-job.ts";
import * as leases from "../../kernel/leases.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { emailShards, keys, ranges } from "../../keys.ts";
import { queues } from "../../queues.ts";
import { type Looks, lookAtContact } from "./change-note-work.ts";
import { createLooks } from "./contact-watches.ts";
import {
  clearTriggerCache,
  enqueueWatchStart,
  getSiteTriggers,
  type SiteTrigger,
  type WatchStartItem,
  watchStartDue,
} from "./trigger-registrations.ts";

const workSeconds = queues.advance.timeoutSeconds - 20;
const leaseSeconds = queues.advance.timeoutSeconds + 30;
const pageSize = 100;
const shardDone = "~";

/** Works until all contacts are done or the time is up. In the second case it enqueues itself. */
export async function runWatchStart(orgId: number, sequenceId: number): Promise<void> {
  const until = addSeconds(workSeconds);
  const taken = await leases.take<WatchStartItem>(keys.watchStart(orgId, sequenceId), {
    seconds: leaseSeconds,
    set: watchStartDue(sequenceId, addSeconds(leaseSeconds + 30)),
    if: exists,
  });
  if (!taken) return;
  await runLeasedJob(taken.lease, {
    work: () => lookAtAll(taken.item, taken.lease, until),
    enqueueNext: () => enqueueWatchStart(orgId, sequenceId),
  });
}

async function lookAtAll(
  job: WatchStartItem,
  lease: leases.Lease,
  until: Date,
): Promise<JobOutcome> {
  const { orgId, siteId, sequenceId, since } = job;
  clearTriggerCache(orgId, siteId);
  const triggers = await getSiteTriggers(orgId, siteId);
  const trigger = triggers.find((one) => one.sequenceId === sequenceId && one.since === since);
  const removal = remove(lease.key, { if: equals("owner", lease.owner) });
  if (!trigger) return (await transact(removal)) ? "done" : "lost";
  const looks = await createLooks({ orgId, siteId }, triggers);
  const places = Object.fromEntries(
    await inParallel(4, emailShards, async (shard) => [
      shard,
      await lookAtShard(job, looks, { shard, until }),
    ]),
  ) as Record<string, string>;
  if (!Object.values(places).every((place) => place === shardDone))
    return (await leases.change(lease, { set: { places } })) ? "paused" : "lost";
  const isDone = await transact(removal, readyWrite(job, trigger));
  clearTriggerCache(orgId, siteId);
  return isDone ? "done" : "lost";
}

async function lookAtShard(
  { orgId, siteId, places }: WatchStartItem,
  looks: Looks,
  { shard, until }: { shard: string; until: Date },
): Promise<string> {
  let place = places?.[shard] ?? "";
  while (place !== shardDone && now() < until) {
    const page: { items: { id: number }[]; next?: string } = await query<{ id: number }>(
      ranges.contacts(orgId, siteId, shard),
      { limit: pageSize, after: place || undefined, attributes: ["id"], consistent: true },
    );
    await inParallel(4, page.items, ({ id: contactId }) =>
      lookAtContact(orgId, looks, { contactId, sequenceIds: [] }),
    );
    place = page.next ?? shardDone;
  }
  return place;
}

/** From now on, a contact without a state was looked at, and was no member. */
const readyWrite = ({ orgId, siteId, sequenceId, since }: WatchStartItem, trigger: SiteTrigger) => {
  const name = `q${sequenceId}`;
  const isSame = all(exists, equals([name, "since"], since));
  const set = { [name]: { ...trigger, isReady: true } };
  return update(keys.siteTriggers(orgId, siteId), { set }, { if: isSame });
};
