import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { RecordSelect } from "../../parts/record-select.tsx";
import { SavedText } from "../../parts/saved-text.tsx";
import type { ChoiceProps } from "./campaign-draft.tsx";

/** The template of a recurring campaign, whose content is that of the time when it is sent. */
export function TemplateChoice({ campaign, onChange }: ChoiceProps) {
  const { siteId, templateId, subject, previewText } = campaign;
  const names = useQuery(queries.firstNames("templates", siteId)).data?.names;
  const chosen = useQuery({
    ...queries.template(templateId ?? 0),
    enabled: templateId !== null,
  }).data;
  return (
    <>
      <RecordSelect
        group="templates"
        siteId={siteId}
        label={t("Template")}
        placeholder={t("Choose a template")}
        value={templateId}
        onChange={(id) => onChange({ templateId: id })}
      />
      {chosen && (
        <Link className="quiet" to="/templates/$id" params={{ id: chosen.id }}>
          {t("Edit this template")}
        </Link>
      )}
      {names?.length === 0 && (
        <p className="quiet">
          {tNodes("There is no template yet. <link>Make one first.</link>", {
            link: (text) => <Link to="/templates">{text}</Link>,
          })}
        </p>
      )}
      <SavedText
        label={t("Subject (optional)")}
        description={t("Without it, the subject of the template is used.")}
        placeholder={chosen?.subject ?? ""}
        maxLength={998}
        value={subject}
        onSave={(text) => onChange({ subject: text })}
      />
      <SavedText
        label={t("Preview text (optional)")}
        description={t("Inboxes show it behind the subject.")}
        maxLength={200}
        value={previewText}
        onSave={(text) => onChange({ previewText: text })}
      />
    </>
  );
}
