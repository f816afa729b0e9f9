// Actions on many contacts. The service does them as a job, so they go on after the page was left.

import { ActionIcon, Button, Menu, Skeleton, TextInput } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { NewContactAction } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { useNamedRecords } from "../../parts/record-select.tsx";

type Action = NewContactAction["action"];

const labels: Record<Action, string> = {
  add_tag: t("Add tag"),
  remove_tag: t("Remove tag"),
  add_to_list: t("Add to list"),
  remove_from_list: t("Remove from list"),
  join_topic: t("Subscribe to topic"),
  leave_topic: t("Unsubscribe from topic"),
  enroll: t("Enroll in sequence"),
  unsubscribe: t("Unsubscribe"),
  suppress: t("Suppress"),
  delete: t("Delete"),
};
const isDangerous = (action: Action): boolean =>
  ["unsubscribe", "suppress", "delete"].includes(action);

interface BulkActionsProps {
  siteId: number;
  selectedIds: number[];
  /** The filter of the list, for actions on all that match. */
  filter: NonNullable<NewContactAction["filter"]>;
  onClear(): void;
  onStarted(actionId: number): void;
}

/** Chooses an action for the selected contacts, or for all that match the filter. */
export function BulkActions(props: BulkActionsProps) {
  const { siteId, selectedIds, filter, onClear, onStarted } = props;
  const [isAll, setAll] = useState(false);
  const [chosen, setChosen] = useState<NewContactAction>();
  const choose = (action: Action, targetId?: number) =>
    setChosen({
      siteId,
      action,
      ...(isAll ? { filter } : { contactIds: selectedIds }),
      ...(targetId !== undefined && { targetId }),
    });
  return (
    <section className="bulk" aria-label={t("Selection")}>
      <b>
        {isAll
          ? t("All that match")
          : t("{count} selected", { count: formatNumber(selectedIds.length) })}
      </b>
      <Button variant="subtle" size="compact-sm" onClick={() => setAll(!isAll)}>
        {isAll ? t("Only the selected") : t("Select all that match")}
      </Button>
      <TargetMenu
        siteId={siteId}
        group="tags"
        actions={["add_tag", "remove_tag"]}
        choose={choose}
      />
      <TargetMenu
        siteId={siteId}
        group="lists"
        actions={["add_to_list", "remove_from_list"]}
        choose={choose}
      />
      <TargetMenu
        siteId={siteId}
        group="topics"
        actions={["join_topic", "leave_topic"]}
        choose={choose}
      />
      <TargetMenu siteId={siteId} group="sequences" actions={["enroll"]} choose={choose} />
      <Menu>
        <Menu.Target>
          <Button variant="default" size="compact-sm">
            {t("More actions")}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {(["unsubscribe", "suppress", "delete"] as const).map((action) => (
            <Menu.Item key={action} onClick={() => choose(action)}>
              {labels[action]}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <ActionIcon variant="subtle" color="gray" aria-label={t("Clear selection")} onClick={onClear}>
        <IconX size={16} />
      </ActionIcon>
      {chosen && (
        <ActionDialog action={chosen} onClose={() => setChosen(undefined)} onStarted={onStarted} />
      )}
    </section>
  );
}

interface TargetMenuProps {
  siteId: number;
  group: "tags" | "lists" | "topics" | "sequences";
  actions: Action[];
  choose(action: Action, targetId: number): void;
}

/** Each action with the records that it can be done with. */
function TargetMenu({ siteId, group, actions, choose }: TargetMenuProps) {
  const [wasOpened, setOpened] = useState(false);
  const [text, setText] = useState("");
  const names = useNamedRecords({ group, siteId: wasOpened ? siteId : 0, text, chosen: [] });
  const { data } = useQuery({ ...queries.firstNames(group, siteId), enabled: wasOpened });
  const shown = names.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()));
  return actions.map((action) => (
    <Menu key={action} onOpen={() => setOpened(true)}>
      <Menu.Target>
        <Button variant="default" size="compact-sm">
          {labels[action]}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={300} className="menu-scroll">
        {data?.names.length === 0 && <Menu.Item disabled>{t("There is none yet")}</Menu.Item>}
        {!data && <Skeleton h={32} />}
        {data?.hasMore && (
          <TextInput
            aria-label={t("Search by name")}
            placeholder={t("Search by name")}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => event.key !== "Escape" && event.stopPropagation()}
          />
        )}
        {shown.map(({ id, name }) => (
          <Menu.Item key={id} onClick={() => choose(action, id)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  ));
}

interface ActionDialogProps {
  action: NewContactAction;
  onClose(): void;
  onStarted(actionId: number): void;
}

/** Says what the action will do, as the service counts it now. */
function ActionDialog({ action, onClose, onStarted }: ActionDialogProps) {
  const { data, error } = useQuery(queries.contactActionPreview(action));
  const starting = useChange({
    run: (one: NewContactAction) => api.contactActions.create(one),
    refreshes: ["contactActions", "jobs"],
    onDone: ({ id }) => onStarted(id),
  });
  return (
    <ConfirmDialog
      title={labels[action.action]}
      action={labels[action.action]}
      isDangerous={isDangerous(action.action)}
      target={action}
      change={{ ...starting, isPending: starting.isPending || !data }}
      typed={data && isDangerous(action.action) ? String(data.count) : undefined}
      onClose={onClose}
    >
      <ErrorNote error={error} />
      {data ? <p>{data.summary}</p> : <Skeleton h={24} />}
      {data && data.startsSequences.length > 0 && (
        <p>
          {t("It starts the sequences {sequences}.", {
            sequences: data.startsSequences.map(({ name }) => name).join(", "),
          })}
        </p>
      )}
    </ConfirmDialog>
  );
}
