// Rules as sentences.
import { useQueries } from "@tanstack/react-query";
import type { SegmentCondition, SegmentRules } from "pennymail";
import { type NamedGroup, queries } from "../../data/queries.ts";
import { capitalize } from "../../format.ts";
import { findField, operatorLabel } from "./rule-catalog.ts";
import { toConditionDraft } from "./rule-draft.ts";

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

/** "status is subscribed" */
export function describeCondition(condition: SegmentCondition, nameOf: NameOf): string {
  const { field: key, subject, choice, values } = toConditionDraft(condition);
  const field = findField(key);
  const named = (id: string) => (field.records ? `“${nameOf(field.records, id)}”` : id);
  const isCustom = field.kind === "custom";
  const label = isCustom ? subject : field.label.toLowerCase();
  const about = field.subject && !isCustom ? [named(subject)] : [];
  const comparison = operatorLabel(field, choice);
  const value = values.map(named).join(", ");
  // Some comparisons have the value in their middle.
  const isAround = comparison.includes("…");
  const rest = isAround ? comparison.replace("…", value) : `${comparison} ${value}`;
  return [label, ...about, rest].join(" ").trim();
}

export const describeRules = (rules: SegmentRules, nameOf: NameOf): string =>
  rules.conditions.length > 0 ? capitalize(joinConditions(rules, nameOf)) : "Every contact";

const joinConditions = ({ match, conditions }: SegmentRules, nameOf: NameOf): string =>
  conditions
    .map((node) =>
      "conditions" in node ? `(${joinConditions(node, nameOf)})` : describeCondition(node, nameOf),
    )
    .join(match === "all" ? " and " : " or ");
