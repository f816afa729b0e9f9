import { get } from "../../shared/adapters/dynamodb/table.ts";
import { advanceEnrollments } from "../../shared/domain/automation/advance.ts";
import type { Cohort } from "../../shared/domain/automation/cohorts.ts";
import * as due from "../../shared/domain/automation/due-enrollments.ts";
import * as taskRunner from "../../shared/domain/automation/sequence-task-runner.ts";
import * as lanes from "../../shared/domain/sending/bulk/lanes.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { keys } from "../../shared/keys.ts";
import { queues, type SequenceWorkMessage } from "../../shared/queues.ts";

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

export const worker = handleEach(queues.advance, (message) =>
  (handlers[message.work] as (message: SequenceWorkMessage) => Promise<void>)(message),
);
export const { handler } = worker;
