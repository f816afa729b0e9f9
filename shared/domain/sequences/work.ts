// What the messages of the queue `advance` ask for.
import { get } from "../../doors/table.ts";
import { keys } from "../../keys.ts";
import type { Advance } from "../../queues.ts";
import * as lanes from "../sending/lanes.ts";
import { advance } from "./advance.ts";
import * as due from "./due.ts";
import * as sweeps from "./sweeps.ts";
import type { Cohort } from "./waiting.ts";

type Of<Work extends Advance["work"]> = Extract<Advance, { work: Work }>;
const works: { [Work in Advance["work"]]: (message: Of<Work>) => Promise<void> } = {
  shard: ({ shard }) => due.drain(shard),
  some: async ({ orgId, enrollments }) => {
    await advance(enrollments.map(({ sequenceId, home, contactId }) => keys.enrollment(orgId, sequenceId, home, contactId)));
  },
  cohort: async ({ orgId, sequenceId, cohortId }) => {
    const cohort = await get<Cohort>(keys.cohort(orgId, sequenceId, cohortId));
    if (cohort) await due.advanceCohorts([cohort]);
  },
  chore: ({ orgId, sequenceId }) => sweeps.work(orgId, sequenceId),
  lane: ({ orgId, configId }) => lanes.arrived(orgId, configId),
};

export const done = (message: Advance): Promise<void> => (works[message.work] as (message: Advance) => Promise<void>)(message);
