// The brand of a site: fields of the API, and what emails keep of it.
import * as z from "zod";
import {
  brandLimits,
  corners,
  defaultBrand,
  defaultLogoWidth,
  fonts,
} from "../../email/brand/brand.ts";
import { languages } from "../../email/languages.ts";
import { singleLineText } from "../../kernel/email-fields.ts";

const urlRule = { protocol: /^https?$/, error: "must be an http(s) URL" };
const url = (max: number) => z.url(urlRule).max(max);
const color = z
  .string()
  .regex(/^#[\da-f]{6}$/i, "must be a colour such as #1f5fbf")
  .meta({ minLength: 7, maxLength: 7 });

const logoFields = {
  // The origin becomes part of the Content-Security-Policy header of pages, so the host must not
  // contain its separators.
  url: z
    .url({ ...urlRule, hostname: /^[\w.:[\]-]+$/ })
    .max(brandLimits.url)
    .describe("URL of the picture, such as `url` of POST /media. Pages show it too."),
  alt: singleLineText(brandLimits.alt).describe("Text for those who do not see the picture."),
  link: url(brandLimits.url).nullable().describe("Where the logo leads to, or `null`."),
  width: z
    .int()
    .min(brandLimits.minLogo)
    .max(brandLimits.maxLogo)
    .describe("Width in emails in pixels."),
};
const colorFields = {
  accent: color.describe("Buttons and links."),
  background: color.describe("Around the email or page."),
  surface: color.describe("Background of the email or page."),
  text: color.describe("Text."),
};
const SocialLink = z
  .object({
    name: singleLineText(brandLimits.linkName).trim().min(1).describe("Text of the link."),
    url: url(brandLimits.linkUrl).describe("Where it leads to."),
  })
  .meta({ id: "SocialLink" });
const fields = {
  font: z
    .enum(Object.keys(fonts) as [keyof typeof fonts])
    .describe("Font, one that every mail program has."),
  corners: z
    .enum(Object.keys(corners) as [keyof typeof corners])
    .describe("Corners of buttons and pictures: 0, 8 or 24 pixels."),
  socialLinks: z
    .array(SocialLink)
    .max(brandLimits.links)
    .describe("Links to social networks, at most 10."),
  footerText: z
    .string()
    .max(brandLimits.footerText)
    .nullable()
    .describe("Text at the end of emails, such as the legal notice of the company, or `null`."),
  language: z
    .enum(languages)
    .nullable()
    .describe(
      "Language of new designs, and of pages and confirmation emails when that of the contact is " +
        "not known or not supported. `null`: English.",
    ),
};

const description =
  "Brand: what emails, pages and forms of the site look like. Visual templates that use it, and " +
  "`{{ brand }}` in Liquid, follow its changes; an email that is accepted keeps its brand. " +
  "`null`: the look of the service.";

export const SiteBrand = z
  .object({
    logo: z.object(logoFields).nullable().describe("Logo, or `null`."),
    colors: z
      .object(colorFields)
      .describe("Colours. Text is made readable on them, and dark mode has colours of its own."),
    ...fields,
  })
  .meta({ id: "Brand" })
  .nullable()
  .describe(description);

export const BrandInput = z
  .object({
    logo: z
      .object({
        ...logoFields,
        alt: logoFields.alt.default(""),
        link: logoFields.link.default(null),
        width: logoFields.width.default(defaultLogoWidth),
      })
      .nullable()
      .default(null)
      .describe("Logo, or `null`."),
    colors: z
      .object({
        accent: colorFields.accent.default(defaultBrand.colors.accent),
        background: colorFields.background.default(defaultBrand.colors.background),
        surface: colorFields.surface.default(defaultBrand.colors.surface),
        text: colorFields.text.default(defaultBrand.colors.text),
      })
      .default(defaultBrand.colors)
      .describe("Colours."),
    font: fields.font.default(defaultBrand.font),
    corners: fields.corners.default(defaultBrand.corners),
    socialLinks: fields.socialLinks.default([]),
    footerText: fields.footerText.default(null),
    language: fields.language.default(null),
  })
  .meta({ id: "NewBrand" })
  .nullable()
  .describe(`${description} It is replaced as a whole: what is left out has its default.`);

/** The fields of a site that are part of its brand. */
export type BrandFields = "name" | "companyName" | "domain" | "brand";
