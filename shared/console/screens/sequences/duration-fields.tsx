import { NumberInput, Select } from "@mantine/core";
import { useState } from "react";
import { t } from "../../language/translate.ts";
import { minutesIn, splitDuration, unitOptions } from "./step-texts.ts";

const maxMinutes = 2 * 365 * 24 * 60;

interface DurationProps {
  label: string;
  minutes: number | null;
  min?: number;
  onChange(minutes: number | null): void;
}

/** A time in minutes, hours, days or weeks. */
export function DurationFields({ label, minutes, min = 0, onChange }: DurationProps) {
  const given = minutes ?? 0;
  const [chosenUnit, setUnit] = useState(() => splitDuration(given).unit);
  // After an undo, the chosen unit may not fit.
  const isWhole = given % minutesIn(chosenUnit) === 0;
  const unit = isWhole ? chosenUnit : splitDuration(given).unit;
  const size = minutesIn(unit);
  const count = given / size;
  return (
    <div className="field-row">
      <NumberInput
        label={label}
        min={min}
        max={Math.floor(maxMinutes / size)}
        allowDecimal={false}
        value={minutes === null ? "" : count}
        onChange={(value) => onChange(value === "" ? null : Number(value) * size)}
      />
      <Select
        label={t("Unit")}
        data={unitOptions}
        allowDeselect={false}
        value={unit}
        onChange={(chosen) => {
          setUnit(chosen!);
          onChange(Math.min(count * minutesIn(chosen!), maxMinutes));
        }}
      />
    </div>
  );
}
