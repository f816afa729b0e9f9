// Lists and tags: named groups of a site's contacts. A name is unique in its site, whatever its case; how many belong is counted
// where membership is written, in 16 counters so that many writers never meet.
import type { Caller } from "../../caller.ts";
import { permit } from "../../caller.ts";
import { equals, where } from "../../conditions.ts";
import { get, getMany, put, remove, Unmet, write } from "../../doors/table.ts";
import { conflict, invalid, missing } from "../../errors.ts";
import { type GroupKind, keys, ranges } from "../../keys.ts";
import type { PageRequest } from "../../paging.ts";
import { inParallel } from "../../parallel.ts";
import * as counters from "../counters.ts";
import * as records from "../records.ts";
import * as sites from "../sites.ts";
import * as dead from "./dead-groups.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

export interface Group extends records.Stored {
  siteId: number;
  name: string;
  description?: string | null | undefined;
  /** Active sequences that wait for whoever joins it. */
  starts?: Set<number>;
}
export type CountedGroup = Group & { contactCount: number };

const words: Record<GroupKind, string> = { LIST: "list", TAG: "tag" };

/** 409 when the site has one of that name. */
export async function create(
  kind: GroupKind,
  who: Who,
  given: { siteId?: number | undefined; name: string; description?: string | null | undefined },
) {
  const siteId = await sites.resolve(who, given.siteId);
  const taken = conflict(`The site has a ${words[kind]} of this name`, { code: `${words[kind]}_exists` });
  return { ...(await insert(kind, who, { ...given, siteId }, taken)), contactCount: 0 };
}

async function insert(
  kind: GroupKind,
  who: Who,
  { siteId, name, description }: Pick<Group, "siteId" | "name" | "description">,
  taken: Error,
) {
  const group: Group = { ...(await records.stamp(kind)), siteId, name, ...(kind === "LIST" && { description: description ?? null }) };
  const naming = put(keys.groupName(who.orgId, siteId, kind, name), { id: group.id, name }, { new: true });
  try {
    return await records.insert(kind, who, group, naming);
  } catch (error) {
    if (error instanceof Unmet) throw taken;
    throw error;
  }
}

export async function find(kind: GroupKind, who: Who, id: number): Promise<CountedGroup> {
  const [group, contactCount] = await Promise.all([records.find<Group>(kind, who, id), count(kind, who.orgId, id)]);
  return { ...group, contactCount };
}

export async function list(kind: GroupKind, who: Who, request: PageRequest, siteId: number | undefined) {
  const { items, pagination } = await records.list<Group>(kind, who, request, where({ siteId: await sites.only(who, siteId) }));
  const counts = await inParallel(16, items, ({ id }) => count(kind, who.orgId, id));
  return { items: items.map((group, i): CountedGroup => ({ ...group, contactCount: counts[i]! })), pagination };
}

export const count = (kind: GroupKind, orgId: number, id: number): Promise<number> => counters.total(ranges.groupCounts(orgId, kind, id));

/** 409 when the site has another of the new name. */
export async function change(
  kind: GroupKind,
  who: Who,
  id: number,
  changes: { name?: string | undefined; description?: string | null | undefined },
) {
  const group = await records.find<Group>(kind, who, id);
  const { name = group.name } = changes;
  const [from, to] = [keys.groupName(who.orgId, group.siteId, kind, group.name), keys.groupName(who.orgId, group.siteId, kind, name)];
  const taken = conflict(`The site has a ${words[kind]} of this name`, { code: `${words[kind]}_exists` });
  const renaming = from.sk === to.sk ? [] : [remove(from, named(kind, id)), put(to, { id, name }, { new: taken })];
  await write(records.changing(kind, who, id, { ...changes, name }), ...renaming);
  return find(kind, who, id);
}

/** The name still stands for this group: nobody renamed it meanwhile. */
const named = (kind: GroupKind, id: number) => ({
  if: equals("id", id),
  otherwise: conflict(`The ${words[kind]} was changed by someone else at the same time`),
});

/** The id dies at once; whoever carries it is swept up later. */
export async function removeGroup(kind: GroupKind, who: Who, id: number): Promise<void> {
  const { siteId, name } = await records.find<Group>(kind, who, id);
  const naming = keys.groupName(who.orgId, siteId, kind, name);
  await write(
    ...records.removing(kind, who, id),
    remove(naming, named(kind, id)),
    dead.dying({ orgId: who.orgId, siteId, kind, group: id }),
  );
  await dead.sweepSoon(who.orgId, kind, id);
}

/** Ids of tags by name; those that are not there yet are made. */
export async function tagsNamed(who: Who, siteId: number, names: string[]): Promise<Map<string, number>> {
  // Of several spellings the first is the name.
  const distinct = [...new Map(names.toReversed().map((name) => [name.trim().toLowerCase(), name.trim()])).values()].toReversed();
  const known = await getMany<{ id: number }>(
    distinct.map((name) => keys.groupName(who.orgId, siteId, "TAG", name)),
    {
      consistent: true,
    },
  );
  const ids = await inParallel(8, distinct, async (name, i) => known[i]?.id ?? (await tagNamed(who, siteId, name)));
  const byName = new Map(distinct.map((name, i) => [name.toLowerCase(), ids[i]!]));
  return new Map(names.map((name) => [name, byName.get(name.trim().toLowerCase())!]));
}

async function tagNamed(who: Who, siteId: number, name: string): Promise<number> {
  const race = conflict("The tag was made and deleted by others at the same time");
  for (let tries = 1; ; tries++)
    try {
      const made = await insert("TAG", who, { siteId, name }, race);
      // Made again after a death, a request may be given an id that another of its tags has by now.
      if (made.name.toLowerCase() === name.toLowerCase()) return made.id;
    } catch (error) {
      if (error !== race) throw error;
      const made = await get<{ id: number }>(keys.groupName(who.orgId, siteId, "TAG", name));
      if (made) return made.id;
      if (tries >= 3) throw error;
    }
}

/** 404 for a list that is not of this site. */
export async function listsOf(who: Who, siteId: number, listIds: number[]): Promise<number[]> {
  const distinct = [...new Set(listIds)];
  const found = await getMany<Group>(
    distinct.map((id) => keys.record(who.orgId, "LIST", id)),
    { consistent: true },
  );
  for (const [i, group] of found.entries()) {
    if (!group) throw missing("There is no such list");
    permit(who, group.siteId);
    if (group.siteId !== siteId)
      throw invalid(`List ${distinct[i]} belongs to another site`, { details: [{ path: "lists", message: "of another site" }] });
  }
  return distinct;
}

/** 404 when there is none, 400 when it is of another site than its contact. */
export const ofSite = (kind: GroupKind, who: Who, id: number, siteId: number): Promise<Group> =>
  records.ofSite<Group>(kind, who, id, siteId, `${words[kind]}Id`);

/** Names of groups by id, for what contacts carry; one that is gone has none. */
export async function names(orgId: number, kind: GroupKind, ids: Iterable<number>): Promise<Map<number, string>> {
  const distinct = [...new Set(ids)];
  const found = await getMany<Group>(
    distinct.map((id) => keys.record(orgId, kind, id)),
    { consistent: true },
  );
  return new Map(found.flatMap((group) => (group ? [[group.id, group.name]] : [])));
}
