import { Button, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Template } from "pennymail";
import type { ReactNode } from "react";
import { useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import type { RowAction } from "../../parts/row-menu.tsx";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { useUnsavedChanges } from "../../parts/unsaved-changes.ts";
import { TemplateMenu } from "./template-menu.tsx";
import type { TemplateSaving } from "./use-template-saving.ts";

interface TemplatePageProps {
  template: Template;
  saving: TemplateSaving;
  /** Further entries of the menu. */
  actions?: readonly RowAction[];
  onReload(): unknown;
  children: ReactNode;
}

/** What surrounds the visual and the code editor: how the template is saved, copied and deleted. */
export function TemplatePage(props: TemplatePageProps) {
  const { template, saving, actions, onReload, children } = props;
  const mayWrite = useRight("content:write");
  const save = () => mayWrite && saving.save();
  useShortcuts([{ keys: ["mod+S"], label: t("Save the template"), run: save, inFields: true }]);
  useUnsavedChanges(saving.isChanged);
  return (
    <div className="page">
      <PageHead
        title={template.name}
        note={
          <>
            {tNodes("<link>Templates</link> · Version {version}", {
              link: (text) => <Link to="/templates">{text}</Link>,
              version: template.version,
            })}{" "}
            <span role="status">{saving.isSaved && t("Saved")}</span>
          </>
        }
      >
        {mayWrite && (
          <Button disabled={!saving.isChanged} loading={saving.isPending} onClick={save}>
            {t("Save template")}
          </Button>
        )}
        {mayWrite && <TemplateMenu template={template} actions={actions} />}
      </PageHead>
      <ErrorNote error={saving.error} />
      {saving.isConflict && <ConflictNote saving={saving} onReload={onReload} />}
      {children}
    </div>
  );
}

interface ConflictNoteProps {
  saving: TemplateSaving;
  onReload(): unknown;
}

function ConflictNote({ saving, onReload }: ConflictNoteProps) {
  return (
    <div className="error-note" role="alert">
      <p>
        {t(
          "Somebody else has saved this template since you opened it, so yours " +
            "is not saved yet. The version that you replace stays in the list of " +
            "versions.",
        )}
      </p>
      <div className="buttons">
        <Button variant="default" size="xs" onClick={onReload}>
          {t("Show theirs and lose mine")}
        </Button>
        <Button
          variant="default"
          size="xs"
          loading={saving.isPending}
          onClick={() => saving.overwrite()}
        >
          {t("Save mine over theirs")}
        </Button>
      </div>
    </div>
  );
}

interface NameAndSubjectProps {
  draft: { name: string; subject: string };
  onChange(changes: { name?: string; subject?: string }): void;
}

export function NameAndSubject({ draft, onChange }: NameAndSubjectProps) {
  return (
    <>
      <TextInput
        label={t("Name")}
        required
        maxLength={200}
        value={draft.name}
        onChange={({ currentTarget: { value } }) => onChange({ name: value })}
      />
      <TextInput
        label={t("Subject")}
        required
        maxLength={998}
        value={draft.subject}
        onChange={({ currentTarget: { value } }) => onChange({ subject: value })}
      />
    </>
  );
}
