// Lists and tags in rules: given by id or name, stored by id.
import { getMany } from "../../../adapters/dynamodb/table.ts";
import type { SiteRef } from "../../../caller.ts";
import { invalid, type ProblemDetail } from "../../../errors.ts";
import type { Reference } from "../../../kernel/records.ts";
import { type GroupKind, keys } from "../../../keys.ts";
import type { Group } from "../groups/groups.ts";
import type { Scalar } from "./rule-operators.ts";
import { parseField } from "./segment-fields.ts";
import { isRules, type SegmentCondition, type SegmentRules } from "./segment-rules.ts";

interface Named {
  path: string;
  kind: GroupKind;
  values: Scalar[];
}

/**
 * The rules with ids in place of names, so that they keep meaning the same list or tag when it is
 * renamed. Throws 400 for a list or tag that does not exist in the site.
 */
export async function withGroupIds(
  site: SiteRef,
  rules: SegmentRules,
  path = "rules",
): Promise<SegmentRules> {
  const named = groupsIn(rules, path);
  if (!named.length) return rules;
  const [TAG, LIST] = await Promise.all(
    (["TAG", "LIST"] as const).map((kind) => {
      const values = named.filter((one) => one.kind === kind).flatMap((one) => one.values);
      return getGroupIds(site, kind, values);
    }),
  );
  const ids = { TAG: TAG!, LIST: LIST! };
  const details = named.flatMap(({ kind, values, path: at }) =>
    values.filter((value) => !ids[kind].has(value)).map((value) => missingGroup(kind, value, at)),
  );
  if (details[0]) throw invalid(details[0].message, { details: details.slice(0, 20) });
  return resolved(rules, ids);
}

const words: Record<GroupKind, string> = { LIST: "list", TAG: "tag" };

function missingGroup(kind: GroupKind, value: Scalar, path: string): ProblemDetail {
  const shown = typeof value === "string" ? `called "${value.slice(0, 100)}"` : value;
  return { path, message: `${path}: there is no ${words[kind]} ${shown} in this site` };
}

/** The lists or tags that each condition names. */
function groupsIn(node: SegmentCondition | SegmentRules, path: string): Named[] {
  if (isRules(node))
    return node.conditions.flatMap((one, i) => groupsIn(one, `${path}.conditions.${i}`));
  const kind = parseField(node.field)?.group;
  if (!kind || node.value === undefined) return [];
  return [{ path: `${path}.value`, kind, values: [node.value].flat() }];
}

/** The lists, tags and topics that stored rules name. */
export function ruleReferences(node: SegmentCondition | SegmentRules, path: string): Reference[] {
  if (isRules(node))
    return node.conditions.flatMap((one, i) => ruleReferences(one, `${path}.conditions.${i}`));
  const topicId = parseField(node.field)?.topicId;
  if (topicId !== undefined) return [{ path: `${path}.field`, kind: "TOPIC", id: topicId }];
  return groupsIn(node, path).flatMap(({ kind, values, path: at }) =>
    values.flatMap((id) => (typeof id === "number" ? [{ path: at, kind, id }] : [])),
  );
}

/** Ids of the values that name a group of the site. */
export async function getGroupIds(
  { orgId, siteId }: SiteRef,
  kind: GroupKind,
  values: Scalar[],
): Promise<Map<Scalar, number>> {
  const distinct = [...new Set(values)];
  const names = distinct.filter((value) => typeof value === "string");
  const named = await getMany<{ id: number }>(
    names.map((name) => keys.groupName(orgId, siteId, { kind, name })),
    { consistent: true },
  );
  const ids = new Map<Scalar, number>(
    names.flatMap((name, i) => (named[i] ? [[name, named[i].id] as const] : [])),
  );
  for (const value of distinct) if (typeof value === "number") ids.set(value, value);
  const found = await getMany<Group>(
    [...ids.values()].map((id) => keys.record(orgId, kind, id)),
    { consistent: true },
  );
  const known = new Set(found.flatMap((group) => (group?.siteId === siteId ? [group.id] : [])));
  return new Map([...ids].filter(([, id]) => known.has(id)));
}

type Resolve = <N extends SegmentCondition | SegmentRules>(
  node: N,
  ids: Record<GroupKind, Map<Scalar, number>>,
) => N;

const resolved: Resolve = (node, ids) => {
  if (isRules(node))
    return { ...node, conditions: node.conditions.map((one) => resolved(one, ids)) };
  const { field, value } = node as SegmentCondition;
  const kind = parseField(field)?.group;
  if (!kind || value === undefined) return node;
  const idOf = (one: Scalar): Scalar => ids[kind].get(one) ?? one;
  return {
    ...node,
    value: Array.isArray(value) ? [...new Set(value.map(idOf))] : idOf(value as Scalar),
  };
};
