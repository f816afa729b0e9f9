// Checks whether this process reaches the table and the queues.
import * as z from "zod";
import { get } from "../adapters/dynamodb/table.ts";
import { checkQueue } from "../adapters/sqs/enqueue.ts";
import { now } from "../clock.ts";
import { keys } from "../keys.ts";
import { queues } from "../queues.ts";
import * as log from "./log.ts";

const Check = z
  .object({
    status: z.enum(["ok", "failed"]).describe("`ok`, or `failed` while the check fails."),
    since: z.iso
      .datetime()
      .nullable()
      .describe("When this process first saw the failure. `null` while the check succeeds."),
  })
  .meta({ id: "DependencyCheck" });
export const Checks = z
  .object({
    table: Check.describe("Whether the service can read its table."),
    queue: Check.describe("Whether the service can reach its queue."),
  })
  .meta({ id: "DependencyChecks" });
type Checks = z.output<typeof Checks>;

export const ServiceHealth = z.object({
  status: z
    .enum(["ok", "degraded"])
    .describe("`ok`: every check succeeds. `degraded`: at least one fails."),
  version: z.string().optional().describe("Version of the service. Only with a valid credential."),
  checks: Checks.optional().describe("Result of each check. Only with a valid credential."),
});

const deadlineMs = 2_000;
const cacheMs = 2_000;

let latest: { checks: Promise<Checks>; expires: number } | undefined;

/**
 * Takes at most 2 seconds and never throws. The result is cached for 2 seconds, so that health
 * requests cause no load on the table.
 */
export function checkDependencies(): Promise<Checks> {
  const time = now().getTime();
  if (!latest || latest.expires <= time) latest = { checks: runChecks(), expires: time + cacheMs };
  return latest.checks;
}

async function runChecks(): Promise<Checks> {
  const [table, queue] = await Promise.all([
    check("table", () => get(keys.organization(1))),
    check("queue", () => checkQueue(queues.send)),
  ]);
  return { table, queue };
}

const failingSince = new Map<string, string>();

async function check(name: string, call: () => Promise<unknown>): Promise<Checks["table"]> {
  const failure = call().then(
    () => undefined,
    (error: Error) => error.name,
  );
  const reason = await withinDeadline(failure, "no response within 2 seconds");
  if (reason === undefined) {
    failingSince.delete(name);
    return { status: "ok", since: null };
  }
  const since = failingSince.get(name) ?? now().toISOString();
  if (!failingSince.has(name)) log.warn("health check failed", { check: name, reason });
  failingSince.set(name, since);
  return { status: "failed", since };
}

/** The result of `work`, or `fallback` after 2 seconds. */
export async function withinDeadline<T>(work: Promise<T>, fallback: T): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(resolve, deadlineMs, fallback);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
