import { Button, TextInput } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import type { Template } from "pennymail";
import { type ReactNode, useEffect, useState } from "react";
import { useRight } from "../../data/session.ts";
import { type Design, limits } from "../../editors/visual/design.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import type { DraftHistory } from "../../parts/draft-history.ts";
import { useEmailOwner } from "../../parts/email-owner.ts";
import { FieldInput } from "../../parts/field-input.tsx";
import type { InsertOption } from "../../parts/insert-menu.tsx";
import type { RowAction } from "../../parts/row-menu.tsx";
import { VersionedPage } from "../../parts/versioned-page.tsx";
import type { VersionedSaving } from "../../parts/versioned-saving.ts";
import { TemplateMenu } from "./template-menu.tsx";
import { TemplateUses } from "./template-uses.tsx";

interface TemplatePageProps {
  template: Template;
  saving: VersionedSaving;
  /** Further entries of the menu. */
  actions?: readonly RowAction[];
  onReload(): unknown;
  children: ReactNode;
}

/** What surrounds the visual and the code editor: how the template is saved, copied and deleted. */
export function TemplatePage(props: TemplatePageProps) {
  const { template, saving, actions, onReload, children } = props;
  const { version } = template;
  const owner = useEmailOwner();
  return (
    <VersionedPage
      title={owner?.name ?? template.name}
      note={
        owner
          ? tNodes("<link>Back to the campaign</link> · Version {version}", {
              link: (text) => (
                <Link to="/campaigns/$id" params={{ id: owner.id }}>
                  {text}
                </Link>
              ),
              version,
            })
          : tNodes("<link>Templates</link> · Version {version}", {
              link: (text) => <Link to="/templates">{text}</Link>,
              version,
            })
      }
      action={owner ? t("Save email") : t("Save template")}
      saving={saving}
      mayWrite={useRight("content:write")}
      menu={
        <>
          {owner && <Done campaignId={owner.id} saving={saving} />}
          <TemplateMenu template={template} actions={actions} />
        </>
      }
      onReload={onReload}
    >
      {!owner && <TemplateUses id={template.id} />}
      {children}
    </VersionedPage>
  );
}

interface DoneProps {
  campaignId: number;
  saving: VersionedSaving;
}

/** Leads back to the campaign, after what was changed is saved. */
function Done({ campaignId, saving }: DoneProps) {
  const navigate = useNavigate();
  const [isLeaving, setLeaving] = useState(false);
  const canLeave = isLeaving && !saving.isChanged;
  useEffect(() => {
    if (canLeave) navigate({ to: "/campaigns/$id", params: { id: campaignId } });
  }, [canLeave, campaignId, navigate]);
  const hasFailed = saving.isConflict || Boolean(saving.error);
  useEffect(() => {
    if (hasFailed) setLeaving(false);
  }, [hasFailed]);
  const leave = () => {
    setLeaving(true);
    saving.save();
  };
  return (
    <Button variant="default" onClick={leave}>
      {t("Done")}
    </Button>
  );
}

interface NameAndSubjectProps {
  draft: { name: string; subject: string };
  part: { insertOptions: Record<string, InsertOption[]>; isReadOnly: boolean };
  onChange(changes: { name?: string; subject?: string }): void;
}

/** The email of a campaign has neither here: its name and subject are on the campaign's screen. */
export function NameAndSubject({ draft, part, onChange }: NameAndSubjectProps) {
  if (useEmailOwner()) return null;
  return (
    <>
      <TextInput
        label={t("Name")}
        required
        maxLength={200}
        value={draft.name}
        onChange={({ currentTarget: { value } }) => onChange({ name: value })}
      />
      <FieldInput
        label={t("Subject")}
        isRequired
        maxLength={998}
        dataField="subject"
        value={draft.subject}
        onChange={(subject) => onChange({ subject })}
        {...part}
      />
    </>
  );
}

interface DesignPreviewTextProps {
  label: string;
  history: DraftHistory<Design>;
  insertOptions: Record<string, InsertOption[]>;
  isReadOnly: boolean;
}

/** The preview text of a visual email, which is a part of its design. */
export function DesignPreviewText({ label, history, ...part }: DesignPreviewTextProps) {
  const { draft, change } = history;
  return (
    <FieldInput
      label={label}
      maxLength={limits.previewText}
      dataField="previewText"
      value={draft.previewText}
      onChange={(previewText) => change({ ...draft, previewText }, "previewText")}
      {...part}
    />
  );
}
