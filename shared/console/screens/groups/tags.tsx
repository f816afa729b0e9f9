import { TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { Tag } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatNumber } from "../../format.ts";
import { DeleteDialog } from "../../parts/delete-dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FormDialog } from "../../parts/form.tsx";
import { menuColumn } from "../../parts/row-menu.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { countColumns, nameColumn } from "./group-columns.tsx";
import type { GroupViewProps } from "./groups.tsx";

const refreshes = ["tags", "contacts"];

export function Tags({ siteId, mayWrite, isCreating, onDialogClose }: GroupViewProps) {
  const { timezone } = useMe().organization;
  const navigate = useNavigate();
  const list = usePagedRows(queries.tagPages({ siteId }), ({ tags }) => tags);
  const [deleted, setDeleted] = useState<Tag>();
  const columns: Column<Tag>[] = [nameColumn("Tag"), ...countColumns(timezone)];
  if (mayWrite)
    columns.push(
      menuColumn((row) => [{ label: "Delete", isDangerous: true, run: () => setDeleted(row) }]),
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
      <DeleteDialog
        noun="tag"
        target={deleted}
        remove={({ id }, force) => api.tags.delete(id, force ? { force: "true" } : {})}
        refreshes={refreshes}
        onClose={() => setDeleted(undefined)}
      >
        {formatNumber(deleted?.contactCount ?? 0)} contacts lose the tag. The contacts stay. This
        cannot be undone.
      </DeleteDialog>
    </>
  );
}

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
