// The translations of a template, and which of them a mail gets.
import * as z from "zod";
import { invalid, limitExceeded } from "../../errors.ts";
import { singleLineText } from "../../kernel/email-fields.ts";
import { Locale } from "../../kernel/locales.ts";
import { storedJson } from "../../kernel/stored-json.ts";

export const maxPartBytes = 1024 * 1024;

export const TemplateSource = z
  .string()
  .refine((text) => Buffer.byteLength(text) <= maxPartBytes, "must be at most 1 MB")
  .meta({ maxLength: maxPartBytes });

export const subjectLine = singleLineText(998).min(1);

export const previewText = singleLineText(200)
  .min(1)
  .nullable()
  .describe(
    "Text that mail programs show behind the subject, with Liquid. It is hidden in the opened " +
      "email. At most 200 characters. `previewText` of a send, a campaign or a step replaces it.",
  );

export const TemplateTranslation = z
  .object({
    subject: z
      .string()
      .nullable()
      .describe("Subject line, with Liquid. `null`: that of the template."),
    previewText: z.string().nullable().describe("Preview text, with Liquid, or `null`."),
    html: z.string().nullable().describe("HTML part, with Liquid, or `null`."),
    text: z
      .string()
      .nullable()
      .describe("Plain text part, with Liquid. `null`: made from `html` when the email is sent."),
    designJson: z.unknown().describe("State of your visual editor, as it was stored, or `null`."),
  })
  .meta({ id: "TemplateTranslation" });
export type TemplateTranslation = z.output<typeof TemplateTranslation>;

export const maxTranslations = 20;

export const translationsField = z.record(z.string(), TemplateTranslation);

const TranslationChanges = z
  .object({
    subject: subjectLine
      .nullable()
      .describe("Subject line, with Liquid, on one line. `null`: that of the template."),
    previewText,
    html: TemplateSource.nullable().describe("HTML part, with Liquid. At most 1 MB."),
    text: TemplateSource.nullable().describe(
      "Plain text part, with Liquid. `null`: made from `html`. At most 1 MB.",
    ),
    designJson: storedJson(maxPartBytes).describe(
      "State of your visual editor, as any JSON of at most 1 MB. The service does not read it.",
    ),
  })
  .partial()
  .meta({ id: "TemplateTranslationChanges", examples: [{ subject: "Willkommen" }] });

export const TranslationPatches = z
  .record(Locale, TranslationChanges.nullable())
  .meta({ examples: [{ de: { subject: "Willkommen", html: "<p>Guten Tag</p>" } }] });
export type TranslationPatches = z.output<typeof TranslationPatches>;

export type Translations = Record<string, TemplateTranslation>;

const emptyTranslation: TemplateTranslation = {
  subject: null,
  previewText: null,
  html: null,
  text: null,
  designJson: null,
};

/** Adds, changes and removes translations. They are ordered by their locale. */
export function patchTranslations(stored: Translations, patches: TranslationPatches): Translations {
  const patched = { ...stored };
  for (const [locale, patch] of Object.entries(patches))
    if (patch === null) delete patched[locale];
    else patched[locale] = { ...emptyTranslation, ...stored[locale], ...withoutUndefined(patch) };
  return Object.fromEntries(Object.entries(patched).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const withoutUndefined = (patch: object): Partial<TemplateTranslation> =>
  Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));

/** The GET of a template must fit into a response of a Lambda function. */
const maxBytesTogether = 4_000_000;

interface TranslatedTexts {
  subject: string;
  html: string | null;
  text: string | null;
  previewText?: string | null | undefined;
  /** The language of the texts themselves (BCP 47). */
  locale?: string | null | undefined;
  translations?: Translations | undefined;
}

/** Throws 400 if there are too many, or one has the language of the template itself. */
export function checkTranslations(body: TranslatedTexts): void {
  const { translations = {}, locale } = body;
  const count = Object.keys(translations).length;
  if (count > maxTranslations)
    throw limitExceeded(
      "translations",
      `A template can have at most ${maxTranslations} translations`,
    );
  if (locale && translations[locale])
    throw invalid(`translations.${locale}: is the language of the template itself`, {
      details: [
        { path: `translations.${locale}`, message: "is the language of the template itself" },
      ],
    });
  if (count && Buffer.byteLength(JSON.stringify(body)) > maxBytesTogether)
    throw limitExceeded("translations", "All texts of a template together can have at most 4 MB");
}

const hasBody = ({ html, text }: Pick<TemplateTranslation, "html" | "text">): boolean =>
  Boolean(html?.trim() || text?.trim());

/** The translations that mail is sent in: those with a body. */
const sentTranslations = ({ translations = {} }: TranslatedTexts): [string, Texts][] =>
  Object.entries(translations).filter(([, translation]) => hasBody(translation));

type Texts = Omit<TemplateTranslation, "designJson">;

/** By locale. Undefined without translations that mail is sent in. */
export function subjectsOf(body: TranslatedTexts): Record<string, string> | undefined {
  const sent = sentTranslations(body);
  return sent.length
    ? Object.fromEntries(sent.map(([locale, { subject }]) => [locale, subject ?? body.subject]))
    : undefined;
}

/** The languages of a template, as sends see them. */
export interface TemplateLanguages {
  /** The language of the default. */
  locale?: string | null | undefined;
  /** The subject of each translation, by its locale. */
  subjects?: Record<string, string> | undefined;
}

/** The version of a template that a mail is accepted with. */
export interface PinnedTemplate extends TemplateLanguages {
  id: number;
  version: number;
  subject: string;
}

/**
 * The translation for a reader of this language, the most specific first (RFC 4647, lookup):
 * `de-AT`, then `de`. Undefined for the texts of the template itself.
 */
export function chooseTranslation(
  { locale: own, subjects = {} }: TemplateLanguages,
  wanted: string | null | undefined,
): string | undefined {
  const locales = Object.keys(subjects);
  if (!wanted || !locales.length) return undefined;
  const subtags = wanted.toLowerCase().split("-");
  for (let length = subtags.length; length > 0; length--) {
    const range = subtags.slice(0, length).join("-");
    if (own?.toLowerCase() === range) return undefined;
    const found = locales.find((locale) => locale.toLowerCase() === range);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The subject for a reader of this language. */
export function subjectFor(
  template: TemplateLanguages & { subject: string },
  wanted: string | null | undefined,
): string {
  const translation = chooseTranslation(template, wanted);
  return (translation !== undefined && template.subjects?.[translation]) || template.subject;
}

export interface ChosenTexts {
  subject: string;
  previewText: string | null;
  html: string | null;
  text: string | null;
  /** The language of these texts. Null if it is not known. */
  locale: string | null;
}

/** The texts for a reader of this language. */
export function chooseTexts(body: TranslatedTexts, wanted: string | null | undefined): ChosenTexts {
  const { locale = null, translations = {}, subject, html, text, previewText = null } = body;
  const chosen = chooseTranslation({ locale, subjects: subjectsOf(body) }, wanted);
  const translation = chosen === undefined ? undefined : translations[chosen];
  if (!translation) return { subject, previewText, html, text, locale };
  const { designJson: _, ...texts } = translation;
  return { ...texts, subject: texts.subject ?? subject, locale: chosen! };
}
