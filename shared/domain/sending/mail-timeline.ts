// Emails, opens and clicks of a campaign by hour and day. They are attributes of the campaign's
// counters and change in the same update, so they cost no further write and add up to the totals.
// An attribute has about 9 bytes. Hours end 3 days after an email was accepted and days after 60,
// so a counter item grows by at most 3 KB, however the campaign is sent.
import { now } from "../../clock.ts";
import { addDays } from "../../kernel/calendar-dates.ts";
import type { EventCounts } from "./daily-counters.ts";

export const timelineHours = 72;
const timelineDays = 60;

const [hourMs, dayMs] = [3_600_000, 24 * 3_600_000];

/** What is counted by time, each with the letter of its attributes. */
const letters = { sent: "s", opened: "o", clicked: "c" } as const;
type TimelineFigure = keyof typeof letters;
export type TimelineFigures = Record<TimelineFigure, number>;
const figureNames = Object.keys(letters) as TimelineFigure[];

/** When emails count: in an hour while they are new, else in a day. */
export interface MailTime {
  /** When the emails were accepted (ISO 8601). */
  acceptedAt: string;
  /** Today in the time zone of the organization. */
  date: string;
}

/** `h` with an hour or `d` with a day, in base 36. Undefined when the emails are too old. */
function bucketOf({ acceptedAt, date }: MailTime): string | undefined {
  const at = now().getTime();
  const age = at - Date.parse(acceptedAt);
  if (age < timelineHours * hourMs) return `h${toDigits(at / hourMs)}`;
  if (age < timelineDays * dayMs) return `d${toDigits(Date.parse(date) / dayMs)}`;
  return undefined;
}

const toDigits = (n: number): string => Math.floor(n).toString(36);

type MailCounts = Partial<Record<"sent" | "delivered" | "uncertain", number>>;

/** The attributes that a change of the counters moves, and by how much. */
export function timelineCounts(
  time: MailTime,
  { sent = 0, delivered = 0, uncertain = 0 }: MailCounts,
  events: EventCounts,
): [attribute: string, n: number][] {
  const bucket = bucketOf(time);
  if (bucket === undefined) return [];
  const { bouncedHard = 0, bouncedSoft = 0, dropped = 0 } = events;
  const figures: TimelineFigures = {
    sent: sent + delivered + uncertain + bouncedHard + bouncedSoft + dropped,
    opened: events.uniqueOpened ?? 0,
    clicked: events.uniqueClicked ?? 0,
  };
  return figureNames.map((name) => [`${bucket}.${letters[name]}`, figures[name]]);
}

export interface MailTimeline {
  /** By the start of the hour in milliseconds. */
  hours: Map<number, TimelineFigures>;
  /** By date. Without the emails that are counted by hour. */
  days: Map<string, TimelineFigures>;
}

const noFigures = (): TimelineFigures => ({ sent: 0, opened: 0, clicked: 0 });

/** Finds the figures among the summed counters of a campaign, by the names of their attributes. */
export function toTimeline(sums: ReadonlyMap<string, number>): MailTimeline {
  const timeline: MailTimeline = { hours: new Map(), days: new Map() };
  for (const [attribute, n] of sums) {
    const [, unit, digits = "", letter] = /^([hd])([0-9a-z]+)\.([soc])$/.exec(attribute) ?? [];
    if (!unit) continue;
    const number = Number.parseInt(digits, 36);
    const figures =
      unit === "h"
        ? getOrAdd(timeline.hours, number * hourMs)
        : getOrAdd(timeline.days, addDays("1970-01-01", number));
    figures[figureNames.find((name) => letters[name] === letter)!] += n;
  }
  return timeline;
}

function getOrAdd<K>(map: Map<K, TimelineFigures>, key: K): TimelineFigures {
  const figures = map.get(key) ?? noFigures();
  map.set(key, figures);
  return figures;
}
