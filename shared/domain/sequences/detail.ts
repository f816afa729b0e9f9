// A sequence as a whole: its steps, who is in it, and what came of it.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import * as sources from "../sending/sources.ts";
import { Enrollment } from "./enrollment.ts";
import * as enrolled from "./enrollments.ts";
import * as flows from "./flows.ts";
import { find, Sequence, told } from "./record.ts";
import { Step } from "./step.ts";

const StepStats = z.object({
  reached: z.int().describe("Enrollments that came to it"),
  waiting: z.int().describe("Of those, at it now"),
  sent: z.int().describe("email: mails that the provider took"),
  delivered: z.int(),
  opened: z.int().describe("People"),
  clicked: z.int().describe("People"),
  bounced: z.int(),
  unsubscribed: z.int(),
  failed: z.int(),
});

export const SequenceDetail = Sequence.extend({
  steps: z.array(Step.extend({ stats: StepStats }).meta({ id: "SequenceStepDetail" })),
  enrollments: z.array(Enrollment).describe("Active ones first, at most 50; see GET /sequences/:id/enrollments for all"),
  stats: z.object({
    active: z.int(),
    completed: z.int(),
    cancelled: z.int(),
    failed: z.int(),
    mails: z.object({
      candidates: z.int(),
      accepted: z.int(),
      queued: z.int(),
      sending: z.int(),
      sent: z.int(),
      delivered: z.int(),
      failed: z.int(),
      uncertain: z.int(),
      cancelled: z.int(),
      suppressed: z.int(),
      unsubscribed: z.int(),
      capped: z.int(),
    }),
  }),
}).meta({ id: "SequenceDetail" });
export type SequenceDetail = z.output<typeof SequenceDetail>;

export async function detail({ orgId, siteId }: Pick<Caller, "orgId" | "siteId">, id: number): Promise<SequenceDetail> {
  const sequence = await find({ orgId, siteId }, id);
  const flow = flows.of(orgId, sequence);
  const [{ steps }, { all: standing, steps: passed }, mails, { items: enrollments }, shown] = await Promise.all([
    flow,
    enrolled.counts(orgId, id),
    sources.numbers(orgId, { kind: "sequence", id }),
    flow.then((current) => enrolled.page(orgId, sequence, current, { limit: 50 })),
    told(orgId, sequence),
  ]);
  const statsOf = (step: Step) => {
    const { reached, left } = passed.get(step.id) ?? { reached: 0, left: 0 };
    return { reached, waiting: reached - left, ...mailStats(mails.parts.get(step.id)) };
  };
  return {
    ...shown,
    steps: steps.map((step) => ({ ...step, stats: statsOf(step) })),
    enrollments,
    stats: { ...(standing satisfies enrolled.Counts), mails: mails.all },
  };
}

function mailStats(mails: sources.Numbers | undefined) {
  const events = mails?.events ?? {};
  return {
    sent: (mails?.sent ?? 0) + (mails?.delivered ?? 0),
    delivered: mails?.delivered ?? 0,
    opened: events.uniqueOpened ?? 0,
    clicked: events.uniqueClicked ?? 0,
    bounced: (events.bouncedHard ?? 0) + (events.bouncedSoft ?? 0),
    unsubscribed: events.unsubscribed ?? 0,
    failed: mails?.failed ?? 0,
  };
}
