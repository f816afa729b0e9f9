import { TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { Tag } from "pennymail";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useKeptRows } from "../../data/hidden-records.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FormDialog } from "../../parts/form.tsx";
import type { ListProps } from "../../parts/list-page.tsx";
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
  const columns: Column<Tag>[] = [nameColumn("Tag"), ...countColumns(timezone)];
  if (mayWrite)
    columns.push(
      menuColumn((row) => [{ label: "Delete", isDangerous: true, run: () => remove(row) }]),
    );
  return (
    <>
      <RowTable
        label="Tags"
        columns={columns}
        list={list}
        onOpen={({ id }) => navigate({ to: "/contacts", search: { tag: id } })}
        empty={
          <EmptyState title="No tag yet">
            <p>
              A tag marks contacts that have something in common, such as “customer”. Forms and
              sequences can give it, and segments can ask for it.
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
    name: `Tag “${name}”`,
    consequence: removedFrom(contactCount),
    remove: (client, force) => client.tags.delete(id, force ? { force: "true" } : {}),
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
      title="New tag"
      action="Create tag"
      submission={creating}
      opened={opened}
      onClose={close}
    >
      <TextInput label="Name" required maxLength={100} data-autofocus {...name.input} />
    </FormDialog>
  );
}
