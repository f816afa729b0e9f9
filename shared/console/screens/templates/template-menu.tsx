import { Button, Menu } from "@mantine/core";
import {
  IconCode,
  IconCopy,
  IconDots,
  IconFolder,
  IconFolderOff,
  IconTrash,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Template } from "pennymail";
import { useState } from "react";
import { useChange, useDeletion } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { useEmailOwner } from "../../parts/email-owner.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import type { RowAction } from "../../parts/row-menu.tsx";

const refreshes = ["templates"];

interface TemplateMenuProps {
  template: Template;
  /** Further entries. */
  actions: readonly RowAction[] | undefined;
}

/** Folder, copy and deletion of the template, as it is saved. */
export function TemplateMenu({ template, actions = [] }: TemplateMenuProps) {
  const { id, name, folderId } = template;
  const navigate = useNavigate();
  const isOfCampaign = useEmailOwner() !== undefined;
  const folders = useQuery(queries.templateFolders(template.siteId)).data?.templateFolders ?? [];
  const [deleted, setDeleted] = useState<number>();
  const moving = useChange({
    run: (target: number | null) => api.templates.update(id, { folderId: target }),
    refreshes,
  });
  const copying = useChange({
    run: () => {
      const { siteId, subject, html, text, designJson } = template;
      const copyName = isOfCampaign ? name : t("Copy of {name}", { name }).slice(0, 200);
      const content = { subject, html, text, designJson, folderId };
      return api.templates.create({ siteId, name: copyName, ...content });
    },
    refreshes,
    onDone: (copy) => navigate({ to: "/templates/$id", params: { id: copy.id } }),
  });
  const deleting = useDeletion({
    run: (target: number, query) => api.templates.delete(target, query),
    refreshes,
    onDone: () => navigate({ to: "/templates", ignoreBlocker: true }),
  });
  return (
    <>
      <ErrorNote error={moving.error ?? copying.error} />
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            variant="default"
            leftSection={<IconDots size={16} />}
            loading={copying.isPending}
          >
            {t("More")}
          </Button>
        </Menu.Target>
        <Menu.Dropdown className="menu-scroll">
          <Menu.Item leftSection={<IconCopy size={16} />} onClick={() => copying.mutate()}>
            {isOfCampaign ? t("Save as a template") : t("Copy template")}
          </Menu.Item>
          {actions.map(({ label, run }) => (
            <Menu.Item key={label} leftSection={<IconCode size={16} />} onClick={() => run()}>
              {label}
            </Menu.Item>
          ))}
          {!isOfCampaign &&
            folders
              .filter((folder) => folder.id !== folderId)
              .map((folder) => (
                <Menu.Item
                  key={folder.id}
                  leftSection={<IconFolder size={16} />}
                  onClick={() => moving.mutate(folder.id)}
                >
                  {t("Move to {name}", { name: folder.name })}
                </Menu.Item>
              ))}
          {folderId !== null && (
            <Menu.Item
              leftSection={<IconFolderOff size={16} />}
              onClick={() => moving.mutate(null)}
            >
              {t("Take out of its folder")}
            </Menu.Item>
          )}
          {!isOfCampaign && (
            <Menu.Item
              color="red"
              leftSection={<IconTrash size={16} />}
              onClick={() => setDeleted(id)}
            >
              {t("Delete template")}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        title={name}
        action={t("Delete template")}
        isDangerous
        target={deleted}
        change={deleting}
        typed={name}
        onClose={() => setDeleted(undefined)}
      >
        {t(
          "The template and its versions are gone for good. Emails that are on " +
            "their way are still sent. A template that a campaign or sequence uses " +
            "cannot be deleted.",
        )}
      </ConfirmDialog>
    </>
  );
}
