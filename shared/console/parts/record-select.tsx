// Chooses among the records of a site. The service searches them by name, so that a site can have
// any number.
import {
  MultiSelect,
  type MultiSelectProps,
  Select,
  type SelectProps,
  TagsInput,
  type TagsInputProps,
} from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQueries, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useChange } from "../data/changes.ts";
import { type CountedName, type NamedGroup, queries } from "../data/queries.ts";
import { t } from "../language/translate.ts";
import { ErrorNote } from "./error-note.tsx";
import { recordOptions } from "./filters.tsx";

interface NamedChoice {
  group: NamedGroup;
  siteId: number | undefined;
  /** What the user has typed. */
  text: string;
  /** The records that are listed in any case. */
  chosen: readonly number[];
}

/** Tags by their names, which need not exist yet. */
export function TagNamesInput({ siteId, ...props }: { siteId: number } & TagsInputProps) {
  const [text, setText] = useState("");
  const names = useNamedRecords({ group: "tags", siteId, text, chosen: [] });
  return (
    <TagsInput
      {...props}
      maxLength={100}
      data={names.map(({ name }) => name)}
      searchValue={text}
      onSearchChange={setText}
    />
  );
}

/** The newest records, those whose names contain the text, and those that are chosen. */
export function useNamedRecords({ group, siteId = 0, text, chosen }: NamedChoice): CountedName[] {
  const [search] = useDebouncedValue(text.trim(), 300);
  const first = useQuery({ ...queries.firstNames(group, siteId), enabled: siteId > 0 }).data;
  const hasMore = first?.hasMore === true;
  const found = useQuery({
    ...queries.foundNames(group, siteId, search),
    enabled: hasMore && search !== "",
  }).data;
  const known: CountedName[] = [...(first?.names ?? []), ...(found ?? [])];
  const listed = new Map(known.map((one) => [one.id, one]));
  const missing = hasMore ? chosen.filter((id) => !listed.has(id)) : [];
  const named = useQueries({ queries: missing.map((id) => queries.name(group, id)) });
  for (const { data } of named) if (data) listed.set(data.id, data);
  return [...listed.values()];
}

type RecordSelectProps = Pick<NamedChoice, "group" | "siteId"> & {
  /** A record that is not offered. */
  without?: number;
  value: number | null | undefined;
  onChange(id: number | null): void;
} & Omit<SelectProps, "data" | "value" | "onChange" | "searchable">;

export function RecordSelect(given: RecordSelectProps) {
  const { group, siteId, without, value, onChange, ...props } = given;
  const [text, setText] = useState("");
  const chosen = value == null ? [] : [value];
  const names = useNamedRecords({ group, siteId, text, chosen });
  const label = names.find(({ id }) => id === value)?.name;
  return (
    <Select
      nothingFoundMessage={t("There is none")}
      {...props}
      searchable
      data={recordOptions(names.filter(({ id }) => id !== without))}
      value={value == null ? null : String(value)}
      onChange={(id) => onChange(id ? Number(id) : null)}
      // The field shows the name of the chosen record, which is no search.
      onSearchChange={(typed) => setText(typed === label ? "" : typed)}
    />
  );
}

type RecordMultiSelectProps = Pick<NamedChoice, "group" | "siteId"> & {
  value: readonly number[];
  onChange(ids: number[]): void;
  /** Makes a record with the name that was typed, if none has it. Returns its id. */
  onCreate?(name: string): Promise<number>;
} & Omit<MultiSelectProps, "data" | "value" | "onChange" | "searchable">;

/** The value of the option that makes a new record. */
const newRecord = "new";

export function RecordMultiSelect(props: RecordMultiSelectProps) {
  const { group, siteId, value, onChange, onCreate, ...shown } = props;
  const [text, setText] = useState("");
  const names = useNamedRecords({ group, siteId, text, chosen: value });
  const name = text.trim();
  const isKnown = names.some((one) => one.name.toLowerCase() === name.toLowerCase());
  const creating = useChange({
    run: (wanted: string) => onCreate!(wanted),
    refreshes: [group],
    onDone: (id) => onChange([...value, id]),
  });
  const offer = { value: newRecord, label: t("Make “{name}”", { name }) };
  const choose = (ids: string[]) => {
    if (ids.includes(newRecord)) creating.mutate(name);
    else onChange(ids.map(Number));
  };
  return (
    <>
      <MultiSelect
        nothingFoundMessage={t("There is none")}
        {...shown}
        searchable
        data={[...recordOptions(names), ...(onCreate && name && !isKnown ? [offer] : [])]}
        value={value.map(String)}
        onChange={choose}
        onSearchChange={setText}
      />
      <ErrorNote error={creating.error} />
    </>
  );
}
