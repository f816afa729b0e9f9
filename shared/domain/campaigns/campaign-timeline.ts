// Emails, opens and clicks of a campaign over time.

import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import { listDates } from "../../kernel/calendar-dates.ts";
import { Count, Timestamp } from "../../kernel/record-fields.ts";
import { toShownCount } from "../../kernel/sharded-counters.ts";
import { dateIn } from "../../kernel/time-zones.ts";
import * as organizations from "../identity/organizations.ts";
import * as mailSources from "../sending/mail-sources.ts";
import { type TimelineFigures, timelineHours } from "../sending/mail-timeline.ts";
import * as campaigns from "./campaigns.ts";

/** Figures of days end 60 days after an email was accepted. A paused campaign accepts later. */
const maxDays = 120;

const figures = {
  sent: Count.describe("Emails handed to a provider, those that are `uncertain` included."),
  opened: Count.describe("Recipients who opened the email for the first time."),
  clicked: Count.describe("Recipients who clicked a link for the first time."),
};

export const CampaignTimeline = z
  .object({
    hours: z
      .array(z.object({ from: Timestamp.describe("Start of the hour."), ...figures }))
      .max(timelineHours)
      .describe(
        `The first ${timelineHours} hours, from the first hour to the last one that has figures.`,
      ),
    days: z
      .array(
        z.object({
          date: z.iso.date().describe("Day in the time zone of the organization."),
          ...figures,
        }),
      )
      .max(maxDays)
      .describe(`The first ${maxDays} days, from the first to the last one that has figures.`),
  })
  .meta({ id: "CampaignTimeline" });
export type CampaignTimeline = z.output<typeof CampaignTimeline>;

const hourMs = 3_600_000;

export async function getTimeline(who: CallerScope, id: number): Promise<CampaignTimeline> {
  await campaigns.findStored(who, id);
  const [timezone, timeline] = await Promise.all([
    organizations.getTimezone(who.orgId),
    mailSources.getMailTimeline(who.orgId, id),
  ]);
  const byDay = new Map<string, TimelineFigures>();
  const addTo = (date: string, added: TimelineFigures) => {
    const { sent, opened, clicked } = byDay.get(date) ?? none;
    byDay.set(date, {
      sent: sent + added.sent,
      opened: opened + added.opened,
      clicked: clicked + added.clicked,
    });
  };
  for (const [hour, added] of timeline.hours) addTo(dateIn(timezone, new Date(hour)), added);
  for (const [date, added] of timeline.days) addTo(date, added);
  return {
    hours: listHours(timeline.hours).map((hour) => ({
      from: new Date(hour).toISOString(),
      ...toFigures(timeline.hours.get(hour)),
    })),
    days: listDays([...byDay.keys()].sort()).map((date) => ({
      date,
      ...toFigures(byDay.get(date)),
    })),
  };
}

const none: TimelineFigures = { sent: 0, opened: 0, clicked: 0 };

/** A correction, such as of an uncertain email, can make figures of a later hour negative. */
const toFigures = ({ sent, opened, clicked } = none): TimelineFigures => ({
  sent: toShownCount(sent),
  opened: toShownCount(opened),
  clicked: toShownCount(clicked),
});

function listHours(counted: ReadonlyMap<number, unknown>): number[] {
  if (counted.size === 0) return [];
  const first = Math.min(...counted.keys());
  const count = (Math.max(...counted.keys()) - first) / hourMs + 1;
  return Array.from({ length: Math.min(count, timelineHours) }, (_, i) => first + i * hourMs);
}

const listDays = (counted: string[]): string[] =>
  counted.length ? listDates({ from: counted[0]!, to: counted.at(-1)! }).slice(0, maxDays) : [];
