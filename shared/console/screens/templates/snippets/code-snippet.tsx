import { useDebouncedValue } from "@mantine/hooks";
import type { Snippet } from "pennymail";
import { useState } from "react";
import { useRight } from "../../../data/session.ts";
import { t } from "../../../language/translate.ts";
import { Card } from "../../../parts/card.tsx";
import { Tabs } from "../../../parts/tabs.tsx";
import { ContactChoice, useSampleContact } from "../contact-choice.tsx";
import { Source } from "../email-parts.tsx";
import { useInsertOptions } from "../use-insert-options.ts";
import { SnippetPage } from "./snippet-page.tsx";
import { SnippetPreview } from "./snippet-preview.tsx";
import { SnippetUses } from "./snippet-uses.tsx";
import { SnippetVersions } from "./snippet-versions.tsx";
import { useSnippetSaving } from "./use-snippet-saving.ts";

interface CodeDraft {
  html: string | null;
  text: string | null;
}

const isSame = (a: CodeDraft, b: CodeDraft): boolean => a.html === b.html && a.text === b.text;

interface CodeSnippetProps {
  snippet: Snippet;
  onReload(): unknown;
}

/** A snippet that is edited as HTML. */
export function CodeSnippet({ snippet, onReload }: CodeSnippetProps) {
  const mayWrite = useRight("content:write");
  const [draft, setDraft] = useState<CodeDraft>({ html: snippet.html, text: snippet.text });
  // Templates may use a part that the snippet has, so it stays, even if it is empty.
  const setPart = (part: keyof CodeDraft) => (value: string) =>
    setDraft((old) => ({ ...old, [part]: value || snippet[part] === null ? value || null : "" }));
  const toChanges = (changed: CodeDraft) => changed;
  const saving = useSnippetSaving({ snippet, draft, isSame, toChanges, onReload });
  const sample = useSampleContact(snippet.siteId);
  // One request when the typing pauses.
  const [settled] = useDebouncedValue(draft, 700);
  const part = { insertOptions: useInsertOptions(snippet.siteId), isReadOnly: !mayWrite };
  return (
    <SnippetPage snippet={snippet} saving={saving} onReload={onReload}>
      <div className="columns even">
        <section className="card" aria-label={t("Code")}>
          <Tabs
            label={t("Parts of the snippet")}
            tabs={{
              [t("HTML")]: (
                <Source
                  label={t("HTML")}
                  language="html"
                  value={draft.html ?? ""}
                  onChange={setPart("html")}
                  {...part}
                />
              ),
              [t("Plain text")]: (
                <div className="stack">
                  <p className="quiet">
                    {t("For emails with a plain text of their own that has the snippet.")}
                  </p>
                  <Source
                    label={t("Plain text")}
                    language="text"
                    value={draft.text ?? ""}
                    onChange={setPart("text")}
                    {...part}
                  />
                </div>
              ),
            }}
          />
        </section>
        <Card title={t("Preview")} className="preview-card">
          <Tabs
            label={t("Preview")}
            tabs={{
              [t("Snippet")]: (
                <div className="stack">
                  <ContactChoice {...sample} />
                  <SnippetPreview snippet={snippet} draft={settled} contact={sample.contact} />
                </div>
              ),
              [t("Used by")]: <SnippetUses id={snippet.id} />,
              [t("Versions")]: (
                <SnippetVersions
                  snippet={snippet}
                  isChanged={saving.isChanged}
                  onRestored={onReload}
                />
              ),
            }}
          />
        </Card>
      </div>
    </SnippetPage>
  );
}
