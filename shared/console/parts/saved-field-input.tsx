import { type FocusEvent, type KeyboardEvent, useEffect, useState } from "react";
import { FieldInput, type FieldInputProps } from "./field-input.tsx";
import { useUnsavedChanges } from "./unsaved-changes.ts";

interface SavedFieldInputProps extends Omit<FieldInputProps, "value" | "onChange"> {
  value: string | null | undefined;
  /** Null if the input was emptied. */
  onSave(value: string | null): void;
}

/** A line of an email that is saved when the reader leaves the input or presses Enter. */
export function SavedFieldInput({ value, onSave, ...props }: SavedFieldInputProps) {
  const saved = value ?? "";
  const [text, setText] = useState(saved);
  useEffect(() => setText(saved), [saved]);
  useUnsavedChanges(text !== saved);
  const save = () => {
    const next = text.trim();
    if (next !== saved && (next || !props.isRequired)) onSave(next || null);
  };
  const leave = {
    onBlur: ({ currentTarget, relatedTarget }: FocusEvent) =>
      !currentTarget.contains(relatedTarget) && save(),
    onKeyDown: ({ key }: KeyboardEvent) => key === "Enter" && save(),
  };
  return (
    <div {...leave}>
      <FieldInput {...props} value={text} onChange={setText} />
    </div>
  );
}
