import * as z from "zod";
import { type Caller, permitOrganization } from "../caller.ts";
import { absent, all, any, type Condition, equals, exists } from "../conditions.ts";
import { check, claim, query, update, updateReturning, type Write, write } from "../doors/table.ts";
import { oneLine } from "../email.ts";
import { missing } from "../errors.ts";
import { keys, ranges } from "../keys.ts";
import type { PageRequest, Pagination } from "../paging.ts";
import { inParallel } from "../parallel.ts";
import * as records from "./records.ts";
import * as sites from "./sites.ts";

const name = oneLine(200).trim().min(1);

export const Folder = z
  .object({
    id: z.int(),
    siteId: z.int().nullable().describe("null: for templates of all sites"),
    name: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "TemplateFolder" });
export type Folder = z.output<typeof Folder>;
export const NewFolder = z
  .object({
    name,
    siteId: z.int().positive().optional().describe("Absent: the key's site, else the folder serves all sites"),
  })
  .meta({ examples: [{ name: "Newsletters" }] });
export type NewFolder = z.output<typeof NewFolder>;
export const FolderChanges = z.object({ name }).meta({ examples: [{ name: "Letters" }] });
export type FolderChanges = z.output<typeof FolderChanges>;

type Who = Pick<Caller, "orgId" | "siteId">;
const gone = () => missing("There is no such template folder", { details: [{ path: "folderId", message: "unknown folder" }] });

export async function create(who: Who, { name, siteId }: NewFolder): Promise<Folder> {
  const everySite = siteId === undefined && who.siteId === undefined;
  const site = everySite ? null : await sites.resolve(who, siteId);
  return records.insert("FOLDER", who, { ...(await records.stamp("FOLDER")), siteId: site, name });
}

/** Those of the site and those that serve all sites; without a site all that the caller may see. */
export async function list(
  who: Who,
  { siteId, ...request }: PageRequest & { siteId?: number | undefined },
): Promise<{ items: Folder[]; pagination: Pagination }> {
  const site = await sites.only(who, siteId);
  return records.list<Folder>("FOLDER", who, request, site === undefined ? undefined : serving(site));
}

const serving = (siteId: number): Condition => any(equals("siteId", siteId), equals("siteId", null));

export async function change(who: Who, id: number, changes: FolderChanges): Promise<Folder> {
  await own(who, id);
  const changed = await updateReturning<Folder>(records.changing("FOLDER", who, id, changes));
  if (!changed) throw gone();
  return changed;
}

/**
 * Its templates become unfiled. No template can be filed in it from the beginning on; a delete that stopped halfway is finished by
 * asking for it again.
 */
export async function remove(who: Who, id: number): Promise<void> {
  await own(who, id);
  await write(update(keys.record(who.orgId, "FOLDER", id), { set: { closing: true } }, { if: exists, otherwise: gone() }));
  await unfileAll(who.orgId, id);
  await write(...records.removing("FOLDER", who, id));
}

/** Holds a write of a template to a folder that is there, not closing, and serves its site. */
export const holding = ({ orgId }: Who, id: number, siteId: number): Write =>
  check(keys.record(orgId, "FOLDER", id), all(exists, absent("closing"), serving(siteId)), gone());

// A bound key may use folders of all sites but not change them.
async function own(who: Who, id: number): Promise<void> {
  const folder = await records.find<Folder>("FOLDER", who, id);
  if (folder.siteId === null) permitOrganization(who);
}

async function unfileAll(orgId: number, folderId: number) {
  let after: string | undefined;
  do {
    const filter = equals("folderId", folderId);
    const page = await query<{ id: number }>(ranges.records(orgId, "TEMPLATE"), { filter, limit: 1000, consistent: true, after });
    await inParallel(16, page.items, ({ id }) => unfile(orgId, id, folderId));
    after = page.next;
  } while (after !== undefined);
}

// It may have been deleted or moved meanwhile, which is as well.
const unfile = (orgId: number, id: number, folderId: number) =>
  claim(update(keys.record(orgId, "TEMPLATE", id), { set: { folderId: null } }, { if: equals("folderId", folderId) }));
