import { Button, Menu, Modal, Skeleton, TextInput } from "@mantine/core";
import { IconCode, IconCopy, IconDots, IconPencil, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Snippet } from "pennymail";
import { type ReactNode, useState } from "react";
import { useChange } from "../../../data/changes.ts";
import { api } from "../../../data/client.ts";
import { queries } from "../../../data/queries.ts";
import { t } from "../../../language/translate.ts";
import { DeleteDialog } from "../../../parts/delete-dialog.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { FormDialog } from "../../../parts/form.tsx";
import type { RowAction } from "../../../parts/row-menu.tsx";
import { useTextField } from "../../../parts/text-field.ts";
import type { VersionedSaving } from "../../../parts/versioned-saving.ts";
import { UseList } from "./snippet-uses.tsx";
import { snippetRefreshes } from "./use-snippet-saving.ts";

type Act = "copy" | "rename" | "delete";

interface SnippetMenuProps {
  snippet: Snippet;
  saving: VersionedSaving;
  /** Further entries. */
  actions: readonly RowAction[] | undefined;
}

/** Copy, new name and deletion of the snippet, as it is saved. */
export function SnippetMenu({ snippet, saving, actions = [] }: SnippetMenuProps) {
  const { id, name } = snippet;
  const navigate = useNavigate();
  const [act, setAct] = useState<Act>();
  const close = () => setAct(undefined);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<IconDots size={16} />}>
            {t("More")}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => setAct("rename")}>
            {t("Rename snippet")}
          </Menu.Item>
          <Menu.Item leftSection={<IconCopy size={16} />} onClick={() => setAct("copy")}>
            {t("Copy snippet")}
          </Menu.Item>
          {actions.map(({ label, run }) => (
            <Menu.Item key={label} leftSection={<IconCode size={16} />} onClick={() => run()}>
              {label}
            </Menu.Item>
          ))}
          <Menu.Item
            color="red"
            leftSection={<IconTrash size={16} />}
            onClick={() => setAct("delete")}
          >
            {t("Delete snippet")}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {act === "copy" && <CopySnippet snippet={snippet} onClose={close} />}
      {act === "rename" && (
        <UnusedOnly id={id} title={t("Rename snippet")} onClose={close}>
          <NewName snippet={snippet} saving={saving} onClose={close} />
        </UnusedOnly>
      )}
      {act === "delete" && (
        <UnusedOnly id={id} title={t("Delete snippet “{name}”", { name })} onClose={close}>
          <DeleteDialog
            action={t("Delete snippet")}
            target={snippet}
            remove={() => api.snippets.delete(id)}
            refreshes={["snippets"]}
            onClose={close}
            onDeleted={() => navigate({ to: "/snippets", ignoreBlocker: true })}
          >
            {t(
              "The snippet and its versions are gone for good. Emails that are on their " +
                "way are still sent.",
            )}
          </DeleteDialog>
        </UnusedOnly>
      )}
    </>
  );
}

interface UnusedOnlyProps {
  id: number;
  title: string;
  onClose(): void;
  /** The dialog for a snippet that nothing uses. */
  children: ReactNode;
}

/** Names what uses the snippet, because that finds it by its name. */
function UnusedOnly({ id, title, onClose, children }: UnusedOnlyProps) {
  const { data, error } = useQuery({ ...queries.snippetUses(id), refetchOnMount: "always" });
  if (data && data.uses.length === 0) return children;
  return (
    <Modal opened onClose={onClose} title={title} lockScroll={false}>
      <div className="stack">
        <ErrorNote error={error} />
        {!data && !error && <Skeleton h={80} />}
        {data && (
          <>
            <p className="tone-warn" role="status">
              {t("It is in use, so it keeps its name and cannot be deleted. Take it out of these:")}
            </p>
            <UseList uses={data.uses} />
            <div className="buttons">
              <Button variant="default" onClick={onClose} data-autofocus>
                {t("Close")}
              </Button>
            </div>
          </>
        )}
      </div>
    </Modal>
  );
}

interface SnippetDialogProps {
  snippet: Snippet;
  onClose(): void;
}

function NewName({ snippet, saving, onClose }: SnippetDialogProps & { saving: VersionedSaving }) {
  const name = useTextField(snippet.name);
  const renaming = useChange({
    run: () => api.snippets.update(snippet.id, { name: name.value.trim() }),
    refreshes: snippetRefreshes,
    onDone: ({ version }) => {
      saving.keepDraft({ version });
      onClose();
    },
  });
  return (
    <FormDialog
      title={t("Rename snippet")}
      action={t("Save name")}
      submission={renaming}
      isDisabled={!name.value.trim()}
      opened
      onClose={onClose}
    >
      <TextInput label={t("Name")} required data-autofocus maxLength={60} {...name.input} />
    </FormDialog>
  );
}

function CopySnippet({ snippet, onClose }: SnippetDialogProps) {
  const navigate = useNavigate();
  const name = useTextField(t("Copy of {name}", { name: snippet.name }).slice(0, 60));
  const { siteId, html, text, designJson } = snippet;
  const copying = useChange({
    run: () => api.snippets.create({ siteId, name: name.value.trim(), html, text, designJson }),
    refreshes: ["snippets"],
    onDone: ({ id }) => {
      onClose();
      return navigate({ to: "/snippets/$id", params: { id } });
    },
  });
  return (
    <FormDialog
      title={t("Copy snippet")}
      action={t("Create copy")}
      submission={copying}
      isDisabled={!name.value.trim()}
      opened
      onClose={onClose}
    >
      <TextInput label={t("Name")} required data-autofocus maxLength={60} {...name.input} />
    </FormDialog>
  );
}
