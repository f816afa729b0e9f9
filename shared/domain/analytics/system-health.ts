// The state of the whole installation, for its operators: queues, work that is due, lanes and
// schedules. A reading costs at most about 250 read units and 24 requests to SQS.
import * as z from "zod";
import { getMany, query } from "../../adapters/dynamodb/table.ts";
import { countMessages } from "../../adapters/sqs/message-counts.ts";
import type { Caller } from "../../caller.ts";
import { addSeconds, now } from "../../clock.ts";
import { missing } from "../../errors.ts";
import { type DueEntry, readOldestDueTimes } from "../../kernel/due-index.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { Count, RecordId, Timestamp } from "../../kernel/record-fields.ts";
import { readLastRuns } from "../../kernel/schedule-runs.ts";
import { describeStop, getSendingStop } from "../../kernel/sending-stop.ts";
import { Checks, checkDependencies } from "../../kernel/service-health.ts";
import { dueShards, dueWorkKinds, enrollmentShards, indexes, ranges } from "../../keys.ts";
import { queues } from "../../queues.ts";
import { version } from "../../version.ts";
import { isOperator } from "../identity/operators.ts";
import type { LaneState } from "../sending/bulk/lanes.ts";
import type { QueuedChunk } from "../sending/bulk/queued-chunk.ts";
import {
  isBreakerOpen,
  isPaused,
  type LimiterState,
} from "../sending/provider-calls/rate-limiter.ts";

// Named one by one, because the permissions of the function follow from these names.
const watchedQueues = [
  queues.send,
  queues.lane,
  queues.campaigns,
  queues.fanOut,
  queues.drain,
  queues.providerEvents,
  queues.inbound,
  queues.forward,
  queues.submission,
  queues.advance,
  queues.stepTasks,
  queues.jobs,
  queues.report,
  queues.systemMail,
];

const Queue = z.object({
  name: z.string().describe("Name of the queue, such as `send`."),
  waiting: Count.describe("Messages that wait for a worker, as SQS counts them: approximately."),
  delayed: Count.describe("Messages that wait for their time."),
  inProgress: Count.describe("Messages that a worker has, or that failed and wait for a retry."),
  deadLetters: Count.describe("Messages that failed for good, in the dead-letter queue."),
});

const DueWork = z.object({
  kind: z.string().describe("Kind of the work, such as `import` or `enrollment`."),
  oldestDueAt: Timestamp.describe("When the oldest work of this kind was or is due."),
  lateSeconds: Count.describe("For how long the oldest work has been due. 0: it is in the future."),
});

const Lane = z.object({
  organizationId: RecordId.describe("Organization of the sending config."),
  sendingConfigId: RecordId.describe("Sending config whose email waits."),
  state: z
    .enum(["running", "paused", "failing"])
    .describe(
      "`running`: email goes out or is about to. `paused`: the provider asked for a pause. " +
        "`failing`: the provider failed several times in a row, and is tried once a minute.",
    ),
  chunks: Count.describe("Chunks of up to 500 emails that wait, up to 25."),
  emails: Count.describe("Emails in these chunks."),
  hasMore: z.boolean().describe("Whether more than 25 chunks wait."),
  oldestAt: Timestamp.nullable().describe(
    "When the first waiting chunk was due. `null`: none waits.",
  ),
  failingSince: Timestamp.nullable().describe(
    "Since when the provider has accepted nothing. `null`: it accepts email.",
  ),
  resumesAt: Timestamp.nullable().describe("End of the pause, or `null`."),
});

const ScheduleState = z.object({
  name: z.string().describe("Name of the schedule."),
  lastRunAt: Timestamp.describe("Its last recorded run. Every fifth minute is recorded."),
});

const Problem = z.object({
  code: z
    .enum([
      "table",
      "queue",
      "sending_stopped",
      "dead_letters",
      "late_work",
      "schedule_stopped",
      "provider_failing",
    ])
    .describe("Kind of the problem."),
  message: z.string().describe("What is wrong and what to do, as sentences."),
});
type Problem = z.output<typeof Problem>;

export const SystemHealth = z
  .object({
    status: z
      .enum(["ok", "attention"])
      .describe("`attention`: somebody should look at `problems`."),
    problems: z.array(Problem).describe("What somebody should look at. Empty: all is well."),
    checkedAt: Timestamp.describe("When it was read. A reading is kept for 10 seconds."),
    version: z.string().describe("Version of the service."),
    node: z.string().describe("Version of Node."),
    checks: Checks.describe("Whether the service reaches its table and a queue."),
    messageQueues: z.array(Queue).describe("Every queue, with its messages."),
    dueWork: z.array(DueWork).describe("Stored work by kind, the latest first."),
    lanes: z
      .array(Lane)
      .describe("Up to 50 lanes (the waiting email of one sending config), failing ones first."),
    schedules: z.array(ScheduleState).describe("The schedules that have run."),
  })
  .meta({ id: "SystemHealth" });
export type SystemHealth = z.output<typeof SystemHealth>;

const keptMs = 10_000;
let latest: { health: Promise<SystemHealth>; expires: number } | undefined;

/** Throws 404 unless the caller is an operator. */
export async function getSystemHealth(caller: Caller): Promise<SystemHealth> {
  if (!(await isOperator(caller))) throw missing("There is nothing here");
  const time = now().getTime();
  if (!latest || latest.expires <= time) {
    const health = readHealth();
    latest = { health, expires: time + keptMs };
    health.catch(() => {
      latest = undefined;
    });
  }
  return latest.health;
}

/** Reads the state without asking who wants it. */
export async function readHealth(): Promise<SystemHealth> {
  const [checks, messageQueues, dueWork, lanes, schedules] = await Promise.all([
    checkDependencies(),
    inParallel(12, watchedQueues, async (queue) => ({
      name: queue.name,
      ...(await countMessages(queue)),
    })),
    readDueWork(),
    readLanes(),
    readLastRuns(),
  ]);
  const parts = { checks, messageQueues, dueWork, lanes, schedules };
  const problems = findProblems(parts);
  return {
    status: problems.length ? "attention" : "ok",
    problems,
    checkedAt: now().toISOString(),
    version,
    node: process.versions.node,
    ...parts,
  };
}

const numbersTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

async function readDueWork(): Promise<SystemHealth["dueWork"]> {
  const shards = [
    ...dueWorkKinds.flatMap((kind) =>
      numbersTo(dueShards).map((shard) => ({
        kind: kind as string,
        range: indexes.due(kind, shard),
      })),
    ),
    ...numbersTo(enrollmentShards).map((shard) => ({
      kind: "ENROLLMENT",
      range: indexes.dueEnrollments(shard),
    })),
  ];
  const times = await readOldestDueTimes(shards.map(({ range }) => range));
  const first = new Map<string, string>();
  for (const [i, { kind }] of shards.entries()) {
    const at = times[i];
    if (at !== undefined && at < (first.get(kind) ?? "~")) first.set(kind, at);
  }
  const time = now().getTime();
  return [...first]
    .toSorted(([, a], [, b]) => a.localeCompare(b))
    .map(([kind, oldestDueAt]) => ({
      kind: kind.toLowerCase(),
      oldestDueAt,
      lateSeconds: Math.max(0, Math.floor((time - Date.parse(oldestDueAt)) / 1000)),
    }));
}

const lanesPerShard = 25;
const maxLanes = 50;
const chunksPerLane = 25;

type LaneItem = LimiterState & LaneState & { orgId: number; configId: number };

/** Lanes with email are on the due index. */
async function readLanes(): Promise<SystemHealth["lanes"]> {
  const pages = await Promise.all(
    numbersTo(dueShards).map((shard) =>
      query<DueEntry>(indexes.due("LANE", shard), { limit: lanesPerShard }),
    ),
  );
  const items = await getMany<LaneItem>(pages.flatMap(({ items: entries }) => entries));
  const found = items.filter((item) => item !== undefined);
  const ranked = found.toSorted((a, b) => Number(isBreakerOpen(b)) - Number(isBreakerOpen(a)));
  const lanes = await inParallel(10, ranked.slice(0, maxLanes), readLane);
  return lanes.filter(({ chunks, failingSince }) => chunks > 0 || failingSince !== null);
}

async function readLane(item: LaneItem): Promise<SystemHealth["lanes"][number]> {
  const { orgId, configId, heldSince, notBefore } = item;
  const { items, next } = await query<QueuedChunk>(ranges.queuedChunks(orgId, configId), {
    limit: chunksPerLane,
    attributes: ["n", "at", "since"],
  });
  return {
    organizationId: orgId,
    sendingConfigId: configId,
    state: stateOf(item),
    chunks: items.length,
    emails: items.reduce((sum, { n }) => sum + n, 0),
    hasMore: next !== undefined,
    oldestAt: items.map(({ at, since }) => since ?? at).toSorted()[0] ?? null,
    failingSince: heldSince ?? null,
    resumesAt: isPaused(item) ? new Date(notBefore ?? 0).toISOString() : null,
  };
}

function stateOf(item: LimiterState): SystemHealth["lanes"][number]["state"] {
  if (isBreakerOpen(item)) return "failing";
  return isPaused(item) ? "paused" : "running";
}

/** Until then, the next run of a schedule or the retry of a message settles it. */
const lateAfterSeconds = 600;
const stoppedAfterSeconds = 900;

type HealthParts = Pick<
  SystemHealth,
  "checks" | "messageQueues" | "dueWork" | "lanes" | "schedules"
>;

function findProblems(health: HealthParts): Problem[] {
  const { checks, messageQueues, dueWork, lanes, schedules } = health;
  const problems: Problem[] = [];
  if (checks.table.status !== "ok")
    problems.push({
      code: "table",
      message: "The service does not reach its table. Requests fail until it does.",
    });
  if (checks.queue.status !== "ok")
    problems.push({
      code: "queue",
      message: "The service does not reach SQS. Email is stored and goes out later.",
    });
  const stop = getSendingStop();
  if (stop) problems.push({ code: "sending_stopped", message: describeStop(stop) });
  for (const { name, deadLetters } of messageQueues)
    if (deadLetters > 0)
      problems.push({
        code: "dead_letters",
        message:
          `${deadLetters} ${deadLetters === 1 ? "message" : "messages"} of the queue ${name} ` +
          "failed for good. Look for errors in the log, correct the cause, then redrive them " +
          "from the dead-letter queue within 14 days.",
      });
  for (const { kind, lateSeconds } of dueWork)
    if (lateSeconds > lateAfterSeconds)
      problems.push({
        code: "late_work",
        message:
          `Work of the kind ${kind} has been due for ${Math.floor(lateSeconds / 60)} minutes. ` +
          "Check that the schedules run and that the log has no errors.",
      });
  const stopped = addSeconds(-stoppedAfterSeconds).toISOString();
  for (const { name, lastRunAt } of schedules)
    if (lastRunAt < stopped)
      problems.push({
        code: "schedule_stopped",
        message: `The schedule ${name} has not run since ${lastRunAt}. Due work waits for it.`,
      });
  for (const { state, organizationId, sendingConfigId, failingSince } of lanes)
    if (state === "failing")
      problems.push({
        code: "provider_failing",
        message:
          `The provider of sending config ${sendingConfigId} of organization ${organizationId} ` +
          `has accepted no email since ${failingSince ?? "a few minutes"}. It is tried once a ` +
          "minute; tell the organization if it goes on.",
      });
  return problems;
}
