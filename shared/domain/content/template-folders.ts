import * as z from "zod";
import {
  absent,
  all,
  any,
  type Condition,
  equals,
  exists,
} from "../../adapters/dynamodb/conditions.ts";
import {
  checkCondition,
  queryPages,
  transact,
  update,
  updateReturning,
  type Write,
  write,
} from "../../adapters/dynamodb/table.ts";
import { type CallerScope, requireOrganizationAccess } from "../../caller.ts";
import { missing } from "../../errors.ts";
import { singleLineText } from "../../kernel/email-fields.ts";
import type { PageRequest, Pagination } from "../../kernel/paging.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { CreatedAt, RecordId, UpdatedAt } from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import { keys, ranges } from "../../keys.ts";
import * as sites from "../identity/sites.ts";

const name = singleLineText(200).trim().min(1);

export const TemplateFolder = z
  .object({
    id: RecordId.describe("Id of the folder, for `folderId` of templates."),
    siteId: RecordId.nullable().describe(
      "Site of the folder. `null`: the folder holds templates of all sites.",
    ),
    name: z.string().describe("Name of the folder."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "TemplateFolder" });
export type TemplateFolder = z.output<typeof TemplateFolder>;
export const NewTemplateFolder = z
  .object({
    name: name.describe("Name of the folder."),
    siteId: z
      .int()
      .positive()
      .optional()
      .describe(
        "Site of the folder. Defaults to the site of the API key, else the folder holds " +
          "templates of all sites.",
      ),
  })
  .meta({ examples: [{ name: "Newsletters" }] });
export type NewTemplateFolder = z.output<typeof NewTemplateFolder>;
export const TemplateFolderChanges = z
  .object({ name: name.describe("New name of the folder.") })
  .meta({ examples: [{ name: "Letters" }] });
export type TemplateFolderChanges = z.output<typeof TemplateFolderChanges>;

const folderNotFound = () =>
  missing("The template folder does not exist", {
    details: [{ path: "folderId", message: "does not exist" }],
  });

export async function create(
  caller: CallerScope,
  { name, siteId }: NewTemplateFolder,
): Promise<TemplateFolder> {
  const isForAllSites = siteId === undefined && !caller.siteIds;
  const folderSiteId = isForAllSites ? null : await sites.resolveSiteId(caller, siteId);
  return records.insert("FOLDER", caller, {
    record: { ...(await records.newRecordFields("FOLDER")), siteId: folderSiteId, name },
  });
}

/**
 * The folders of the site and of all sites. Without a site, all folders that the caller can access.
 */
export async function list(
  caller: CallerScope,
  { siteId, ...request }: PageRequest & { siteId?: number | undefined },
): Promise<{ items: TemplateFolder[]; pagination: Pagination }> {
  return records.list<TemplateFolder>("FOLDER", caller, {
    ...request,
    siteIds: await sites.siteFilter(caller, siteId),
    andEverySite: true,
  });
}

const servesSite = (siteId: number): Condition =>
  any(equals("siteId", siteId), equals("siteId", null));

export async function change(
  caller: CallerScope,
  id: number,
  changes: TemplateFolderChanges,
): Promise<TemplateFolder> {
  await requireWriteAccess(caller, id);
  const changed = await updateReturning<TemplateFolder>(
    records.updateWrite("FOLDER", caller, { id, set: changes }),
  );
  if (!changed) throw folderNotFound();
  return changed;
}

/**
 * Removes the templates from the folder, then deletes it. From the start, no template can be added
 * to it. If the process dies in between, a repeated request finishes the deletion.
 */
export async function remove(caller: CallerScope, id: number): Promise<void> {
  const folder = await requireWriteAccess(caller, id);
  await write(
    update(
      keys.record(caller.orgId, "FOLDER", id),
      { set: { closing: true } },
      { if: exists, orThrow: folderNotFound() },
    ),
  );
  await unfileAll(caller.orgId, id);
  await write(...records.removeWrites("FOLDER", caller, folder));
}

/** Checks that the folder exists, is not being deleted, and holds templates of the site. */
export const usableFolderCheck = ({ orgId }: CallerScope, id: number, siteId: number): Write =>
  checkCondition(
    keys.record(orgId, "FOLDER", id),
    all(exists, absent("closing"), servesSite(siteId)),
    folderNotFound(),
  );

// An API key bound to a site can use folders of all sites but not change them.
async function requireWriteAccess(caller: CallerScope, id: number): Promise<TemplateFolder> {
  const folder = await records.find<TemplateFolder>("FOLDER", caller, id);
  if (folder.siteId === null) requireOrganizationAccess(caller);
  return folder;
}

async function unfileAll(orgId: number, folderId: number) {
  const templates = ranges.records(orgId, "TEMPLATE");
  const options = { filter: equals("folderId", folderId), limit: 1000, consistent: true };
  for await (const { items } of queryPages<{ id: number }>(templates, options))
    await inParallel(16, items, ({ id }) => unfile(orgId, id, folderId));
}

// Fails silently if the template was deleted or moved in the meantime.
const unfile = (orgId: number, id: number, folderId: number) =>
  transact(
    update(
      keys.record(orgId, "TEMPLATE", id),
      { set: { folderId: null } },
      { if: equals("folderId", folderId) },
    ),
  );
