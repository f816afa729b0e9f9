// Moves the log of a merged contact to the one that it was merged into. Each transaction deletes
// entries here and stores them there, so a worker that continues after a crash finds the rest, and
// no reader of both logs sees an entry twice.
import { all, equals, exists } from "../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  getMany,
  put,
  queryPages,
  remove,
  transact,
  update,
  type Write,
  write,
} from "../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../clock.ts";
import { type JobOutcome, runLeasedJob } from "../../kernel/leased-job.ts";
import * as leases from "../../kernel/leases.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { isDeleted } from "../../kernel/site-access.ts";
import { type Key, keys, ranges, sha256 } from "../../keys.ts";
import { jobSeconds } from "../../queues.ts";
import * as confirmations from "../audience/contacts/confirmations.ts";
import { getByIds } from "../audience/contacts/contact-lookups.ts";
import * as leadScores from "../audience/scoring/lead-scores.ts";
import * as activities from "../audience/tracking/activities.ts";
import * as enrollmentSchema from "../automation/enrollment-schema.ts";
import * as submissions from "../forms/submissions.ts";
import { type ContactMergeItem, dueAttributes, enqueueMerge } from "./merge-job.ts";

const leaseSeconds = jobSeconds["merge-contact"] + 30;

/**
 * Moves entries until none is left or the time is up; then another message continues. Idempotent.
 * Does nothing while another worker has the lease.
 */
export async function moveHistory(orgId: number, contactId: number): Promise<void> {
  const taken = await leases.take<ContactMergeItem>(keys.contactMerge(orgId, contactId), {
    seconds: leaseSeconds,
    set: dueAttributes(contactId, leaseSeconds + 30),
    if: exists,
  });
  if (!taken) return;
  const until = addSeconds(jobSeconds["merge-contact"] - 30);
  await runLeasedJob(taken.lease, {
    work: () => moveAll(taken, until),
    enqueueNext: () => enqueueMerge(orgId, contactId),
  });
}

interface TakenMerge {
  item: ContactMergeItem;
  lease: leases.Lease;
}

// The transaction takes up to three writes for each.
const entriesPerWrite = 25;

async function moveAll({ item, lease }: TakenMerge, until: Date): Promise<JobOutcome> {
  const options = { limit: entriesPerWrite, consistent: true };
  const log = ranges.contactLog(item.orgId, item.id);
  for await (const page of queryPages<Key>(log, options)) {
    // The erasure of the site deletes both contacts.
    if (await isDeleted(item.orgId, item.siteId)) return "lost";
    await moveEntries(item, page.items);
    if (now() >= until) return "paused";
  }
  return finish({ item, lease });
}

async function finish({ item, lease }: TakenMerge): Promise<JobOutcome> {
  const { orgId, id, into } = item;
  return retryOnConflict("The contact", async () => {
    const [target] = await getByIds(orgId, [into], { consistent: true });
    const isFinished = await transact(
      remove(lease.key, { if: leases.isOwnerCondition(lease) }),
      ...(target
        ? [
            update(
              target,
              { remove: ["merging"], add: { v: 1 } },
              { if: all(equals("id", into), equals("merging", id)) },
            ),
          ]
        : []),
    );
    if (isFinished) return "done";
    const [job] = await getMany<ContactMergeItem>([lease.key], { consistent: true });
    if (job?.owner !== lease.owner) return "lost";
    throw new ConditionFailed(0);
  });
}

type Entry = Key & Record<string, unknown>;

const moveEntries = (merge: ContactMergeItem, found: Key[]): Promise<void> =>
  retryOnConflict("The contact", async () => {
    const entries = (await getMany<Entry>(found, { consistent: true })).flatMap((one) => one ?? []);
    const writes = await Promise.all(entries.map((entry) => moveWrites(merge, entry)));
    await write(...writes.flat());
  });

/** Fails if another worker has moved the entry. */
async function moveWrites(merge: ContactMergeItem, entry: Entry): Promise<Write[]> {
  const { pk, sk } = entry;
  const [, move = moveUnchanged] = movesByPrefix.find(([prefix]) => sk.startsWith(prefix)) ?? [];
  return [remove({ pk, sk }, { if: exists }), ...(await move(merge, entry))];
}

type Move = (merge: ContactMergeItem, entry: Entry) => Write[] | Promise<Write[]>;

const targetKey = ({ orgId, into }: ContactMergeItem, { sk }: Key): Key =>
  keys.contactLog(orgId, into, sk);

const moveUnchanged: Move = (merge, entry) => [put(targetKey(merge, entry), entry)];

const moveActivity: Move = ({ orgId, into }, entry) => [
  activities.activityCopyWrite(orgId, entry as unknown as activities.ActivityItem, into),
];

/** Both contacts may have points of the same cause, such as a tag that they got at one time. */
const moveScore: Move = async (merge, entry) => {
  const [taken] = await getMany([targetKey(merge, entry)], { consistent: true });
  const other = `${entry.sk.slice(0, entry.sk.lastIndexOf("|"))}|${otherHash(merge, entry)}`;
  const key = taken ? { ...entry, sk: other } : entry;
  return [put(targetKey(merge, key), entry, { ifAbsent: true })];
};

const otherHash = ({ id }: ContactMergeItem, { sk }: Key): string =>
  sha256(`${sk} of contact ${id}`).slice(0, 16);

const moveSubmission: Move = async (merge, entry) => {
  const { formId, place } = entry as unknown as submissions.SubmissionLogItem;
  const key = keys.submission(merge.orgId, formId, place);
  const [submission] = await getMany<submissions.SubmissionItem>([key], { consistent: true });
  return [
    put(targetKey(merge, entry), entry),
    ...(submission?.contactId === merge.id ? [ownerWrite(merge, key)] : []),
  ];
};

const moveEndedEnrollment: Move = async (merge, entry) => {
  const { id, sequenceId } = entry as unknown as enrollmentSchema.FinishedEnrollmentItem;
  const key = keys.finishedEnrollment(merge.orgId, sequenceId, {
    shard: enrollmentSchema.shardOfId(id),
    position: entry.sk.slice(enrollmentSchema.logPrefix.length),
  });
  const [ended] = await getMany<enrollmentSchema.FinishedEnrollmentItem>([key], {
    consistent: true,
  });
  return [
    put(targetKey(merge, entry), { ...entry, contactId: merge.into }),
    ...(ended?.contactId === merge.id ? [ownerWrite(merge, key)] : []),
  ];
};

const ownerWrite = ({ id, into }: ContactMergeItem, key: Key): Write =>
  update(key, { set: { contactId: into } }, { if: equals("contactId", id) });

const movesByPrefix: [string, Move][] = [
  [activities.customEventLogPrefix, moveActivity],
  [activities.pageViewLogPrefix, moveActivity],
  [leadScores.logPrefix, moveScore],
  [submissions.logPrefix, moveSubmission],
  [enrollmentSchema.logPrefix, moveEndedEnrollment],
  // The address of the merged contact is no longer one of a contact, so it cannot be confirmed.
  [confirmations.logKey, () => []],
  // Triggers watch the target itself.
  ["WATCH", () => []],
];
