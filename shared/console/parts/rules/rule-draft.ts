// Rules while they are edited: every node has an id, and a condition can be incomplete.
import type { SegmentCondition, SegmentRules } from "pennymail";
import {
  findField,
  operatorChoices,
  type RuleField,
  type RuleOperator,
  type ValueInput,
  valueInputOf,
} from "./rule-catalog.ts";

export interface ConditionDraft {
  id: number;
  /** Key of a field of the catalog. */
  field: string;
  /** Second part of the field: an id, or the name of a custom field or event. */
  subject: string;
  /** One of the field's choices. */
  choice: string;
  values: string[];
}
export interface GroupDraft {
  id: number;
  match: SegmentRules["match"];
  conditions: (ConditionDraft | GroupDraft)[];
}

export const isGroup = (node: ConditionDraft | GroupDraft): node is GroupDraft =>
  "conditions" in node;

let lastId = 0;
const nextId = () => ++lastId;

/** A condition on a custom field that is known. */
export const createCustomCondition = (name: string, field: RuleField): ConditionDraft => ({
  ...createCondition(field.key),
  subject: name,
  choice: operatorChoices(field)[0]!.value,
});

/** A condition on a field, with its first operator. */
export const createCondition = (field: string): ConditionDraft => ({
  id: nextId(),
  field,
  subject: "",
  choice: operatorChoices(findField(field))[0]!.value,
  values: [],
});

export const createGroup = (): GroupDraft => ({
  id: nextId(),
  match: "any",
  conditions: [createCondition("tag")],
});

export const toDraft = ({ match, conditions }: SegmentRules): GroupDraft => ({
  id: nextId(),
  match,
  conditions: conditions.map((node) =>
    "conditions" in node ? toDraft(node) : toConditionDraft(node),
  ),
});

/** The API knows tags and lists by a second name. */
const keyBySpelling: Record<string, string> = { tags: "tag", lists: "list" };
/** Whether fields of the kind only hold or do not hold, so they have no value. */
export const isFlagKind = (kind: string): boolean => ["topic", "form", "campaign"].includes(kind);

/** `topic.3` becomes the field `topic` and the subject `3`. */
function splitField(name: string): { field: RuleField; subject: string } {
  const [, first = name, subject = ""] = /^(\w+)\.(.+)$/.exec(name) ?? [];
  return { field: findField(keyBySpelling[first] ?? first), subject };
}

/** The field of the catalog that a condition asks for. */
export const findRuleField = (name: string): RuleField => splitField(name).field;

/** The parts of a condition as the console shows them. */
export function toConditionDraft(condition: SegmentCondition): ConditionDraft {
  const { field: name, value } = condition;
  const { field, subject } = splitField(name);
  const [id = "", fact = ""] = field.kind === "campaign" ? subject.split(".") : [subject];
  const operator = simplifyOperator(field.kind, condition);
  return {
    id: nextId(),
    field: field.key,
    subject: id,
    choice: fact ? `${fact}.${operator}` : operator,
    values: value === undefined || isFlagKind(field.kind) ? [] : [value].flat().map(String),
  };
}

/** Tags and lists: these pairs mean the same. */
const groupOperators: Partial<Record<RuleOperator, RuleOperator>> = {
  contains: "equals",
  notContains: "notEquals",
};

/** The console offers one of the operators that mean the same. */
function simplifyOperator(kind: string, { operator, value }: SegmentCondition): RuleOperator {
  if (kind === "group") return groupOperators[operator] ?? operator;
  const isComparison = operator === "equals" || operator === "notEquals";
  if (!isFlagKind(kind) || !isComparison) return operator;
  return (operator === "equals") === (value !== false) ? "exists" : "notExists";
}

/** Undefined as long as a condition is not complete. */
export function toRules({ match, conditions }: GroupDraft): SegmentRules | undefined {
  const complete = conditions.map((node) => (isGroup(node) ? toRules(node) : toCondition(node)));
  const isComplete = complete.every((node) => node !== undefined);
  return isComplete ? { match, conditions: complete } : undefined;
}

function toCondition({ field: key, subject, choice, values }: ConditionDraft) {
  const field = findField(key);
  const [operator, fact] = choice.split(".").reverse() as [RuleOperator, string?];
  const name = [key, field.subject && subject.trim(), fact].filter(Boolean).join(".");
  if (field.subject && !subject.trim()) return undefined;
  const input = valueInputOf(field, choice);
  if (input === "none") return { field: name, operator };
  const given = values.map((value) => value.trim()).filter(Boolean);
  const typed = hasNumbers(field, input) ? given.map(Number) : given;
  if (typed.length === 0 || typed.some(Number.isNaN)) return undefined;
  const isList = operator === "in" || operator === "notIn";
  return { field: name, operator, value: isList ? typed : typed[0]! };
}

const hasNumbers = ({ kind }: RuleField, input: ValueInput): boolean =>
  ["number", "days"].includes(input) || kind === "number" || kind === "group";
