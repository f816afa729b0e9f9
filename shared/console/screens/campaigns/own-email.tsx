import { Button } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import type { CampaignDetail, Template, UpdateTemplateRequest } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { SavedFieldInput } from "../../parts/saved-field-input.tsx";
import { useInsertOptions } from "../templates/use-insert-options.ts";
import type { ChoiceProps } from "./campaign-draft.tsx";
import { CopyForCampaign, EmailStarts } from "./email-starts.tsx";

/** The email of a campaign: how it begins, its subject and preview text, and the way to edit it. */
export function OwnEmail({ campaign, onChange }: ChoiceProps) {
  const { templateId, ownTemplateId, status } = campaign;
  const mayWrite = useRight("content:write");
  const navigate = useNavigate();
  const [isStartingAgain, setStartingAgain] = useState(false);
  const template = useQuery({
    ...queries.template(templateId ?? 0),
    enabled: templateId !== null,
  }).data;
  if (templateId === null)
    return (
      <>
        <p className="quiet">{t("What does the email begin with?")}</p>
        <EmailStarts campaign={campaign} />
      </>
    );
  const isOwn = templateId === ownTemplateId;
  return (
    <>
      {isOwn && template ? (
        <OwnTexts campaign={campaign} template={template} onChange={onChange} />
      ) : (
        <SharedTexts campaign={campaign} template={template} onChange={onChange} />
      )}
      <div className="buttons start">
        {isOwn ? (
          <Button
            variant="light"
            leftSection={<IconPencil size={16} />}
            disabled={!mayWrite}
            onClick={() => navigate({ to: "/campaigns/$id/email", params: { id: campaign.id } })}
          >
            {t("Edit email")}
          </Button>
        ) : (
          <CopyForCampaign campaign={campaign} />
        )}
        {status === "draft" && (
          <Button variant="subtle" color="gray" onClick={() => setStartingAgain(!isStartingAgain)}>
            {t("Begin again")}
          </Button>
        )}
      </div>
      {isStartingAgain && (
        <>
          <p className="quiet">
            {t("It takes the place of the email that the campaign has now.")}{" "}
            {isOwn && t("That one stays in the list of versions.")}
          </p>
          <EmailStarts campaign={campaign} />
        </>
      )}
    </>
  );
}

interface TextsProps extends ChoiceProps {
  template: Template | undefined;
}

const useOwnSubjects = ({ variants }: CampaignDetail): boolean =>
  variants.length > 0 && variants.every((one) => one.subject !== null);

/** Subject and preview text of an email that only this campaign has. */
function OwnTexts({ campaign, template, onChange }: TextsProps & { template: Template }) {
  const { subject, previewText } = campaign;
  const hasOwnSubjects = useOwnSubjects(campaign);
  const insertOptions = useInsertOptions(campaign.siteId);
  const saving = useChange({
    run: (changes: UpdateTemplateRequest) => api.templates.update(template.id, changes),
    refreshes: ["templates"],
  });
  return (
    <>
      <SavedFieldInput
        label={t("Subject")}
        insertOptions={insertOptions}
        isRequired={subject === null}
        isReadOnly={hasOwnSubjects}
        {...(hasOwnSubjects && { description: unusedSubject })}
        maxLength={998}
        value={subject ?? template.subject}
        onSave={(text) =>
          subject === null ? saving.mutate({ subject: text! }) : onChange({ subject: text })
        }
      />
      <SavedFieldInput
        label={t("Preview text (optional)")}
        insertOptions={insertOptions}
        description={t("Inboxes show it behind the subject.")}
        maxLength={200}
        value={previewText ?? template.previewText}
        onSave={(text) =>
          previewText === null
            ? saving.mutate({ previewText: text })
            : onChange({ previewText: text })
        }
      />
      {template.locales.length > 0 && (
        <p className="quiet">
          {t("The email has further languages. Their texts are in the editor.")}
        </p>
      )}
      <ErrorNote error={saving.error} />
    </>
  );
}

const unusedSubject = t(
  "Every variant of the A/B test has a subject of its own, so this one is not used.",
);

/** A template that others use too, with a subject and preview text that replace its own. */
function SharedTexts({ campaign, template, onChange }: TextsProps) {
  const { templateId, subject, previewText } = campaign;
  const hasOwnSubjects = useOwnSubjects(campaign);
  const insertOptions = useInsertOptions(campaign.siteId);
  return (
    <>
      {template && (
        <p>
          {tNodes("It is sent with the template <link>{name}</link>, which others can use too.", {
            link: (text) => (
              <Link to="/templates/$id" params={{ id: templateId! }}>
                {text}
              </Link>
            ),
            name: template.name,
          })}
        </p>
      )}
      <SavedFieldInput
        label={t("Subject (optional)")}
        insertOptions={insertOptions}
        description={
          hasOwnSubjects ? unusedSubject : t("Without it, the subject of the template is used.")
        }
        isReadOnly={hasOwnSubjects}
        placeholder={template?.subject ?? ""}
        maxLength={998}
        value={subject}
        onSave={(text) => onChange({ subject: text })}
      />
      <SavedFieldInput
        label={t("Preview text (optional)")}
        insertOptions={insertOptions}
        description={t("Inboxes show it behind the subject.")}
        maxLength={200}
        value={previewText}
        onSave={(text) => onChange({ previewText: text })}
      />
    </>
  );
}
