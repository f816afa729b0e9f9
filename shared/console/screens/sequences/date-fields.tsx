import { NumberInput, Select } from "@mantine/core";
import { t } from "../../language/translate.ts";

interface OffsetProps {
  /** Negative: before the date. */
  days: number;
  onChange(days: number): void;
}

/** How many days before or after a date. */
export function OffsetFields({ days, onChange }: OffsetProps) {
  return (
    <div className="field-row">
      <NumberInput
        label={t("Days")}
        min={0}
        max={3650}
        allowDecimal={false}
        value={Math.abs(days)}
        onChange={(value) => onChange(Number(value) * (days < 0 ? -1 : 1))}
      />
      <Select
        label={t("Before or after")}
        allowDeselect={false}
        disabled={days === 0}
        data={[
          { value: "before", label: t("before it") },
          { value: "after", label: t("after it") },
        ]}
        value={days < 0 ? "before" : "after"}
        onChange={(side) => onChange(Math.abs(days) * (side === "before" ? -1 : 1))}
      />
    </div>
  );
}

const hours = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  label: `${String(hour).padStart(2, "0")}:00`,
}));

interface HourProps {
  hour: number | undefined;
  isOptional?: boolean;
  onChange(hour: number | undefined): void;
}

/** In the time zone of the contact, else in that of the organization. */
export function HourSelect({ hour, isOptional, onChange }: HourProps) {
  return (
    <Select
      label={isOptional ? t("Hour (optional)") : t("Hour")}
      description={t("In the time zone of the contact, if it is known.")}
      placeholder={t("The time of the date")}
      clearable={isOptional ?? false}
      allowDeselect={false}
      data={hours}
      value={hour === undefined ? null : String(hour)}
      onChange={(chosen) => onChange(chosen === null ? undefined : Number(chosen))}
    />
  );
}
