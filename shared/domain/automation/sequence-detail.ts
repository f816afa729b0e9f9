// A sequence with its steps, its enrollments and its statistics.
import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import { Count, Missing } from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import * as mailSources from "../sending/mail-sources.ts";
import { countHandedOver, MailingAccounting } from "../sending/mailing-stats.ts";
import * as enrollmentListing from "./enrollment-listing.ts";
import { Enrollment } from "./enrollment-schema.ts";
import { sequenceReferences } from "./sequence-references.ts";
import { findItem, Sequence, toApi } from "./sequence-schema.ts";
import { readSummary, StepDraftSummary } from "./step-drafts.ts";
import * as stepGraphStore from "./step-graph-store.ts";
import { SequenceStep, StepsVersion } from "./step-schema.ts";

const conversionFields = {
  converted: Count.describe("Enrollments that met a goal there, or later for a way of a split."),
  value: z.number().describe("Sum of the values of these conversions."),
};

const StepStats = z.object({
  reached: Count.describe("Enrollments that reached the step."),
  waiting: Count.describe("Enrollments that are at the step now."),
  acted: Count.describe("For `action` steps: enrollments whose action was done."),
  undelivered: Count.describe(
    "For `action` steps: notices and requests that could not be delivered, and responses that " +
      "could not be stored.",
  ),
  sent: Count.describe(
    "For `email` steps: emails that the provider accepted, with any later outcome.",
  ),
  delivered: Count.describe("Emails accepted by the recipient's server."),
  opened: Count.describe("Number of contacts that opened the email."),
  clicked: Count.describe("Number of contacts that clicked a link in the email."),
  bounced: Count.describe("Emails that bounced."),
  unsubscribed: Count.describe("Recipients who unsubscribed through the email."),
  failed: Count.describe("Emails that bounced, or that the provider or the service refused."),
  ...conversionFields,
  ways: z
    .array(
      z.object({
        reached: Count.describe("Enrollments that went this way."),
        ...conversionFields,
      }),
    )
    .describe("For `split`: the result of each way, in the order of `branches`. Empty otherwise."),
});

export const SequenceDetail = Sequence.extend({
  missing: Missing,
  stepsVersion: StepsVersion,
  draft: StepDraftSummary.nullable().describe(
    "The draft of the steps: see GET /sequences/:id/draft. `null`: there is none.",
  ),
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
      converted: Count.describe("Enrollments that met a goal of the sequence."),
      value: z.number().describe("Sum of the values of these conversions."),
      mails: MailingAccounting.omit({ duplicate: true, invalid: true, heldOut: true })
        .extend({ candidates: Count.describe("Emails that steps of the sequence were to send.") })
        .describe("Where each email of the sequence is now, as in the accounting of a campaign."),
    })
    .describe("Enrollments and emails of the sequence."),
}).meta({ id: "SequenceDetail" });
export type SequenceDetail = z.output<typeof SequenceDetail>;

export async function getDetail(caller: CallerScope, id: number): Promise<SequenceDetail> {
  const { orgId } = caller;
  const sequence = await findItem(caller, id);
  const graphRead = stepGraphStore.getGraph(orgId, sequence);
  const [
    { steps },
    { byStatus: enrollmentCounts, conversions, steps: stepCounts },
    mails,
    { items: enrollments },
    sequenceForApi,
    missing,
    draft,
  ] = await Promise.all([
    graphRead,
    enrollmentListing.getCounts(orgId, id),
    mailSources.getSourceTotals(orgId, { kind: "sequence", id }),
    graphRead.then((graph) =>
      enrollmentListing.readPage(orgId, { sequence, graph, request: { limit: 50 } }),
    ),
    toApi(orgId, sequence),
    graphRead.then((graph) => records.listMissing(caller, sequenceReferences(sequence, graph))),
    readSummary(orgId, id),
  ]);
  const statsOf = (step: SequenceStep) => {
    const { reached, left, acted, undelivered, converted, value, ways } =
      stepCounts.get(step.id) ?? enrollmentListing.noStepCounts;
    const branches = step.splitConfig?.branches ?? [];
    return {
      reached,
      waiting: reached - left,
      acted,
      undelivered,
      ...toMailStats(mails.parts.get(step.id)),
      converted,
      value,
      ways: branches.flatMap((_, way) => ways[way] ?? []),
    };
  };
  return {
    ...sequenceForApi,
    missing,
    stepsVersion: sequence.stepsVersion,
    draft,
    steps: steps.map((step) => ({ ...step, stats: statsOf(step) })),
    enrollments,
    stats: {
      ...(enrollmentCounts satisfies enrollmentListing.EnrollmentCounts),
      ...conversions,
      mails: mails.all,
    },
  };
}

function toMailStats(mails: mailSources.SourceTotals | undefined) {
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
