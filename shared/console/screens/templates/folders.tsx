import { ActionIcon, Menu, TextInput } from "@mantine/core";
import { IconFolderCog } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { TemplateFolder } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { FilterSelect, recordOptions } from "../../parts/filters.tsx";
import { FormDialog } from "../../parts/form.tsx";
import { useTextField } from "../../parts/text-field.ts";

const refreshes = ["templates", "templateFolders"];

interface FoldersProps {
  siteId: number;
  /** The folder whose templates are shown. */
  folder: number | undefined;
  onChange(folder: number | undefined): void;
}

/** Chooses a folder, and makes, renames and deletes folders. */
export function Folders({ siteId, folder, onChange }: FoldersProps) {
  const mayWrite = useRight("content:write");
  const folders = useQuery(queries.templateFolders(siteId)).data?.templateFolders;
  const chosen = folders?.find(({ id }) => id === folder);
  const [named, setNamed] = useState<"new" | TemplateFolder>();
  const [deleted, setDeleted] = useState<TemplateFolder>();
  const deleting = useChange({
    run: ({ id }: TemplateFolder) => api.templateFolders.delete(id),
    refreshes,
    onDone: () => {
      setDeleted(undefined);
      onChange(undefined);
    },
  });
  return (
    <>
      <FilterSelect
        noun="folder"
        options={recordOptions(folders)}
        value={folder}
        onChange={(id) => onChange(id ? Number(id) : undefined)}
      />
      {mayWrite && (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="default" size={36} aria-label="Folders">
              <IconFolderCog size={18} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => setNamed("new")}>New folder</Menu.Item>
            {chosen && <Menu.Item onClick={() => setNamed(chosen)}>Rename {chosen.name}</Menu.Item>}
            {chosen && (
              <Menu.Item color="red" onClick={() => setDeleted(chosen)}>
                Delete {chosen.name}
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      )}
      {named && (
        <FolderName
          siteId={siteId}
          folder={named === "new" ? undefined : named}
          onClose={() => setNamed(undefined)}
          onSaved={onChange}
        />
      )}
      <ConfirmDialog
        title={deleted?.name ?? ""}
        action="Delete folder"
        isDangerous
        target={deleted}
        change={deleting}
        onClose={() => setDeleted(undefined)}
      >
        Its templates stay, without a folder.
      </ConfirmDialog>
    </>
  );
}

interface FolderNameProps {
  siteId: number;
  /** Undefined: a new one. */
  folder: TemplateFolder | undefined;
  onClose(): void;
  onSaved(id: number): void;
}

function FolderName({ siteId, folder, onClose, onSaved }: FolderNameProps) {
  const name = useTextField(folder?.name);
  const saving = useChange({
    run: () =>
      folder
        ? api.templateFolders.update(folder.id, { name: name.value })
        : api.templateFolders.create({ siteId, name: name.value }),
    refreshes,
    onDone: ({ id }) => {
      onClose();
      onSaved(id);
    },
  });
  return (
    <FormDialog
      title={folder ? "Rename folder" : "New folder"}
      action={folder ? "Save name" : "Create folder"}
      submission={saving}
      opened
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus maxLength={100} {...name.input} />
    </FormDialog>
  );
}
