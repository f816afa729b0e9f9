// Schemas of the conversions of a campaign: what counts, and how often it happened.
import * as z from "zod";
import { rate } from "../../../kernel/rates.ts";
import { Count, Timestamp } from "../../../kernel/record-fields.ts";
import { EventName } from "../../audience/tracking/custom-events.ts";
import type { SourceTotals } from "../../sending/mail-sources.ts";
import { certaintyOfBest } from "./share-comparison.ts";

/** Conversions count until so many days after the start. */
const countedDays = 60;

const currencies = new Set(Intl.supportedValuesOf("currency"));
export const isCurrency = (code: string): boolean => currencies.has(code);

const property = z.string().min(1).max(100).optional();

export const CampaignConversion = z
  .object({
    eventName: EventName.describe(
      "Name of the custom event, such as `order_placed`. Events count that POST /events/custom " +
        "records, and those of proven visitors. Up to 10 campaigns are looked at for an event.",
    ),
    after: z
      .enum(["click", "open", "delivery"])
      .default("click")
      .describe(
        "What the contact must have done before the event: clicked a link of the email, opened " +
          "or clicked it, or got it. Opens and clicks by machines do not count. An event counts " +
          "for the campaign of the site in which that happened last. An open or click that the " +
          "provider reports after the event does not count.",
      ),
    windowDays: z
      .int()
      .min(1)
      .max(30)
      .default(7)
      .describe(
        `Days from then until the event. Nothing counts more than ${countedDays} days after the ` +
          "start of the campaign.",
      ),
    valueProperty: property.describe(
      "Property of the event with its revenue, such as `total`: a number. Dots lead into objects.",
    ),
    currency: z
      .string()
      .max(3, { error: "must be a currency code such as EUR", abort: true })
      .regex(/^[A-Z]{3}$/, { error: "must be a currency code such as EUR", abort: true })
      .refine(isCurrency, "must be a currency code such as EUR")
      .optional()
      .describe(
        "ISO 4217 code of the currency of the revenue, such as `EUR`. Required with " +
          "`valueProperty`.",
      ),
    currencyProperty: property.describe(
      "Property of the event with its currency. `currency` is that of events without it. A value " +
        "that is no currency code has no revenue.",
    ),
  })
  .refine(({ valueProperty, currency }) => !valueProperty === !currency, {
    error: "valueProperty and currency must be given together",
    path: ["currency"],
  })
  .refine(({ valueProperty, currencyProperty }) => valueProperty || !currencyProperty, {
    error: "needs valueProperty",
    path: ["currencyProperty"],
  })
  .meta({ id: "CampaignConversion" });
export type CampaignConversion = z.output<typeof CampaignConversion>;

export const Revenue = z
  .object({
    currency: z.string().describe("ISO 4217 code of the currency."),
    amount: z.number().describe("Sum of the revenue, to a thousandth."),
  })
  .meta({ id: "Revenue" });
export type Revenue = z.output<typeof Revenue>;

export const revenueText = "Revenue of these events, one entry per currency.";

const ComparedGroup = z
  .object({
    size: Count.describe("Contacts of the group."),
    contacts: Count.describe("Contacts of the group with the event, each once."),
    rate: z.number().describe("contacts / size, from 0 to 1."),
    revenue: z.array(Revenue).describe(revenueText),
  })
  .meta({ id: "ComparedGroup" });

const HoldOutComparison = z
  .object({
    mailed: ComparedGroup.describe("Contacts whose email was accepted for sending."),
    heldOut: ComparedGroup.describe("Contacts of the hold-out group, who got no email."),
    lift: z
      .number()
      .nullable()
      .describe(
        "How much more of those with the email had the event: mailed.rate / heldOut.rate - 1. " +
          "`null` if nobody of the hold-out group had it.",
      ),
    certainty: z
      .number()
      .describe(
        "How certain it is that the rates differ, from 0 to 1: from 0.95 on, such a difference " +
          "is no matter of chance.",
      ),
  })
  .meta({ id: "HoldOutComparison" });
type HoldOutComparison = z.output<typeof HoldOutComparison>;

export const CampaignConversions = z
  .object({
    contacts: Count.describe("Contacts with the event, each once."),
    rate: z.number().describe("contacts / delivered, from 0 to 1."),
    events: Count.describe("All events that count, including repeated ones of a contact."),
    revenue: z.array(Revenue).describe(revenueText),
    countedUntil: Timestamp.nullable().describe(
      "Until when events count. `null` while the campaign has not started.",
    ),
    holdOut: HoldOutComparison.nullable().describe(
      "Those who got the email and the hold-out group: their events within `windowDays` after " +
        "the start of the campaign, whatever they clicked. `null` without `holdOutPercent`.",
    ),
  })
  .meta({ id: "CampaignConversions" });
export type CampaignConversions = z.output<typeof CampaignConversions>;

/** Amounts are stored as whole thousandths, because sums of decimals would not be exact. */
export const amountUnits = 1000;
const valuePrefix = "value.";
export const valueCounter = (currency: string): string => valuePrefix + currency;

/** `group` is the prefix of the counters. */
export const toRevenue = (counters: Record<string, number>, group = ""): Revenue[] =>
  Object.entries(counters)
    .flatMap(([name, n]) => {
      const prefix = group + valuePrefix;
      if (!name.startsWith(prefix) || n === 0) return [];
      return [{ currency: name.slice(prefix.length), amount: n / amountUnits }];
    })
    .sort((a, b) => (a.currency < b.currency ? -1 : 1));

export const countedUntil = (startedAt: string): Date =>
  new Date(Date.parse(startedAt) + countedDays * 24 * 3_600_000);

export const toConversions = (
  totals: SourceTotals,
  { startedAt, hasHoldOut }: { startedAt: string | undefined; hasHoldOut: boolean },
): CampaignConversions => {
  const { conversions, events } = totals;
  return {
    contacts: conversions.contacts ?? 0,
    rate: rate(conversions.contacts ?? 0, events.delivered ?? 0),
    events: conversions.events ?? 0,
    revenue: toRevenue(conversions),
    countedUntil: startedAt === undefined ? null : countedUntil(startedAt).toISOString(),
    holdOut: hasHoldOut ? compareGroups(totals) : null,
  };
};

/** The groups whose conversions are compared, as prefixes of counters. */
export type ComparedGroupName = "mailed" | "heldOut";
export const groupPrefix = (group: ComparedGroupName): string => `${group}.`;

function compareGroups({ conversions, accepted, heldOut }: SourceTotals): HoldOutComparison {
  const toGroup = (name: ComparedGroupName, size: number) => {
    const contacts = conversions[`${groupPrefix(name)}contacts`] ?? 0;
    const revenue = toRevenue(conversions, groupPrefix(name));
    return { size, contacts, rate: rate(contacts, size), revenue };
  };
  const [mailed, held] = [toGroup("mailed", accepted), toGroup("heldOut", heldOut)];
  const shares = [mailed, held].map(({ contacts: hits, size: of }) => ({ hits, of }));
  return {
    mailed,
    heldOut: held,
    lift: held.rate ? mailed.rate / held.rate - 1 : null,
    certainty: certaintyOfBest(shares),
  };
}
