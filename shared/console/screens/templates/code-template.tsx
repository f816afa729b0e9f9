import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { Template } from "pennymail";
import { type FormEvent, useState } from "react";
import { fieldQueries } from "../../data/field-queries.ts";
import { useRight } from "../../data/session.ts";
import { Card } from "../../parts/card.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { ContactChoice, useSampleContact } from "./contact-choice.tsx";
import { type Draft, draftOf, insertOptions, isSame } from "./draft.ts";
import { PlainText, Source } from "./email-parts.tsx";
import { TemplateChecks } from "./template-checks.tsx";
import { NameAndSubject, TemplatePage } from "./template-page.tsx";
import { TemplatePreview } from "./template-preview.tsx";
import { TemplateTest } from "./template-test.tsx";
import { TemplateVersions } from "./template-versions.tsx";
import { useTemplateSaving } from "./use-template-saving.ts";

interface CodeTemplateProps {
  template: Template;
  onReload(): unknown;
}

/** A template that is edited as HTML. */
export function CodeTemplate({ template, onReload }: CodeTemplateProps) {
  const mayWrite = useRight("content:write");
  const [draft, setDraft] = useState(() => draftOf(template));
  const change = (changes: Partial<Draft>) => setDraft((old) => ({ ...old, ...changes }));
  const saving = useTemplateSaving({
    template,
    draft,
    isSame,
    toChanges: (saved) => ({ ...saved }),
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
  const { data: known } = useQuery(fieldQueries.list(template.siteId));
  const part = { insertOptions: insertOptions(known?.fields ?? []), isReadOnly: !mayWrite };
  return (
    <TemplatePage template={template} saving={saving} onReload={onReload}>
      <div className="columns even">
        <form onSubmit={submit}>
          <fieldset className="card plain-fieldset" disabled={!mayWrite}>
            <NameAndSubject draft={draft} onChange={change} />
            {template.designJson !== null && (
              <p className="quiet">
                Another program has designed this email. What you change here does not change its
                design.
              </p>
            )}
            <Tabs
              label="Parts of the email"
              tabs={{
                HTML: (
                  <Source
                    label="HTML"
                    language="html"
                    value={draft.html ?? ""}
                    onChange={(html) => change({ html: html || null })}
                    {...part}
                  />
                ),
                "Plain text": (
                  <PlainText text={draft.text} onChange={(text) => change({ text })} {...part} />
                ),
              }}
            />
          </fieldset>
        </form>
        <Card title="Preview" className="preview-card">
          <ContactChoice {...sample} />
          <Tabs
            label="Preview"
            tabs={{
              Email: <TemplatePreview {...shown} />,
              Checks: <TemplateChecks {...shown} />,
              "Test email": <TemplateTest {...shown} />,
              Versions: (
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
    </TemplatePage>
  );
}
