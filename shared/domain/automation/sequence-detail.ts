// A sequence with its steps, its enrollments and its statistics.
import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import { Count } from "../../kernel/record-fields.ts";
import * as sources from "../sending/mail-sources.ts";
import { countHandedOver, MailingAccounting } from "../sending/mailing-stats.ts";
import { Enrollment } from "./enrollment-schema.ts";
import * as enrollmentPages from "./enrollments.ts";
import { findItem, Sequence, toApi } from "./sequence-schema.ts";
import * as graphStore from "./step-graph-store.ts";
import { SequenceStep, StepsVersion } from "./step-schema.ts";

const StepStats = z.object({
  reached: Count.describe("Enrollments that reached the step."),
  waiting: Count.describe("Enrollments that are at the step now."),
  sent: Count.describe(
    "For `email` steps: emails that the provider accepted, with any later outcome.",
  ),
  delivered: Count.describe("Emails accepted by the recipient's server."),
  opened: Count.describe("Number of contacts that opened the email."),
  clicked: Count.describe("Number of contacts that clicked a link in the email."),
  bounced: Count.describe("Emails that bounced."),
  unsubscribed: Count.describe("Recipients who unsubscribed through the email."),
  failed: Count.describe("Emails that bounced, or that the provider or the service refused."),
});

export const SequenceDetail = Sequence.extend({
  stepsVersion: StepsVersion,
  steps: z
    .array(
      SequenceStep.extend({
        stats: StepStats.describe("Enrollments and emails of the step."),
      }).meta({ id: "SequenceStepDetail" }),
    )
    .describe("Steps of the sequence, by `stepOrder`."),
  enrollments: z
    .array(Enrollment)
    .describe(
      "Up to 50 enrollments, active ones first. For all of them use GET " +
        "/sequences/:id/enrollments.",
    ),
  stats: z
    .object({
      active: Count.describe("Enrollments that are active now."),
      completed: Count.describe("Enrollments that reached the end."),
      cancelled: Count.describe("Enrollments that left the sequence."),
      failed: Count.describe("Enrollments that could not continue."),
      mails: MailingAccounting.omit({ duplicate: true, invalid: true })
        .extend({ candidates: Count.describe("Emails that steps of the sequence were to send.") })
        .describe("Where each email of the sequence is now, as in the accounting of a campaign."),
    })
    .describe("Enrollments and emails of the sequence."),
}).meta({ id: "SequenceDetail" });
export type SequenceDetail = z.output<typeof SequenceDetail>;

export async function getDetail(caller: CallerScope, id: number): Promise<SequenceDetail> {
  const { orgId } = caller;
  const sequence = await findItem(caller, id);
  const graphRead = graphStore.getGraph(orgId, sequence);
  const [
    { steps },
    { byStatus: enrollmentCounts, steps: stepCounts },
    mails,
    { items: enrollments },
    sequenceForApi,
  ] = await Promise.all([
    graphRead,
    enrollmentPages.getCounts(orgId, id),
    sources.getSourceTotals(orgId, { kind: "sequence", id }),
    graphRead.then((graph) =>
      enrollmentPages.readPage(orgId, { sequence, graph, request: { limit: 50 } }),
    ),
    toApi(orgId, sequence),
  ]);
  const statsOf = (step: SequenceStep) => {
    const { reached, left } = stepCounts.get(step.id) ?? { reached: 0, left: 0 };
    return { reached, waiting: reached - left, ...toMailStats(mails.parts.get(step.id)) };
  };
  return {
    ...sequenceForApi,
    stepsVersion: sequence.stepsVersion,
    steps: steps.map((step) => ({ ...step, stats: statsOf(step) })),
    enrollments,
    stats: { ...(enrollmentCounts satisfies enrollmentPages.EnrollmentCounts), mails: mails.all },
  };
}

function toMailStats(mails: sources.SourceTotals | undefined) {
  const events = mails?.events ?? {};
  return {
    sent: mails ? countHandedOver(mails) : 0,
    delivered: mails?.delivered ?? 0,
    opened: events.uniqueOpened ?? 0,
    clicked: events.uniqueClicked ?? 0,
    bounced: (events.bouncedHard ?? 0) + (events.bouncedSoft ?? 0),
    unsubscribed: events.unsubscribed ?? 0,
    failed: mails?.failed ?? 0,
  };
}
