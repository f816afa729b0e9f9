// Templates: a small record for lists and sends, and one body item per version.
import * as z from "zod";
import { all, allEqual, contains, equals } from "../../adapters/dynamodb/conditions.ts";
import { update, type Write, write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import * as liquid from "../../email/liquid.ts";
import { htmlToText } from "../../email/plain-text.ts";
import { conflict, Problem } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { singleLineText, toSingleLine } from "../../kernel/email-fields.ts";
import type { PageRequest, Pagination } from "../../kernel/paging.ts";
import {
  Count,
  CreatedAt,
  NewSiteId,
  RecordId,
  RecordSiteId,
  UpdatedAt,
} from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { keys } from "../../keys.ts";
import * as sites from "../identity/sites.ts";
import * as bodies from "./template-bodies.ts";
import * as folders from "./template-folders.ts";
import * as history from "./template-history.ts";

const name = singleLineText(200).trim().min(1);
const folderId = z.int().positive().nullable();
const { subject, html, text, designJson } = bodies.bodyFields;

export const TemplateMeta = z
  .object({
    id: RecordId.describe(
      "Id of the template, for GET /templates/:id and `templateId` of other requests.",
    ),
    siteId: RecordSiteId,
    name: z.string().describe("Name of the template."),
    subject: z.string().describe("Subject line, with Liquid."),
    folderId: RecordId.nullable().describe("Folder of the template, or `null`."),
    version: Count.describe(
      "Rises by 1 with each change of `subject`, `html`, `text` or `designJson`. Email is " +
        "sent with the version it was accepted with.",
    ),
    variables: z
      .array(z.string())
      .describe("Variables that the template reads, such as `firstName` or `order.total`."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "TemplateMeta" });
export type TemplateMeta = z.output<typeof TemplateMeta>;
export const Template = TemplateMeta.extend({
  html: z.string().nullable().describe("HTML part, with Liquid. `null`: the template has none."),
  text: z
    .string()
    .nullable()
    .describe("Plain text part, with Liquid. `null`: made from `html` when the email is sent."),
  designJson: z.unknown().describe("State of your visual editor, as it was stored, or `null`."),
}).meta({
  id: "Template",
});
export type Template = z.output<typeof Template>;

export const NewTemplate = z
  .object({
    siteId: NewSiteId,
    name: name.describe("Name of the template."),
    subject,
    html: html.default(null),
    text: text.default(null),
    designJson: designJson.default(null),
    folderId: folderId.default(null).describe("Folder of the template. `null`: none."),
  })
  .meta({
    examples: [
      {
        name: "Welcome",
        subject: "Welcome, {{ firstName }}",
        html: "<p>Hello {{ firstName | default: 'there' }}</p>",
      },
    ],
  });
export type NewTemplate = z.output<typeof NewTemplate>;
export const TemplateChanges = z
  .object({
    name: name.describe("New name of the template."),
    subject,
    html,
    text,
    designJson,
    folderId: folderId.describe("Folder of the template. `null` takes it out of its folder."),
    version: z
      .int()
      .positive()
      .describe(
        "`version` of the template that the change is based on. If somebody else has changed " +
          "its content since, the response is 409. If omitted, the change replaces theirs.",
      ),
  })
  .partial()
  .meta({ examples: [{ subject: "Welcome to the shop, {{ firstName }}" }] });
export type TemplateChanges = z.output<typeof TemplateChanges>;

interface TemplateFilter {
  siteId?: number | undefined;
  /** "none": unfiled */
  folderId?: number | "none" | undefined;
  /** Part of the name, in any case. */
  search?: string | undefined;
}

interface StoredTemplate extends TemplateMeta, bodies.TemplateVariables {
  /** Lower-cased name. */
  search: string;
  /** When the version was saved (ISO 8601). Absent if that was before versions were listed. */
  savedAt?: string;
  savedBy?: number | null;
}

/** `userId` is stored with the version that a call saves. */
type Editor = CallerScope & { userId?: number };

export async function create(
  caller: Editor,
  { siteId: requestedSiteId, name, folderId, ...body }: NewTemplate,
): Promise<Template> {
  const variables = bodies.parseVariables(body);
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
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
  const bodyWrite = await bodies.storeBodyWrite(version, body);
  return {
    ...(await records.insert("TEMPLATE", caller, {
      record: meta,
      extraWrites: [bodyWrite, ...folderChecks(caller, meta)],
    })),
    ...body,
  };
}

/** Writes for several templates of one site, as part of a larger transaction. */
export async function insertWrites(
  caller: Editor,
  siteId: number,
  inputs: Pick<NewTemplate, "name" | "subject" | "html" | "text">[],
): Promise<{ templates: TemplateMeta[]; writes: Write[] }> {
  const firstId = await ids.nextId("TEMPLATE", inputs.length);
  const at = new Date(await ids.requestTime()).toISOString();
  const newTemplates = inputs.map((input, i) => {
    const { name, subject } = input;
    const body = { ...input, designJson: null };
    const template: StoredTemplate = {
      ...{ id: firstId + i, siteId, name, subject, folderId: null },
      ...{ version: 1, createdAt: at, updatedAt: at },
      ...bodies.parseVariables(body),
      search: toSearchText(name),
      savedAt: at,
      savedBy: caller.userId ?? null,
    };
    return { template, body };
  });
  const templates = newTemplates.map(({ template }) => template);
  const bodyWrites = await Promise.all(
    newTemplates.map(({ template: { id }, body }) =>
      bodies.storeBodyWrite({ orgId: caller.orgId, id, version: 1 }, body),
    ),
  );
  return {
    templates,
    writes: [...records.insertWrites("TEMPLATE", caller, templates), ...bodyWrites],
  };
}

const toSearchText = (name: string): string => name.toLowerCase();
const folderChecks = (
  caller: CallerScope,
  { folderId, siteId }: Pick<TemplateMeta, "folderId" | "siteId">,
): Write[] => (folderId === null ? [] : [folders.usableFolderCheck(caller, folderId, siteId)]);

/** Newest first, without bodies. */
export async function list(
  caller: CallerScope,
  { siteId, folderId, search, ...request }: PageRequest & TemplateFilter,
): Promise<{ items: TemplateMeta[]; pagination: Pagination }> {
  const siteAndFolder = allEqual({ folderId: folderId === "none" ? null : folderId });
  const nameFilter = search === undefined ? undefined : contains("search", toSearchText(search));
  const filter =
    siteAndFolder && nameFilter ? all(siteAndFolder, nameFilter) : (siteAndFolder ?? nameFilter);
  return records.list<TemplateMeta>("TEMPLATE", caller, {
    ...request,
    siteIds: await sites.siteFilter(caller, siteId),
    filter,
  });
}

/**
 * For sending: takes half a read unit. A template that was just created takes a second, consistent
 * read.
 */
export async function findMeta(
  caller: CallerScope,
  id: number,
): Promise<TemplateMeta & bodies.TemplateVariables> {
  try {
    return await records.findEventually<StoredTemplate>("TEMPLATE", caller, id);
  } catch (error) {
    if (error instanceof Problem && error.kind === "missing")
      return records.find<StoredTemplate>("TEMPLATE", caller, id);
    throw error;
  }
}

export const readBody = bodies.findBody;

export async function find(caller: CallerScope, id: number): Promise<Template> {
  const meta = await records.find<TemplateMeta>("TEMPLATE", caller, id);
  return { ...meta, ...(await readBody(caller.orgId, id, meta.version)) };
}

export const findCurrentVersion = async (
  caller: CallerScope,
  id: number,
): Promise<history.SavedVersion> =>
  toSavedVersion(await records.find<StoredTemplate>("TEMPLATE", caller, id));

const toSavedVersion = ({
  version,
  subject,
  updatedAt,
  savedAt = updatedAt,
  savedBy = null,
}: StoredTemplate): history.SavedVersion => ({ version, subject, savedAt, savedBy });

export const change = (caller: Editor, id: number, changes: TemplateChanges): Promise<Template> =>
  retryOnConflict("The template", async () => {
    const stored = await records.find<StoredTemplate>("TEMPLATE", caller, id);
    const { version: baseVersion = stored.version, ...given } = changes;
    const { orgId, userId = null } = caller;
    const { html, text, designJson } = await readBody(orgId, id, stored.version);
    const before = { subject: stored.subject, html, text, designJson };
    const { name = stored.name, folderId = stored.folderId, ...content } = given;
    // A JSON body has no undefined values, so the cast is safe.
    const after: bodies.TemplateBody = { ...before, ...(content as Partial<bodies.TemplateBody>) };
    const isNewVersion = JSON.stringify(after) !== JSON.stringify(before);
    // A repeated request finds its own content, which is no conflict.
    if (isNewVersion && baseVersion !== stored.version) throw templateChanged();
    const version = stored.version + (isNewVersion ? 1 : 0);
    const at = now().toISOString();
    const ofNewVersion = isNewVersion
      ? {
          ...{ optional: [], blankBody: false, ...bodies.parseVariables(after) },
          ...{ savedAt: at, savedBy: userId },
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
    await write(
      update(
        keys.record(orgId, "TEMPLATE", id),
        { set },
        { if: equals("version", stored.version) },
      ),
      ...(changes.folderId === undefined ? [] : folderChecks(caller, { ...stored, folderId })),
      ...(isNewVersion
        ? [
            await bodies.storeBodyWrite({ orgId, id, version }, after),
            ...history.replaceVersionWrites(orgId, id, toSavedVersion(stored)),
          ]
        : []),
    );
    return { ...stored, ...set, ...after };
  });

const templateChanged = () =>
  conflict(
    "Somebody has changed the template since it was read: read it again, then repeat the change " +
      "with its version",
    { code: "template_changed" },
  );

/** Mail that was accepted with the template is still sent. */
export const remove = (caller: CallerScope, id: number): Promise<void> =>
  retryOnConflict("The template", async () => {
    const { siteId, version } = await records.find<TemplateMeta>("TEMPLATE", caller, id);
    await write(
      ...records.removeWrites("TEMPLATE", caller, {
        id,
        siteId,
        condition: { if: equals("version", version) },
      }),
      ...(await history.expireAllWrites(caller.orgId, id, version)),
    );
  });

export const RenderedTemplate = z.object({
  subject: z.string().describe("Rendered subject line."),
  html: z.string().nullable().describe("Rendered HTML part. `null` if the template has none."),
  text: z.string().describe("Plain text part. Made from `html` if the template has no text."),
  missingVariables: z
    .array(z.string())
    .describe(
      "Variables that were read and not given, and so rendered empty. Not listed: variables " +
        "with a `default` filter or read only in a condition, and `email`, `name`, " +
        "`unsubscribeUrl`, `preferencesUrl` and `contactToken`.",
    ),
});
export type RenderedTemplate = z.output<typeof RenderedTemplate>;

/** Variables that the service provides. */
const builtInVariables = new Set([
  "email",
  "name",
  "unsubscribeUrl",
  "preferencesUrl",
  "contactToken",
]);

type RenderedParts = Pick<Template, "subject" | "html" | "text">;

/** Parts of a draft that is not saved yet. */
export interface TemplateDraft {
  subject?: string | undefined;
  html?: string | null | undefined;
  text?: string | null | undefined;
}

/** The parts of the template, or those of the draft in their place. */
export async function findWithDraft(
  caller: CallerScope,
  id: number,
  draft: TemplateDraft,
): Promise<RenderedParts> {
  const template = await find(caller, id);
  const { subject = template.subject, html = template.html, text = template.text } = draft;
  return { subject, html, text };
}

export interface DraftToRender extends TemplateDraft {
  variables: liquid.LiquidVariables;
}

export const render = async (
  caller: CallerScope,
  id: number,
  { variables, ...draft }: DraftToRender,
): Promise<RenderedTemplate> => renderBody(await findWithDraft(caller, id, draft), variables);

/** Throws 400 if a part is not valid Liquid or takes too long. */
export function renderBody(
  { subject, html, text }: RenderedParts,
  variables: liquid.LiquidVariables,
): RenderedTemplate {
  const renderTime = { now: now(), budget: new liquid.Budget() };
  const missingVariables = new Set<string>();
  const renderPart = (field: string, source: string) => {
    const { text, missing } = liquid.render(
      liquid.compile(source, { escape: field === "html", field }),
      variables,
      renderTime,
    );
    for (const name of missing) if (!builtInVariables.has(name)) missingVariables.add(name);
    return text;
  };
  const renderedHtml = html === null ? null : renderPart("html", html);
  return {
    subject: toSingleLine(renderPart("subject", subject)),
    html: renderedHtml,
    text: text === null ? htmlToText(renderedHtml ?? "") : renderPart("text", text),
    missingVariables: [...missingVariables],
  };
}
