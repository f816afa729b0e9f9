// Renders a template, or a draft of one, with given variables.
import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { markLanguage } from "../../email/html-language.ts";
import { addPreviewText } from "../../email/link-tags.ts";
import * as liquid from "../../email/liquid.ts";
import { htmlToText } from "../../email/plain-text.ts";
import { toSingleLine } from "../../kernel/email-fields.ts";
import * as sites from "../identity/sites.ts";
import { currentBrandVariables } from "./mail-brand.ts";
import { loadCurrentSnippets } from "./mail-snippets.ts";
import type { Template } from "./template-schema.ts";
import { type ChosenTexts, chooseTexts } from "./template-translations.ts";
import * as templates from "./templates.ts";

export const RenderedTemplate = z.object({
  locale: z
    .string()
    .nullable()
    .describe("Language of the rendered texts (BCP 47). `null`: the template names none."),
  subject: z.string().describe("Rendered subject line."),
  html: z.string().nullable().describe("Rendered HTML part. `null` if the template has none."),
  text: z.string().describe("Plain text part. Made from `html` if the template has no text."),
  missingVariables: z
    .array(z.string())
    .describe(
      "Variables that were read and not given, and so rendered empty. Not listed: variables " +
        "with a `default` filter or read only in a condition, and `email`, `name`, " +
        "`unsubscribeUrl`, `preferencesUrl`, `browserUrl`, `contactToken`, `postalAddress` and " +
        "the values of `brand`.",
    ),
});
export type RenderedTemplate = z.output<typeof RenderedTemplate>;

/** Variables that the service fills in. Sequences add `event`. */
const builtInVariables = new Set([
  "email",
  "name",
  "unsubscribeUrl",
  "preferencesUrl",
  "browserUrl",
  "contactToken",
  "postalAddress",
]);

interface RenderedParts extends ChosenTexts {
  snippets?: liquid.Snippets | undefined;
}

/** Parts of a draft that is not saved yet, in place of those for this language. */
export interface TemplateDraft {
  locale?: string | undefined;
  subject?: string | undefined;
  previewText?: string | null | undefined;
  html?: string | null | undefined;
  text?: string | null | undefined;
}

interface DraftedParts extends RenderedParts, Pick<Template, "translations"> {
  brandVariables: liquid.LiquidVariables;
}

/** The parts of the template, or those of the draft in their place. */
export async function findWithDraft(
  caller: CallerScope,
  id: number,
  { locale, ...draft }: TemplateDraft,
): Promise<DraftedParts> {
  const template = await templates.find(caller, id);
  const given = Object.entries(draft).filter(([, value]) => value !== undefined);
  const chosen = chooseTexts(template, locale);
  const texts: ChosenTexts = { ...chosen, ...Object.fromEntries(given) };
  // A draft can be of a language that the template does not have yet.
  if (draft.html !== undefined && locale !== undefined) texts.locale = locale;
  const [snippets, site] = await Promise.all([
    loadCurrentSnippets(caller.orgId, template.siteId, texts),
    sites.find({ orgId: caller.orgId }, template.siteId),
  ]);
  const brandVariables = { ...currentBrandVariables(site) };
  return { ...texts, snippets, brandVariables, translations: template.translations };
}

export interface DraftToRender extends TemplateDraft {
  variables: liquid.LiquidVariables;
}

export const render = async (
  caller: CallerScope,
  id: number,
  { variables, ...draft }: DraftToRender,
): Promise<RenderedTemplate> => {
  const { brandVariables, ...body } = await findWithDraft(caller, id, draft);
  return renderBody(body, { ...brandVariables, ...variables });
};

/** Throws 400 if a part is not valid Liquid or takes too long. */
export function renderBody(
  { subject, previewText, html: source, text, locale, snippets: given = {} }: RenderedParts,
  variables: liquid.LiquidVariables,
): RenderedTemplate {
  const marked = locale && source !== null;
  const { html, snippets } = marked
    ? markLanguage({ html: source, snippets: given }, locale)
    : { html: source, snippets: given };
  const renderTime = { now: now(), budget: new liquid.Budget() };
  const missingVariables = new Set<string>();
  const isKnown = (name: string) =>
    builtInVariables.has(name) || (variables.event === undefined && /^event(?![\w-])/.test(name));
  const renderPart = (field: string, source: string) => {
    const { text, missing } = liquid.render(
      liquid.compile(source, {
        ...{ escape: field === "html", field },
        snippets: field === "subject" ? undefined : snippets,
      }),
      variables,
      renderTime,
    );
    for (const name of missing) if (!isKnown(name)) missingVariables.add(name);
    return text;
  };
  const shown = html && previewText ? addPreviewText(html, previewText) : html;
  const renderedHtml = shown === null ? null : renderPart("html", shown);
  return {
    locale,
    subject: toSingleLine(renderPart("subject", subject)),
    html: renderedHtml,
    text: text === null ? htmlToText(renderedHtml ?? "") : renderPart("text", text),
    missingVariables: [...missingVariables],
  };
}
