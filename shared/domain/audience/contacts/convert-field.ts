// Converts the values of a custom field to its new type, page by page. A worker that continues
// after a crash repeats at most one page, and a converted value reads as itself.
import { isDeepStrictEqual } from "node:util";
import { present } from "../../../adapters/dynamodb/conditions.ts";
import { ConditionFailed, checkCondition, write } from "../../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../../clock.ts";
import { conflict, Problem, undefinedIfMissing } from "../../../errors.ts";
import {
  finishJob,
  type JobOutcome,
  runLeasedJob,
  saveProgress,
  takeJob,
} from "../../../kernel/leased-job.ts";
import { isOwnerCondition, type Lease } from "../../../kernel/leases.ts";
import { inParallel, splitIntoBatches } from "../../../kernel/parallel.ts";
import { isDeleted } from "../../../kernel/site-access.ts";
import { emailShards } from "../../../keys.ts";
import { jobSeconds } from "../../../queues.ts";
import * as organizations from "../../identity/organizations.ts";
import { commitContactChanges } from "./contact-events.ts";
import { readShard } from "./contact-reader.ts";
import type { ContactItem } from "./contact-schema.ts";
import * as contactWrites from "./contact-writes.ts";
import * as contacts from "./contacts.ts";
import {
  type ConversionRef,
  dueAttributes,
  enqueueConversion,
  type FieldConversionItem,
  keyOf,
  maxFailures,
} from "./field-conversions.ts";
import { parseFieldValue } from "./parse-field-value.ts";

interface TakenConversion {
  item: FieldConversionItem;
  lease: Lease;
  until: Date;
}

/**
 * Works until all values are converted or the time is up; then another message continues.
 * Idempotent. Does nothing while another worker has the lease.
 */
export async function convertField(conversion: ConversionRef): Promise<void> {
  const timeoutSeconds = jobSeconds["convert-field"];
  const taken = await takeJob<FieldConversionItem>(keyOf(conversion), {
    timeoutSeconds,
    dueAttributes: (seconds) => dueAttributes(conversion.siteId, seconds),
  });
  if (!taken) return;
  const job = { ...taken, until: addSeconds(timeoutSeconds - 30) };
  await runLeasedJob(job.lease, {
    work: () => convertShards(job),
    enqueueNext: () => enqueueConversion(conversion),
    fail: ({ message }) => finishJob(job, { status: "failed", error: message }),
  });
}

/** Contacts that one read returns at most. */
const pageSize = 500;

async function convertShards(job: TakenConversion): Promise<JobOutcome> {
  const { item } = job;
  const timezone = await organizations.getTimezone(item.orgId);
  const filter = present(["customFields", item.name]);
  while (item.shard < emailShards.length) {
    const { shard } = item;
    const options = { filter, after: item.after ?? undefined, limit: pageSize };
    for await (const { items, next } of readShard(item, emailShards[shard]!, options)) {
      if (await isDeleted(item.orgId, item.siteId)) return "lost";
      const errors = await convertPage(job, items, timezone);
      if (!errors) return "lost";
      const progress = {
        shard: next === undefined ? shard + 1 : shard,
        after: next ?? null,
        processed: item.processed + items.length,
        failed: item.failed + errors.length,
        failures: [...item.failures, ...errors].slice(0, maxFailures),
      };
      if (!(await saveProgress(job, progress))) return "lost";
      if (now() >= job.until) return "paused";
    }
  }
  await finishJob(job, { status: "completed" });
  return "done";
}

interface Failure {
  contactId: number;
  error: string;
}

const contactsPerWrite = 25;
const lostLease = conflict("Another worker converts the field");

/** The contacts that keep their value. Undefined if the lease was lost. */
async function convertPage(
  job: TakenConversion,
  items: ContactItem[],
  timezone: string,
): Promise<Failure[] | undefined> {
  const plans = items.map((current) => ({ current, ...planChange(job.item, current, timezone) }));
  const changed = plans.flatMap(({ current, next }) => (next ? [{ current, next }] : []));
  try {
    await inParallel(4, splitIntoBatches(changed, contactsPerWrite), (some) =>
      writeTogether(job, some, timezone),
    );
  } catch (error) {
    if (error === lostLease) return undefined;
    throw error;
  }
  return plans.flatMap(({ current, error }) =>
    error === undefined ? [] : [{ contactId: current.id, error }],
  );
}

interface Change {
  current: ContactItem;
  next: ContactItem;
}

/** What the contact becomes. Neither `next` nor `error`: it stays as it is. */
function planChange(
  { name, type, format }: FieldConversionItem,
  current: ContactItem,
  timezone: string,
): { next?: ContactItem; error?: string } {
  const given = current.customFields?.[name];
  if (given === undefined || given === null) return {};
  const parsed = parseFieldValue(type, given, { ...format, timezone });
  if (parsed.error !== undefined) return { error: parsed.error };
  if (isDeepStrictEqual(parsed.value, given)) return {};
  try {
    const customFields = { [name]: parsed.value };
    return { next: contactWrites.applyChanges(current, { customFields }) };
  } catch (error) {
    // For example, the contact has more fields than are allowed now.
    if (error instanceof Problem) return { error: error.message };
    throw error;
  }
}

/** Writes each alone if one of the contacts has changed since it was read. */
async function writeTogether(
  job: TakenConversion,
  changes: Change[],
  timezone: string,
): Promise<void> {
  try {
    await commit(job, changes);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    for (const { current } of changes) await writeAlone(job, current.id, timezone);
  }
}

const writeAlone = (job: TakenConversion, id: number, timezone: string): Promise<void> =>
  contacts
    .changeWithRetry({ orgId: job.item.orgId }, { id }, async (current) => {
      const { next } = planChange(job.item, current, timezone);
      if (next) await commit(job, [{ current, next }]);
    })
    .catch(undefinedIfMissing);

async function commit({ item, lease }: TakenConversion, changes: Change[]): Promise<void> {
  const transitions = changes.map(({ current, next }) => ({ before: current, after: next }));
  await commitContactChanges(item.orgId, { transitions }, (extraWrites) =>
    write(
      checkCondition(lease.key, isOwnerCondition(lease), lostLease),
      ...changes.flatMap(({ current, next }) =>
        contactWrites.changeWrites(current, next, lostLease),
      ),
      ...extraWrites,
    ),
  );
}
