import { TextInput, type TextInputProps } from "@mantine/core";
import { useEffect, useState } from "react";
import { useUnsavedChanges } from "./unsaved-changes.ts";

interface SavedTextProps extends Omit<TextInputProps, "value" | "onChange" | "onBlur"> {
  value: string | null | undefined;
  /** Null if the input was emptied. */
  onSave(value: string | null): void;
}

/** A text that is saved when the reader leaves the input or presses Enter. */
export function SavedText({ value, onSave, ...props }: SavedTextProps) {
  const saved = value ?? "";
  const [text, setText] = useState(saved);
  useEffect(() => setText(saved), [saved]);
  const [isTyping, setTyping] = useState(false);
  useUnsavedChanges(isTyping);
  const save = () => {
    setTyping(false);
    const next = text.trim();
    if (next === saved || (props.required && !next)) return;
    onSave(next || null);
  };
  return (
    <TextInput
      {...props}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        setTyping(true);
      }}
      onBlur={save}
      onKeyDown={({ key }) => key === "Enter" && save()}
    />
  );
}
