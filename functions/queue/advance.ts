import "../../shared/domain/reactions.ts";
import { advanceEnrollments } from "../../shared/domain/automation/advance.ts";
import { lookAgain, processNote } from "../../shared/domain/automation/change-note-work.ts";
import * as dueEnrollments from "../../shared/domain/automation/due-enrollments.ts";
import * as sequenceTaskRunner from "../../shared/domain/automation/sequence-task-runner.ts";
import { runWatchStart } from "../../shared/domain/automation/watch-start.ts";
import * as lanes from "../../shared/domain/sending/bulk/lanes.ts";
import { handleBatch } from "../../shared/kernel/queue-worker.ts";
import { type Key, keys } from "../../shared/keys.ts";
import { queues, type SequenceWorkMessage } from "../../shared/queues.ts";

type WorkMessage<Work extends SequenceWorkMessage["work"]> = Extract<
  SequenceWorkMessage,
  { work: Work }
>;
const handlers: {
  [Work in SequenceWorkMessage["work"]]: (message: WorkMessage<Work>) => Promise<void>;
} = {
  shard: ({ shard }) => dueEnrollments.drainShard(shard),
  some: (message) => advanceEnrollments(keysOf(message)),
  chore: ({ orgId, sequenceId }) => sequenceTaskRunner.runTask(orgId, sequenceId),
  look: ({ orgId, siteId, contactId }) => lookAgain(orgId, siteId, contactId),
  watch: ({ orgId, sequenceId }) => runWatchStart(orgId, sequenceId),
  note: ({ orgId, noteId }) => processNote(orgId, noteId),
  lane: ({ orgId, configId }) => lanes.announceArrival(orgId, configId),
};

const keysOf = ({ orgId, enrollments }: WorkMessage<"some">): Key[] =>
  enrollments.map(({ sequenceId, home, contactId }) =>
    keys.enrollment(orgId, sequenceId, { shard: home, contactId }),
  );

const handle = (message: SequenceWorkMessage): Promise<void> =>
  (handlers[message.work] as (message: SequenceWorkMessage) => Promise<void>)(message);

const isSome = (message: SequenceWorkMessage): message is WorkMessage<"some"> =>
  message.work === "some";

/** Enrollments that just started advance together: those of one sequence share their cost. */
export const worker = handleBatch(queues.advance, async (messages) => {
  const bodies = messages.map(({ body }) => body);
  // If one fails, each message runs by itself, so that it fails alone.
  const together = advanceEnrollments(bodies.filter(isSome).flatMap(keysOf)).then(
    () => true,
    () => false,
  );
  const outcomes = await Promise.allSettled(
    bodies.map(async (message) => {
      if (!(isSome(message) && (await together))) await handle(message);
    }),
  );
  return outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason : undefined));
});
export const { handler } = worker;
