// When recurring campaigns are sent: inputs, and the schedule in words.

import { Checkbox, Group, NumberInput, SegmentedControl, TextInput } from "@mantine/core";
import type { SeriesSchedule } from "pennymail";
import { useMe } from "../../../data/session.ts";
import { language, t } from "../../../language/translate.ts";

const weekdays = [
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
  "sunday",
] as const;
type Weekday = (typeof weekdays)[number];

const weekdayNames: Record<Weekday, string> = {
  monday: t("Monday"),
  tuesday: t("Tuesday"),
  wednesday: t("Wednesday"),
  thursday: t("Thursday"),
  friday: t("Friday"),
  saturday: t("Saturday"),
  sunday: t("Sunday"),
};

export const weeklySchedule: SeriesSchedule = {
  frequency: "weekly",
  weekdays: ["monday"],
  time: "09:00",
  timeZone: "organization",
};

interface ScheduleFieldsProps {
  schedule: SeriesSchedule;
  onChange(schedule: SeriesSchedule): void;
}

export function ScheduleFields({ schedule, onChange }: ScheduleFieldsProps) {
  const { timezone } = useMe().organization;
  const { frequency, weekdays: days = [], dayOfMonth = 1, time, timeZone } = schedule;
  return (
    <>
      <SegmentedControl
        aria-label={t("How often")}
        value={frequency}
        onChange={(value) =>
          onChange(
            value === "weekly"
              ? { frequency: "weekly", weekdays: ["monday"], time, timeZone }
              : { frequency: "monthly", dayOfMonth: 1, time, timeZone },
          )
        }
        data={[
          { value: "weekly", label: t("On days of the week") },
          { value: "monthly", label: t("Once a month") },
        ]}
      />
      {frequency === "weekly" ? (
        <Checkbox.Group
          label={t("Days")}
          value={days}
          onChange={(chosen) =>
            chosen.length && onChange({ ...schedule, weekdays: chosen as Weekday[] })
          }
        >
          <Group gap="sm">
            {weekdays.map((day) => (
              <Checkbox key={day} value={day} label={weekdayNames[day]} />
            ))}
          </Group>
        </Checkbox.Group>
      ) : (
        <NumberInput
          label={t("Day of the month")}
          description={t("Shorter months use their last day.")}
          min={1}
          max={31}
          allowDecimal={false}
          clampBehavior="strict"
          value={dayOfMonth}
          onChange={(day) => Number(day) && onChange({ ...schedule, dayOfMonth: Number(day) })}
        />
      )}
      <TextInput
        type="time"
        label={t("Time")}
        required
        description={
          timeZone === "contact"
            ? t("On the clock of each contact.")
            : t("In {timezone}.", { timezone })
        }
        value={time}
        onChange={({ currentTarget: { value } }) => value && onChange({ ...schedule, time: value })}
      />
      <Checkbox
        label={t("At the local time of each contact")}
        checked={timeZone === "contact"}
        onChange={({ currentTarget: { checked } }) =>
          onChange({ ...schedule, timeZone: checked ? "contact" : "organization" })
        }
      />
    </>
  );
}

/** Writes the schedule in words, such as "Every Monday and Thursday at 09:00". */
export function describeSchedule({
  frequency,
  weekdays: days = [],
  ...rest
}: SeriesSchedule): string {
  const { dayOfMonth, time, timeZone } = rest;
  const names = weekdays.filter((day) => days.includes(day)).map((day) => weekdayNames[day]);
  const list = new Intl.ListFormat(language).format(names);
  const weekly =
    names.length === weekdays.length ? t("Every day") : t("Every {weekdays}", { weekdays: list });
  const when =
    frequency === "weekly" ? weekly : t("On day {dayOfMonth} of each month", { dayOfMonth });
  return timeZone === "contact"
    ? t("{when} at {time}, local time of each contact", { when, time })
    : t("{when} at {time}", { when, time });
}
