import { useDebouncedValue } from "@mantine/hooks";
import type { Template } from "pennymail";
import { type FormEvent, useState } from "react";
import { useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { useEmailOwner } from "../../parts/email-owner.ts";
import { FieldInput } from "../../parts/field-input.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { ContactChoice, useSampleContact } from "./contact-choice.tsx";
import { type Draft, draftOf, isSame } from "./draft.ts";
import { PlainText, Source } from "./email-parts.tsx";
import { TemplateChecks } from "./template-checks.tsx";
import { NameAndSubject, TemplatePage } from "./template-page.tsx";
import { TemplatePreview } from "./template-preview.tsx";
import { TemplateTest } from "./template-test.tsx";
import { TemplateVersions } from "./template-versions.tsx";
import { changedTranslations } from "./translation-draft.ts";
import { TranslationsTab } from "./translations.tsx";
import { useInsertOptions } from "./use-insert-options.ts";
import { useTemplateSaving } from "./use-template-saving.ts";

interface CodeTemplateProps {
  template: Template;
  onReload(): unknown;
}

/** A template that is edited as HTML. */
export function CodeTemplate({ template, onReload }: CodeTemplateProps) {
  const mayWrite = useRight("content:write");
  const isOfCampaign = useEmailOwner() !== undefined;
  const [draft, setDraft] = useState(() => draftOf(template));
  const change = (changes: Partial<Draft>) => setDraft((old) => ({ ...old, ...changes }));
  const saving = useTemplateSaving({
    template,
    draft,
    isSame,
    toChanges: (saved) => ({
      ...saved,
      translations: changedTranslations(template.translations, saved.translations),
    }),
    onReload,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (mayWrite) saving.save();
  };
  const sample = useSampleContact(template.siteId);
  // One request when the typing pauses.
  const [settled] = useDebouncedValue(draft, 700);
  const shown = { template, draft: settled, contact: sample.contact };
  const part = { insertOptions: useInsertOptions(template.siteId), isReadOnly: !mayWrite };
  return (
    <TemplatePage template={template} saving={saving} onReload={onReload}>
      <div className="columns even">
        <form onSubmit={submit}>
          <fieldset className="card plain-fieldset" disabled={!mayWrite}>
            <NameAndSubject draft={draft} part={part} onChange={change} />
            {!isOfCampaign && (
              <FieldInput
                label={t("Preview text (optional)")}
                description={t("What inboxes show after the subject. A campaign can have its own.")}
                maxLength={200}
                dataField="previewText"
                value={draft.previewText ?? ""}
                onChange={(value) => change({ previewText: value || null })}
                {...part}
              />
            )}
            {template.designJson !== null && (
              <p className="quiet">
                {t(
                  "Another program has designed this email. What you change here does " +
                    "not change its design.",
                )}
              </p>
            )}
            <Tabs
              label={t("Parts of the email")}
              tabs={{
                [t("HTML")]: (
                  <Source
                    label={t("HTML")}
                    language="html"
                    value={draft.html ?? ""}
                    onChange={(html) => change({ html: html || null })}
                    {...part}
                  />
                ),
                [t("Plain text")]: (
                  <PlainText text={draft.text} onChange={(text) => change({ text })} {...part} />
                ),
              }}
            />
          </fieldset>
        </form>
        <Card title={t("Preview")} className="preview-card">
          <ContactChoice {...sample} />
          <Tabs
            label={t("Preview")}
            tabs={{
              [t("Email")]: <TemplatePreview {...shown} />,
              [t("Checks")]: <TemplateChecks {...shown} />,
              [t("Test email")]: <TemplateTest {...shown} />,
              [t("Versions")]: (
                <TemplateVersions
                  template={template}
                  isChanged={saving.isChanged}
                  onRestored={onReload}
                />
              ),
            }}
          />
        </Card>
      </div>
      <Card title={t("Languages")}>
        <TranslationsTab
          template={template}
          own={settled}
          locale={draft.locale}
          translations={draft.translations}
          sample={sample}
          part={part}
          onChange={change}
        />
      </Card>
    </TemplatePage>
  );
}
