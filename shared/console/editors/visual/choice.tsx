import { SegmentedControl } from "@mantine/core";
import { type ReactNode, useId } from "react";

interface ChoiceProps<Value extends string> {
  label: string;
  value: Value;
  choices: readonly (readonly [value: Value, label: string])[];
  onChange(value: Value): void;
}

/** A control that chooses one of a few values. */
export function Choice<Value extends string>(props: ChoiceProps<Value>): ReactNode {
  const { label, value, choices, onChange } = props;
  const id = useId();
  return (
    <div className="choice">
      <span id={id}>{label}</span>
      <SegmentedControl
        aria-labelledby={id}
        size="xs"
        fullWidth
        value={value}
        onChange={(next) => onChange(next as Value)}
        data={choices.map(([one, words]) => ({ value: one, label: words }))}
      />
    </div>
  );
}
