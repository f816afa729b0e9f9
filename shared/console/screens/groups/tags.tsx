import { TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { Tag } from "pennymail";
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

const refreshes = ["tags", "contacts"];

export function Tags({ siteId, mayWrite, isCreating, onDialogClose }: ListProps) {
  const { timezone } = useMe().organization;
  const navigate = useNavigate();
  const pages = usePagedRows(queries.tagPages({ siteId }), ({ tags }) => tags);
  const list = useKeptRows("tags", pages);
  const columns: Column<Tag>[] = [nameColumn(t("Tag")), ...countColumns(timezone)];
  if (mayWrite)
    columns.push(
      menuColumn((row) => [{ label: t("Delete"), isDangerous: true, run: () => remove(row) }]),
    );
  return (
    <>
      <RowTable
        label={t("Tags")}
        columns={columns}
        list={list}
        onOpen={({ id }) => navigate({ to: "/contacts", search: { tag: id } })}
        empty={
          <EmptyState title={t("No tag yet")}>
            <p>
              {t(
                "A tag marks contacts that have something in common, such as " +
                  "“customer”. Forms and sequences can give it, and segments can ask for " +
                  "it.",
              )}
            </p>
          </EmptyState>
        }
      />
      <NewTag siteId={siteId} opened={isCreating} onClose={onDialogClose} />
    </>
  );
}

const remove = ({ id, name, contactCount }: Tag) =>
  removeWithUndo({
    group: "tags",
    id,
    name: t("Tag “{name}”", { name }),
    consequence: removedFrom(contactCount),
    remove: (client, anyway) => client.tags.delete(id, deleteQuery(anyway)),
    refreshes,
  });

interface NewTagProps {
  siteId: number;
  opened: boolean;
  onClose(): void;
}

function NewTag({ siteId, opened, onClose }: NewTagProps) {
  const name = useTextField();
  const creating = useChange({
    run: () => api.tags.create({ siteId, name: name.value }),
    refreshes,
    onDone: () => close(),
  });
  const close = () => {
    name.set("");
    creating.reset();
    onClose();
  };
  return (
    <FormDialog
      title={t("New tag")}
      action={t("Create tag")}
      submission={creating}
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
    </FormDialog>
  );
}
