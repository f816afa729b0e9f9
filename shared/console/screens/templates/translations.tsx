import { Button, Select, TextInput } from "@mantine/core";
import type { Template, TemplateTranslation } from "pennymail";
import { lazy, Suspense, useEffect, useState } from "react";
import { directionOf, supportedLanguage } from "../../../email/languages.ts";
import type { Design } from "../../editors/visual/design.ts";
import { parseDesign } from "../../editors/visual/parse-design.ts";
import { t } from "../../language/translate.ts";
import { useDraftHistory } from "../../parts/draft-history.ts";
import { FieldInput } from "../../parts/field-input.tsx";
import type { InsertOption } from "../../parts/insert-menu.tsx";
import { languageName } from "../../parts/language-name.ts";
import { Tabs } from "../../parts/tabs.tsx";
import type { SampleContact } from "./contact-choice.tsx";
import { PlainText, Source } from "./email-parts.tsx";
import { DesignPreviewText } from "./template-page.tsx";
import { TemplatePreview } from "./template-preview.tsx";
import {
  knownLocales,
  maxTranslations,
  missingTexts,
  type OwnTexts,
  type TranslationDrafts,
} from "./translation-draft.ts";

const VisualEditor = lazy(async () => ({
  default: (await import("../../editors/visual/visual-editor.tsx")).VisualEditor,
}));

export interface LanguageChanges {
  locale?: string | null;
  translations?: TranslationDrafts;
}

interface TranslationsTabProps {
  template: Template;
  own: OwnTexts;
  locale: string | null;
  translations: TranslationDrafts;
  sample: SampleContact;
  part: { insertOptions: Record<string, InsertOption[]>; isReadOnly: boolean };
  onChange(changes: LanguageChanges): void;
}

const toOptions = (locales: string[]) =>
  locales
    .map((value) => ({ value, label: languageName(value) }))
    .toSorted((a, b) => a.label.localeCompare(b.label));

/** The languages of a template, and the texts of one of them beside the default. */
export function TranslationsTab(props: TranslationsTabProps) {
  const { own, locale, translations, part, onChange } = props;
  const locales = Object.keys(translations);
  const [open = locales[0], setOpen] = useState<string>();
  const shown = open !== undefined && translations[open] ? open : locales[0];
  const isFull = locales.length >= maxTranslations;
  const add = (added: string | null) => {
    if (added === null) return;
    onChange({ translations: { ...translations, [added]: startTranslation(own, added) } });
    setOpen(added);
  };
  const remove = (removed: string) => {
    const { [removed]: _, ...rest } = translations;
    onChange({ translations: rest });
  };
  const free = knownLocales.filter((one) => one !== locale && !translations[one]);
  const ownOptions = [...new Set([...(locale ? [locale] : []), ...free])];
  return (
    <div className="stack translations">
      <div className="translation-choices">
        <Select
          label={t("Language of the default")}
          placeholder={t("Not set")}
          searchable
          clearable
          disabled={part.isReadOnly}
          data={toOptions(ownOptions)}
          value={locale}
          onChange={(next) => onChange({ locale: next })}
        />
        {!part.isReadOnly && (
          <Select
            label={t("Add a language")}
            placeholder={isFull ? t("A template has at most 20") : t("Choose a language")}
            searchable
            disabled={isFull}
            data={toOptions(free)}
            value={null}
            onChange={add}
          />
        )}
      </div>
      <p className="quiet">
        {t(
          "A contact gets the exact locale, such as Portuguese (Brazil), else " +
            "the language, else the default.",
        )}
      </p>
      {shown === undefined ? (
        <p>{t("The email has one language. Add another to translate it.")}</p>
      ) : (
        <>
          <LanguageList {...{ own, translations, shown }} onOpen={setOpen} />
          <Translation
            key={shown}
            {...props}
            translated={shown}
            translation={translations[shown]!}
            onChange={(changed) =>
              onChange({
                translations: { ...translations, [shown]: { ...translations[shown]!, ...changed } },
              })
            }
            onRemove={() => remove(shown)}
          />
        </>
      )}
    </div>
  );
}

/** A design is translated block by block. HTML begins empty, so that what is missing is seen. */
function startTranslation({ design }: OwnTexts, locale: string): TemplateTranslation {
  const language = supportedLanguage(locale);
  return {
    ...{ subject: null, previewText: null, html: null, text: null },
    designJson: design ? { ...design, ...(language && { language }) } : null,
  };
}

interface LanguageListProps {
  own: OwnTexts;
  translations: TranslationDrafts;
  shown: string;
  onOpen(locale: string): void;
}

function LanguageList({ own, translations, shown, onOpen }: LanguageListProps) {
  return (
    <ul className="languages" aria-label={t("Translations")}>
      {Object.entries(translations).map(([locale, translation]) => {
        const missing = missingTexts(own, translation, parseDesign(translation.designJson));
        return (
          <li key={locale}>
            <button type="button" aria-pressed={locale === shown} onClick={() => onOpen(locale)}>
              <b>{languageName(locale)}</b>{" "}
              {missing.length === 0 ? (
                <span className="quiet">{t("Complete")}</span>
              ) : (
                <span className="tone-warn">
                  {t("Missing: {missing}", { missing: missing.join(", ") })}
                </span>
              )}
            </button>
          </li>
        );
      })}
    </ul>
  );
}

interface TranslationProps extends Omit<TranslationsTabProps, "onChange"> {
  translated: string;
  translation: TemplateTranslation;
  onChange(changes: Partial<TemplateTranslation>): void;
  onRemove(): void;
}

/** The default beside the texts in another language. */
function Translation(props: TranslationProps) {
  const { template, own, locale, sample, translated, translation, part, onChange } = props;
  const { subject, previewText, text } = translation;
  const [design] = useState(() => own.design && parseDesign(translation.designJson));
  const name = languageName(translated);
  const preview = (
    <TemplatePreview
      template={template}
      contact={sample.contact}
      draft={{ ...translation, subject: subject ?? own.subject, locale: translated }}
    />
  );
  const body = design ? (
    <TranslatedDesign
      name={name}
      siteId={template.siteId}
      initial={design}
      {...part}
      onChange={(designJson) => onChange({ designJson })}
    />
  ) : (
    <Source
      label={t("HTML ({name})", { name })}
      language="html"
      value={translation.html ?? ""}
      onChange={(html) => onChange({ html: html || null })}
      {...part}
    />
  );
  const plainText = (
    <PlainText text={text} onChange={(next) => onChange({ text: next })} {...part} />
  );
  return (
    <div className={design ? "side-by-side with-canvas" : "side-by-side"}>
      <section className="stack" aria-label={t("Default")}>
        <h2>
          {locale === null
            ? t("Default")
            : t("Default: {locale}", { locale: languageName(locale) })}
        </h2>
        <TextInput label={t("Subject")} readOnly value={own.subject} />
        {own.previewText && (
          <TextInput label={t("Preview text")} readOnly value={own.previewText} />
        )}
        <TemplatePreview
          template={template}
          contact={sample.contact}
          draft={{ subject: own.subject, html: own.html, text: own.text }}
        />
      </section>
      <section className="stack" aria-label={name}>
        <div className="translation-head">
          <h2>{name}</h2>
          {!part.isReadOnly && (
            <Button variant="subtle" color="red" size="compact-sm" onClick={props.onRemove}>
              {t("Remove {name}", { name })}
            </Button>
          )}
        </div>
        <fieldset className="plain-fieldset stack" disabled={part.isReadOnly}>
          <FieldInput
            label={t("Subject ({name})", { name })}
            dir={directionOf(translated)}
            maxLength={998}
            placeholder={own.subject}
            {...(!subject && { description: t("Missing: the subject of the default is sent.") })}
            value={subject ?? ""}
            onChange={(value) => onChange({ subject: value || null })}
            {...part}
          />
          {!design && (
            <FieldInput
              label={t("Preview text ({name})", { name })}
              dir={directionOf(translated)}
              maxLength={200}
              placeholder={own.previewText ?? ""}
              value={previewText ?? ""}
              onChange={(value) => onChange({ previewText: value || null })}
              {...part}
            />
          )}
        </fieldset>
        <Tabs
          label={t("Parts in {name}", { name })}
          tabs={
            design
              ? { [t("Design")]: body, [t("Plain text")]: plainText }
              : { HTML: body, [t("Plain text")]: plainText, [t("Preview")]: preview }
          }
        />
      </section>
    </div>
  );
}

interface TranslatedDesignProps {
  name: string;
  siteId: number;
  initial: Design;
  insertOptions: Record<string, InsertOption[]>;
  isReadOnly: boolean;
  onChange(design: Design): void;
}

function TranslatedDesign({ name, siteId, initial, onChange, ...part }: TranslatedDesignProps) {
  const history = useDraftHistory(() => initial);
  const { draft } = history;
  const [last, setLast] = useState(initial);
  useEffect(() => {
    if (draft === last) return;
    setLast(draft);
    onChange(draft);
  }, [draft, last, onChange]);
  return (
    <Suspense fallback={<p className="quiet">{t("Loading the editor…")}</p>}>
      <DesignPreviewText label={t("Preview text ({name})", { name })} history={history} {...part} />
      <VisualEditor siteId={siteId} history={history} {...part} />
    </Suspense>
  );
}
