// What people ask of counters: how many mails went where, and in what proportion.
import * as z from "zod";
import type { DayCounts } from "../days.ts";
import type { Sum } from "./sums.ts";

const n = z.int();
const Rate = z.number().describe("0 to 1");

const counts = {
  sent: n.describe("A provider took it"),
  delivered: n.describe("The server of its recipient took it, or somebody opened or clicked it"),
  opened: n.describe("Mails that a person opened, each once. What machines open counts in opens.automated only"),
  clicked: n.describe("Mails in which a person clicked, each once"),
  bounced: n.describe("Hard, soft and blocked together"),
  failed: n.describe("Never came to its recipient's server: refused by us or the provider, suppressed, or dropped by the provider"),
  complained: n.describe("Reported as spam"),
  unsubscribed: n,
  deferred: n.describe("How often a server put a mail off; it may have taken it later"),
  uncertain: n.describe("The provider may or may not have it, and no event has told yet"),
};
const rates = {
  deliveryRate: Rate.describe("delivered / sent"),
  openRate: Rate.describe("opened / delivered"),
  clickRate: Rate.describe("clicked / delivered"),
  bounceRate: Rate.describe("bounced / sent"),
  complaintRate: Rate.describe("complained / delivered"),
  unsubscribeRate: Rate.describe("unsubscribed / delivered"),
};
const Events = z.object({ total: n.describe("Events"), automated: n.describe("Of them by machines: scanners, prefetchers") });

export const Figures = z
  .object({ ...counts, ...rates, opens: Events, clicks: Events })
  .describe(
    "Each thing counts on the day on which it became known, so a mail of yesterday that is opened today is opened today. Rates are 0 where there is nothing to divide by, and at most 1",
  )
  .meta({ id: "Figures" });
export type Figures = z.output<typeof Figures>;

export function figuresOf(sum: Sum): Figures {
  const of = (name: keyof DayCounts): number => sum[name] ?? 0;
  const sent = of("sent") + of("recovered");
  const [delivered, opened, clicked] = [of("delivered"), of("uniqueOpened"), of("uniqueClicked")];
  const [bounced, complained, unsubscribed] = [of("bouncedHard") + of("bouncedSoft"), of("complained"), of("unsubscribed")];
  return {
    sent,
    delivered,
    opened,
    clicked,
    bounced,
    failed: of("failed") + of("dropped"),
    complained,
    unsubscribed,
    deferred: of("deferred"),
    uncertain: of("uncertain") - of("recovered"),
    deliveryRate: rate(delivered, sent),
    openRate: rate(opened, delivered),
    clickRate: rate(clicked, delivered),
    bounceRate: rate(bounced, sent),
    complaintRate: rate(complained, delivered),
    unsubscribeRate: rate(unsubscribed, delivered),
    opens: { total: of("opened"), automated: of("openedByMachine") },
    clicks: { total: of("clicked"), automated: of("clickedByMachine") },
  };
}

export const rate = (part: number, whole: number): number => (whole > 0 ? Math.max(0, Math.min(1, part / whole)) : 0);

/** As exact as it matters: from 1 % on with one digit behind the point, below with two. */
export const percent = (share: number): string => `${Number((share * 100).toFixed(Math.abs(share) < 0.01 ? 2 : 1))} %`;

const Grown = z.number().nullable();
const Shift = z.number().nullable();
export const Change = z
  .object({
    sent: Grown,
    delivered: Grown,
    opened: Grown,
    clicked: Grown,
    bounced: Grown,
    failed: Grown,
    complained: Grown,
    unsubscribed: Grown,
    deliveryRate: Shift,
    openRate: Shift,
    clickRate: Shift,
    bounceRate: Shift,
    complaintRate: Shift,
    unsubscribeRate: Shift,
  })
  .describe(
    "Against the period before. Of numbers: by which part they grew (0.25: a quarter more, -1: nothing left), null where there were none before. Of rates: the difference (0.02: two percent points more), null where there was no mail before that they could be of",
  )
  .meta({ id: "FiguresChange" });
export type Change = z.output<typeof Change>;

const grown = ["sent", "delivered", "opened", "clicked", "bounced", "failed", "complained", "unsubscribed"] as const;
/** With what they are shares of. */
const shifted = {
  deliveryRate: "sent",
  openRate: "delivered",
  clickRate: "delivered",
  bounceRate: "sent",
  complaintRate: "delivered",
  unsubscribeRate: "delivered",
} as const;
type Rates = keyof typeof shifted;

/** By which part it grew; null from nothing. */
export const growth = (now: number, before: number): number | null => (before > 0 ? now / before - 1 : null);

export const changeOf = (now: Figures, before: Figures): Change => ({
  ...(Object.fromEntries(grown.map((name) => [name, growth(now[name], before[name])])) as Pick<Change, (typeof grown)[number]>),
  ...(Object.fromEntries(
    (Object.keys(shifted) as Rates[]).map((name) => [name, before[shifted[name]] > 0 ? now[name] - before[name] : null]),
  ) as Pick<Change, Rates>),
});
