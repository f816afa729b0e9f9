// When the suppression list of a provider is pulled: once after it is connected, and then daily.
// The due index finds the config; delivery-events/provider-suppressions.ts does the work.
import { all, equals, present } from "../../adapters/dynamodb/conditions.ts";
import { transact, update } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds } from "../../clock.ts";
import { dueShardOf, indexAttributeNames, indexAttributes, indexes, keys } from "../../keys.ts";
import { queues } from "../../queues.ts";
import type { SendingConfig, SuppressionPull } from "./sending-config-schema.ts";

type PulledConfig = Pick<SendingConfig, "id" | "revision">;

/** Starts a pull of a config. The next drain of due work finds it. */
export async function startPulls(orgId: number, config: PulledConfig): Promise<void> {
  await transact(
    update(
      keys.record(orgId, "CONFIG", config.id),
      { set: { orgId, ...dueIn(config.id, 0) } },
      { if: equals("revision", config.revision) },
    ),
  );
}

/** Saves how far the pull has come, and when it goes on. Nothing if the config has changed. */
export async function savePull(
  orgId: number,
  { id, revision }: PulledConfig,
  { pull, seconds }: { pull: SuppressionPull; seconds: number },
): Promise<void> {
  await transact(
    update(
      keys.record(orgId, "CONFIG", id),
      { set: { suppressionPull: { ...pull, revision }, ...dueIn(id, seconds) } },
      { if: all(present("id"), equals("revision", revision)) },
    ),
  );
}

/** Ends the pulls of a config whose provider has no list. */
export async function stopPulls(orgId: number, id: number): Promise<void> {
  const key = keys.record(orgId, "CONFIG", id);
  await transact(update(key, { remove: indexAttributeNames("due") }, { if: present("id") }));
}

const dueIn = (id: number, seconds: number) =>
  indexAttributes(indexes.due("PULL", dueShardOf(id)), addSeconds(seconds).toISOString());

/** Queues a pull. Kept apart so that callers do not load the worker. */
export const enqueuePull = (orgId: number, configId: number): Promise<void> =>
  enqueue(queues.jobs, [{ job: "pull-suppressions", orgId, configId }], { group: orgId });
