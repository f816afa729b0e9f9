import { TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { List } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useKeptRows } from "../../data/hidden-records.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FormDialog } from "../../parts/form.tsx";
import type { ListProps } from "../../parts/list-page.tsx";
import { deleteQuery } from "../../parts/record-uses.tsx";
import { menuColumn } from "../../parts/row-menu.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { removeWithUndo } from "../../parts/undo-toast.tsx";
import { countColumns, nameColumn, removedFrom } from "./group-columns.tsx";

const refreshes = ["lists", "contacts"];

export function Lists({ siteId, mayWrite, isCreating, onDialogClose }: ListProps) {
  const { timezone } = useMe().organization;
  const navigate = useNavigate();
  const pages = usePagedRows(queries.listPages({ siteId }), ({ lists }) => lists);
  const list = useKeptRows("lists", pages);
  const [edited, setEdited] = useState<List>();
  const columns: Column<List>[] = [nameColumn(t("List")), ...countColumns(timezone)];
  if (mayWrite)
    columns.push(
      menuColumn((row) => [
        { label: t("Rename"), run: () => setEdited(row) },
        { label: t("Delete"), isDangerous: true, run: () => remove(row) },
      ]),
    );
  return (
    <>
      <RowTable
        label={t("Lists")}
        columns={columns}
        list={list}
        onOpen={({ id }) => navigate({ to: "/contacts", search: { list: id } })}
        empty={
          <EmptyState title={t("No list yet")}>
            <p>
              {t(
                "A list is a set of contacts, such as the readers of a newsletter. " +
                  "Imports and forms can fill it, and a campaign can go to it.",
              )}
            </p>
          </EmptyState>
        }
      />
      <ListDialog
        key={edited?.id ?? "new"}
        siteId={siteId}
        list={edited}
        opened={isCreating || edited !== undefined}
        onClose={() => {
          setEdited(undefined);
          onDialogClose();
        }}
      />
    </>
  );
}

const remove = ({ id, name, contactCount }: List) =>
  removeWithUndo({
    group: "lists",
    id,
    name: t("List “{name}”", { name }),
    consequence: removedFrom(contactCount),
    remove: (client, anyway) => client.lists.delete(id, deleteQuery(anyway)),
    refreshes,
  });

interface ListDialogProps {
  siteId: number;
  /** The list to change; undefined for a new one. */
  list: List | undefined;
  opened: boolean;
  onClose(): void;
}

function ListDialog({ siteId, list, opened, onClose }: ListDialogProps) {
  const name = useTextField(list?.name);
  const description = useTextField(list?.description ?? "");
  const saving = useChange({
    run: () => {
      const fields = { name: name.value, description: description.value || null };
      return list ? api.lists.update(list.id, fields) : api.lists.create({ siteId, ...fields });
    },
    refreshes,
    onDone: () => close(),
  });
  const close = () => {
    name.set("");
    description.set("");
    saving.reset();
    onClose();
  };
  return (
    <FormDialog
      title={list ? t("Rename list") : t("New list")}
      action={list ? t("Save list") : t("Create list")}
      submission={saving}
      opened={opened}
      onClose={close}
    >
      <TextInput
        label={t("Name")}
        required
        maxLength={100}
        data-autofocus
        data-field="name"
        {...name.input}
      />
      <TextInput
        label={t("Note for yourself (optional)")}
        maxLength={500}
        data-field="description"
        {...description.input}
      />
    </FormDialog>
  );
}
