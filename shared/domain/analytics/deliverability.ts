// Deliverability in total, by recipient domain and by sending config, from the daily totals.
import * as z from "zod";
import { getMany } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { listDates } from "../../kernel/calendar-dates.ts";
import { rate } from "../../kernel/rates.ts";
import { Count, Day, RecordId } from "../../kernel/record-fields.ts";
import {
  addUp,
  type CounterTotals,
  toShownCount,
  toShownParts,
} from "../../kernel/sharded-counters.ts";
import { keys } from "../../keys.ts";
import type { SendingConfig } from "../senders/sending-config-schema.ts";
import { labelOf } from "../senders/sending-configs.ts";
import {
  type BounceReason,
  blockReasons,
  bounceReasons,
  bounceReasonTexts,
  type ReasonCounter,
} from "../sending/bounce-reasons.ts";
import * as dailyTotals from "./daily-totals.ts";
import { MailMetrics, toMetrics } from "./mail-metrics.ts";
import { mailboxProviderOf } from "./mailbox-providers.ts";
import { type PeriodQuery, periodFields, resolvePeriod, sumWithin } from "./overview.ts";
import { Reputation, rankBounceReasons, rateReputation } from "./reputation.ts";

const {
  sent,
  delivered,
  opened,
  clicked,
  bounced,
  failed,
  complained,
  deliveryRate,
  openRate,
  clickRate,
  bounceRate,
  complaintRate,
} = MailMetrics.shape;

const mailboxProviderFields = {
  group: z
    .string()
    .describe("Mailbox provider of the domain: Gmail, Outlook, Yahoo, Apple and so on, or Other."),
  sent: Count.describe("Emails with a known outcome: delivered, bounced or dropped."),
  delivered,
  opened,
  clicked,
  bounced,
  complained,
  deliveryRate: z.number().describe("delivered / sent, 0 to 1"),
  openRate,
};

export const Deliverability = z
  .object({
    ...periodFields,
    funnel: z
      .object({ sent, delivered, opened, clicked, bounced, failed })
      .describe("Emails that reached each stage."),
    bounceBreakdown: z
      .object({
        hard: Count.describe("Bounces because the mailbox does not exist or takes no email."),
        soft: Count.describe("Bounces for a temporary reason, such as a full mailbox."),
        block: Count.describe(
          "Emails that were refused because of their sender or their content: spam, blocklists, " +
            "policies, SPF, DKIM or DMARC, size, attachments. Most are counted as `failed`, and " +
            "suppress no address.",
        ),
        topReasons: z
          .array(
            z.object({
              reason: z.enum(bounceReasons).describe("Key of the reason."),
              description: z.string().describe("Explanation of the reason, in English."),
              count: Count.describe("Bounces and refused emails for this reason."),
              share: z.number().describe("Share of all bounces and refused emails, 0 to 1."),
            }),
          )
          .describe("Most frequent reasons first."),
      })
      .describe("Bounces by kind, with the emails that were refused."),
    complaintRate,
    dailyTrends: z
      .array(
        z.object({
          date: Day.describe("The day, such as `2026-11-21`."),
          sent,
          delivered,
          opened,
          clicked,
          bounced,
          deliveryRate,
          openRate,
          clickRate,
          bounceRate,
        }),
      )
      .describe("Figures of each day, oldest first."),
    ispBreakdown: z
      .array(
        z.object({
          domain: z.string().describe("Domain of the recipients."),
          ...mailboxProviderFields,
        }),
      )
      .describe("The 20 recipient domains with the most email."),
    ispGroups: z
      .array(
        z.object({
          ...mailboxProviderFields,
          domains: Count.describe("Number of domains in the group."),
        }),
      )
      .describe("All recipient domains, by mailbox provider."),
    configPerformance: z
      .array(
        z.object({
          sendingConfigId: RecordId.describe("Id of the sending config."),
          label: z
            .string()
            .nullable()
            .describe("Sender of the config. `null` if the config was deleted."),
          provider: z
            .string()
            .nullable()
            .describe("Email provider of the config. `null` if the config was deleted."),
          ...MailMetrics.shape,
        }),
      )
      .describe("Figures of each sending config."),
    reputation: Reputation,
  })
  .meta({ id: "Deliverability" });
export type Deliverability = z.output<typeof Deliverability>;

const maxDomains = 20;

export async function getDeliverability(
  caller: CallerScope,
  request: PeriodQuery,
): Promise<Deliverability> {
  const { head, span, siteIds } = await resolvePeriod(caller, request);
  const totals = await dailyTotals.getTotalsWithDomains(caller.orgId, siteIds, span);
  const sum = sumWithin(totals.days, span);
  const metrics = toMetrics(sum);
  const byDomain = [...totals.domains].map(([domain, domainSum]) => ({ domain, sum: domainSum }));
  return {
    ...head,
    funnel: metrics,
    bounceBreakdown: breakDownBounces(sum),
    complaintRate: metrics.complaintRate,
    dailyTrends: listDates(span).map((date) => ({
      date,
      ...toMetrics(totals.days.get(date) ?? {}),
    })),
    ispBreakdown: byDomain
      .map(({ domain, sum: domainSum }) => ({
        domain,
        ...providerMetrics(mailboxProviderOf(domain), domainSum),
      }))
      .toSorted((a, b) => b.sent - a.sent || (a.domain < b.domain ? -1 : 1))
      .slice(0, maxDomains),
    ispGroups: [...Map.groupBy(byDomain, ({ domain }) => mailboxProviderOf(domain))]
      .map(([group, domains]) => ({
        ...providerMetrics(group, addUp(domains.map((domain) => domain.sum))),
        domains: domains.length,
      }))
      .toSorted((a, b) => b.sent - a.sent || (a.group < b.group ? -1 : 1)),
    configPerformance: await configMetrics(caller.orgId, sum),
    reputation: rateReputation(sum),
  };
}

function breakDownBounces(sum: CounterTotals): Deliverability["bounceBreakdown"] {
  const addReasons = (type: "hard" | "soft" | "refused", reasons: Iterable<BounceReason>) =>
    [...reasons].reduce(
      (total, reason) => total + (sum[`reason.${type}.${reason}` satisfies ReasonCounter] ?? 0),
      0,
    );
  const blocks = (type: "hard" | "soft") => addReasons(type, blockReasons);
  const refused = addReasons("refused", bounceReasons);
  const { bouncedHard = 0, bouncedSoft = 0 } = sum;
  const explained = toShownCount(bouncedHard + bouncedSoft + refused);
  const topReasons = rankBounceReasons(sum).map(([reason, count]) => ({
    reason,
    description: bounceReasonTexts[reason],
    count,
    share: rate(count, explained),
  }));
  return {
    ...toShownParts({
      hard: bouncedHard - blocks("hard"),
      soft: bouncedSoft - blocks("soft"),
      block: blocks("hard") + blocks("soft") + refused,
    }),
    topReasons,
  };
}

/** Sends are not counted by domain. `sent` is therefore delivered + bounced + dropped. */
function providerMetrics(group: string, sum: CounterTotals) {
  const metrics = toMetrics(sum);
  const { delivered = 0, bouncedHard = 0, bouncedSoft = 0, dropped = 0 } = sum;
  const sent = toShownCount(delivered + bouncedHard + bouncedSoft + dropped);
  return { group, ...metrics, sent, deliveryRate: rate(metrics.delivered, sent) };
}

/** The counters of a config are named `g.<id>.<counter>`. */
async function configMetrics(
  orgId: number,
  sum: CounterTotals,
): Promise<Deliverability["configPerformance"]> {
  const byConfig = new Map<number, CounterTotals>();
  for (const [name, count] of Object.entries(sum)) {
    const [, id, counter] = /^g\.(\d+)\.(.+)$/.exec(name) ?? [];
    if (id && counter) byConfig.set(Number(id), { ...byConfig.get(Number(id)), [counter]: count });
  }
  const ids = [...byConfig.keys()];
  const configs = await getMany<SendingConfig>(ids.map((id) => keys.record(orgId, "CONFIG", id)));
  return ids
    .map((id, i) => ({
      sendingConfigId: id,
      label: configs[i] ? labelOf(configs[i]) : null,
      provider: configs[i]?.provider ?? null,
      ...toMetrics(byConfig.get(id) ?? {}),
    }))
    .toSorted((a, b) => b.sent - a.sent || a.sendingConfigId - b.sendingConfigId);
}
