// How mail arrives: from the counters of the days, in all, by domain and by sending config.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { getMany } from "../../doors/table.ts";
import { keys } from "../../keys.ts";
import type { SendingConfig } from "../sending-configs.ts";
import { blocking, bounceReasons, described, type ReasonCounter } from "./bounce-reasons.ts";
import * as days from "./days.ts";
import { Figures, figuresOf, rate } from "./figures.ts";
import { type Asked, begun, named, within } from "./overview.ts";
import { groupOf } from "./receivers.ts";
import { Reputation, reasonsOf, reputationOf } from "./reputation.ts";
import { datesOf } from "./spans.ts";
import { type Sum, summed } from "./sums.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

const n = z.int();
const { sent, delivered, opened, clicked, bounced, failed, complained, deliveryRate, openRate, clickRate, bounceRate, complaintRate } =
  Figures.shape;

const Receiver = {
  group: z.string().describe("Who runs the mailboxes, as people know them: Gmail, Outlook, Yahoo, Apple, ...; Other"),
  sent: n.describe("Mails of which something was heard: delivered, bounced or dropped"),
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
    ...named,
    funnel: z.object({ sent, delivered, opened, clicked, bounced, failed }),
    bounceBreakdown: z
      .object({
        hard: n.describe("The mailbox will never take mail"),
        soft: n.describe("It did not take it now"),
        block: n.describe("Refused for what the sender is or does: spam, blocklists, rules, SPF, DKIM, DMARC"),
        topReasons: z
          .array(z.object({ reason: z.enum(bounceReasons), description: z.string(), count: n, share: z.number() }))
          .describe("The most frequent first; shares of all bounces, 0 to 1"),
      })
      .describe("hard + soft + block = bounced"),
    complaintRate,
    dailyTrends: z.array(
      z.object({ date: z.string(), sent, delivered, opened, clicked, bounced, deliveryRate, openRate, clickRate, bounceRate }),
    ),
    ispBreakdown: z
      .array(z.object({ domain: z.string(), ...Receiver }))
      .describe("The 20 domains to which most mail went, by what events tell of it"),
    ispGroups: z
      .array(z.object({ ...Receiver, domains: n.describe("How many domains it has here") }))
      .describe("All domains by who runs them"),
    configPerformance: z.array(
      z.object({
        sendingConfigId: n,
        label: z.string().nullable().describe("Its sender; null when it is gone"),
        provider: z.string().nullable(),
        ...Figures.shape,
      }),
    ),
    reputation: Reputation,
  })
  .meta({ id: "Deliverability" });
export type Deliverability = z.output<typeof Deliverability>;

const mostDomains = 20;

export async function deliverability(who: Who, asked: Asked): Promise<Deliverability> {
  const { head, span, siteIds } = await begun(who, asked);
  const { days: counted, domains } = await days.withDomains(who.orgId, siteIds, span);
  const sum = within(counted, span);
  const figures = figuresOf(sum);
  const receivers = [...domains].map(([domain, one]) => ({ domain, sum: one }));
  return {
    ...head,
    funnel: figures,
    bounceBreakdown: bouncesOf(sum),
    complaintRate: figures.complaintRate,
    dailyTrends: datesOf(span).map((date) => ({ date, ...figuresOf(counted.get(date) ?? {}) })),
    ispBreakdown: receivers
      .map((one) => ({ domain: one.domain, ...receiverOf(groupOf(one.domain), one.sum) }))
      .toSorted((a, b) => b.sent - a.sent || (a.domain < b.domain ? -1 : 1))
      .slice(0, mostDomains),
    ispGroups: [...Map.groupBy(receivers, ({ domain }) => groupOf(domain))]
      .map(([group, some]) => ({ ...receiverOf(group, summed(some.map((one) => one.sum))), domains: some.length }))
      .toSorted((a, b) => b.sent - a.sent || (a.group < b.group ? -1 : 1)),
    configPerformance: await performanceOf(who.orgId, sum),
    reputation: reputationOf(sum),
  };
}

function bouncesOf(sum: Sum): Deliverability["bounceBreakdown"] {
  const blocks = (type: "hard" | "soft") =>
    [...blocking].reduce((total, reason) => total + (sum[`reason.${type}.${reason}` satisfies ReasonCounter] ?? 0), 0);
  const [hard, soft] = [sum.bouncedHard ?? 0, sum.bouncedSoft ?? 0];
  const topReasons = reasonsOf(sum).map(([reason, count]) => ({
    reason,
    description: described[reason],
    count,
    share: rate(count, hard + soft),
  }));
  return { hard: hard - blocks("hard"), soft: soft - blocks("soft"), block: blocks("hard") + blocks("soft"), topReasons };
}

/** The hand-over does not count domains, so what a domain was sent is what was heard of it. */
function receiverOf(group: string, sum: Sum) {
  const figures = figuresOf(sum);
  const known = figures.delivered + figures.bounced + (sum.dropped ?? 0);
  return { group, ...figures, sent: known, deliveryRate: rate(figures.delivered, known) };
}

/** Counters of a config are called `g.<id>.<counter>`. */
async function performanceOf(orgId: number, sum: Sum): Promise<Deliverability["configPerformance"]> {
  const byConfig = new Map<number, Sum>();
  for (const [name, count] of Object.entries(sum)) {
    const [, id, counter] = /^g\.(\d+)\.(.+)$/.exec(name) ?? [];
    if (id && counter) byConfig.set(Number(id), { ...byConfig.get(Number(id)), [counter]: count });
  }
  const ids = [...byConfig.keys()];
  const configs = await getMany<SendingConfig>(ids.map((id) => keys.record(orgId, "CONFIG", id)));
  return ids
    .map((id, i) => ({
      sendingConfigId: id,
      label: labelOf(configs[i]),
      provider: configs[i]?.provider ?? null,
      ...figuresOf(byConfig.get(id) ?? {}),
    }))
    .toSorted((a, b) => b.sent - a.sent || a.sendingConfigId - b.sendingConfigId);
}

const labelOf = (config: SendingConfig | undefined): string | null =>
  config ? (config.fromName ? `${config.fromName} <${config.fromEmail}>` : config.fromEmail) : null;
