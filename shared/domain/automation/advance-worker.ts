// Handles the messages of the queue `advance`.
import { get } from "../../adapters/dynamodb/table.ts";
import { keys } from "../../keys.ts";
import type { SequenceWorkMessage } from "../../queues.ts";
import * as lanes from "../sending/bulk/lanes.ts";
import { advanceEnrollments } from "./advance.ts";
import type { Cohort } from "./cohorts.ts";
import * as due from "./due-enrollments.ts";
import * as taskRunner from "./sequence-task-runner.ts";

type WorkMessage<Work extends SequenceWorkMessage["work"]> = Extract<
  SequenceWorkMessage,
  { work: Work }
>;
const handlers: {
  [Work in SequenceWorkMessage["work"]]: (message: WorkMessage<Work>) => Promise<void>;
} = {
  shard: ({ shard }) => due.drainShard(shard),
  some: async ({ orgId, enrollments }) => {
    await advanceEnrollments(
      enrollments.map(({ sequenceId, home, contactId }) =>
        keys.enrollment(orgId, sequenceId, { shard: home, contactId }),
      ),
    );
  },
  cohort: async ({ orgId, sequenceId, cohortId }) => {
    const cohort = await get<Cohort>(keys.cohort(orgId, sequenceId, cohortId));
    if (cohort) await due.advanceCohorts([cohort]);
  },
  chore: ({ orgId, sequenceId }) => taskRunner.runTask(orgId, sequenceId),
  lane: ({ orgId, configId }) => lanes.announceArrival(orgId, configId),
};

export const handleMessage = (message: SequenceWorkMessage): Promise<void> =>
  (handlers[message.work] as (message: SequenceWorkMessage) => Promise<void>)(message);
