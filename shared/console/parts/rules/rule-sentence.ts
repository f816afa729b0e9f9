// Rules as sentences.

import { useQueries } from "@tanstack/react-query";
import type { SegmentCondition, SegmentRules } from "pennymail";
import { type NamedGroup, queries } from "../../data/queries.ts";
import { capitalize } from "../../format.ts";
import { inSentence, t } from "../../language/translate.ts";
import {
  findField,
  labelOfOne,
  operatorLabel,
  propertyField,
  type RuleField,
} from "./rule-catalog.ts";
import { type ConditionDraft, toConditionDraft } from "./rule-draft.ts";

/** The name of a record, or its id if it is not known. */
export type NameOf = (kind: NamedGroup, id: string) => string;

/** Reads the names of all records that the rules mention. */
export function useNamesIn(siteId: number, rules: readonly SegmentRules[]): NameOf {
  const kinds = [...new Set(rules.flatMap(kindsIn))];
  const results = useQueries({ queries: kinds.map((kind) => queries.names(kind, siteId)) });
  return (kind, id) =>
    results[kinds.indexOf(kind)]?.data?.find((record) => String(record.id) === id)?.name ?? id;
}

const kindsIn = ({ conditions }: SegmentRules): NamedGroup[] =>
  conditions.flatMap((node) => {
    if ("conditions" in node) return kindsIn(node);
    const { records } = findField(toConditionDraft(node).field);
    return records ? [records] : [];
  });

/** "status is subscribed", "event order happened at least 2 times in the last 30 days" */
export function describeCondition(condition: SegmentCondition, nameOf: NameOf): string {
  const draft = toConditionDraft(condition);
  const { field: key, subject, choice, values, property } = draft;
  const field = findField(key);
  const named = (id: string) => (field.records ? `“${nameOf(field.records, id)}”` : id);
  const isCustom = field.kind === "custom";
  const label = isCustom ? subject : inSentence(field.label);
  const about = field.subject && !isCustom ? [named(subject)] : [];
  const compared = compare(field, choice, values.map(named));
  const ofLatest = property ? `${property} ${compared}` : compared;
  return [label, ...about, ofLatest, ...describeEvents(draft)].join(" ").trim();
}

function compare(field: RuleField, choice: string, values: string[]): string {
  const comparison = operatorLabel(field, choice);
  const value = values.join(", ");
  // Some comparisons have the value in their middle.
  if (!comparison.includes("…")) return `${comparison} ${value}`.trim();
  return (value === "1" ? labelOfOne(comparison) : comparison).replace("…", value);
}

/** Which events count: "in the last 30 days", "where total is more than 50". */
function describeEvents({ days, where }: Pick<ConditionDraft, "days" | "where">): string[] {
  const filters = where.map(
    ({ name, choice, values }) => `${name} ${compare(propertyField, choice, values)}`,
  );
  return [
    ...(days
      ? [t("in the last {days, plural, one {# day} other {# days}}", { days: Number(days) })]
      : []),
    ...(filters.length > 0
      ? [t("where {conditions}", { conditions: filters.join(t(" and ")) })]
      : []),
  ];
}

export const describeRules = (rules: SegmentRules, nameOf: NameOf): string =>
  rules.conditions.length > 0 ? capitalize(joinConditions(rules, nameOf)) : t("Every contact");

const joinConditions = ({ match, conditions }: SegmentRules, nameOf: NameOf): string =>
  conditions
    .map((node) =>
      "conditions" in node ? `(${joinConditions(node, nameOf)})` : describeCondition(node, nameOf),
    )
    .join(match === "all" ? t(" and ") : t(" or "));
