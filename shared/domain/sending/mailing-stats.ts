// The statistics of campaigns and holidays in API responses.
import * as z from "zod";
import { rate } from "../../kernel/rates.ts";
import { Count } from "../../kernel/record-fields.ts";
import type * as mailSources from "./mail-sources.ts";

export const MailingStats = z
  .object({
    recipients: Count.describe("Emails accepted for sending. Equals `accepted` of the accounting."),
    sent: Count.describe(
      "Emails ever handed to a provider, including those that were delivered, bounced, " +
        "dropped by the provider later or are `uncertain`. A bounced or dropped email counts " +
        "here and under `failed`.",
    ),
    delivered: Count.describe(
      "Emails ever delivered, including those with a later bounce or complaint.",
    ),
    opened: Count.describe("Recipients who opened the email. Opens by machines are not counted."),
    openedTotal: Count.describe("All open events, including repeated ones and those of machines."),
    clicked: Count.describe("Recipients who clicked a link. Clicks by machines are not counted."),
    clickedTotal: Count.describe(
      "All click events, including repeated ones and those of machines.",
    ),
    bounced: Count.describe("Hard and soft bounces. Each also counts under `failed`."),
    unsubscribed: Count.describe("Recipients who unsubscribed through this email."),
    complained: Count.describe("Recipients who reported this email as spam."),
    failed: Count.describe(
      "Emails that bounced, or that the provider or the service refused. Equals `failed` of " +
        "the accounting.",
    ),
    openRate: z.number().describe("opened / delivered, from 0 to 1."),
    clickRate: z.number().describe("clicked / delivered, from 0 to 1."),
  })
  .describe("What became of the emails.")
  .meta({ id: "MailingStats" });
export type MailingStats = z.output<typeof MailingStats>;

export const MailingAccounting = z
  .object({
    candidates: Count.describe("Contacts of the audience found so far."),
    accepted: Count.describe("Candidates that were accepted for sending."),
    suppressed: Count.describe(
      "Candidates not sent to because their email address is on the suppression list.",
    ),
    unsubscribed: Count.describe(
      "Candidates not sent to because they unsubscribed or have not confirmed yet.",
    ),
    notInTopic: Count.describe(
      "Candidates not sent to because they are not subscribed to the topic of the email.",
    ),
    snoozed: Count.describe(
      "Candidates not sent to because they paused marketing email on the preference page.",
    ),
    capped: Count.describe(
      "Candidates not sent to because they got marketing email within `sendFrequencyCapDays` " +
        "of the site.",
    ),
    duplicate: Count.describe(
      "Candidates not sent to because their email address was already in the audience.",
    ),
    invalid: Count.describe("Candidates not sent to because their email address is not valid."),
    heldOut: Count.describe(
      "Candidates not sent to because they are in the hold-out group of the campaign.",
    ),
    queued: Count.describe("Emails waiting to be handed to the provider."),
    sending: Count.describe("Emails being handed to the provider."),
    sent: Count.describe(
      "Emails handed to the provider without an event since. Falls as delivery events " +
        "arrive; `stats.sent` counts all emails ever sent.",
    ),
    delivered: Count.describe("Emails delivered and not bounced since."),
    failed: Count.describe("Emails that bounced, or that the provider or the service refused."),
    uncertain: Count.describe("Emails that the provider may or may not have accepted."),
    cancelled: Count.describe(
      "Emails that were cancelled before they were handed to the provider.",
    ),
  })
  .describe(
    "Where each candidate is now. Every candidate is counted once: candidates = accepted + " +
      "suppressed + unsubscribed + notInTopic + snoozed + capped + duplicate + invalid + " +
      "heldOut, and accepted = queued + sending + sent + delivered + failed + uncertain + " +
      "cancelled.",
  )
  .meta({ id: "MailingAccounting" });
export type MailingAccounting = z.output<typeof MailingAccounting>;

export function toMailingStats({ events, ...at }: mailSources.SourceTotals): MailingStats {
  const of = (name: keyof typeof events): number => events[name] ?? 0;
  const bounced = of("bouncedHard") + of("bouncedSoft");
  const delivered = of("delivered");
  return {
    recipients: at.accepted,
    sent: countHandedOver({ events, ...at }),
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

/**
 * Mails that the provider accepted, as far as is known. Of the failed mails, these are the bounced
 * and the dropped ones.
 */
export function countHandedOver({
  sent,
  delivered,
  uncertain,
  failed,
  events,
}: mailSources.SourceTotals): number {
  const { bouncedHard = 0, bouncedSoft = 0, dropped = 0 } = events;
  return sent + delivered + uncertain + Math.min(failed, bouncedHard + bouncedSoft + dropped);
}

/** No mail is queued or being sent. */
export const isSettled = ({
  accepted,
  sent,
  delivered,
  failed,
  uncertain,
  cancelled,
}: mailSources.SourceTotals): boolean =>
  accepted === sent + delivered + failed + uncertain + cancelled;
