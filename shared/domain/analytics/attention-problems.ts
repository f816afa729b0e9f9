// Finds the problems of an organization, by the kind of record.
import * as z from "zod";
import { getMany } from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import { addSeconds } from "../../clock.ts";
import { formatPercent } from "../../kernel/rates.ts";
import { RecordId, Timestamp } from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import { describeStop, getSendingStop } from "../../kernel/sending-stop.ts";
import { addUp } from "../../kernel/sharded-counters.ts";
import { keys, type RecordKind } from "../../keys.ts";
import { hasWebhooks } from "../../providers/provider-keys.ts";
import type { ImportProgress, ImportRecord } from "../audience/imports/import-record.ts";
import type { SequenceItem } from "../automation/sequence-schema.ts";
import { getUsage } from "../billing/usage.ts";
import type { StoredCampaign } from "../campaigns/stored-campaign.ts";
import * as organizations from "../identity/organizations.ts";
import * as sites from "../identity/sites.ts";
import { isNearQuota } from "../senders/account-limits.ts";
import type { Domain } from "../senders/domains/domains.ts";
import type { SendingConfig } from "../senders/sending-config-schema.ts";
import { quoteProvider } from "../sending/mail-holds.ts";
import type * as rateLimiter from "../sending/provider-calls/rate-limiter.ts";
import type { Webhook } from "../webhooks/webhooks.ts";
import * as dailyTotals from "./daily-totals.ts";
import { toMetrics } from "./mail-metrics.ts";
import { periodEndingOn } from "./periods.ts";

const recordTypes = [
  "user",
  "organization",
  "sending_config",
  "domain",
  "webhook",
  "import",
  "campaign",
  "sequence",
] as const;

export const AttentionProblem = z
  .object({
    code: z.string().describe("Kind of the problem, such as `sending_config_failing`."),
    severity: z
      .enum(["error", "warning"])
      .describe("`error`: email does not go out, or data is missing. `warning`: it soon may."),
    message: z.string().describe("What is wrong and what to do, as sentences."),
    since: Timestamp.nullable().describe("Since when. `null`: unknown."),
    record: z
      .object({
        type: z.enum(recordTypes).describe("Kind of the record."),
        id: RecordId.describe("Id of the record."),
        siteId: RecordId.nullable().describe("Site of the record. `null`: it belongs to no site."),
      })
      .describe("The record that the problem belongs to."),
  })
  .meta({ id: "AttentionProblem" });
export type AttentionProblem = z.output<typeof AttentionProblem>;

const maxRecords = 50;

async function listNewest<T extends records.StoredRecord>(
  kind: RecordKind,
  caller: Caller,
  { bySite = false } = {},
): Promise<T[]> {
  const request = { page: 1, limit: maxRecords };
  const siteIds = bySite ? await sites.siteFilter(caller, undefined) : undefined;
  return (await records.list<T>(kind, caller, { ...request, siteIds })).items;
}

export function findAccountProblems({ unverified, userId, orgId }: Caller): AttentionProblem[] {
  const stop = getSendingStop();
  const stopProblem: AttentionProblem[] = stop
    ? [
        {
          code: "sending_stopped",
          severity: "error",
          message: describeStop(stop),
          since: stop.since,
          record: { type: "organization", id: orgId, siteId: null },
        },
      ]
    : [];
  const unverifiedProblem: AttentionProblem[] = unverified
    ? [
        {
          code: "email_unverified",
          severity: "error",
          message:
            "The email address of the account is not verified, so nothing can be sent. Open the " +
            "link in the email, or have it sent again.",
          since: null,
          record: { type: "user", id: userId, siteId: null },
        },
      ]
    : [];
  return [...stopProblem, ...unverifiedProblem];
}

// A provider that fails for a moment needs nobody's attention.
const shortFailureSeconds = 300;

export async function findSenderProblems(caller: Caller): Promise<AttentionProblem[]> {
  const configs = await listNewest<SendingConfig>("CONFIG", caller);
  const states = await getMany<rateLimiter.LimiterState>(
    configs.map(({ id }) => keys.lane(caller.orgId, id)),
  );
  return configs.flatMap((config, i) => {
    const { id, verified, updatedAt, accountLimits } = config;
    const name = config.fromEmail ?? String(id);
    const record = { type: "sending_config" as const, id, siteId: null };
    const { heldSince, heldError } = states[i] ?? {};
    const problems: AttentionProblem[] = [];
    if (heldSince && heldSince < addSeconds(-shortFailureSeconds).toISOString())
      problems.push({
        code: "sending_config_failing",
        severity: "error",
        message:
          `The provider has accepted no email of the sender ${name} for a while. Email ` +
          "waits and is tried again for 24 hours. Check the account at the provider." +
          quoteProvider(heldError),
        since: heldSince,
        record,
      });
    if (!verified)
      problems.push({
        code: "sending_config_unverified",
        severity: "warning",
        message: `The sender ${name} is not verified. Send a test email with it.`,
        since: updatedAt,
        record,
      });
    if (verified && hasWebhooks(config.provider) && !config.firstEventAt)
      problems.push({
        code: "sending_config_silent",
        severity: "warning",
        message:
          `The provider of the sender ${name} has not reported any event yet. Deliveries, ` +
          "opens, clicks and bounces are not known, and addresses that bounced get email again. " +
          "Enter the webhook address of the sender at the provider.",
        since: config.verifiedAt,
        record,
      });
    if (accountLimits && isNearQuota(config))
      problems.push({
        code: "provider_quota_near",
        severity: "warning",
        message:
          `${count(accountLimits.sentLast24Hours)} of ` +
          `${count(accountLimits.emailsPer24Hours ?? 0)} emails that the provider allows in 24 ` +
          `hours are used by the sender ${name}.`,
        since: accountLimits.readAt,
        record,
      });
    return problems;
  });
}

const count = (n: number): string => n.toLocaleString("en");

export async function findDomainProblems(caller: Caller): Promise<AttentionProblem[]> {
  const domains = await listNewest<z.output<typeof Domain>>("DOMAIN", caller);
  return domains.flatMap(({ id, name, status, statusReason, lastCheckedAt }): AttentionProblem[] =>
    status === "lost" || status === "failed"
      ? [
          {
            code: `domain_${status}`,
            severity: status === "lost" ? "error" : "warning",
            message: `The domain ${name} is not verified any more. ${statusReason ?? ""}`.trim(),
            since: lastCheckedAt,
            record: { type: "domain", id, siteId: null },
          },
        ]
      : [],
  );
}

const warnAtShare = 0.8;

export async function findQuotaProblems({ orgId }: Caller): Promise<AttentionProblem[]> {
  const { mails, balance } = await getUsage(orgId);
  const { included, accepted } = mails;
  if (included === null || accepted < warnAtShare * included) return [];
  const isUsedUp = accepted >= included;
  const used = `${count(accepted)} of the ${count(included)} emails of the plan are used`;
  const isPaid = balance.credits > 0;
  return [
    {
      code: isUsedUp ? "plan_used_up" : "plan_nearly_used_up",
      severity: isUsedUp && !isPaid ? "error" : "warning",
      message:
        `${used} (${formatPercent(accepted / included)}). ` +
        (isPaid
          ? "Further emails take credits."
          : "Without credits, further emails are refused: buy credits or change the plan."),
      since: null,
      record: { type: "organization", id: orgId, siteId: null },
    },
  ];
}

export async function findWebhookProblems(caller: Caller): Promise<AttentionProblem[]> {
  const webhooks = await listNewest<Webhook>("WEBHOOK", caller);
  return webhooks.flatMap((webhook): AttentionProblem[] => {
    const { id, url, active, inactiveReason, failingSince, updatedAt } = webhook;
    const record = { type: "webhook" as const, id, siteId: null };
    const { host } = new URL(url);
    if (!active && inactiveReason)
      return [
        {
          code: "webhook_inactive",
          severity: "error",
          message:
            `The webhook endpoint at ${host} gets no events any more: ${inactiveReason}. ` +
            "Activate it again when it works.",
          since: updatedAt,
          record,
        },
      ];
    if (!active || !failingSince) return [];
    return [
      {
        code: "webhook_failing",
        severity: "warning",
        message:
          `Deliveries to the webhook endpoint at ${host} fail. After five days the endpoint is ` +
          "set inactive.",
        since: failingSince,
        record,
      },
    ];
  });
}

const recentDays = 7;
const isRecent = (at: string): boolean => at > addSeconds(-recentDays * 86_400).toISOString();

export async function findImportProblems(caller: Caller): Promise<AttentionProblem[]> {
  const imports = await listNewest<ImportRecord>("IMPORT", caller, { bySite: true });
  const recent = imports.filter(({ createdAt }) => isRecent(createdAt));
  const runs = await getMany<ImportProgress>(
    recent.map(({ id }) => keys.importRun(caller.orgId, id)),
  );
  return recent.flatMap(({ id, siteId, filename }, i): AttentionProblem[] => {
    const run = runs[i];
    if (run?.status !== "failed") return [];
    return [
      {
        code: "import_failed",
        severity: "warning",
        message: `The import${filename ? ` of ${filename}` : ""} failed: ${run.error ?? "unknown"}`,
        since: run.updatedAt,
        record: { type: "import", id, siteId },
      },
    ];
  });
}

/** Those with a reason were stopped by the service. */
export async function findCampaignProblems(caller: Caller): Promise<AttentionProblem[]> {
  const campaigns = await listNewest<StoredCampaign>("CAMPAIGN", caller, { bySite: true });
  return campaigns.flatMap(
    ({ id, siteId, name, status, statusReason, updatedAt }): AttentionProblem[] => {
      const isStopped = status === "paused" || status === "held" || status === "draft";
      if (!statusReason || !(isStopped || (status === "failed" && isRecent(updatedAt)))) return [];
      return [
        {
          code: `campaign_${status}`,
          severity: "error",
          message: `The campaign "${name}" is ${stateWords[status]}: ${statusReason}`,
          since: updatedAt,
          record: { type: "campaign", id, siteId },
        },
      ];
    },
  );
}

const stateWords: Record<string, string> = {
  draft: "a draft again",
  paused: "paused",
  held: "held",
  failed: "stopped",
};

export async function findSequenceProblems(caller: Caller): Promise<AttentionProblem[]> {
  const sequences = await listNewest<SequenceItem>("SEQUENCE", caller, { bySite: true });
  return sequences.flatMap(
    ({ id, siteId, name, status, statusReason, updatedAt }): AttentionProblem[] =>
      status === "paused" && statusReason
        ? [
            {
              code: "sequence_paused",
              severity: "error",
              message: `The sequence "${name}" is paused: ${statusReason}`,
              since: updatedAt,
              record: { type: "sequence", id, siteId },
            },
          ]
        : [],
  );
}

/**
 * A mail is counted as uncertain on one day, and as settled on another. 90 days have both, and are
 * longer than the content of a mail is kept.
 */
export async function findUncertainMails(caller: Caller): Promise<AttentionProblem[]> {
  const { orgId } = caller;
  const [siteIds, today] = await Promise.all([
    sites.listVisibleSiteIds(caller),
    organizations.getToday(orgId),
  ]);
  const newest = siteIds.slice(-dailyTotals.maxSites);
  const totals = await dailyTotals.getTotalsByDate(orgId, newest, periodEndingOn("90d", today));
  const { uncertain } = toMetrics(addUp([...totals.values()]));
  if (uncertain <= 0) return [];
  return [
    {
      code: "mails_uncertain",
      severity: "warning",
      message:
        `For ${count(uncertain)} emails of the last 90 days it is unknown whether the provider ` +
        "accepted them. They are settled when it reports or finds them; check that its webhook " +
        "is set up. After 72 hours, send the others again or close them: the log lists them by " +
        "the status `uncertain`.",
      since: null,
      record: { type: "organization", id: orgId, siteId: null },
    },
  ];
}
