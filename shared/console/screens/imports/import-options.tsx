import { Select, Switch } from "@mantine/core";
import type { Import } from "pennymail";
import { api } from "../../data/client.ts";
import { t } from "../../language/translate.ts";
import { RecordMultiSelect, TagNamesInput } from "../../parts/record-select.tsx";

export interface OptionsDraft {
  mode: Import["mode"];
  status: Import["contactStatus"];
  listIds: string[];
  tags: string[];
  startSequences: boolean;
  resubscribe: boolean;
  sendConfirmation: boolean;
}

export const startOptions: OptionsDraft = {
  mode: "upsert",
  status: "subscribed",
  listIds: [],
  tags: [],
  startSequences: false,
  resubscribe: false,
  sendConfirmation: false,
};

export const toRequest = ({ listIds, ...options }: OptionsDraft) => ({
  ...options,
  lists: listIds.map(Number),
});

const modes: { value: OptionsDraft["mode"]; label: string }[] = [
  { value: "upsert", label: t("Add new contacts and change known ones") },
  { value: "create", label: t("Only add new contacts, leave known ones as they are") },
  { value: "update", label: t("Only change known contacts, add nobody") },
];
const statuses: { value: OptionsDraft["status"]; label: string }[] = [
  { value: "subscribed", label: t("Subscribed: they agreed to get our email") },
  { value: "pending", label: t("Pending: they have not confirmed yet") },
  { value: "unsubscribed", label: t("Unsubscribed: they get no marketing email") },
];

interface ImportOptionsProps {
  siteId: number;
  options: OptionsDraft;
  onChange(options: OptionsDraft): void;
}

export function ImportOptions({ siteId, options, onChange }: ImportOptionsProps) {
  const change = (changes: Partial<OptionsDraft>) => onChange({ ...options, ...changes });
  return (
    <>
      <Select
        label={t("What to do")}
        data={modes}
        allowDeselect={false}
        value={options.mode}
        onChange={(mode) => change({ mode: mode as OptionsDraft["mode"], sendConfirmation: false })}
      />
      {options.mode !== "update" && (
        <Select
          label={t("Status of new contacts")}
          description={t("A status in the file counts more.")}
          data={statuses}
          allowDeselect={false}
          value={options.status}
          onChange={(status) =>
            change({ status: status as OptionsDraft["status"], sendConfirmation: false })
          }
        />
      )}
      {options.mode !== "update" && options.status === "pending" && (
        <Switch
          label={t("Ask them by email to confirm")}
          description={t(
            "Each pending contact of the file gets one email. Who confirms is subscribed.",
          )}
          checked={options.sendConfirmation}
          onChange={(event) => change({ sendConfirmation: event.currentTarget.checked })}
        />
      )}
      <TagNamesInput
        siteId={siteId}
        label={t("Tags for all of them (optional)")}
        description={t("With a tag, you find these contacts again. Press Enter after each.")}
        maxTags={20}
        value={options.tags}
        onChange={(names) => change({ tags: names })}
      />
      <RecordMultiSelect
        group="lists"
        siteId={siteId}
        label={t("Lists for all of them (optional)")}
        description={t("Type a name to make a new list.")}
        maxValues={20}
        onCreate={async (name) => (await api.lists.create({ siteId, name })).id}
        value={options.listIds.map(Number)}
        onChange={(listIds) => change({ listIds: listIds.map(String) })}
      />
      <Switch
        label={t("Start the sequences of these tags and lists")}
        checked={options.startSequences}
        onChange={(event) => change({ startSequences: event.currentTarget.checked })}
      />
      <Switch
        label={t("Subscribe people again who had unsubscribed")}
        description={t("Only if they asked for it. It also lifts their suppression.")}
        checked={options.resubscribe}
        onChange={(event) => change({ resubscribe: event.currentTarget.checked })}
      />
    </>
  );
}
