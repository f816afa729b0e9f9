import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Template } from "pennymail";
import { lazy, type ReactNode, Suspense, useState } from "react";
import type { Brand } from "../../../email/brand/brand.ts";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useRight } from "../../data/session.ts";
import type { Design } from "../../editors/visual/design.ts";
import { parseDesign } from "../../editors/visual/parse-design.ts";
import { useBrand } from "../../editors/visual/use-brand.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { useDraftHistory } from "../../parts/draft-history.ts";
import { useEmailOwner } from "../../parts/email-owner.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { saveFile } from "../../parts/save-file.ts";
import { Tabs } from "../../parts/tabs.tsx";
import { ContactChoice, type SampleContact, useSampleContact } from "./contact-choice.tsx";
import type { ShownDraft } from "./draft.ts";
import { PlainText } from "./email-parts.tsx";
import { TemplateChecks } from "./template-checks.tsx";
import { DesignPreviewText, NameAndSubject, TemplatePage } from "./template-page.tsx";
import { TemplatePreview } from "./template-preview.tsx";
import { TemplateTest } from "./template-test.tsx";
import { TemplateVersions } from "./template-versions.tsx";
import { changedTranslations, type TranslationDrafts } from "./translation-draft.ts";
import { TranslationsTab } from "./translations.tsx";
import { useInsertOptions } from "./use-insert-options.ts";
import { useTemplateSaving } from "./use-template-saving.ts";

const VisualEditor = lazy(async () => ({
  default: (await import("../../editors/visual/visual-editor.tsx")).VisualEditor,
}));

interface VisualDraft {
  name: string;
  subject: string;
  text: string | null;
  locale: string | null;
  translations: TranslationDrafts;
  design: Design;
}

const isSame = (a: VisualDraft, b: VisualDraft): boolean =>
  a.name === b.name &&
  a.subject === b.subject &&
  a.text === b.text &&
  a.locale === b.locale &&
  a.translations === b.translations &&
  a.design === b.design;

/** The compiler is loaded with the first email that is compiled. */
async function compile({ design, subject }: Pick<VisualDraft, "design" | "subject">) {
  const { compileDesign } = await import("../../editors/visual/compile-design.ts");
  return compileDesign(design, subject);
}

/** Other programs do not know the brand, so the file has a copy of it. */
async function downloadMjml({ name, subject, design }: VisualDraft, brand: Brand) {
  const { exportMjml } = await import("../../editors/visual/to-mjml.ts");
  const { copyBrand } = await import("../../editors/visual/design.ts");
  saveFile(exportMjml(copyBrand(design, brand), subject), {
    name: `${name}.mjml`,
    type: "text/plain",
  });
}

async function toChanges(draft: VisualDraft, stored: TranslationDrafts) {
  const { name, subject, text, design, locale, translations } = draft;
  const changed = Object.entries(changedTranslations(stored, translations));
  const compiled = await Promise.all(
    changed.map(async ([one, translation]) => {
      const translated = translation && parseDesign(translation.designJson);
      if (!translated) return [one, translation] as const;
      const fields = { design: translated, subject: translation.subject ?? subject };
      return [one, { ...translation, html: await compile(fields) }] as const;
    }),
  );
  return {
    ...{ name, subject, text, html: await compile(draft), designJson: design, locale },
    translations: Object.fromEntries(compiled),
  };
}

interface VisualTemplateProps {
  template: Template;
  design: Design;
  onReload(): unknown;
}

/** A template that is edited as it looks. Its HTML is made from the design. */
export function VisualTemplate({ template, design, onReload }: VisualTemplateProps) {
  const mayWrite = useRight("content:write");
  const isOfCampaign = useEmailOwner() !== undefined;
  const { brand } = useBrand(template.siteId);
  const history = useDraftHistory(() => design);
  const [fields, setFields] = useState(() => {
    const { name, subject, text, locale, translations } = template;
    return { name, subject, text, locale, translations };
  });
  const change = (changes: Partial<typeof fields>) => setFields((old) => ({ ...old, ...changes }));
  const draft: VisualDraft = { ...fields, design: history.draft };
  const saving = useTemplateSaving({
    template,
    draft,
    isSame,
    toChanges: (saved) => toChanges(saved, template.translations),
    onReload,
  });
  const [turned, setTurned] = useState<VisualDraft>();
  const turning = useChange({
    run: async (last: VisualDraft) => {
      const content = { ...(await toChanges(last, template.translations)), designJson: null };
      return api.templates.update(template.id, { ...content, version: saving.version });
    },
    refreshes: ["templates"],
    onDone: () => onReload(),
  });
  const sample = useSampleContact(template.siteId);
  const part = { insertOptions: useInsertOptions(template.siteId), isReadOnly: !mayWrite };
  const shown = { template, draft, sample };
  return (
    <TemplatePage
      template={template}
      saving={saving}
      actions={[
        { label: t("Download as MJML"), run: () => downloadMjml(draft, brand) },
        { label: t("Turn into code"), run: () => setTurned(draft) },
      ]}
      onReload={onReload}
    >
      <section className="card" aria-label={t("Email")}>
        <fieldset className="plain-fieldset visual-fields" disabled={!mayWrite}>
          <NameAndSubject draft={fields} part={part} onChange={change} />
          {!isOfCampaign && (
            <DesignPreviewText label={t("Preview text (optional)")} history={history} {...part} />
          )}
        </fieldset>
        <Tabs
          label={t("Parts of the email")}
          tabs={{
            [t("Design")]: (
              <Suspense fallback={<Skeleton h={560} mt={12} />}>
                <VisualEditor siteId={template.siteId} history={history} {...part} />
              </Suspense>
            ),
            [t("Languages")]: (
              <Compiled
                {...shown}
                isWide
                show={({ draft: { html } }) => (
                  <TranslationsTab
                    template={template}
                    own={{
                      ...fields,
                      html,
                      previewText: draft.design.previewText,
                      design: draft.design,
                    }}
                    locale={fields.locale}
                    translations={fields.translations}
                    sample={sample}
                    part={part}
                    onChange={change}
                  />
                )}
              />
            ),
            [t("Preview")]: (
              <Compiled {...shown} show={(props) => <TemplatePreview {...props} />} />
            ),
            [t("Plain text")]: (
              <PlainText text={fields.text} onChange={(text) => change({ text })} {...part} />
            ),
            [t("Checks")]: <Compiled {...shown} show={(props) => <TemplateChecks {...props} />} />,
            [t("Test email")]: (
              <Compiled {...shown} show={(props) => <TemplateTest {...props} />} />
            ),
            [t("Versions")]: (
              <TemplateVersions
                template={template}
                isChanged={saving.isChanged}
                onRestored={onReload}
              />
            ),
          }}
        />
      </section>
      <ConfirmDialog
        title={template.name}
        action={t("Turn into code")}
        isDangerous
        target={turned}
        change={turning}
        typed={template.name}
        onClose={() => setTurned(undefined)}
      >
        {t(
          "You edit the HTML of this email from then on. There is no way back: " +
            "code cannot become a visual design again. Only the versions that are " +
            "saved now stay visual in the list of versions.",
        )}{" "}
        {saving.isChanged && t("Your changes are saved with it.")}
      </ConfirmDialog>
    </TemplatePage>
  );
}

interface CompiledProps {
  template: Template;
  draft: VisualDraft;
  sample: SampleContact;
  isWide?: boolean;
  show(shown: ShownDraft): ReactNode;
}

/** Shows the email that the design makes, with the data of a contact. */
function Compiled({ template, draft, sample, isWide = false, show }: CompiledProps) {
  const { design, subject, text } = draft;
  const { data: html, error } = useQuery({
    queryKey: ["compiled", template.id, design, subject],
    queryFn: () => compile(draft),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <div className={isWide ? "stack" : "stack visual-tab"}>
      <ContactChoice {...sample} />
      <ErrorNote error={error} />
      {html === undefined && !error && <Skeleton h={300} />}
      {html !== undefined &&
        show({ template, draft: { subject, html, text }, contact: sample.contact })}
    </div>
  );
}
