// UTM parameters and preview text of a mail: fields of requests, and how they change its HTML.
import * as z from "zod";
import { config } from "../../../config.ts";
import { addLinkTags, addPreviewText, type UtmTags } from "../../../email/link-tags.ts";
import { singleLineText } from "../../../kernel/email-fields.ts";

const value = singleLineText(200).trim().min(1);

export const Utm = z
  .object({
    source: value
      .optional()
      .describe("`utm_source`. Defaults to `newsletter`, or `email` of sends."),
    medium: value.optional().describe("`utm_medium`. Defaults to `email`."),
    campaign: value
      .optional()
      .describe("`utm_campaign`. Defaults to the name of the campaign or sequence."),
    term: value.optional().describe("`utm_term`."),
    content: value
      .optional()
      .describe("`utm_content`. Defaults to the name of the variant, or of a sequence's template."),
    excludeHosts: z
      .array(
        z
          .string()
          .max(253)
          .regex(/^[a-z\d-]+(\.[a-z\d-]+)*$/, "must be a host name in lower case"),
      )
      .max(20)
      .optional()
      .describe("Up to 20 hosts. Links to them and to their subdomains stay unchanged."),
  })
  .meta({ id: "Utm", examples: [{ source: "newsletter", campaign: "spring-sale" }] });
export type Utm = z.output<typeof Utm>;

export const utmDescription =
  "Parameters that are added to the web links of the HTML part, so that website analytics know " +
  "where a visit comes from. `{}` adds the defaults. Parameters that a link has are kept. " +
  "Unsubscribe links, other links of the service, anchors and `mailto:` links stay unchanged.";

/** The parameters of a marketing email with their defaults. */
export const toMarketingUtm = (
  utm: Utm | null | undefined,
  { campaign, content }: { campaign: string; content: string | undefined },
): UtmTags | undefined =>
  utm
    ? { source: "newsletter", medium: "email", campaign, ...(content && { content }), ...utm }
    : undefined;

export const PreviewText = singleLineText(200)
  .min(1)
  .describe(
    "Text that mail programs show behind the subject, with Liquid. It is hidden in the opened " +
      "email. At most 200 characters.",
  );

export interface HtmlAdditions {
  utm?: UtmTags | undefined;
  previewText?: string | undefined;
}

/** Changes the Liquid source of the HTML part. */
export function decorateHtml(html: string, { utm, previewText }: HtmlAdditions): string {
  const ownHost = new URL(config.publicUrl).hostname;
  const tagged = utm
    ? addLinkTags(html, { ...utm, excludeHosts: [ownHost, ...(utm.excludeHosts ?? [])] })
    : html;
  return previewText ? addPreviewText(tagged, previewText) : tagged;
}
