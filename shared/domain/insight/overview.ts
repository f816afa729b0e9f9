// Figures of a period beside those of the one before, as a chart wants them.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import * as organizations from "../organizations.ts";
import * as sites from "../sites.ts";
import * as contactCount from "./contact-count.ts";
import { ContactCount } from "./contact-count.ts";
import * as days from "./days.ts";
import { Change, changeOf, Figures, figuresOf } from "./figures.ts";
import { Interval, type Period, Period as PeriodSchema, piecesOf, previousOf, type Span, spanOf } from "./spans.ts";
import { type Sum, summed } from "./sums.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

const day = (what: string) => z.string().describe(`${what}, such as 2026-11-21`);
export const spanned = { from: day("The first day"), to: day("The last day") };
export const asked = {
  period: PeriodSchema,
  siteId: z.coerce.number().int().positive().optional().describe("Without it all sites that the caller may see, at most 100"),
};
export const named = {
  period: z.string(),
  siteId: z.int().nullable().describe("null: all sites that the caller may see"),
  timezone: z.string().describe("Of the organization: days are its days"),
  ...spanned,
};

const Point = z.object({ ...spanned, ...Figures.shape }).meta({ id: "FiguresPoint" });
export const Overview = z
  .object({
    ...named,
    interval: Interval,
    contacts: ContactCount,
    totals: Figures,
    previous: z.object({ ...spanned, totals: Figures }).describe("As many days, just before"),
    change: Change,
    series: z.array(Point).describe("Every day, week or month of the period, oldest first, also those on which nothing happened"),
    previousSeries: z.array(Point).describe("The same of the period before, to be drawn behind it"),
  })
  .meta({ id: "AnalyticsOverview" });
export type Overview = z.output<typeof Overview>;

export interface Asked {
  period: Period;
  siteId?: number | undefined;
}

export async function overview(who: Who, { period, siteId, interval }: Asked & { interval: Interval }): Promise<Overview> {
  const { head, span, siteIds } = await begun(who, { period, siteId });
  const before = previousOf(span);
  const [counted, contacts] = await Promise.all([
    days.between(who.orgId, siteIds, { from: before.from, to: span.to }),
    contactCount.since(who.orgId, siteIds, span.from),
  ]);
  const [totals, past] = [figuresOf(within(counted, span)), figuresOf(within(counted, before))];
  const seriesOf = (whole: Span) => piecesOf(whole, interval).map((piece) => ({ ...piece, ...figuresOf(within(counted, piece)) }));
  return {
    ...head,
    interval,
    contacts,
    totals,
    previous: { ...before, totals: past },
    change: changeOf(totals, past),
    series: seriesOf(span),
    previousSeries: seriesOf(before),
  };
}

/** What every answer about a period begins with. */
export async function begun(who: Who, { period, siteId }: Asked) {
  const [{ timezone, today }, siteIds] = await Promise.all([organizations.calendar(who.orgId), sites.visible(who, siteId)]);
  const span = spanOf(period, today);
  return { head: { period, siteId: siteId ?? who.siteId ?? null, timezone, ...span }, span, siteIds };
}

export function within(counted: Map<string, Sum>, { from, to }: Span): Sum {
  return summed([...counted].flatMap(([date, sum]) => (date >= from && date <= to ? [sum] : [])));
}
