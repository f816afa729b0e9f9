// The stored versions of a template: lists them, reads one and restores one.
import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import { missing } from "../../errors.ts";
import { RecordId, Timestamp } from "../../kernel/record-fields.ts";
import { readHistory } from "./template-history.ts";
import { Template } from "./template-schema.ts";
import * as templates from "./templates.ts";

export const TemplateVersion = z
  .object({
    version: RecordId.describe("Number of the version, as in `version` of the template."),
    subject: z.string().describe("Subject line, with Liquid. Lists show 200 characters of it."),
    savedAt: Timestamp.describe("When the version was saved."),
    savedBy: RecordId.nullable().describe(
      "User who saved it, or who created the API key that did. `null`: neither " + "is known.",
    ),
    current: z.boolean().describe("Whether it is the version that new email is sent with."),
  })
  .meta({ id: "TemplateVersion" });
export type TemplateVersion = z.output<typeof TemplateVersion>;

export const TemplateVersionDetail = TemplateVersion.extend(
  Template.pick({
    ...{ html: true, text: true, designJson: true },
    ...{ previewText: true, locale: true, translations: true },
  }).shape,
).meta({ id: "TemplateVersionDetail" });
export type TemplateVersionDetail = z.output<typeof TemplateVersionDetail>;

export const RestoreRequest = z
  .object({ version: z.int().positive().describe("Version whose content the template gets.") })
  .meta({ examples: [{ version: 1 }] });

/** Newest first: the current version and up to 49 that it replaced. */
export async function list(caller: CallerScope, id: number): Promise<TemplateVersion[]> {
  const [current, replaced] = await Promise.all([
    templates.findCurrentVersion(caller, id),
    readHistory(caller.orgId, id),
  ]);
  return [
    { ...current, current: true },
    ...replaced
      // A change between the two reads can leave the current version in both.
      .filter(({ version }) => version < current.version)
      .map((one) => ({ ...one, current: false })),
  ];
}

/** 404 if the version is not stored any more. */
export async function find(
  caller: CallerScope,
  id: number,
  version: number,
): Promise<TemplateVersionDetail> {
  const found = (await list(caller, id)).find((one) => one.version === version);
  if (!found) throw missing("This version of the template is not stored: list its versions");
  const body = await templates.readBody(caller.orgId, id, version);
  return { ...found, previewText: null, locale: null, translations: {}, ...body };
}

/** Saves the content of the version as a new version. Does nothing if it is the content already. */
export async function restore(caller: CallerScope, id: number, version: number): Promise<Template> {
  return templates.replaceBody(caller, id, await find(caller, id, version));
}
