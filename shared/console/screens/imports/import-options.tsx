import { MultiSelect, Select, Switch, TagsInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Import } from "pennymail";
import { queries } from "../../data/queries.ts";
import { recordOptions } from "../../parts/filters.tsx";

export interface OptionsDraft {
  mode: Import["mode"];
  status: Import["contactStatus"];
  listIds: string[];
  tags: string[];
  startSequences: boolean;
  resubscribe: boolean;
}

export const startOptions: OptionsDraft = {
  mode: "upsert",
  status: "subscribed",
  listIds: [],
  tags: [],
  startSequences: false,
  resubscribe: false,
};

export const toRequest = ({ listIds, ...options }: OptionsDraft) => ({
  ...options,
  lists: listIds.map(Number),
});

const modes: { value: OptionsDraft["mode"]; label: string }[] = [
  { value: "upsert", label: "Add new contacts and change known ones" },
  { value: "create", label: "Only add new contacts, leave known ones as they are" },
  { value: "update", label: "Only change known contacts, add nobody" },
];
const statuses: { value: OptionsDraft["status"]; label: string }[] = [
  { value: "subscribed", label: "Subscribed: they agreed to get our email" },
  { value: "pending", label: "Pending: they have not confirmed yet" },
  { value: "unsubscribed", label: "Unsubscribed: they get no marketing email" },
];

interface ImportOptionsProps {
  siteId: number;
  options: OptionsDraft;
  onChange(options: OptionsDraft): void;
}

export function ImportOptions({ siteId, options, onChange }: ImportOptionsProps) {
  const lists = useQuery(queries.names("lists", siteId)).data;
  const tags = useQuery(queries.names("tags", siteId)).data ?? [];
  const change = (changes: Partial<OptionsDraft>) => onChange({ ...options, ...changes });
  return (
    <>
      <Select
        label="What to do"
        data={modes}
        allowDeselect={false}
        value={options.mode}
        onChange={(mode) => change({ mode: mode as OptionsDraft["mode"] })}
      />
      {options.mode !== "update" && (
        <Select
          label="Status of new contacts"
          description="A status in the file counts more."
          data={statuses}
          allowDeselect={false}
          value={options.status}
          onChange={(status) => change({ status: status as OptionsDraft["status"] })}
        />
      )}
      <TagsInput
        label="Tags for all of them (optional)"
        description="With a tag, you find these contacts again. Press Enter after each."
        maxTags={20}
        maxLength={100}
        data={tags.map(({ name }) => name)}
        value={options.tags}
        onChange={(names) => change({ tags: names })}
      />
      <MultiSelect
        label="Lists for all of them (optional)"
        searchable
        maxValues={20}
        nothingFoundMessage="There is none"
        data={recordOptions(lists)}
        value={options.listIds}
        onChange={(listIds) => change({ listIds })}
      />
      <Switch
        label="Start the sequences of these tags and lists"
        checked={options.startSequences}
        onChange={(event) => change({ startSequences: event.currentTarget.checked })}
      />
      <Switch
        label="Subscribe people again who had unsubscribed"
        description="Only if they asked for it. It also lifts their suppression."
        checked={options.resubscribe}
        onChange={(event) => change({ resubscribe: event.currentTarget.checked })}
      />
    </>
  );
}
