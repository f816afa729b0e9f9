// When a trigger of a date starts a sequence: so many days before or after the date, at an hour of
// the contact's day, once or every year.
import { addDays, inYear } from "../../kernel/calendar-dates.ts";
import { dateIn, instantOf } from "../../kernel/time-zones.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { dayOfValue } from "../audience/segments/rule-times.ts";
import { getFieldValue } from "./contact-field-values.ts";
import type { SequenceTriggerConfig } from "./trigger-schema.ts";

export interface DateOccurrence {
  /** ISO 8601. */
  at: string;
  /** The day on which it starts, `YYYY-MM-DD`. */
  day: string;
}

const defaultHour = 9;
// The longest offset of a yearly date is a year.
const yearsAround = [-1, 0, 1, 2];

/** The first after a time. Undefined when the contact has no date, or it has passed. */
export function nextOccurrence(
  { field = "", offsetDays = 0, hour = defaultHour, yearly = false }: SequenceTriggerConfig,
  { contact, timezone }: { contact: ContactItem; timezone: string },
  after: Date,
): DateOccurrence | undefined {
  const date = dayOfValue(getFieldValue(contact, field), timezone);
  if (date === undefined) return undefined;
  const year = Number(dateIn(timezone, after).slice(0, 4));
  const dates = yearly ? yearsAround.map((more) => inYear(date, year + more)) : [date];
  for (const each of dates) {
    const day = addDays(each, offsetDays);
    const at = instantOf(day, hour, timezone);
    if (each >= date && at > after) return { at: at.toISOString(), day };
  }
  return undefined;
}
