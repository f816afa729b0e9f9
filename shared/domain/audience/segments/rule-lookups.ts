// Loads what rules name: lists, tags, topics, and custom fields with their types.
import type { SiteRef } from "../../../caller.ts";
import type { GroupKind } from "../../../keys.ts";
import * as organizations from "../../identity/organizations.ts";
import { createTypeLookup, listDeclared } from "../contacts/declared-fields.ts";
import * as fieldNames from "../contacts/field-names.ts";
import * as deletedGroups from "../groups/deleted-groups.ts";
import { listOfSite } from "../topics/site-topics.ts";
import { getGroupIds } from "./group-ids.ts";
import type { GroupLookup, RuleContext } from "./rule-tests.ts";
import { parseField } from "./segment-fields.ts";
import { isRules, type SegmentCondition, type SegmentRules } from "./segment-rules.ts";

/** What testing the rules needs besides the time. */
export async function loadRuleLookups(
  site: SiteRef,
  rules: SegmentRules,
): Promise<Omit<RuleContext, "now">> {
  const hasCustom = conditionsOf(rules).some(({ field }) => parseField(field)!.kind === "custom");
  const hasTopics = conditionsOf(rules).some(({ field }) => parseField(field)!.topicId);
  const hasDates = conditionsOf(rules).some(({ field }) =>
    ["custom", "time", "property"].includes(parseField(field)!.kind),
  );
  const [TAG, LIST, ofSite, spellingOf, typeOf, timezone] = await Promise.all([
    resolveGroups(site, "TAG", rules),
    resolveGroups(site, "LIST", rules),
    hasTopics ? listOfSite(site.orgId, site.siteId) : [],
    hasCustom ? fieldNames.createSpellingLookup(site.orgId, site.siteId) : undefined,
    hasCustom ? listDeclared(site).then(createTypeLookup) : undefined,
    hasDates ? organizations.getTimezone(site.orgId) : undefined,
  ]);
  return {
    groups: { TAG, LIST },
    topics: new Map(ofSite.map((topic) => [topic.id, topic])),
    ...(spellingOf && { spellingOf }),
    ...(typeOf && { typeOf }),
    ...(timezone && { timezone }),
  };
}

/**
 * Resolves the lists or tags that rules name by id or name. One that does not exist in the site has
 * no members.
 */
async function resolveGroups(
  site: SiteRef,
  kind: GroupKind,
  rules: SegmentRules,
): Promise<GroupLookup> {
  const conditions = conditionsOf(rules).filter(({ field }) => parseField(field)!.group === kind);
  if (!conditions.length) return { idOf: () => undefined, deletedIds: new Set() };
  const values = conditions.flatMap(({ value }) => (value === undefined ? [] : [value].flat()));
  const ids = await getGroupIds(site, kind, values);
  return {
    idOf: (value) => ids.get(value),
    deletedIds: await deletedGroups.getDeletedIds(site.orgId, kind),
  };
}

export const conditionsOf = (node: SegmentCondition | SegmentRules): SegmentCondition[] =>
  isRules(node) ? node.conditions.flatMap(conditionsOf) : [node];
