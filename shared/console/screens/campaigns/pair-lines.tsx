import { Textarea } from "@mantine/core";
import { useEffect, useState } from "react";
import { t } from "../../language/translate.ts";
import { useUnsavedChanges } from "../../parts/unsaved-changes.ts";

interface PairLinesProps {
  label: string;
  description: string;
  placeholder: string;
  value: Record<string, unknown>;
  /** The value of a pair from its text. */
  read(text: string): unknown;
  onSave(value: Record<string, unknown>): void;
}

/** Names and values, a pair in each line. They are saved when the reader leaves the input. */
export function PairLines({ value, read, onSave, ...props }: PairLinesProps) {
  const saved = toLines(value);
  const [text, setText] = useState(saved);
  useEffect(() => setText(saved), [saved]);
  const [isTyping, setTyping] = useState(false);
  useUnsavedChanges(isTyping);
  const wrong = listLines(text).find((line) => !pairOf(line));
  const save = () => {
    if (wrong !== undefined) return;
    setTyping(false);
    const pairs = listLines(text).map((line) => pairOf(line)!);
    const next = Object.fromEntries(pairs.map(([name, given]) => [name, read(given)]));
    if (toLines(next) !== saved) onSave(next);
  };
  return (
    <Textarea
      {...props}
      autosize
      minRows={2}
      value={text}
      error={
        wrong === undefined ? undefined : t("Write a name, a colon and a value: {wrong}", { wrong })
      }
      onChange={(event) => {
        setText(event.currentTarget.value);
        setTyping(true);
      }}
      onBlur={save}
    />
  );
}

const listLines = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

function pairOf(line: string): [string, string] | undefined {
  const [, name, value] = /^([^:]+):(.*)$/.exec(line) ?? [];
  return name && value?.trim() ? [name.trim(), value.trim()] : undefined;
}

const toLines = (value: Record<string, unknown>): string =>
  Object.entries(value)
    .map(([name, one]) => `${name}: ${toText(one)}`)
    .join("\n");

/** A text that reads as something else, such as a number, is in quotes. */
const toText = (value: unknown): string =>
  typeof value === "string" && readValue(value) === value ? value : JSON.stringify(value);

/** Numbers, `true`, `false`, and JSON in brackets or quotes. Everything else is a text. */
export function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
