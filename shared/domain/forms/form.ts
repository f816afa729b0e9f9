// What a form is: to callers, and as it is stored.
import * as z from "zod";
import { oneLine } from "../../email.ts";
import { GroupName } from "../contacts/contact.ts";
import { DesignJson } from "./design.ts";

const maxTags = 20;
const id = z.int().positive();
const fields = {
  name: oneLine(200).trim().min(1),
  status: z
    .enum(["draft", "active", "inactive"])
    .describe("Only an active form takes submissions; the page of any other says that it is closed"),
  sequenceId: id.nullable().describe("A sequence of the same site: who submits is enrolled"),
  listId: id.nullable().describe("A list of the same site: who submits is put on it"),
  tags: z.array(GroupName).max(maxTags).describe("Names: who submits gets them; a tag that is not there yet is made"),
  doubleOptIn: z
    .boolean()
    .describe(
      "true: the address is mailed a link, and only once its button is pressed the contact is subscribed and gets tags, list, sequence and points. The mail goes by the organization's oldest verified sending config",
    ),
  redirectUrl: z
    // A host may hold what parts directives of a content policy, where its origin stands.
    .url({ protocol: /^https?$/, hostname: /^[\w.:[\]-]+$/, error: "must be an http(s) address" })
    .max(2000)
    .nullable()
    .describe("Where the browser goes once it is submitted"),
};

export const FormMeta = z
  .object({
    id: z.int(),
    siteId: z.int(),
    ...fields,
    version: z.int().describe("Rises by 1 with every change of designJson or name; submissions name the one that was shown"),
    submissionCount: z.int().describe("All that are kept, whether or not they were confirmed"),
    pageUrl: z.string().describe("The form as a page of its own"),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "FormMeta" });
export type FormMeta = z.output<typeof FormMeta>;
export const Form = FormMeta.extend({
  designJson: DesignJson.nullable().describe("null: the default, which asks for email and firstName"),
}).meta({
  id: "Form",
});
export type Form = z.output<typeof Form>;

const designJson = DesignJson.nullable();
export const NewForm = z
  .object({
    siteId: id.optional(),
    ...fields,
    status: fields.status.default("active"),
    sequenceId: fields.sequenceId.default(null),
    listId: fields.listId.default(null),
    tags: fields.tags.default([]),
    doubleOptIn: fields.doubleOptIn.default(false),
    redirectUrl: fields.redirectUrl.default(null),
    designJson: designJson.default(null),
  })
  .meta({ examples: [{ name: "Newsletter", tags: ["newsletter"], doubleOptIn: true }] });
export type NewForm = z.output<typeof NewForm>;
export const FormChanges = z
  .object({ ...fields, designJson })
  .partial()
  .meta({ examples: [{ status: "inactive" }] });
export type FormChanges = z.output<typeof FormChanges>;

/** As it is stored; its design lies apart. */
export interface FormItem extends Omit<FormMeta, "submissionCount" | "pageUrl"> {
  orgId: number;
  /** Rises with every change. */
  edits: number;
}
