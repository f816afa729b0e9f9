// Hands a chunk over to the provider, call by call. Each call is claimed before it is made. The
// first write after the response is one RESULT item, which is the record of the accepted sends. The
// other sends are inserted then. After a crash, the next runner continues from what is stored.

import { absent, all, equals, exists } from "../../../adapters/dynamodb/conditions.ts";
import {
  get,
  getMany,
  insertMany,
  remove,
  transact,
  update,
  updateMany,
  type Write,
} from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import * as log from "../../../kernel/log.ts";
import { inParallel, splitIntoBatches } from "../../../kernel/parallel.ts";
import { type Key, keys } from "../../../keys.ts";
import type { HandOverOutcome } from "../../../providers/provider-adapter.ts";
import * as engagement from "../../audience/contacts/engagement.ts";
import * as mailLog from "../../audience/mail-counts/mail-log.ts";
import * as organizations from "../../identity/organizations.ts";
import * as dailyCounters from "../daily-counters.ts";
import * as sources from "../mail-sources.ts";
import { toSendFields } from "../provider-calls/provider-call.ts";
import type { SendItem } from "../sends.ts";
import { lookUpAttributes } from "../single-send-item.ts";
import * as calls from "./calls.ts";
import type { ChunkRecipient } from "./chunks.ts";
import * as chunks from "./chunks.ts";
import type { CallResult, LaneRunResult, QueuedChunk } from "./lanes.ts";
import * as lanes from "./lanes.ts";
import { type PreparedChunk, prepareChunk } from "./prepared-chunk.ts";
import * as suspended from "./suspended-chunks.ts";

export interface ChunkHandOver {
  orgId: number;
  configId: number;
  queued: QueuedChunk;
  runner: lanes.Runner;
}

/**
 * Hands over the open calls of a chunk. Removes the chunk from the lane when all calls are settled.
 */
export async function handOverChunk({
  orgId,
  configId,
  queued,
  runner,
}: ChunkHandOver): Promise<LaneRunResult> {
  const { source } = queued;
  const state = source ? await runner.readSourceState(source) : "going";
  const isUntouched = queued.callSize === undefined;
  if (state === "paused" && isUntouched) {
    await suspended.suspendChunk(orgId, queued);
    return chunkRemoved;
  }
  const stored = await prepareChunk(orgId, configId, queued);
  if (!stored) {
    await removeExpiredChunk(orgId, queued);
    return chunkRemoved;
  }
  const prepared = { ...stored, runner };
  if (state === "paused") return settleAndSuspend(prepared);
  if (isUntouched) await insertRefusedSends(prepared);
  const openCalls = prepared.calls.flatMap((recipients, call) => {
    const isCancelled = state === "cancelled" && !lanes.claimOf(queued, call);
    return lanes.isSettled(queued, call) || isCancelled ? [] : [{ recipients, call }];
  });
  const { results, unsettled } = await handOverCalls(prepared, openCalls);
  const done = results.filter((result) => result.done).length === openCalls.length;
  if (done) await finishChunk(prepared, { results, unsettled, state });
  else await settleCalls(prepared, unsettled);
  const delay = results.find((result) => result.delay)?.delay;
  const resumeDelays = results.flatMap(({ resumeAfterSeconds = [] }) => resumeAfterSeconds);
  const isPostponed =
    !delay &&
    results.length === openCalls.length &&
    resumeDelays.length > 0 &&
    (await lanes.postponeChunk({ orgId, configId }, queued, Math.min(...resumeDelays)));
  return {
    done: done || isPostponed,
    delay,
    hasProgress: results.some(({ hasProgress }) => hasProgress),
  };
}

const chunkRemoved: LaneRunResult = { done: true, hasProgress: true };

/**
 * Settles the open calls of a paused source, and suspends the chunk. Calls that a crash interrupted
 * are completed, because the provider may have their mails. Of those that the provider refused for
 * now, only the mails with an outcome are settled: no further attempt is made.
 */
async function settleAndSuspend(prepared: PreparedChunk): Promise<LaneRunResult> {
  const { orgId, queued } = prepared;
  const openCalls = await inParallel(4, lanes.listOpenClaims(queued), async (call) => {
    const recipients = prepared.calls[call]!;
    return { call, recipients, ...(await calls.getCallProgress(prepared, recipients, call)) };
  });
  const interrupted = openCalls.filter(({ isInterrupted }) => isInterrupted);
  const { results, unsettled } = await handOverCalls(prepared, interrupted);
  const recorded = await inParallel(
    4,
    openCalls.filter(({ isInterrupted }) => !isInterrupted),
    (one) => recordCall({ prepared, ...one, isDone: !one.unsettled.length }, one.results),
  );
  await settleCalls(prepared, [
    ...unsettled,
    ...recorded.filter(({ mails, part }) => mails || !part),
  ]);
  if (results.filter(({ done }) => done).length < interrupted.length)
    return { done: false, delay: results.find(({ delay }) => delay)?.delay, hasProgress: false };
  const current = (await get<QueuedChunk>(queuedKey(queued))) ?? queued;
  const settled = { ...prepared, queued: current };
  const dayCounts = await countOutcomes(settled, await listResults(settled));
  await suspended.suspendStartedChunk(orgId, current, {
    dayCounts,
    dayCounterWrites: await dayCounterWrites(settled, dayCounts),
  });
  return chunkRemoved;
}

type NumberedResult = LaneRunResult & { call: number };

interface HandedOverCalls {
  results: NumberedResult[];
  /** The calls that are done and not yet settled. */
  unsettled: RecordedCall[];
}

/**
 * The calls of a chunk are settled together when the last is done. Those of a slow chunk are
 * settled after this time, so that the counters are not late.
 */
const maxUnsettledMs = 2000;

/**
 * Makes the calls in parallel, and starts no further ones after a failure, a delay or the end of
 * the runner's time.
 */
async function handOverCalls(
  prepared: PreparedChunk,
  openCalls: { recipients: ChunkRecipient[]; call: number }[],
): Promise<HandedOverCalls> {
  const { runner, queued } = prepared;
  const stalledSince = toStalledSince(runner, queued);
  const results: NumberedResult[] = [];
  const unsettled: RecordedCall[] = [];
  const failures: unknown[] = [];
  const mustStop = () =>
    failures.length > 0 ||
    runner.calls.isStopped() ||
    results.some(({ delay, done, resumeAfterSeconds }) => delay || !(done || resumeAfterSeconds)) ||
    !runner.shouldContinue();
  const most = limitParallelCalls(prepared);
  const startedAt = now().getTime();
  const handOverNext = async (recipients: ChunkRecipient[], call: number): Promise<void> => {
    if (mustStop()) return;
    try {
      const { doneCall, ...result } = await handOverCall({
        prepared,
        recipients,
        call,
        stalledSince,
      });
      results.push({ ...result, call });
      if (doneCall) unsettled.push(doneCall);
      if (result.delay) runner.calls.stop();
      else if (result.hasProgress) runner.calls.widen();
      if (now().getTime() - startedAt > maxUnsettledMs)
        await settleCalls(prepared, unsettled.splice(0));
    } catch (error) {
      failures.push(error);
    }
  };
  // When one call fails, the others still finish: no other runner may take the lane while calls
  // are in flight.
  await Promise.all(
    openCalls.map(({ recipients, call }) =>
      runner.calls.run(most, () => handOverNext(recipients, call)),
    ),
  );
  if (!failures.length) return { results, unsettled };
  await settleCalls(prepared, unsettled);
  throw failures[0];
}

/**
 * The later of the first due time of the chunk and the provider's stall: neither new mail nor a
 * short outage reaches the retry limit.
 */
function toStalledSince(
  { stalledSince }: lanes.Runner,
  { since, at }: QueuedChunk,
): string | undefined {
  if (!stalledSince) return undefined;
  const firstDueAt = since ?? at;
  return stalledSince > firstDueAt ? stalledSince : firstDueAt;
}

/** As many as start within a second: more do not help when the rate limit is the bottleneck. */
function limitParallelCalls({ transport, callSize }: PreparedChunk): number {
  if (!transport) return 1;
  const { ratePerSecond } = transport.config;
  const byPace = ratePerSecond ? Math.floor(ratePerSecond / callSize) : Number.POSITIVE_INFINITY;
  return Math.max(1, Math.min(byPace, transport.limitCalls(callSize)));
}

async function finishChunk(
  prepared: PreparedChunk,
  { results: callResults, unsettled, state }: HandedOverCalls & { state: sources.SourceState },
): Promise<void> {
  const { orgId, queued } = prepared;
  const known = new Map(callResults.map(({ call, results = [] }) => [call, results]));
  const results = await listResults(prepared, known);
  if (state === "cancelled") {
    await settleCalls(prepared, unsettled);
    const cancelWrites = await suspended.cancelChunkWrites(
      orgId,
      queued.source!,
      queuedKey(queued),
    );
    return closeChunk(prepared, results, cancelWrites);
  }
  const last = unsettled.splice(-maxCallsPerTransaction);
  await settleCalls(prepared, unsettled);
  await closeChunk(prepared, results, [
    remove(queuedKey(queued), { if: all(areUnsettled(queued, last), sameDayCounts(queued)) }),
    ...(await countCallsWrites(prepared, last)),
  ]);
}

/** The results of all calls. `known`: those of some, by call. */
async function listResults(
  prepared: PreparedChunk,
  known = new Map<number, CallResult[]>(),
): Promise<CallResult[]> {
  const { queued } = prepared;
  const results = await inParallel(4, [...prepared.calls.keys()], async (call) => {
    const knownResults = known.get(call);
    if (knownResults) return knownResults;
    if (lanes.claimOf(queued, call)) return calls.listCallResults(prepared, call);
    // Settled without a claim: there was no provider to call. Neither settled nor claimed: it was
    // cancelled.
    return lanes.isSettled(queued, call)
      ? [calls.toRefusedResult(prepared, prepared.calls[call]!)]
      : [];
  });
  return results.flat();
}

/**
 * Adds the outcomes to the daily counters and makes `closingWrites`, which remove the chunk from
 * the lane, in one transaction. After a crash before it, the next runner does it again.
 */
async function closeChunk(
  prepared: PreparedChunk,
  results: CallResult[],
  closingWrites: Write[],
): Promise<void> {
  const counts = await countOutcomes(prepared, results);
  await transact(...closingWrites, ...(await dayCounterWrites(prepared, counts)));
}

async function countOutcomes(
  { orgId, queued, head, recipients }: PreparedChunk,
  results: CallResult[],
): Promise<lanes.OutcomeCounts> {
  const refused = recipients.flatMap(({ error }): HandOverOutcome[] =>
    error ? [{ status: "refused", error }] : [],
  );
  const { accepted, others } = await splitOutcomes({ orgId, block: queued.block }, results);
  const counts = { sent: accepted, failed: 0, uncertain: 0 };
  for (const outcome of [...refused, ...others]) {
    const { status } = toSendFields(outcome, head.createdAt);
    if (status === "failed" || status === "uncertain") counts[status]++;
  }
  return counts;
}

/** Writes that bring the daily counters from what the chunk counts in them already to `counts`. */
async function dayCounterWrites(
  { orgId, queued, head }: PreparedChunk,
  counts: lanes.OutcomeCounts,
): Promise<Write[]> {
  const known = queued.dayCounts ?? { sent: 0, failed: 0, uncertain: 0 };
  const added = {
    sent: counts.sent - known.sent,
    failed: counts.failed - known.failed,
    uncertain: counts.uncertain - known.uncertain,
  };
  const date = await organizations.getToday(orgId);
  return dailyCounters.dayCounterWrites(
    orgId,
    { siteId: head.siteId, date, shardSeed: queued.block },
    [{ configId: head.sendingConfigId, counts: added }],
  );
}

const sameDayCounts = ({ dayCounts }: QueuedChunk) =>
  dayCounts ? equals("dayCounts", dayCounts) : absent("dayCounts");

/**
 * The number of accepted mails, and the outcomes of the others. A mail with an event that arrived
 * first counts as accepted, as in `toSourceCounts`.
 */
async function splitOutcomes(
  { orgId, block }: { orgId: number; block: number },
  results: CallResult[],
): Promise<{ accepted: number; others: HandOverOutcome[] }> {
  const outcomes = results.flatMap((result) =>
    result.outcomes.filter(([, { status }]) => status !== "held"),
  );
  const unaccepted = outcomes.filter(([, { status }]) => status !== "accepted");
  const sends = await getMany<SendItem>(
    unaccepted.map(([i]) => keys.send(orgId, chunks.sendIdOf(block, { i }))),
    { consistent: true },
  );
  const others = unaccepted.flatMap(([, outcome], k) => (sends[k]?.early ? [] : [outcome]));
  return { accepted: outcomes.length - others.length, others };
}

/**
 * The recipients are no longer stored, for example because a campaign was paused for months. The
 * chunks behind this one must not wait.
 */
async function removeExpiredChunk(orgId: number, queued: QueuedChunk): Promise<void> {
  const { source } = queued;
  await transact(
    ...(source
      ? await suspended.cancelChunkWrites(orgId, source, queued)
      : [remove(queued, { if: lanes.unchangedCondition(queued) })]),
  );
}

const queuedKey = ({ pk, sk }: QueuedChunk): Key => ({ pk, sk });

const insertRefusedSends = ({ orgId, queued, head, recipients }: PreparedChunk) =>
  insertSends(
    orgId,
    recipients
      .filter(({ error }) => error)
      .map((recipient) => chunks.toSendItem(head, queued.block, recipient)),
  );

/**
 * Returns which sends are new. A send that cannot be stored is stored without its metadata, so that
 * it does not block the others.
 */
async function insertSends(orgId: number, sends: SendItem[]): Promise<boolean[]> {
  const insert = (some: SendItem[]) =>
    insertMany(some.map((send) => ({ key: keys.send(orgId, send.id), item: send })));
  try {
    return await insert(sends);
  } catch (error) {
    const each = await inParallel(4, sends, (send) =>
      insert([send]).catch((reason: unknown) => {
        log.error("send stored without its metadata", reason, { orgId, sendId: send.id });
        return insert([{ ...send, metadata: undefined }]);
      }),
    );
    log.error("sends stored one by one", error, { orgId, sends: sends.length });
    return each.flat();
  }
}

interface OpenCall {
  prepared: PreparedChunk;
  recipients: ChunkRecipient[];
  call: number;
  stalledSince: string | undefined;
}

/** Continues one call from where earlier attempts left it. A call that is done is to be settled. */
async function handOverCall({
  prepared,
  recipients,
  call,
  stalledSince,
}: OpenCall): Promise<LaneRunResult & { doneCall?: RecordedCall }> {
  const { queued, source } = prepared;
  // A campaign that was stopped in the meantime starts no further calls.
  if (
    source &&
    !lanes.claimOf(queued, call) &&
    (await prepared.runner.readSourceState(source)) !== "going"
  )
    return { done: false, hasProgress: false };
  const progress = await calls.getCallProgress(prepared, recipients, call);
  const attempt: LaneRunResult = progress.unsettled.length
    ? await calls.attemptCall(prepared, call, { progress, stalledSince })
    : { done: true, hasProgress: true, results: [] };
  if (!attempt.results) return attempt;
  // A crash may have interrupted the writes after an earlier attempt. They are repeated, and have
  // no effect where they were made.
  const results = [...progress.results, ...attempt.results];
  const recorded = await recordCall({ prepared, recipients, call, isDone: attempt.done }, results);
  return attempt.done
    ? { ...attempt, resumeAfterSeconds: undefined, results, doneCall: recorded }
    : { ...attempt, results };
}

/** Records the mails that have an outcome. Safe to repeat. `isDone`: all of them have. */
async function recordCall(
  { prepared, recipients, call, isDone }: Omit<OpenCall, "stalledSince"> & { isDone: boolean },
  allResults: CallResult[],
): Promise<RecordedCall> {
  const { lastAttempt, recipients: settled } = lanes.settledPartOf(prepared.queued, call);
  const results = allResults.filter(({ attempt }) => !attempt || attempt > lastAttempt);
  const loggedCall = isDone ? toLoggedCall(prepared, recipients, allResults) : undefined;
  const { mails, counts } = await recordSends(prepared, recipients, { results, loggedCall });
  const part = { lastAttempt: allResults.at(-1)?.attempt ?? 0, recipients: settled + mails };
  return { call, mails, counts, loggedCall, ...(!isDone && { part }) };
}

/** An entry of the mail log costs as much as counting 4 mails on their contacts. */
const minLoggedRecipients = 5;

/**
 * The accepted mails for the mail log of the site. Undefined when they are counted on their
 * contacts: mails of other sources, of small calls, and of the rare calls that took several
 * attempts. The decision depends on the stored chunk and results only, so it is the same after a
 * crash.
 */
function toLoggedCall(
  { source, head, queued }: PreparedChunk,
  recipients: ChunkRecipient[],
  results: CallResult[],
): mailLog.LoggedCall | undefined {
  const [result, ...others] = results;
  if (!head.isLogged || !source || source.kind === "sequence") return undefined;
  if (!result?.at || others.length) return undefined;
  if (recipients.length < minLoggedRecipients) return undefined;
  const accepted = new Set(
    result.outcomes.flatMap(([i, { status }]) => (status === "accepted" ? i : [])),
  );
  const mails = recipients.flatMap((recipient) =>
    recipient.contactId && accepted.has(recipient.i)
      ? { sendId: chunks.sendIdOf(queued.block, recipient), contactId: recipient.contactId }
      : [],
  );
  return { source: { kind: source.kind, id: source.id }, at: result.at, mails };
}

interface RecordedCall {
  call: number;
  /** The number of mails that have an outcome and were not counted yet. */
  mails: number;
  counts: sources.SourceCounts;
  loggedCall: mailLog.LoggedCall | undefined;
  /** Absent when the call is done. */
  part?: lanes.SettledPart;
}

// Each call may have an entry in the mail log, and a transaction has at most 100 items.
const maxCallsPerTransaction = 25;

/** Marks calls as settled in the transactions that count them, so each mail is counted once. */
async function settleCalls(prepared: PreparedChunk, recorded: RecordedCall[]): Promise<void> {
  const { queued } = prepared;
  for (const group of splitIntoBatches(recorded, maxCallsPerTransaction)) {
    const marks = group.map(({ call, part }) => (part ? [`p${call}`, part] : [`d${call}`, true]));
    const doneLines = group.reduce((sum, { mails }) => sum + mails, 0);
    const settle = update(
      queuedKey(queued),
      {
        set: Object.fromEntries(marks),
        add: { moves: 1, ...(prepared.source && { doneLines }) },
      },
      { if: areUnsettled(queued, group) },
    );
    await transact(settle, ...(await countCallsWrites(prepared, group)));
  }
}

const areUnsettled = (queued: QueuedChunk, recorded: RecordedCall[]) =>
  all(exists, ...recorded.map(({ call }) => lanes.unsettledCondition(queued, call)));

/**
 * Writes that count the mails of calls for their mail source and add them to the mail log. None for
 * transactional mail.
 */
async function countCallsWrites(
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
    counts: { ...counts, ...(lanes.claimOf(queued, call) && { sending: -mails }) },
  }));
  return [...logWrites, ...sources.addSourceCountWrites(orgId, queued.block + first.call, changes)];
}

interface SettledMail {
  recipient: ChunkRecipient;
  outcome: HandOverOutcome;
  result: CallResult;
}

/**
 * Records accepted mails on their contacts, unless the mail log counts them. Inserts the sends that
 * were not accepted. Returns the number of all of them, and what they count for the mail source.
 */
async function recordSends(
  prepared: PreparedChunk,
  recipients: ChunkRecipient[],
  { results, loggedCall }: Pick<RecordedCall, "loggedCall"> & { results: CallResult[] },
): Promise<Pick<RecordedCall, "mails" | "counts">> {
  const byIndex = new Map(recipients.map((recipient) => [recipient.i, recipient]));
  const settled = results.flatMap((result) =>
    result.outcomes.flatMap(([i, outcome]): SettledMail[] =>
      outcome.status === "held" ? [] : [{ recipient: byIndex.get(i)!, outcome, result }],
    ),
  );
  const isInResult = ({ outcome, result }: SettledMail) =>
    outcome.status === "accepted" && result.at !== undefined;
  const accepted = settled.filter(isInResult);
  const [counts] = await Promise.all([
    insertSettledSends(
      prepared,
      settled.filter((mail) => !isInResult(mail)),
    ),
    loggedCall ? undefined : recordAcceptedMails(prepared, accepted),
  ]);
  return {
    mails: settled.length,
    counts: { ...counts, sent: (counts.sent ?? 0) + accepted.length },
  };
}

/** Counts accepted mails on their contacts. Safe to repeat. */
async function recordAcceptedMails(
  { orgId, queued, head, source }: PreparedChunk,
  mails: SettledMail[],
): Promise<void> {
  const sends = mails.flatMap(({ recipient, result: { at, contactIds = {} } }) => {
    const contactId = recipient.contactId ?? contactIds[recipient.i];
    return contactId === undefined
      ? []
      : [
          {
            id: chunks.sendIdOf(queued.block, recipient),
            siteId: head.siteId,
            toEmail: recipient.to,
            contactId,
            sentAt: at,
            ...(source && sources.toSourceFields(source)),
          },
        ];
  });
  const contacts = await engagement.getAddressees(orgId, sends, { consistent: false });
  await engagement.recordSends(orgId, sends, contacts);
}

/** Inserts the sends and returns what they count for the mail source. */
async function insertSettledSends(
  { orgId, queued, head, transport }: PreparedChunk,
  settled: SettledMail[],
): Promise<sources.SourceCounts> {
  const sendsWithoutContact = settled.map(({ recipient, outcome, result }) => {
    const { revision, storedAt = now().toISOString() } = result;
    const send = chunks.toSendItem(head, queued.block, recipient);
    return {
      ...send,
      ...(transport && { provider: transport.provider.key }),
      ...toSendFields(outcome, storedAt),
      ...(transport &&
        outcome.status === "uncertain" &&
        lookUpAttributes(orgId, send.id, { provider: transport.provider, revision })),
    };
  });
  const contacts = await engagement.getAddressees(orgId, sendsWithoutContact);
  const sends = sendsWithoutContact.map((send, i) => ({
    ...send,
    contactId: send.contactId ?? contacts[i]?.id,
  }));
  const sentSends = sends.filter(({ status }) => status === "sent");
  const sentContacts = contacts.filter((_, i) => sends[i]!.status === "sent");
  // Both are safe to repeat, and independent of each other.
  const [isNew] = await Promise.all([
    insertSends(orgId, sends),
    engagement.recordSends(orgId, sentSends, sentContacts),
  ]);
  const existing = await getMany<SendItem>(
    sends.flatMap(({ id }, i) => (isNew[i] ? [] : [keys.send(orgId, id)])),
    { consistent: true },
  );
  const existingById = new Map(existing.flatMap((send) => (send ? [[send.id, send]] : [])));
  await addProviderFields(
    orgId,
    sentSends.filter(({ id }) => existingById.has(id) && !existingById.get(id)!.sentAt),
  );
  const counts: sources.SourceCounts = {};
  for (const [k, { outcome }] of settled.entries()) {
    const change = toSourceCounts(outcome, existingById.get(sends[k]!.id));
    for (const [name, n] of Object.entries(change))
      counts[name as sources.SourceCounter] = (counts[name as sources.SourceCounter] ?? 0) + n;
  }
  return counts;
}

/** An event that arrived first proves that the mail was sent, whatever the response said. */
const toSourceCounts = (
  outcome: HandOverOutcome,
  existing: SendItem | undefined,
): sources.SourceCounts =>
  existing?.early
    ? { sent: 1 }
    : sources.countsOfSettled({ status: "failed", ...toSendFields(outcome, "") });

/**
 * For sends that an event inserted first: keeps the state from the event and adds the fields from
 * the provider's response.
 */
const addProviderFields = (orgId: number, sends: SendItem[]) =>
  updateMany(
    sends.map(({ id, contactId, provider, providerMessageId, sentAt }) => ({
      key: keys.send(orgId, id),
      set: { contactId, provider, providerMessageId, sentAt },
      ifEquals: { id },
    })),
  );
