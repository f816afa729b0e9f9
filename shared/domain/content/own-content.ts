// The content that a campaign has for itself: a template that belongs to it. Lists and counts leave
// it out, and nothing else can use it.
import * as z from "zod";
import { exists } from "../../adapters/dynamodb/conditions.ts";
import { get, put, update, type Write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { invalid, undefinedIfMissing } from "../../errors.ts";
import * as records from "../../kernel/records.ts";
import { keys } from "../../keys.ts";
import { loadUsedSnippets } from "./mail-snippets.ts";
import * as templateBodies from "./template-bodies.ts";
import { TemplateChanges } from "./template-schema.ts";
import { patchTranslations } from "./template-translations.ts";
import * as templates from "./templates.ts";

const { subject, html, text, designJson, previewText, locale, translations } =
  TemplateChanges.shape;

export const OwnContent = z
  .object({
    copyOf: z
      .int()
      .positive()
      .optional()
      .describe(
        "Template whose texts it begins with, also the own content of another campaign. The " +
          "other fields replace its texts. Without it, `subject` and `html` or `text` are " +
          "required.",
      ),
    ...{ subject, html, text, designJson, previewText, locale, translations },
  })
  .meta({
    id: "OwnContent",
    examples: [{ copyOf: 1 }, { subject: "Spring is here", html: "<p>Hello</p>" }],
  });
export type OwnContent = z.output<typeof OwnContent>;

/** Throws 400 if the template to copy is of another site, or if texts are missing. */
export async function readOwnContent(
  caller: CallerScope,
  siteId: number,
  { copyOf, translations: patches = {}, ...given }: OwnContent,
): Promise<templates.TemplateContent> {
  const copied = copyOf === undefined ? undefined : await readCopied(caller, siteId, copyOf);
  const subject = given.subject ?? copied?.subject;
  if (subject === undefined)
    throw invalid("content.subject is required without content.copyOf", {
      details: [{ path: "content.subject", message: "is required" }],
    });
  return templates.bodyOf({
    ...{ html: null, text: null, designJson: null, previewText: null, locale: null },
    ...copied,
    // A JSON body has no undefined values, so the cast is safe.
    ...(given as Partial<templates.TemplateContent>),
    subject,
    translations: patchTranslations(copied?.translations ?? {}, patches),
  });
}

async function readCopied(caller: CallerScope, siteId: number, id: number) {
  const path = "content.copyOf";
  await records.findOfSite("TEMPLATE", caller, { id, siteId, path });
  return templates.bodyOf(await templates.find(caller, id));
}

interface NewOwnContent {
  id: number;
  siteId: number;
  campaignId: number;
  /** That of the campaign. */
  name: string;
  content: templates.TemplateContent;
}

/** For the transaction that stores the id in the campaign. Throws 400 if a text does not parse. */
export async function createOwnContentWrites(
  caller: templates.Editor,
  { content, ...owned }: NewOwnContent,
  at: string,
): Promise<Write[]> {
  const { orgId } = caller;
  const bodies = templateBodies.listBodies(content);
  const { snippets, snippetChecks } = await loadUsedSnippets(orgId, owned.siteId, ...bodies);
  const stored: templates.StoredTemplate = {
    ...owned,
    subject: content.subject,
    folderId: null,
    version: 1,
    ...templateBodies.parseVariables(content, snippets, "content."),
    search: templates.toSearchText(owned.name),
    ...{ createdAt: at, updatedAt: at, savedAt: at },
    savedBy: caller.userId ?? null,
  };
  return [
    put(keys.record(orgId, "TEMPLATE", owned.id), stored, { ifAbsent: true }),
    await templateBodies.storeBodyWrite({ orgId, id: owned.id, version: 1 }, content),
    ...snippetChecks,
  ];
}

/**
 * For the transaction that renames the campaign, so that both have one name. None if the template
 * was deleted before.
 */
export async function renameOwnContentWrites(
  { orgId }: CallerScope,
  id: number,
  name: string,
): Promise<Write[]> {
  const key = keys.record(orgId, "TEMPLATE", id);
  if (!(await get(key))) return [];
  return [update(key, { set: { name, search: templates.toSearchText(name) } }, { if: exists })];
}

/** For the transaction that deletes the campaign. None if the template was deleted before. */
export const removeOwnContentWrites = async (caller: CallerScope, id: number): Promise<Write[]> =>
  (await templates.removeWrites(caller, id).catch(undefinedIfMissing)) ?? [];

interface TemplateChoice {
  id: number;
  siteId: number;
  /** The field of the request with the id. */
  path: string;
  /** The campaign that chooses it. */
  campaignId?: number | undefined;
}

/**
 * Finds the template that something uses. Throws 404 if it does not exist, and 400 if it is of
 * another site or the own content of another campaign.
 */
export async function findChosenTemplate(
  caller: CallerScope,
  { id, siteId, path, campaignId }: TemplateChoice,
): Promise<templates.SentTemplate> {
  const template = await records.findOfSite<templates.StoredTemplate>("TEMPLATE", caller, {
    ...{ id, siteId, path },
  });
  if (template.campaignId === undefined || template.campaignId === campaignId) return template;
  const message = `is the own content of campaign ${template.campaignId}: copy it`;
  throw invalid(`${path} ${message}`, { details: [{ path, message }] });
}
