// Metrics of mail, computed from counters: numbers and rates, and their change between two periods.
import * as z from "zod";
import { rate } from "../../kernel/rates.ts";
import { Count } from "../../kernel/record-fields.ts";
import { type CounterTotals, toShownCount } from "../../kernel/sharded-counters.ts";
import type { DayCounts } from "../sending/daily-counters.ts";

const Rate = z.number().describe("0 to 1");

const counts = {
  sent: Count.describe("Emails accepted by a provider."),
  delivered: Count.describe("Emails accepted by the recipient's server, or opened or clicked."),
  opened: Count.describe(
    "Emails opened by a person, each counted once. Opens by machines count only in " +
      "`opens.automated`.",
  ),
  clicked: Count.describe("Emails in which a person clicked a link, each counted once."),
  bounced: Count.describe("Emails that bounced: hard, soft and blocked."),
  failed: Count.describe(
    "Emails that failed: suppressed, refused by the service or the provider, dropped by the " +
      "provider, or bounced.",
  ),
  complained: Count.describe("Emails reported as spam."),
  unsubscribed: Count.describe("Recipients who unsubscribed."),
  deferred: Count.describe("Deferrals: how often a server delayed an email."),
  uncertain: Count.describe("Emails that the provider may or may not have accepted."),
};
const rates = {
  deliveryRate: Rate.describe("delivered / sent"),
  openRate: Rate.describe("opened / delivered"),
  clickRate: Rate.describe("clicked / delivered"),
  bounceRate: Rate.describe("bounced / sent"),
  complaintRate: Rate.describe("complained / delivered"),
  unsubscribeRate: Rate.describe("unsubscribed / delivered"),
};
const Events = z
  .object({
    total: Count.describe("All events, including repeated ones and those of machines."),
    automated: Count.describe("Events caused by machines."),
  })
  .describe("Number of open or click events, including repeated ones.")
  .meta({ id: "EventCounts" });

export const MailMetrics = z
  .object({ ...counts, ...rates, opens: Events, clicks: Events })
  .describe(
    "Each event counts on the day on which the service recorded it, not on the day of the " +
      "email. If an event corrects a count of an earlier day, the count of its own day is 0 at " +
      "least. Rates are between 0 and 1, and 0 if there is nothing to divide by.",
  )
  .meta({ id: "Figures" });
export type MailMetrics = z.output<typeof MailMetrics>;

export function toMetrics(sum: CounterTotals): MailMetrics {
  // A correction moves a mail from one counter to another, such as from bounced to dropped.
  // Therefore counters are added up first.
  const count = (...names: (keyof DayCounts)[]): number =>
    toShownCount(names.reduce((total, name) => total + (sum[name] ?? 0), 0));
  const { uncertain = 0, recovered = 0 } = sum;
  const sent = count("sent", "recovered");
  const [delivered, opened, clicked] = [
    count("delivered"),
    count("uniqueOpened"),
    count("uniqueClicked"),
  ];
  const [bounced, complained, unsubscribed] = [
    count("bouncedHard", "bouncedSoft"),
    count("complained"),
    count("unsubscribed"),
  ];
  return {
    sent,
    delivered,
    opened,
    clicked,
    bounced,
    failed: count("failed", "dropped", "bouncedHard", "bouncedSoft"),
    complained,
    unsubscribed,
    deferred: count("deferred"),
    uncertain: toShownCount(uncertain - recovered),
    deliveryRate: rate(delivered, sent),
    openRate: rate(opened, delivered),
    clickRate: rate(clicked, delivered),
    bounceRate: rate(bounced, sent),
    complaintRate: rate(complained, delivered),
    unsubscribeRate: rate(unsubscribed, delivered),
    opens: { total: count("opened"), automated: count("openedByMachine") },
    clicks: { total: count("clicked"), automated: count("clickedByMachine") },
  };
}

const RelativeChange = z
  .number()
  .nullable()
  .describe(
    "Growth as a fraction: 0.25 is 25 % more, -1 is nothing left. `null` if there were " +
      "none before.",
  );
const RateDifference = z
  .number()
  .nullable()
  .describe(
    "Difference: 0.02 is two percentage points more. `null` if there was no email to compare with.",
  );
export const MetricsChange = z
  .object({
    sent: RelativeChange,
    delivered: RelativeChange,
    opened: RelativeChange,
    clicked: RelativeChange,
    bounced: RelativeChange,
    failed: RelativeChange,
    complained: RelativeChange,
    unsubscribed: RelativeChange,
    deliveryRate: RateDifference,
    openRate: RateDifference,
    clickRate: RateDifference,
    bounceRate: RateDifference,
    complaintRate: RateDifference,
    unsubscribeRate: RateDifference,
  })
  .describe(
    "Change against the previous period. Counts: growth as a fraction (0.25 is 25 % more, -1 " +
      "is nothing left), or `null` if there were none before. Rates: difference (0.02 is two " +
      "percentage points more), or `null` if there was no email to compare with.",
  )
  .meta({ id: "FiguresChange" });
export type MetricsChange = z.output<typeof MetricsChange>;

const countNames = [
  "sent",
  "delivered",
  "opened",
  "clicked",
  "bounced",
  "failed",
  "complained",
  "unsubscribed",
] as const;
/** The count that each rate is a share of. */
const rateDenominators = {
  deliveryRate: "sent",
  openRate: "delivered",
  clickRate: "delivered",
  bounceRate: "sent",
  complaintRate: "delivered",
  unsubscribeRate: "delivered",
} as const;
type RateName = keyof typeof rateDenominators;

/** Growth as a fraction; null if there was nothing before. */
export const relativeChange = (current: number, previous: number): number | null =>
  previous > 0 ? current / previous - 1 : null;

export const compareMetrics = (current: MailMetrics, previous: MailMetrics): MetricsChange => ({
  ...(Object.fromEntries(
    countNames.map((name) => [name, relativeChange(current[name], previous[name])]),
  ) as Pick<MetricsChange, (typeof countNames)[number]>),
  ...(Object.fromEntries(
    (Object.keys(rateDenominators) as RateName[]).map((name) => [
      name,
      previous[rateDenominators[name]] > 0 ? current[name] - previous[name] : null,
    ]),
  ) as Pick<MetricsChange, RateName>),
});
