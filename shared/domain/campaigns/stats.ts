// The numbers of a campaign or holiday, as callers see them.
import * as z from "zod";
import { rate } from "../insight/figures.ts";
import type * as sources from "../sending/sources.ts";

const n = z.int();

export const Stats = z
  .object({
    recipients: n.describe("Accepted for sending: `accepted` of the accounting"),
    sent: n.describe(
      "Ever handed over to a provider, whatever became of it: also what was delivered, bounced or may have been taken (`uncertain`). A mail that bounced counts here and under `failed`",
    ),
    delivered: n.describe("Ever delivered, also where the mail bounced or was complained about later"),
    opened: n.describe("People who opened; machines do not count"),
    openedTotal: n.describe("Every open event, also those of machines and further ones of the same person"),
    clicked: n.describe("People who clicked; machines do not count"),
    clickedTotal: n,
    bounced: n.describe("Hard or soft; each is among `failed` too"),
    unsubscribed: n,
    complained: n,
    failed: n.describe("Bounced, dropped by the provider, or refused by it or by us: `failed` of the accounting"),
    openRate: z.number().describe("opened / delivered, 0 to 1"),
    clickRate: z.number().describe("clicked / delivered, 0 to 1"),
  })
  .meta({ id: "MailingStats" });
export type Stats = z.output<typeof Stats>;

export const Numbers = z
  .object({
    candidates: n.describe("Whom the audience has named so far"),
    accepted: n,
    suppressed: n,
    unsubscribed: n.describe("Unsubscribed, or not confirmed yet"),
    capped: n.describe("Had marketing mail within sendFrequencyCapDays of the site"),
    duplicate: n,
    invalid: n,
    queued: n,
    sending: n,
    sent: n.describe(
      "Handed over, and nothing heard of it since: what was delivered or bounced has moved on, so this falls as events come. See `stats` for all that was ever sent",
    ),
    delivered: n.describe("Delivered, and not bounced since"),
    failed: n.describe("Bounced, dropped by the provider, or refused by it or by us"),
    uncertain: n.describe("The provider may have it, and did not say so"),
    cancelled: n,
  })
  .describe(
    "Where everybody is now, each at one place, true at every moment: candidates = accepted + suppressed + unsubscribed + capped + duplicate + invalid; accepted = queued + sending + sent + delivered + failed + uncertain + cancelled",
  )
  .meta({ id: "MailingAccounting" });
export type Numbers = z.output<typeof Numbers>;

export function statsOf({ events, ...at }: sources.Numbers): Stats {
  const of = (name: keyof typeof events): number => events[name] ?? 0;
  const bounced = of("bouncedHard") + of("bouncedSoft");
  const delivered = of("delivered");
  return {
    recipients: at.accepted,
    sent: handedOver({ events, ...at }),
    delivered,
    opened: of("uniqueOpened"),
    openedTotal: of("opened"),
    clicked: of("uniqueClicked"),
    clickedTotal: of("clicked"),
    bounced,
    unsubscribed: of("unsubscribed"),
    complained: of("complained"),
    failed: at.failed,
    openRate: rate(of("uniqueOpened"), delivered),
    clickRate: rate(of("uniqueClicked"), delivered),
  };
}

/** What the provider took, as far as is known. Of those who failed the ones that bounced had been taken. */
export const handedOver = ({ sent, delivered, uncertain, failed, events }: sources.Numbers): number =>
  sent + delivered + uncertain + Math.min(failed, (events.bouncedHard ?? 0) + (events.bouncedSoft ?? 0));

/** Nothing of it is on its way any more. */
export const isSettled = ({ accepted, sent, delivered, failed, uncertain, cancelled }: sources.Numbers): boolean =>
  accepted === sent + delivered + failed + uncertain + cancelled;
