import { Autocomplete, Checkbox, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { eventChoices } from "../../parts/rules/rule-choices.ts";
import { toPartialRules } from "../../parts/rules/rule-draft.ts";
import { HourSelect, OffsetFields } from "./date-fields.tsx";
import { DurationFields } from "./duration-fields.tsx";
import { customPrefix, dateFields, dateTypes, FieldChoice } from "./field-choice.tsx";
import { RuleFields } from "./rule-fields.tsx";
import { changeWait } from "./step-changes.ts";
import type { DraftStep, StepWait } from "./step-draft.ts";
import { useStepEditor } from "./step-editor.ts";
import { weekdayNames } from "./step-texts.ts";

type WaitKind = "event" | "date" | "weekdays";

const kinds: { value: WaitKind; label: string; initial: StepWait }[] = [
  {
    value: "event",
    label: t("An event happens"),
    initial: { eventName: "", timeoutMinutes: 3 * 24 * 60 },
  },
  { value: "date", label: t("A date of the contact"), initial: { field: "customFields." } },
  {
    value: "weekdays",
    label: t("A day and hour of the week"),
    initial: { weekdays: [1, 2, 3, 4, 5], hour: 9 },
  },
];

function kindOf({ eventName, field }: StepWait): WaitKind {
  if (eventName !== undefined) return "event";
  return field === undefined ? "weekdays" : "date";
}

interface WaitProps {
  wait: StepWait;
  onChange(wait: StepWait): void;
}

/** What the step waits for. */
export function WaitFields({ step }: { step: DraftStep }) {
  const { history } = useStepEditor();
  const wait = step.wait ?? {};
  const kind = kindOf(wait);
  const change = (next: StepWait, name = `${step.key} wait`) =>
    history.change(changeWait(history.draft, step.key, next), name);
  const Fields = fieldsByKind[kind];
  return (
    <>
      <Select
        label={t("Wait until")}
        allowDeselect={false}
        data={kinds.map(({ value, label }) => ({ value, label }))}
        value={kind}
        onChange={(chosen) =>
          change(kinds.find(({ value }) => value === chosen)!.initial, `${step.key} wait ${chosen}`)
        }
      />
      <Fields wait={wait} onChange={change} />
    </>
  );
}

const firstFilter = toPartialRules({
  id: 0,
  match: "all",
  conditions: [eventChoices.createFirst()],
});

function EventFields({ wait, onChange }: WaitProps) {
  const { sequence } = useStepEditor();
  const events = useQuery(queries.eventNames(sequence.siteId)).data ?? [];
  return (
    <>
      <Autocomplete
        label={t("Name of the event")}
        description={t("A reply by email is email_replied.")}
        placeholder="order_placed"
        maxLength={100}
        data={events}
        value={wait.eventName ?? ""}
        onChange={(eventName) => onChange({ ...wait, eventName })}
      />
      <Checkbox
        label={t("Only events that match conditions")}
        checked={wait.filter !== undefined}
        onChange={({ currentTarget }) => {
          const { filter: _, ...rest } = wait;
          onChange(currentTarget.checked ? { ...rest, filter: firstFilter } : rest);
        }}
      />
      {wait.filter && (
        <RuleFields
          rules={wait.filter}
          choices={eventChoices}
          onChange={(filter) => onChange({ ...wait, filter })}
        />
      )}
      <DurationFields
        label={t("Wait at most")}
        minutes={wait.timeoutMinutes ?? null}
        min={1}
        onChange={(minutes) => {
          const { timeoutMinutes: _, ...rest } = wait;
          onChange(minutes === null ? rest : { ...rest, timeoutMinutes: minutes });
        }}
      />
    </>
  );
}

function DateFields({ wait, onChange }: WaitProps) {
  const { field, offsetDays = 0 } = wait;
  return (
    <>
      <FieldChoice
        label={t("Date")}
        value={field === customPrefix ? undefined : field}
        standard={dateFields}
        types={dateTypes}
        onChange={(chosen) => onChange({ ...wait, field: chosen ?? customPrefix })}
      />
      <OffsetFields
        days={offsetDays}
        onChange={(days) => onChange({ ...wait, offsetDays: days })}
      />
      <WaitHour wait={wait} onChange={onChange} isOptional />
      <p className="quiet">
        {t("A contact without this date, or with one in the past, goes on at once.")}
      </p>
    </>
  );
}

function WeekdayFields({ wait, onChange }: WaitProps) {
  return (
    <>
      <Checkbox.Group
        label={t("Days")}
        value={(wait.weekdays ?? []).map(String)}
        onChange={(days) => onChange({ ...wait, weekdays: days.map(Number).toSorted() })}
      >
        <div className="day-row">
          {weekdayNames.map((day, i) => (
            <Checkbox key={day} value={String(i + 1)} label={day} />
          ))}
        </div>
      </Checkbox.Group>
      <WaitHour wait={wait} onChange={onChange} />
    </>
  );
}

function WaitHour({ wait, onChange, isOptional }: WaitProps & { isOptional?: boolean }) {
  return (
    <HourSelect
      hour={wait.hour}
      isOptional={isOptional ?? false}
      onChange={(hour) => {
        const { hour: _, ...rest } = wait;
        onChange(hour === undefined ? rest : { ...rest, hour });
      }}
    />
  );
}

const fieldsByKind = { event: EventFields, date: DateFields, weekdays: WeekdayFields };
