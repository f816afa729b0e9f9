// How the own email of a campaign begins: with a design, with a template, or with an earlier email.
import type { Campaign, OwnContent, Template } from "pennymail";
import { api } from "../../data/client.ts";
import type { StartContent } from "../../editors/visual/new-template.tsx";
import { parseDesign } from "../../editors/visual/parse-design.ts";
import { t } from "../../language/translate.ts";
import { ReadableError } from "../../parts/readable-error.ts";

/** The campaign has no subject and preview text besides those of its own email. */
const startWith = (id: number, content: OwnContent): Promise<Campaign> =>
  api.campaigns.update(id, { content, subject: null, previewText: null });

export async function startWithContent(
  id: number,
  { name: _, ...content }: StartContent,
): Promise<Campaign> {
  return startWith(id, { ...content, ...(await liftPreviewText(content)) });
}

export async function startWithTemplate(
  id: number,
  templateId: number,
  texts: OwnContent = {},
): Promise<Campaign> {
  const template = await api.templates.get(templateId);
  const lifted = await liftPreviewText(template);
  return startWith(id, { copyOf: templateId, ...lifted, ...texts });
}

/** Throws an error that people can read. */
export async function startWithCampaign(id: number, earlierId: number): Promise<Campaign> {
  const { subject, previewText, ...earlier } = await api.campaigns.get(earlierId);
  const templateIds = [earlier.templateId, ...earlier.variants.map(({ templateId }) => templateId)];
  const templateId = templateIds.find((one) => one !== null);
  if (!templateId) throw new ReadableError(t("This campaign has no email that can be copied."));
  return startWithTemplate(id, templateId, {
    ...(subject !== null && { subject }),
    ...(previewText !== null && { previewText }),
  });
}

/** A design has its preview text in its HTML. Here, it becomes that of the email. */
async function liftPreviewText({
  designJson,
  subject,
}: Pick<Template, "subject"> & { designJson?: unknown }): Promise<OwnContent> {
  const design = parseDesign(designJson);
  if (!design?.previewText) return {};
  const { compileDesign } = await import("../../editors/visual/compile-design.ts");
  const bare = { ...design, previewText: "" };
  return {
    designJson: bare,
    html: await compileDesign(bare, subject),
    previewText: design.previewText,
  };
}
