// Checks a template, or a draft of it, as a mail program would see it.
import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import { checkMail, hasLinkTo } from "../../email/mail-checks.ts";
import { Locale } from "../../kernel/locales.ts";
import { Count } from "../../kernel/record-fields.ts";
import { bodyFields } from "./template-bodies.ts";
import * as templateRendering from "./template-rendering.ts";
import type { Translations } from "./template-translations.ts";

/** The parts of a draft that is not saved yet. */
export const templateDraftFields = {
  locale: Locale.optional().describe(
    "Language of the recipient: the translation for it is used, as in an email. Defaults to the " +
      "texts of the template itself.",
  ),
  previewText: bodyFields.previewText.optional(),
  subject: bodyFields.subject.optional(),
  html: bodyFields.html.optional(),
  text: bodyFields.text.optional(),
};

const MailFinding = z
  .object({
    code: z.string().describe("What was found, such as `link_without_scheme`."),
    severity: z
      .enum(["error", "warning", "hint"])
      .describe(
        "`error`: recipients see something broken. `warning`: some mail programs show it badly. " +
          "`hint`: worth a look.",
      ),
    message: z.string().describe("What was found and what follows from it, as a sentence."),
    count: Count.describe("How often it is in the email."),
    examples: z.array(z.string()).describe("Up to five of the links, images, words or variables."),
  })
  .meta({ id: "MailFinding" });

export const TemplateCheck = z
  .object({
    passed: z.boolean().describe("Whether there is no finding with severity `error`."),
    htmlBytes: Count.describe(
      "Size of the rendered HTML. Gmail hides what comes after 104,448 bytes. The footer of " +
        "campaigns and sequences comes on top.",
    ),
    textBytes: Count.describe("Size of the plain text part."),
    findings: z.array(MailFinding).describe("What was found, errors first."),
  })
  .meta({ id: "TemplateCheck" });
export type TemplateCheck = z.output<typeof TemplateCheck>;

/** Links that the service fills in. They differ per recipient. */
const exampleUrls = {
  unsubscribeUrl: "https://mail.example/unsubscribe/example",
  preferencesUrl: "https://mail.example/preferences/example",
  browserUrl: "https://mail.example/view/example",
  contactToken: "example",
  postalAddress: "1 High Street, London",
};

/** A translation without a body is not sent. One without a subject has that of the template. */
function findIncomplete(translations: Translations): z.output<typeof MailFinding>[] {
  const gaps = Object.entries(translations).flatMap(([locale, { subject, html, text }]) => [
    ...(subject === null ? [`${locale}: subject`] : []),
    ...(html?.trim() || text?.trim() ? [] : [`${locale}: html`]),
  ]);
  if (!gaps.length) return [];
  return [
    {
      code: "translation_incomplete",
      severity: "warning",
      message:
        "Translations lack texts: without html and text, the default is sent in their place, " +
        "and without a subject, they have that of the default.",
      count: gaps.length,
      examples: gaps.slice(0, 5),
    },
  ];
}

/** Throws 400 if a part is not valid Liquid. */
export async function check(
  caller: CallerScope,
  id: number,
  { variables, ...draft }: templateRendering.DraftToRender,
): Promise<TemplateCheck> {
  const found = await templateRendering.findWithDraft(caller, id, draft);
  const { brandVariables, translations, ...body } = found;
  const values: Record<string, unknown> = { ...exampleUrls, ...brandVariables, ...variables };
  const rendered = templateRendering.renderBody(body, values);
  const ofMail = checkMail({
    ...rendered,
    isTextMade: body.text === null,
    hasUnsubscribeLink: hasLinkTo([values.unsubscribeUrl, values.preferencesUrl], rendered),
  });
  const findings = [...ofMail, ...findIncomplete(translations)];
  return {
    passed: !findings.some(({ severity }) => severity === "error"),
    htmlBytes: Buffer.byteLength(rendered.html ?? ""),
    textBytes: Buffer.byteLength(rendered.text),
    findings,
  };
}
