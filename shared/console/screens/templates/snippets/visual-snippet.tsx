import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Snippet } from "pennymail";
import { lazy, Suspense, useState } from "react";
import { useChange } from "../../../data/changes.ts";
import { api } from "../../../data/client.ts";
import { useRight } from "../../../data/session.ts";
import type { Design } from "../../../editors/visual/design.ts";
import { t } from "../../../language/translate.ts";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { useDraftHistory } from "../../../parts/draft-history.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Tabs } from "../../../parts/tabs.tsx";
import { ContactChoice, type SampleContact, useSampleContact } from "../contact-choice.tsx";
import { useInsertOptions } from "../use-insert-options.ts";
import { SnippetPage } from "./snippet-page.tsx";
import { SnippetPreview } from "./snippet-preview.tsx";
import { SnippetUses } from "./snippet-uses.tsx";
import { SnippetVersions } from "./snippet-versions.tsx";
import { snippetRefreshes, useSnippetSaving } from "./use-snippet-saving.ts";

const VisualEditor = lazy(async () => ({
  default: (await import("../../../editors/visual/visual-editor.tsx")).VisualEditor,
}));

/** The compiler is loaded with the first snippet that is compiled. */
async function toChanges(design: Design) {
  const { compileSnippet } = await import("../../../editors/visual/compile-design.ts");
  return { html: await compileSnippet(design), designJson: design };
}

const isSame = (a: Design, b: Design): boolean => a === b;

interface VisualSnippetProps {
  snippet: Snippet;
  design: Design;
  onReload(): unknown;
}

/** A snippet that is edited as it looks. Its HTML is made from the design. */
export function VisualSnippet({ snippet, design, onReload }: VisualSnippetProps) {
  const mayWrite = useRight("content:write");
  const history = useDraftHistory(() => design);
  const { draft } = history;
  const saving = useSnippetSaving({ snippet, draft, isSame, toChanges, onReload });
  const [turned, setTurned] = useState<Design>();
  const turning = useChange({
    run: async (last: Design) => {
      const { html } = await toChanges(last);
      const { version } = saving;
      return api.snippets.update(snippet.id, { html, designJson: null, version });
    },
    refreshes: snippetRefreshes,
    onDone: onReload,
  });
  const sample = useSampleContact(snippet.siteId);
  const insertOptions = useInsertOptions(snippet.siteId);
  return (
    <SnippetPage
      snippet={snippet}
      saving={saving}
      actions={[{ label: t("Turn into code"), run: () => setTurned(draft) }]}
      onReload={onReload}
    >
      <section className="card" aria-label={t("Snippet")}>
        <Tabs
          label={t("Parts of the snippet")}
          tabs={{
            [t("Design")]: (
              <Suspense fallback={<Skeleton h={420} mt={12} />}>
                <VisualEditor
                  siteId={snippet.siteId}
                  history={history}
                  insertOptions={insertOptions}
                  isReadOnly={!mayWrite}
                  isSnippet
                />
              </Suspense>
            ),
            [t("Preview")]: <CompiledPreview snippet={snippet} design={draft} sample={sample} />,
            [t("Used by")]: (
              <div className="stack visual-tab">
                <SnippetUses id={snippet.id} />
              </div>
            ),
            [t("Versions")]: (
              <SnippetVersions
                snippet={snippet}
                isChanged={saving.isChanged}
                onRestored={onReload}
              />
            ),
          }}
        />
      </section>
      <ConfirmDialog
        title={snippet.name}
        action={t("Turn into code")}
        isDangerous
        target={turned}
        change={turning}
        typed={snippet.name}
        onClose={() => setTurned(undefined)}
      >
        {t(
          "You edit the HTML of this snippet from then on. Code cannot become a visual " +
            "design again. Only the versions that are saved now stay visual in the list " +
            "of versions.",
        )}{" "}
        {saving.isChanged && t("Your changes are saved with it.")}
      </ConfirmDialog>
    </SnippetPage>
  );
}

interface CompiledPreviewProps {
  snippet: Snippet;
  design: Design;
  sample: SampleContact;
}

/** The blocks in an email that has nothing else. */
function CompiledPreview({ snippet, design, sample }: CompiledPreviewProps) {
  const { data: html, error } = useQuery({
    queryKey: ["compiled", "snippet", snippet.id, design],
    queryFn: async () => {
      const { compileSnippetPage } = await import("../../../editors/visual/compile-design.ts");
      return compileSnippetPage(design, snippet.name);
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <div className="stack visual-tab">
      <ContactChoice {...sample} />
      <ErrorNote error={error} />
      {html === undefined && !error && <Skeleton h={200} />}
      {html !== undefined && (
        <SnippetPreview
          snippet={snippet}
          draft={{ html, text: snippet.text }}
          contact={sample.contact}
        />
      )}
    </div>
  );
}
