// Lists and tags: named groups of a site's contacts. A name is unique in its site, ignoring case.
// The transaction that writes a membership also counts it, in 16 counters so that concurrent
// writers rarely conflict.

import { equals } from "../../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  get,
  getMany,
  put,
  remove,
  write,
} from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { conflict, invalid, missing, Problem } from "../../../errors.ts";
import type { PageRequest } from "../../../kernel/paging.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import * as records from "../../../kernel/records.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import * as shardedCounters from "../../../kernel/sharded-counters.ts";
import { permitSite } from "../../../kernel/site-access.ts";
import { type GroupKind, keys, ranges } from "../../../keys.ts";
import * as sites from "../../identity/sites.ts";
import * as deletedGroups from "./deleted-groups.ts";

export interface Group extends records.StoredRecord {
  siteId: number;
  name: string;
  description?: string | null | undefined;
  /** Active sequences that joining it triggers. */
  starts?: Set<number>;
}
export type CountedGroup = Group & { contactCount: number };

const kindNames = { LIST: "list", TAG: "tag" } as const satisfies Record<GroupKind, string>;

const nameTaken = (kind: GroupKind) =>
  conflict(`The site already has a ${kindNames[kind]} with this name`, {
    code: `${kindNames[kind]}_exists`,
  });

/** 409 when the name is taken. */
export async function create(
  kind: GroupKind,
  caller: CallerScope,
  input: { siteId?: number | undefined; name: string; description?: string | null | undefined },
) {
  const siteId = await sites.resolveSiteId(caller, input.siteId);
  const group = await insert(kind, caller, { ...input, siteId });
  return { ...group, contactCount: 0 };
}

async function insert(
  kind: GroupKind,
  caller: CallerScope,
  { siteId, name, description }: Pick<Group, "siteId" | "name" | "description">,
) {
  const group: Group = {
    ...(await records.newRecordFields(kind)),
    siteId,
    name,
    ...(kind === "LIST" && { description: description ?? null }),
  };
  const nameWrite = put(
    keys.groupName(caller.orgId, siteId, { kind, name }),
    { id: group.id, name },
    { ifAbsent: true },
  );
  try {
    return await records.insert(kind, caller, { record: group, extraWrites: [nameWrite] });
  } catch (error) {
    throw error instanceof ConditionFailed ? nameTaken(kind) : error;
  }
}

export async function find(
  kind: GroupKind,
  caller: CallerScope,
  id: number,
): Promise<CountedGroup> {
  const [group, contactCount] = await Promise.all([
    records.find<Group>(kind, caller, id),
    count(kind, caller.orgId, id),
  ]);
  return { ...group, contactCount };
}

export async function list(
  kind: GroupKind,
  caller: CallerScope,
  { siteId, ...request }: PageRequest & { siteId: number | undefined },
) {
  const { items, pagination } = await records.list<Group>(kind, caller, {
    ...request,
    siteIds: await sites.siteFilter(caller, siteId),
  });
  const counts = await inParallel(16, items, ({ id }) => count(kind, caller.orgId, id));
  return {
    items: items.map((group, i): CountedGroup => ({ ...group, contactCount: counts[i]! })),
    pagination,
  };
}

export const count = (kind: GroupKind, orgId: number, id: number): Promise<number> =>
  shardedCounters.sumShards(ranges.groupCounts(orgId, { kind, id }));

interface GroupChanges {
  id: number;
  name?: string | undefined;
  description?: string | null | undefined;
}

/** 409 when the new name is taken. */
export async function change(
  kind: GroupKind,
  caller: CallerScope,
  { id, ...changes }: GroupChanges,
) {
  const group = await records.find<Group>(kind, caller, id);
  const { name = group.name } = changes;
  const oldKey = keys.groupName(caller.orgId, group.siteId, { kind, name: group.name });
  const newKey = keys.groupName(caller.orgId, group.siteId, { kind, name });
  const renameWrites =
    oldKey.sk === newKey.sk
      ? []
      : [
          remove(oldKey, ifNameUnchanged(kind, id)),
          put(newKey, { id, name }, { ifAbsent: nameTaken(kind) }),
        ];
  await write(
    records.updateWrite(kind, caller, { id, set: { ...changes, name } }),
    ...renameWrites,
  );
  return find(kind, caller, id);
}

/** Fails when another request renamed the group in between. */
const ifNameUnchanged = (kind: GroupKind, id: number) => ({
  if: equals("id", id),
  orThrow: conflict(`Another request changed the ${kindNames[kind]} at the same time`),
});

/** The group is gone at once. A cleanup removes its id from the contacts. */
export async function removeGroup(kind: GroupKind, caller: CallerScope, id: number): Promise<void> {
  const { siteId, name } = await records.find<Group>(kind, caller, id);
  await write(
    ...records.removeWrites(kind, caller, { id, siteId }),
    remove(keys.groupName(caller.orgId, siteId, { kind, name }), ifNameUnchanged(kind, id)),
    deletedGroups.deletionWrite({ orgId: caller.orgId, siteId, kind, group: id }),
  );
  await deletedGroups.enqueueCleanup(caller.orgId, kind, id);
}

/** Ids of tags by name. Creates the tags that do not exist. */
export async function getOrCreateTags(
  caller: CallerScope,
  siteId: number,
  names: string[],
): Promise<Map<string, number>> {
  const known = await knownTags(caller.orgId, siteId, names);
  const missing = names.filter((name) => !known.has(name));
  // The first spelling of a name wins.
  const distinct = [
    ...new Map(missing.toReversed().map((name) => [comparable(name), name.trim()])).values(),
  ].toReversed();
  const ids = await inParallel(8, distinct, (name) => getOrCreateTag(caller, siteId, name));
  const created = new Map(distinct.map((name, i) => [comparable(name), ids[i]!]));
  return new Map(names.map((name) => [name, known.get(name) ?? created.get(comparable(name))!]));
}

/** Ids of existing tags by name. */
export async function knownTags(
  orgId: number,
  siteId: number,
  names: string[],
): Promise<Map<string, number>> {
  const found = await getMany<{ id: number }>(
    names.map((name) => keys.groupName(orgId, siteId, { kind: "TAG", name })),
    { consistent: true },
  );
  return new Map(names.flatMap((name, i) => (found[i] ? [[name, found[i].id]] : [])));
}

const comparable = (name: string): string => name.trim().toLowerCase();

const getOrCreateTag = (caller: CallerScope, siteId: number, name: string): Promise<number> =>
  retryOnConflict("The tag", async () => {
    const retry = new ConditionFailed(0);
    try {
      const tag = await insert("TAG", caller, { siteId, name });
      // A retry after a crash may get an id that the first attempt used for another of its tags.
      if (tag.name.toLowerCase() !== name.toLowerCase()) throw retry;
      return tag.id;
    } catch (error) {
      if (!(error instanceof Problem && error.code === nameTaken("TAG").code)) throw error;
      const tag = await get<{ id: number }>(
        keys.groupName(caller.orgId, siteId, { kind: "TAG", name }),
      );
      if (!tag) throw retry;
      return tag.id;
    }
  });

/** 404 for a list that does not exist, 400 for one of another site. */
export async function checkLists(
  caller: CallerScope,
  siteId: number,
  listIds: number[],
): Promise<number[]> {
  const distinct = [...new Set(listIds)];
  const found = await getMany<Group>(
    distinct.map((id) => keys.record(caller.orgId, "LIST", id)),
    { consistent: true },
  );
  for (const [i, group] of found.entries()) {
    if (!group) throw missing("The list does not exist");
    await permitSite(caller, group.siteId, () => missing("The list does not exist"));
    if (group.siteId !== siteId)
      throw invalid(`List ${distinct[i]} belongs to another site`, {
        details: [{ path: "lists", message: "belongs to another site" }],
      });
  }
  return distinct;
}

/** 404 for a group that does not exist, 400 for one of another site. */
export const findOfSite = (
  kind: GroupKind,
  caller: CallerScope,
  { id, siteId }: { id: number; siteId: number },
): Promise<Group> =>
  records.findOfSite<Group>(kind, caller, { id, siteId, path: `${kindNames[kind]}Id` });

/** Names of groups by id. A deleted group is not in the result. */
export async function getNames(
  orgId: number,
  kind: GroupKind,
  ids: Iterable<number>,
): Promise<Map<number, string>> {
  const distinct = [...new Set(ids)];
  const found = await getMany<Group>(
    distinct.map((id) => keys.record(orgId, kind, id)),
    { consistent: true },
  );
  return new Map(found.flatMap((group) => (group ? [[group.id, group.name]] : [])));
}
