// The audit of a campaign in API responses. Reading it costs about 5 read units, whatever the size.
import * as z from "zod";
import { equals } from "../../../adapters/dynamodb/conditions.ts";
import { get, transact, update } from "../../../adapters/dynamodb/table.ts";
import type { Caller, CallerScope } from "../../../caller.ts";
import { conflict } from "../../../errors.ts";
import { toStarter } from "../../../kernel/job-index.ts";
import { Count, Timestamp } from "../../../kernel/record-fields.ts";
import { keys } from "../../../keys.ts";
import * as mailSources from "../../sending/mail-sources.ts";
import * as campaigns from "../campaigns.ts";
import type { StoredCampaign } from "../stored-campaign.ts";
import { type AuditCounts, countByTotals, sumOf } from "./audit-counts.ts";
import { type AuditJob, enqueueAudit, startAttributes } from "./audit-job.ts";
import { type CandidateOutcome, candidateOutcomes } from "./audit-rows.ts";

const auditStatuses = [
  "notSent",
  "underway",
  "auditing",
  "complete",
  "outdated",
  "inconsistent",
  "failed",
] as const;
type AuditStatus = (typeof auditStatuses)[number];

export const CampaignAudit = z
  .object({
    status: z
      .enum(auditStatuses)
      .describe(
        "`notSent`: sending has not started. `underway`: the campaign is being sent or " +
          "paused. `auditing`: it has ended, and its rows are being read, several times within " +
          "an hour if they do not match the counters, which can be late. `complete`: every row " +
          "was read, and everything fits together. `outdated`: uncertain emails were settled " +
          "since; audit again. `inconsistent`: see `problems`. `failed`: the campaign cannot be " +
          "audited.",
      ),
    message: z.string().describe("The state of the audit as a sentence."),
    candidates: Count.describe("Contacts of the audience that the campaign has decided about."),
    outcomes: z
      .array(
        z.object({
          outcome: z
            .enum(candidateOutcomes)
            .describe(
              "`mailed`: the provider accepted the email; a later bounce changes nothing. " +
                "`failed`: the service or the provider refused it. `uncertain`: the provider " +
                "may have it. `waiting`: not handed over yet. `cancelled`: the campaign ended " +
                "before. `suppressed`: the address is on the suppression list, also after an " +
                "erasure. `unsubscribed`: the contact left, was deleted or has not confirmed. " +
                "`notInTopic`: it is not in the topic. `snoozed`: it had paused marketing " +
                "email. `capped`: it got marketing email within `sendFrequencyCapDays`. " +
                "`duplicate`: its address was already in the audience. `invalid`: the address is " +
                "not valid. `heldOut`: it was in the hold-out group. `contradictory`: the " +
                "stored email is for another contact.",
            ),
          count: Count.describe("Candidates with this outcome."),
          message: z.string().describe("The outcome as a sentence."),
        }),
      )
      .describe("How many candidates have each outcome. The counts add up to `candidates`."),
    hash: z
      .string()
      .nullable()
      .describe(
        "SHA-256 of all rows, in hexadecimal digits. `null` until the first audit is complete.",
      ),
    pages: Count.nullable().describe("Pages that the hash was computed from, or `null`."),
    auditedAt: Timestamp.nullable().describe("When the last audit was complete, or `null`."),
    problems: z
      .array(z.string())
      .describe("What does not fit together, such as rows that have changed since an audit."),
  })
  .meta({ id: "CampaignAudit" });
export type CampaignAudit = z.output<typeof CampaignAudit>;

export async function getAudit(caller: CallerScope, id: number): Promise<CampaignAudit> {
  const campaign = await campaigns.findStored(caller, id);
  const [job, { all: totals }] = await Promise.all([
    get<AuditJob>(keys.campaignAudit(caller.orgId, id)),
    mailSources.getSourceTotals(caller.orgId, { kind: "campaign", id }),
  ]);
  const { latest, error } = job ?? {};
  const status = toStatus(campaign, job, totals);
  const counts = latest?.counts ?? countByTotals(totals);
  return {
    status,
    message: status === "failed" ? (error ?? messages.failed) : messages[status],
    candidates: sumOf(counts),
    outcomes: listOutcomes(counts),
    hash: latest?.hash ?? null,
    pages: latest?.pages ?? null,
    auditedAt: latest?.at ?? null,
    problems: latest?.problems ?? [],
  };
}

/** Throws 409 while the campaign is not sent. Starts nothing while an audit is running. */
export async function auditAgain(caller: Caller, id: number): Promise<CampaignAudit> {
  const campaign = await campaigns.findStored(caller, id);
  const key = keys.campaignAudit(caller.orgId, id);
  const job = await get<AuditJob>(key);
  if (!job)
    throw conflict(
      `The campaign is ${campaign.status}: it can be audited when all its email is sent or ` +
        "cancelled",
      { code: "campaign_status" },
    );
  if (job.status === "completed" || job.status === "failed") {
    const started = startAttributes({ ...campaign, orgId: caller.orgId }, toStarter(caller));
    const change = { set: started, remove: ["error", "finishedAt"] };
    if (await transact(update(key, change, { if: equals("updatedAt", job.updatedAt) })))
      await enqueueAudit(caller.orgId, id);
  }
  return getAudit(caller, id);
}

function toStatus(
  campaign: StoredCampaign,
  job: AuditJob | undefined,
  { uncertain }: mailSources.SourceTotals,
): AuditStatus {
  if (!campaign.startedAt) return "notSent";
  if (!job) return "underway";
  if (job.status === "failed") return "failed";
  if (job.status !== "completed" || !job.latest) return "auditing";
  if (uncertain !== (job.latest.counts.uncertain ?? 0)) return "outdated";
  return job.latest.problems.length ? "inconsistent" : "complete";
}

const messages: Record<AuditStatus, string> = {
  notSent: "The campaign has not been sent.",
  underway: "The campaign is not finished. It is audited when all its email is sent or cancelled.",
  auditing: "The campaign has ended, and its audit is underway.",
  complete: "Every candidate has exactly one outcome, and the rows match the counters.",
  outdated: "Uncertain emails have been settled since the audit. Audit the campaign again.",
  inconsistent: "The stored emails do not fit together. The problems say where.",
  failed: "The campaign could not be audited. Audit it again.",
};

const listOutcomes = (counts: AuditCounts): CampaignAudit["outcomes"] =>
  candidateOutcomes
    .map((outcome) => ({ outcome, count: counts[outcome] ?? 0, message: sentences[outcome] }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count);

const sentences: Record<CandidateOutcome, string> = {
  mailed: "The provider accepted the email.",
  failed: "The email was refused.",
  uncertain: "The provider may have the email.",
  waiting: "The email waits to be sent.",
  cancelled: "The campaign was stopped before the email was sent.",
  suppressed: "Their address was on the suppression list.",
  unsubscribed: "They had unsubscribed, not confirmed, or been deleted.",
  notInTopic: "They were not subscribed to the topic of the campaign.",
  snoozed: "They had paused marketing email on the preference page.",
  capped: "They had got marketing email within the frequency cap of the site.",
  duplicate: "Their address was already in the audience.",
  invalid: "Their address was not valid.",
  heldOut: "They were in the hold-out group, which got no email.",
  contradictory: "The stored email is for another contact.",
};
