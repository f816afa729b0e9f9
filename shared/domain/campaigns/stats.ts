// The numbers of a campaign or holiday, as callers see them.
import * as z from "zod";
import { rate } from "../insight/figures.ts";
import type * as sources from "../sending/sources.ts";

const n = z.int();

export const Stats = z
  .object({
    recipients: n.describe("Accepted for sending"),
    sent: n.describe("Handed over to the provider"),
    delivered: n,
    opened: n.describe("People who opened; machines do not count"),
    openedTotal: n.describe("Every open event, also those of machines and further ones of the same person"),
    clicked: n.describe("People who clicked; machines do not count"),
    clickedTotal: n,
    bounced: n,
    unsubscribed: n,
    complained: n,
    failed: n.describe("Bounced, dropped or refused"),
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
    sent: n,
    delivered: n,
    failed: n,
    uncertain: n.describe("The provider may have it, and did not say so"),
    cancelled: n,
  })
  .describe(
    "Where everybody is, true at every moment: candidates = accepted + suppressed + unsubscribed + capped + duplicate + invalid; accepted = queued + sending + sent + delivered + failed + uncertain + cancelled",
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
