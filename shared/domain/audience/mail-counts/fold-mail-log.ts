// Folds the mail log of a site: adds its entries to the buckets of counts and to the lists of
// mailed contacts, and deletes them. A fold has a number and a fixed set of entries, which are
// stored before its first write. After a crash, the next worker repeats the same fold: every bucket
// takes it once.
import { all, equals, exists } from "../../../adapters/dynamodb/conditions.ts";
import { remove, transact, update, writeMany } from "../../../adapters/dynamodb/table.ts";
import type { SiteRef } from "../../../caller.ts";
import { addSeconds, now } from "../../../clock.ts";
import * as leases from "../../../kernel/leases.ts";
import { indexAttributeNames, keys } from "../../../keys.ts";
import { jobSeconds } from "../../../queues.ts";
import { addToBuckets, bucketOf, countCalls } from "./count-buckets.ts";
import {
  foldDueAttributes,
  idleSeconds,
  type MailLog,
  type MailLogEntry,
  type MailLogState,
  readMailLog,
} from "./mail-log.ts";
import { storeMailedContacts } from "./mailed-contacts.ts";

const workSeconds = jobSeconds["fold-mail-log"] - 60;
const leaseSeconds = jobSeconds["fold-mail-log"] + 30;

/** A bucket costs one write, however many mails a fold adds to it. */
const minMailsPerBucket = 16;
/** From these sizes on, the log is folded anyway: every answer about a contact reads all of it. */
const maxLoggedMails = 250_000;
const maxEntriesPerFold = 2000;

/**
 * Folds what is worth it: many mails for each bucket, or all mails once no more are handed over.
 * Does nothing while another worker folds.
 */
export async function foldMailLog(site: SiteRef): Promise<void> {
  const until = addSeconds(workSeconds);
  const key = keys.mailLogState(site.orgId, site.siteId);
  const taken = await leases.take<MailLogState>(key, { seconds: leaseSeconds, if: exists });
  if (!taken) return;
  let log = await readMailLog(site);
  while (now() < until) {
    const fold = await beginFold(taken.lease, log);
    if (!fold) break;
    await runFold(site, fold);
    if (!(await leases.change(taken.lease, { remove: ["folding"] }))) return;
    log = await readMailLog(site);
  }
  await release(taken.lease, log);
}

interface Fold {
  number: number;
  /** Sort keys of its entries. */
  entryKeys: string[];
  /** Its entries that are not deleted yet. */
  entries: MailLogEntry[];
}

/** Continues the fold that an earlier worker began, or begins one. Undefined when none is due. */
async function beginFold(
  lease: leases.Lease,
  { state, entries }: MailLog,
): Promise<Fold | undefined> {
  if (state?.folding) {
    const known = new Set(state.folding);
    return {
      number: state.fold!,
      entryKeys: state.folding,
      entries: entries.filter(({ sk }) => known.has(sk)),
    };
  }
  if (!entries.length || !isWorthwhile(entries, state)) return undefined;
  const some = entries.slice(0, maxEntriesPerFold);
  const fold = { number: (state?.fold ?? 0) + 1, entryKeys: some.map(({ sk }) => sk) };
  const isBegun = await leases.change(lease, {
    set: { fold: fold.number, folding: fold.entryKeys },
  });
  return isBegun ? { ...fold, entries: some } : undefined;
}

function isWorthwhile(entries: MailLogEntry[], state: MailLogState | undefined): boolean {
  if (isIdle(state) || entries.length >= maxEntriesPerFold) return true;
  const mails = entries.flatMap((entry) => entry.mails);
  const buckets = new Set(mails.map(({ contactId }) => bucketOf(contactId)));
  return mails.length >= maxLoggedMails || mails.length >= minMailsPerBucket * buckets.size;
}

const isIdle = (state: MailLogState | undefined): boolean =>
  (state?.markedAt ?? "") < addSeconds(-idleSeconds).toISOString();

async function runFold(site: SiteRef, { number, entryKeys, entries }: Fold): Promise<void> {
  // The entries are deleted when all buckets and lists are written.
  if (entries.length === entryKeys.length) {
    await addToBuckets(site, number, countCalls(entries));
    await storeMailedContacts(site, number, entries);
  }
  const { pk } = keys.mailLogState(site.orgId, site.siteId);
  await writeMany(entries.map(({ sk }) => remove({ pk, sk })));
}

/** Leaves the due index when the log is empty and no runner adds to it. */
async function release(lease: leases.Lease, { state, entries }: MailLog): Promise<void> {
  const isDone = !entries.length && !state?.folding && isIdle(state);
  const unchanged = all(
    leases.isOwnerCondition(lease),
    ...(state?.markedAt === undefined ? [] : [equals("markedAt", state.markedAt)]),
  );
  const isReleased =
    isDone &&
    (await transact(
      update(
        lease.key,
        { remove: ["owner", "lease", ...indexAttributeNames("due")] },
        { if: unchanged },
      ),
    ));
  if (isReleased || !state) return;
  await leases.finish(lease, { set: foldDueAttributes(state.siteId) });
}
