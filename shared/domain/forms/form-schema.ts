// Schemas of forms: in the API and in storage.
import * as z from "zod";
import { singleLineText } from "../../kernel/email-fields.ts";
import {
  Count,
  CreatedAt,
  Missing,
  NewSiteId,
  RecordId,
  RecordSiteId,
  UpdatedAt,
} from "../../kernel/record-fields.ts";
import { GroupName } from "../audience/contacts/contact-schema.ts";
import { maxTopicsPerSite } from "../audience/topics/topic-subscription.ts";
import { FormCaptcha, FormCaptchaInput, type StoredCaptcha } from "./captcha.ts";
import { DesignJson } from "./form-design.ts";

const maxTags = 20;
const id = z.int().positive();
const fields = {
  name: singleLineText(200)
    .trim()
    .min(1)
    .describe(
      "Name of the form. Its page shows it as the heading, unless `designJson` has a `title`.",
    ),
  status: z
    .enum(["draft", "active", "inactive"])
    .describe(
      "`active`: takes submissions. `draft` and `inactive`: refuses them, and its page says " +
        "that the form is closed.",
    ),
  sequenceId: id
    .nullable()
    .describe("Sequence of the same site that a submission enrolls the contact in, or `null`."),
  listId: id
    .nullable()
    .describe("List of the same site that a submission adds the contact to, or `null`."),
  topicIds: z
    .array(id)
    .max(maxTopicsPerSite)
    .describe(
      "Topics of the same site that a confirmed submission joins. They need `doubleOptIn`, " +
        "because a visitor can type any address.",
    ),
  tags: z
    .array(GroupName)
    .max(maxTags)
    .describe(
      "Names of tags that a submission gives to the contact. A tag that does not exist yet " +
        "is created.",
    ),
  doubleOptIn: z
    .boolean()
    .describe(
      "Whether the contact must confirm by email. Until then the submission is `pending`: " +
        "the contact gets no tags, list, sequence or points. The confirmation is sent with the " +
        "organization's oldest verified sending config.",
    ),
  redirectUrl: z
    // The origin becomes part of the Content-Security-Policy header, so the host must not contain
    // its separators.
    .url({ protocol: /^https?$/, hostname: /^[\w.:[\]-]+$/, error: "must be an http(s) URL" })
    .max(2000)
    .nullable()
    .describe("URL to redirect the browser to after a submission, or `null`."),
};
const captchaText =
  "CAPTCHA that visitors solve before they submit the form, or `null`. Submissions without a " +
  "valid token are refused, also while the provider is down.";

export const FormMeta = z
  .object({
    id: RecordId.describe("Id of the form, for GET /forms/:id."),
    siteId: RecordSiteId,
    ...fields,
    captcha: FormCaptcha.nullable().describe(captchaText),
    version: Count.describe(
      "Rises by 1 with each change of `name` or `designJson`. Each submission records the " +
        "version that was shown.",
    ),
    submissionCount: Count.describe("Number of stored submissions, confirmed or not."),
    pageUrl: z.string().describe("URL of the hosted page of the form."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "FormMeta" });
export type FormMeta = z.output<typeof FormMeta>;
export const Form = FormMeta.extend({
  designJson: DesignJson.nullable().describe(
    "Title, fields and texts of the form. `null`: the default form, which asks for `email` " +
      "and `firstName`.",
  ),
  missing: Missing,
}).meta({
  id: "Form",
});
export type Form = z.output<typeof Form>;

const designJson = DesignJson.nullable();
export const NewForm = z
  .object({
    siteId: NewSiteId,
    ...fields,
    status: fields.status.default("active"),
    sequenceId: fields.sequenceId.default(null),
    listId: fields.listId.default(null),
    topicIds: fields.topicIds.default([]),
    tags: fields.tags.default([]),
    doubleOptIn: fields.doubleOptIn.default(false),
    redirectUrl: fields.redirectUrl.default(null),
    captcha: FormCaptchaInput.nullable().default(null).describe(captchaText),
    designJson: designJson
      .default(null)
      .describe(
        "Title, fields and texts of the form. `null`: the default form, which asks for " +
          "`email` and `firstName`.",
      ),
  })
  .meta({ examples: [{ name: "Newsletter", tags: ["newsletter"], doubleOptIn: true }] });
export type NewForm = z.output<typeof NewForm>;
export const FormChanges = z
  .object({
    ...fields,
    captcha: FormCaptchaInput.nullable().describe(captchaText),
    designJson: designJson.describe(
      "Title, fields and texts of the form. `null`: the default form, which asks for `email` " +
        "and `firstName`.",
    ),
  })
  .partial()
  .meta({ examples: [{ status: "inactive" }] });
export type FormChanges = z.output<typeof FormChanges>;

/** The stored record. Its design is stored apart, by version. */
export interface FormItem extends Omit<FormMeta, "submissionCount" | "pageUrl" | "captcha"> {
  captcha?: StoredCaptcha | null | undefined;
  orgId: number;
  /** Optimistic lock: every change raises it, and writes compare it. */
  edits: number;
}
