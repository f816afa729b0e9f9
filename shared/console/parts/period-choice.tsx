import { SegmentedControl } from "@mantine/core";
import type { Period } from "../data/queries.ts";
import { t } from "../language/translate.ts";

const periods = [
  { value: "7d", label: t("7 days") },
  { value: "30d", label: t("30 days") },
  { value: "90d", label: t("90 days") },
] satisfies { value: Period; label: string }[];

interface PeriodChoiceProps {
  period: Period;
  onChange(period: Period): void;
}

/** Chooses the days that the figures of a screen cover. */
export function PeriodChoice({ period, onChange }: PeriodChoiceProps) {
  return (
    <SegmentedControl
      aria-label={t("Period")}
      size="xs"
      value={period}
      onChange={(value) => onChange(value as Period)}
      data={periods}
    />
  );
}
