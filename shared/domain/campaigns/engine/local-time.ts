// Sending at the local time of each contact. The fan-out starts when the first time zone has
// reached the time. The mail of all others is staged as suspended chunks, one for each time at
// which it is due.
import { addSeconds, now } from "../../../clock.ts";
import { instantOfLocalTime } from "../../../kernel/time-zones.ts";
import type { ContactItem } from "../../audience/contacts/contact-schema.ts";
import type { Release } from "../../sending/mail-sources.ts";
import type { BroadcastPlan } from "./broadcast-plan.ts";

const secondsPerHour = 3600;
/** Pacific/Kiritimati. */
const earliestOffsetHours = 14;
/** Etc/GMT+12. */
const latestOffsetHours = -12;

/** When the first and when the last time zone reaches a local time. */
export function getLocalTimeSpan(localTime: string): { first: Date; last: Date } {
  const inUtc = new Date(`${localTime}Z`);
  return {
    first: addSeconds(-earliestOffsetHours * secondsPerHour, inUtc),
    last: addSeconds(-latestOffsetHours * secondsPerHour, inUtc),
  };
}

/**
 * Returns a function that tells when a contact gets its mail (ISO 8601). Undefined: at once,
 * because the plan has no local time or the contact's has passed.
 */
export function createReleaseTimes({
  localTime,
}: Pick<BroadcastPlan, "localTime">): (contact: ContactItem) => string | undefined {
  if (!localTime) return () => undefined;
  const timesByZone = new Map<string, string>();
  return ({ timezone }) => {
    const zone = timezone ?? localTime.timezone;
    const at = timesByZone.get(zone) ?? instantOfLocalTime(localTime.time, zone).toISOString();
    timesByZone.set(zone, at);
    return at > now().toISOString() ? at : undefined;
  };
}

/** The mails that still wait for their time, by time. */
export function listUpcoming(releases: Release[]): Release[] {
  const time = now().toISOString();
  return releases.filter(({ at }) => at > time);
}

export const countMails = (releases: Release[]): number =>
  releases.reduce((sum, { mails }) => sum + mails, 0);
