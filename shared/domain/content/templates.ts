// Templates: a small record for lists and sends, and one body item per version.
import { absent, all, allEqual, contains, equals } from "../../adapters/dynamodb/conditions.ts";
import { update, type Write, write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { conflict, Problem } from "../../errors.ts";
import * as ids from "../../ids.ts";
import type { PageRequest, Pagination } from "../../kernel/paging.ts";
import * as records from "../../kernel/records.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { keys } from "../../keys.ts";
import * as sites from "../identity/sites.ts";
import { loadUsedSnippets } from "./mail-snippets.ts";
import * as templateBodies from "./template-bodies.ts";
import * as templateFolders from "./template-folders.ts";
import * as templateHistory from "./template-history.ts";
import type { NewTemplate, Template, TemplateChanges, TemplateMeta } from "./template-schema.ts";
import { type PinnedTemplate, patchTranslations } from "./template-translations.ts";

interface TemplateFilter {
  siteId?: number | undefined;
  /** "none": unfiled */
  folderId?: number | "none" | undefined;
  /** Part of the name, in any case. */
  search?: string | undefined;
}

type SentFields = Omit<TemplateMeta, "locale" | "locales" | "campaignId">;

export interface StoredTemplate extends SentFields, templateBodies.TemplateVariables {
  /** Absent in templates that belong to no campaign. */
  campaignId?: number;
  /** Lower-cased name. */
  search: string;
  /** When the version was saved (ISO 8601). */
  savedAt: string;
  savedBy: number | null;
  /** Time of the first autosave of the version (ISO 8601). Absent and null: a person saved it. */
  autosavedSince?: string | null;
}

/** `userId` is stored with the version that a call saves. */
export type Editor = CallerScope & { userId?: number };

export async function create(
  caller: Editor,
  { siteId: requestedSiteId, name, folderId, ...given }: NewTemplate,
): Promise<Template> {
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
  const body = { ...given, translations: patchTranslations({}, given.translations) };
  const bodies = templateBodies.listBodies(body);
  const { snippets, snippetChecks } = await loadUsedSnippets(caller.orgId, siteId, ...bodies);
  const variables = templateBodies.parseVariables(body, snippets);
  const stamp = await records.newRecordFields("TEMPLATE");
  const meta: StoredTemplate = {
    ...stamp,
    siteId,
    name,
    subject: body.subject,
    folderId,
    version: 1,
    ...variables,
    search: toSearchText(name),
    savedAt: stamp.createdAt,
    savedBy: caller.userId ?? null,
  };
  const version = { orgId: caller.orgId, id: meta.id, version: 1 };
  const bodyWrite = await templateBodies.storeBodyWrite(version, body);
  const stored = await records.insert("TEMPLATE", caller, {
    record: meta,
    extraWrites: [bodyWrite, ...folderChecks(caller, meta), ...snippetChecks],
  });
  return toApi(stored, body);
}

const toMeta = (stored: Omit<StoredTemplate, "search" | "savedAt" | "savedBy">): TemplateMeta => ({
  ...stored,
  campaignId: stored.campaignId ?? null,
  locale: stored.locale ?? null,
  locales: Object.keys(stored.subjects ?? {}),
});

/** Bodies of earlier versions of the service have neither preview text nor languages. */
const toApi = (
  stored: Omit<StoredTemplate, "search" | "savedAt" | "savedBy">,
  { previewText = null, translations = {}, ...body }: templateBodies.TemplateBody,
): Template => ({
  ...toMeta(stored),
  ...body,
  ...{ previewText, translations, locale: body.locale ?? null },
});

/** Writes for several templates of one site, as part of a larger transaction. */
export async function insertWrites(
  caller: Editor,
  siteId: number,
  inputs: (Pick<NewTemplate, "name" | "subject" | "html" | "text"> & Partial<TemplateContent>)[],
): Promise<{ templates: TemplateMeta[]; writes: Write[] }> {
  const firstId = await ids.nextId("TEMPLATE", inputs.length);
  const at = new Date(await ids.requestTime()).toISOString();
  const newTemplates = inputs.map((input, i) => {
    const { name, ...texts } = input;
    const body = { designJson: null, ...texts };
    const template: StoredTemplate = {
      ...{ id: firstId + i, siteId, name, subject: body.subject, folderId: null },
      ...{ version: 1, createdAt: at, updatedAt: at },
      ...templateBodies.parseVariables(body),
      search: toSearchText(name),
      savedAt: at,
      savedBy: caller.userId ?? null,
    };
    return { template, body };
  });
  const stored = newTemplates.map(({ template }) => template);
  const bodyWrites = await Promise.all(
    newTemplates.map(({ template: { id }, body }) =>
      templateBodies.storeBodyWrite({ orgId: caller.orgId, id, version: 1 }, body),
    ),
  );
  return {
    templates: stored.map(toMeta),
    writes: [...records.insertWrites("TEMPLATE", caller, stored), ...bodyWrites],
  };
}

export const toSearchText = (name: string): string => name.toLowerCase();
const folderChecks = (
  caller: CallerScope,
  { folderId, siteId }: Pick<TemplateMeta, "folderId" | "siteId">,
): Write[] =>
  folderId === null ? [] : [templateFolders.usableFolderCheck(caller, folderId, siteId)];

/** Newest first, without bodies and without the own content of campaigns. */
export async function list(
  caller: CallerScope,
  { siteId, folderId, search, ...request }: PageRequest & TemplateFilter,
): Promise<{ items: TemplateMeta[]; pagination: Pagination }> {
  const siteAndFolder = allEqual({ folderId: folderId === "none" ? null : folderId });
  const nameFilter = search === undefined ? undefined : contains("search", toSearchText(search));
  const filter =
    siteAndFolder && nameFilter ? all(siteAndFolder, nameFilter) : (siteAndFolder ?? nameFilter);
  const { items, pagination } = await records.list<StoredTemplate>("TEMPLATE", caller, {
    ...request,
    siteIds: await sites.siteFilter(caller, siteId),
    filter,
    counted: absent("campaignId"),
  });
  return { items: items.map(toMeta), pagination };
}

/** A template as sends see it. */
export type SentTemplate = Omit<StoredTemplate, "search" | "savedAt" | "savedBy">;

/**
 * For sending: takes half a read unit. A template that was just created takes a second, consistent
 * read.
 */
export async function findMeta(caller: CallerScope, id: number): Promise<SentTemplate> {
  try {
    return await records.findEventually<StoredTemplate>("TEMPLATE", caller, id);
  } catch (error) {
    if (error instanceof Problem && error.kind === "missing")
      return records.find<StoredTemplate>("TEMPLATE", caller, id);
    throw error;
  }
}

/** What plans and chunks keep of a template. */
export function pinTemplate(template: SentTemplate): PinnedTemplate {
  const { id, version, subject, locale, subjects = {} } = template;
  const isTranslated = Object.keys(subjects).length > 0;
  return { id, version, subject, ...(isTranslated && { locale, subjects }) };
}

export const readBody = templateBodies.findBody;

export async function find(caller: CallerScope, id: number): Promise<Template> {
  const meta = await records.find<StoredTemplate>("TEMPLATE", caller, id);
  return toApi(meta, await readBody(caller.orgId, id, meta.version));
}

export const findCurrentVersion = async (
  caller: CallerScope,
  id: number,
): Promise<templateHistory.SavedVersion> =>
  toSavedVersion(await records.find<StoredTemplate>("TEMPLATE", caller, id));

const toSavedVersion = ({
  version,
  subject,
  savedAt,
  savedBy,
}: StoredTemplate): templateHistory.SavedVersion => ({ version, subject, savedAt, savedBy });

export const change = (caller: Editor, id: number, changes: TemplateChanges): Promise<Template> => {
  const { translations: patches = {}, ...content } = changes;
  return edit(caller, id, { ...content, patch: (stored) => patchTranslations(stored, patches) });
};

/** Replaces the whole content. */
export const replaceBody = (
  caller: Editor,
  id: number,
  body: TemplateContent,
): Promise<Template> => {
  const { translations, ...content } = bodyOf(body);
  return edit(caller, id, { ...content, patch: () => translations });
};

interface TemplateEdit extends Omit<TemplateChanges, "translations"> {
  patch(stored: Template["translations"]): Template["translations"];
}

const edit = (caller: Editor, id: number, { patch, ...changes }: TemplateEdit): Promise<Template> =>
  retryOnConflict("The template", async () => {
    const stored = await records.find<StoredTemplate>("TEMPLATE", caller, id);
    const { version: baseVersion = stored.version, autosave = false, ...given } = changes;
    const { orgId, userId = null } = caller;
    const before = bodyOf(toApi(stored, await readBody(orgId, id, stored.version)));
    const { name = stored.name, folderId = stored.folderId, ...content } = given;
    // A JSON body has no undefined values, so the cast is safe.
    const after = {
      ...before,
      ...(content as Partial<typeof before>),
      translations: patch(before.translations),
    };
    const isNewVersion = JSON.stringify(after) !== JSON.stringify(before);
    // A repeated request finds its own content, which is no conflict.
    if (isNewVersion && baseVersion !== stored.version) throw templateChanged();
    const version = stored.version + (isNewVersion ? 1 : 0);
    const bodies = templateBodies.listBodies(after);
    const { snippets, snippetChecks } = await loadUsedSnippets(orgId, stored.siteId, ...bodies);
    const at = now().toISOString();
    const openSince = autosave ? findOpenAutosave(stored, userId) : undefined;
    const ofNewVersion = isNewVersion
      ? {
          ...{ optional: [], blankBody: false, pictures: [], snippets: [] },
          ...{ locale: null, subjects: {} },
          ...templateBodies.parseVariables(after, snippets),
          ...{ savedAt: at, savedBy: userId },
          autosavedSince: autosave ? (openSince ?? at) : null,
        }
      : {};
    const set = {
      name,
      search: toSearchText(name),
      subject: after.subject,
      folderId,
      version,
      ...ofNewVersion,
      updatedAt: at,
    };
    const replaceWrites = () =>
      openSince === undefined
        ? templateHistory.replaceVersionWrites(orgId, id, toSavedVersion(stored))
        : [templateBodies.expireBodyWrite(orgId, id, stored.version)];
    const versionWrites = isNewVersion
      ? await Promise.all([
          templateBodies.storeBodyWrite({ orgId, id, version }, after),
          replaceWrites(),
        ])
      : [];
    await write(
      update(
        keys.record(orgId, "TEMPLATE", id),
        { set },
        { if: equals("version", stored.version) },
      ),
      ...(changes.folderId === undefined ? [] : folderChecks(caller, { ...stored, folderId })),
      ...versionWrites.flat(),
      ...(isNewVersion ? snippetChecks : []),
    );
    return toApi({ ...stored, ...set }, after);
  });

const autosaveMinutes = 10;

/** When the user began to save the current version by autosaves, if the next one belongs to it. */
function findOpenAutosave(
  { autosavedSince = null, savedBy }: StoredTemplate,
  userId: number | null,
): string | undefined {
  if (autosavedSince === null || savedBy !== userId) return undefined;
  const minutes = (now().getTime() - Date.parse(autosavedSince)) / 60_000;
  return minutes < autosaveMinutes ? autosavedSince : undefined;
}

export type TemplateContent = Pick<Template, keyof templateBodies.TemplateBody>;

export const bodyOf = (content: TemplateContent): TemplateContent => {
  const { subject, html, text, designJson, previewText, locale, translations } = content;
  return { subject, html, text, designJson, previewText, locale, translations };
};

const templateChanged = () =>
  conflict(
    "Somebody has changed the template since it was read: read it again, then repeat the change " +
      "with its version",
    { code: "template_changed" },
  );

/** Mail that was accepted with the template is still sent. */
export const remove = (caller: CallerScope, id: number): Promise<void> =>
  retryOnConflict("The template", async () => {
    await write(...(await removeWrites(caller, id)));
  });

/** For a larger transaction, which fails if the template changes meanwhile. */
export async function removeWrites(caller: CallerScope, id: number): Promise<Write[]> {
  const stored = await records.find<StoredTemplate>("TEMPLATE", caller, id);
  const { siteId, version, campaignId } = stored;
  return [
    ...records.removeWrites("TEMPLATE", caller, {
      ...{ id, siteId, condition: { if: equals("version", version) } },
      isCounted: campaignId === undefined,
    }),
    ...(await templateHistory.expireAllWrites(caller.orgId, id, version)),
  ];
}
