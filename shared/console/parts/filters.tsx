import { ActionIcon, Select, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch, IconX } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { t } from "../language/translate.ts";
import { useShortcuts } from "./shortcuts.ts";
import { statusName } from "./status-names.ts";

interface SearchBoxProps {
  label: string;
  placeholder: string;
  value: string | undefined;
  /** Undefined when the box is empty. Called 300 ms after the last key. */
  onSearch(text: string | undefined): void;
  /** Whether a text that is being typed can already be searched. */
  isSearchable?(text: string): boolean;
}

/** The search of a list. The key `/` leads into it. */
export function SearchBox(props: SearchBoxProps) {
  const { label, placeholder, value = "", onSearch, isSearchable = () => true } = props;
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const [typed] = useDebouncedValue(text.trim(), 300);
  useEffect(() => {
    if (typed !== value && (!typed || isSearchable(typed))) onSearch(typed || undefined);
  }, [typed]);
  useShortcuts([{ keys: ["/"], label, run: () => input.current?.focus() }]);
  return (
    <TextInput
      ref={input}
      className="grow"
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={
        text ? (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t("Clear search")}
            onClick={() => setText("")}
          >
            <IconX size={14} />
          </ActionIcon>
        ) : (
          <kbd>/</kbd>
        )
      }
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
    />
  );
}

interface FilterSelectProps {
  /** "Status" */
  label: string;
  /** "Any status" */
  any: string;
  options: { value: string; label: string }[];
  value: string | number | undefined;
  onChange(value: string | undefined): void;
  /** Whether a phone has no room for it. */
  isWide?: boolean;
}

/** Shows only the rows that have the chosen value. */
export function FilterSelect({ label, any, options, value, onChange, isWide }: FilterSelectProps) {
  return (
    <Select
      {...(isWide && { className: "wide" })}
      aria-label={label}
      placeholder={any}
      clearable
      searchable={options.length > 10}
      clearButtonProps={{ "aria-label": any }}
      w={150}
      data={options}
      value={value === undefined ? null : String(value)}
      onChange={(chosen) => onChange(chosen ?? undefined)}
    />
  );
}

export const statusOptions = (statuses: readonly string[]) =>
  statuses.map((value) => ({ value, label: statusName(value) }));

/** Options for choosing one of several records. */
export const recordOptions = (records: readonly { id: number; name: string }[] = []) =>
  records.map(({ id, name }) => ({ value: String(id), label: name }));
