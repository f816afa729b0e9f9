// Fan-out: reads the audience of a campaign or holiday shard by shard, excludes contacts who may
// not get mail, and adds chunks to the lane.
// Cursor, chunks, feed entries and counters change in one transaction. After a crash at any point,
// the next worker still reaches each contact exactly once.

import { ConditionFailed, write } from "../../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../../clock.ts";
import { undefinedIfMissing } from "../../../errors.ts";
import { type JobOutcome, runLeasedJob } from "../../../kernel/leased-job.ts";
import { release } from "../../../kernel/leases.ts";
import { queues } from "../../../queues.ts";
import { chargeMails, type MailCharge } from "../../billing/charge.ts";
import * as stageChunks from "../../sending/accept/stage-chunks.ts";
import * as lanes from "../../sending/bulk/lanes.ts";
import * as mailSources from "../../sending/mail-sources.ts";
import { loadSourcesOfLanguages } from "../../sending/rendering/mail-content.ts";
import {
  createVariableFilter,
  type VariableFilter,
} from "../../sending/rendering/variable-filter.ts";
import { type BroadcastRef, enqueueFanOut, enqueuePoll, sourceOf } from "./broadcast.ts";
import * as broadcastPlan from "./broadcast-plan.ts";
import * as fanOutCursors from "./fan-out-cursors.ts";
import * as fanOutLog from "./fan-out-log.ts";
import { createPartMessageBuilder } from "./part-messages.ts";
import * as readAudience from "./read-audience.ts";
import * as transitions from "./transitions.ts";

const workSeconds = queues.fanOut.timeoutSeconds - 60;

/**
 * Fans out one shard until it is done or stopped, or the time is up. Safe to repeat. Does nothing
 * while another worker has the shard.
 */
export async function runFanOut(key: BroadcastRef, shard: string): Promise<void> {
  const until = addSeconds(workSeconds);
  const broadcast = await transitions.getBroadcast(key);
  if (broadcast?.status !== "sending") return;
  const taken = await fanOutCursors.acquireCursor(key, shard);
  if (!taken) return;
  await runLeasedJob(taken.lease, {
    work: async () =>
      fanOutShard({ key, plan: await broadcastPlan.getPlan(key), until }, taken.item),
    enqueueNext: () => enqueueFanOut(key, [shard]),
    // For example, the sending config was deleted or the credits are used up.
    fail: async ({ kind, message }) => {
      await release(taken.lease);
      await (kind === "unpaid" ? transitions.pauseOrCancel : transitions.failBroadcast)(
        broadcast,
        message,
      );
    },
  });
}

export interface FanOutJob {
  key: BroadcastRef;
  plan: broadcastPlan.BroadcastPlan;
  until: Date;
}

async function fanOutShard(
  job: FanOutJob,
  initialCursor: fanOutCursors.FanOutCursor,
): Promise<JobOutcome> {
  const { key, plan, until } = job;
  const buildMessage = await createPartMessageBuilder(key, plan);
  const variableFilter = await loadVariableFilter(job, buildMessage);
  const loadMail = createMailLoader(buildMessage);
  let cursor = initialCursor;
  // An earlier worker may have crashed after the commit and before it marked the lane as due.
  if (cursor.n) await lanes.announceArrival(key.orgId, plan.configId);
  for await (const batch of readAudience.readAudience(job, cursor)) {
    if ((await mailSources.getSourceState(key.orgId, sourceOf(key))) !== "going") return "idle";
    if (!(await commitBatch(job, { cursor, batch }, { loadMail, variableFilter }))) return "lost";
    cursor = fanOutCursors.toAdvancedCursor(cursor, batch.nextPosition);
    if (batch.groups.length) await lanes.announceArrival(key.orgId, plan.configId);
    if (now() >= until && !cursor.done) return "paused";
  }
  await reportShardDone(key);
  return "done";
}

/**
 * Contacts who wait for the winner can get the content of any part. Undefined when a template was
 * deleted: the hand-over reports that.
 */
async function loadVariableFilter(
  { key, plan }: FanOutJob,
  buildMessage: PartMessageBuilder,
): Promise<VariableFilter | undefined> {
  const mails = plan.parts.map(async (part) =>
    loadSourcesOfLanguages(key.orgId, await buildMessage(part)).catch(undefinedIfMissing),
  );
  const loaded = (await Promise.all(mails)).filter((mail) => mail !== undefined);
  return loaded.length === mails.length ? createVariableFilter(loaded.flat()) : undefined;
}

/**
 * The worker that finishes the last shard wakes the broadcast at once, so that the next step does
 * not wait for the next poll. Moved contacts are read after all other shards.
 */
async function reportShardDone(key: BroadcastRef): Promise<void> {
  const open = (await fanOutCursors.listCursors(key)).filter(({ done }) => !done);
  if (open.every(({ shard }) => shard === fanOutCursors.movedShard)) await enqueuePoll(key);
}

type PartMessageBuilder = Awaited<ReturnType<typeof createPartMessageBuilder>>;
type MailLoader = (part: broadcastPlan.BroadcastPart | undefined) => Promise<PartMail>;
type PartMail = Pick<stageChunks.ChunkDraft, "message" | "content">;

/** Loads the mail of each part once, for all batches of the shard. */
function createMailLoader(buildMessage: PartMessageBuilder): MailLoader {
  const mails = new Map<broadcastPlan.BroadcastPart | undefined, PartMail>();
  return async (part) => {
    const known = mails.get(part);
    if (known) return known;
    const message = await buildMessage(part);
    const mail = { message, content: await stageChunks.buildMarketingContent(message) };
    mails.set(part, mail);
    return mail;
  };
}

interface ReadBatch {
  cursor: fanOutCursors.FanOutCursor;
  batch: readAudience.AudienceBatch;
}

/** False when another worker advanced the cursor. Throws 402. */
async function commitBatch(
  job: FanOutJob,
  { cursor, batch }: ReadBatch,
  {
    loadMail,
    variableFilter,
  }: { loadMail: MailLoader; variableFilter: VariableFilter | undefined },
): Promise<boolean> {
  const { key } = job;
  const drafts: stageChunks.ChunkDraft[] = await Promise.all(
    batch.groups.map(async ({ part, releaseAt, contacts }) => ({
      ...(await loadMail(part)),
      contacts,
      isSuspended: part === undefined,
      releaseAt,
      // The log of departures omits contacts who left before, so those of a notice are read again.
      ...(!job.plan.isNotice && { readAt: batch.readAt }),
      variableFilter,
    })),
  );
  const n = drafts.reduce((sum, { contacts }) => sum + contacts.length, 0);
  const reference = `${key.kind}:${key.id}:${cursor.shard}:${cursor.n}`;
  try {
    const siteSends = { siteId: job.plan.siteId, n };
    if (n)
      await chargeMails({ orgId: key.orgId, n, reference, siteSends }, (spending) =>
        writeBatch(job, { cursor, batch, drafts }, spending),
      );
    else await writeBatch(job, { cursor, batch, drafts: [] }, { writes: [], cost: undefined });
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}

async function writeBatch(
  { key, plan }: FanOutJob,
  { cursor, batch, drafts }: ReadBatch & { drafts: stageChunks.ChunkDraft[] },
  { writes: paymentWrites, cost }: MailCharge,
): Promise<void> {
  const source = sourceOf(key);
  const releases = drafts.flatMap(({ releaseAt: at, contacts }) =>
    at === undefined ? [] : [{ at, mails: contacts.length }],
  );
  const countChanges = [
    { source, counts: {}, releases },
    ...[...batch.countsByPart].map(([part, counts]) => ({
      source: part?.id === undefined ? source : { ...source, part: part.id },
      counts,
    })),
  ];
  const { blocks, writes } = drafts.length
    ? await stageChunks.stageChunks(stageChunks.allocateCharges(drafts, cost), countChanges)
    : { blocks: [], writes: mailSources.addSourceCountWrites(key.orgId, cursor.n, countChanges) };
  const logWrites = await fanOutLog.fanOutLogWrites(key, cursor, {
    siteId: plan.siteId,
    at: plan.at,
    blocks: drafts.map(({ contacts }, i) => [blocks[i]!, contacts.length]),
    decisions: {
      mailed: drafts.map(({ contacts }) => contacts.map(({ id }) => id)),
      excluded: batch.excluded,
    },
  });
  await write(
    fanOutCursors.advanceCursorWrite(key, cursor, batch.nextPosition),
    ...writes,
    ...logWrites,
    ...paymentWrites,
  );
}
