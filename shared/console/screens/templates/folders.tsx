import { ActionIcon, Menu, TextInput } from "@mantine/core";
import { IconFolderCog } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { TemplateFolder } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useKept } from "../../data/hidden-records.ts";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { FilterSelect, recordOptions } from "../../parts/filters.tsx";
import { FormDialog } from "../../parts/form.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { removeWithUndo } from "../../parts/undo-toast.tsx";

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
  const { data } = useQuery(queries.templateFolders(siteId));
  const folders = useKept("templateFolders", data?.templateFolders ?? []);
  const chosen = folders.find(({ id }) => id === folder);
  const [named, setNamed] = useState<"new" | TemplateFolder>();
  const remove = ({ id, name }: TemplateFolder) => {
    onChange(undefined);
    removeWithUndo({
      group: "templateFolders",
      id,
      name: t("Folder “{name}”", { name }),
      consequence: t("Its templates stay, without a folder."),
      remove: (client) => client.templateFolders.delete(id),
      refreshes,
    });
  };
  return (
    <>
      <FilterSelect
        label={t("Folder")}
        any={t("Any folder")}
        options={recordOptions(folders)}
        value={folder}
        onChange={(id) => onChange(id ? Number(id) : undefined)}
      />
      {mayWrite && (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="default" size={36} aria-label={t("Folders")}>
              <IconFolderCog size={18} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => setNamed("new")}>{t("New folder")}</Menu.Item>
            {chosen && (
              <Menu.Item onClick={() => setNamed(chosen)}>
                {t("Rename {name}", { name: chosen.name })}
              </Menu.Item>
            )}
            {chosen && (
              <Menu.Item color="red" onClick={() => remove(chosen)}>
                {t("Delete {name}", { name: chosen.name })}
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
      title={folder ? t("Rename folder") : t("New folder")}
      action={folder ? t("Save name") : t("Create folder")}
      submission={saving}
      opened
      onClose={onClose}
    >
      <TextInput
        label={t("Name")}
        required
        data-autofocus
        maxLength={100}
        data-field="name"
        {...name.input}
      />
    </FormDialog>
  );
}
