// Settles recorded calls: counts their mails for the campaign, sequence or holiday, in the
// transaction that marks the calls as settled. So each mail is counted once.

import { all, exists } from "../../../adapters/dynamodb/conditions.ts";
import { transact, update, type Write } from "../../../adapters/dynamodb/table.ts";
import { splitIntoBatches } from "../../../kernel/parallel.ts";
import * as mailLog from "../../audience/mail-counts/mail-log.ts";
import * as organizations from "../../identity/organizations.ts";
import * as mailSources from "../mail-sources.ts";
import type { PreparedChunk } from "./prepared-chunk.ts";
import { claimOf, entryKey, type QueuedChunk, unsettledCondition } from "./queued-chunk.ts";
import type { RecordedCall } from "./record-call.ts";

// Each call may have an entry in the mail log, and a transaction has at most 100 items.
export const maxCallsPerTransaction = 25;

export async function settleCalls(
  prepared: PreparedChunk,
  recorded: RecordedCall[],
): Promise<void> {
  const { queued } = prepared;
  for (const group of splitIntoBatches(recorded, maxCallsPerTransaction)) {
    const marks = group.map(({ call, attempts }) =>
      attempts ? [`p${call}`, attempts] : [`d${call}`, true],
    );
    const doneLines = group.reduce((sum, { mails }) => sum + mails, 0);
    const settle = update(
      entryKey(queued),
      {
        set: Object.fromEntries(marks),
        add: { moves: 1, ...(prepared.source && { doneLines }) },
      },
      { if: allUnsettledCondition(queued, group) },
    );
    await transact(settle, ...(await countCallsWrites(prepared, group)));
  }
}

export const allUnsettledCondition = (queued: QueuedChunk, recorded: RecordedCall[]) =>
  all(exists, ...recorded.map(({ call }) => unsettledCondition(queued, call)));

/**
 * Writes that count the mails of calls for their mail source and add them to the mail log. None for
 * transactional mail.
 */
export async function countCallsWrites(
  { orgId, head, queued, source }: PreparedChunk,
  recorded: RecordedCall[],
): Promise<Write[]> {
  const [first] = recorded;
  if (!source || !first) return [];
  const site = { orgId, siteId: head.siteId };
  const logged = recorded.flatMap(({ call, loggedCall }) =>
    loggedCall?.mails.length ? [{ call, loggedCall }] : [],
  );
  const [date, ...logWrites] = await Promise.all([
    organizations.getToday(orgId),
    ...logged.map(({ call, loggedCall }) =>
      mailLog.logCallWrite(site, { block: queued.block, chunk: queued.chunk, call }, loggedCall),
    ),
  ]);
  const loggedMails = logged.reduce((sum, { loggedCall }) => sum + loggedCall.mails.length, 0);
  if (loggedMails) await mailLog.announceMails(site, loggedMails);
  const time = { acceptedAt: head.createdAt, date };
  const changes = recorded.map(({ call, mails, counts }) => ({
    source,
    time,
    counts: { ...counts, ...(claimOf(queued, call) && { sending: -mails }) },
  }));
  return [
    ...logWrites,
    ...mailSources.addSourceCountWrites(orgId, queued.block + first.call, changes),
  ];
}
