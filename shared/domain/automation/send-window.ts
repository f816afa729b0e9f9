// When a sequence may send mail: days of the week and hours in the time zone of the contact.
import * as z from "zod";
import { createZonedFormats } from "../../kernel/time-zones.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { getTimezone, Timezone } from "../identity/organizations.ts";

// A window lasts at least one slot, so the start of some slot is inside it. All UTC offsets are
// whole slots.
const slotMinutes = 15;
const slotMs = slotMinutes * 60_000;

const TimeOfDay = (pattern: RegExp, message: string) =>
  z.string().regex(pattern, message).meta({ maxLength: "23:59".length });

export const SendWindow = z
  .object({
    days: z
      .array(z.int().min(1).max(7))
      .min(1)
      .max(7)
      .default([1, 2, 3, 4, 5, 6, 7])
      .describe("Days of the week: 1 is Monday, 7 is Sunday."),
    from: TimeOfDay(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time such as 09:00")
      .default("00:00")
      .describe("Start of the window as a time of day, such as `09:00`."),
    until: TimeOfDay(
      /^(([01]\d|2[0-3]):[0-5]\d|24:00)$/,
      "must be a time such as 17:30, at most 24:00",
    )
      .default("24:00")
      .describe(
        `End of the window, exclusive. Must be at least ${slotMinutes} minutes after \`from\`.`,
      ),
    timezone: Timezone.nullable()
      .default(null)
      .describe("Time zone for contacts without one of their own. `null`: the organization's."),
  })
  .refine(({ from, until }) => minutesOf(until) - minutesOf(from) >= slotMinutes, {
    message: `must be at least ${slotMinutes} minutes before until`,
    path: ["from"],
  })
  .meta({ id: "SendWindow" });
export type SendWindow = z.output<typeof SendWindow>;

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  return 60 * hours + minutes;
}

/**
 * Returns the time zone of a contact in a sequence: its own, that of the window or that of the
 * organization.
 */
export async function loadTimezones(
  orgId: number,
  window: SendWindow | null,
): Promise<(contact: Pick<ContactItem, "timezone"> | undefined) => string> {
  const standard = window?.timezone ?? (await getTimezone(orgId));
  return (contact) => contact?.timezone ?? standard;
}

const maxSlots = 8 * 24 * 4;

/** The next moment inside the window: `at` itself if it is inside. */
export function nextOpening(window: SendWindow | null, timezone: string, at: Date): Date {
  if (!window || isOpen(window, timezone, at)) return at;
  let slot = new Date((Math.floor(at.getTime() / slotMs) + 1) * slotMs);
  for (let n = 0; n < maxSlots && !isOpen(window, timezone, slot); n++)
    slot = new Date(slot.getTime() + slotMs);
  return firstOpenMinute(window, timezone, slot);
}

/** A window may open between two slots. */
function firstOpenMinute(window: SendWindow, timezone: string, slot: Date): Date {
  let first = slot;
  for (let back = 1; back < 15; back++) {
    const earlier = new Date(slot.getTime() - back * 60_000);
    if (!isOpen(window, timezone, earlier)) break;
    first = earlier;
  }
  return first;
}

function isOpen({ days, from, until }: SendWindow, timezone: string, at: Date): boolean {
  const { day, time } = wallClock(timezone, at);
  return days.includes(day) && time >= from && time < until;
}

const clockFormat = createZonedFormats("en-GB", {
  weekday: "short",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

function wallClock(timeZone: string, at: Date): { day: number; time: string } {
  const parts = Object.fromEntries(
    clockFormat(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  return { day: weekdays.indexOf(parts.weekday ?? "") + 1, time: `${parts.hour}:${parts.minute}` };
}
