// Rules while they are edited: every node has an id, and a condition can be incomplete.
import type { SegmentCondition, SegmentRules } from "pennymail";
import {
  findField,
  operatorChoices,
  propertyField,
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
  /** For events: only those of the last days, or of any time if it is empty. */
  days: string;
  where: PropertyDraft[];
  /** For the latest event: the property that is compared. */
  property: string;
}
/** A condition on a property of an event. */
export interface PropertyDraft {
  id: number;
  name: string;
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
  days: "",
  where: [],
  property: "",
});

export const createProperty = (): PropertyDraft => ({
  id: nextId(),
  name: "",
  choice: operatorChoices(propertyField)[0]!.value,
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
export const isFlagKind = (kind: string): boolean =>
  ["topic", "form", "campaign", "step"].includes(kind);

/** `topic.3` becomes the field `topic` and the subject `3`. */
function splitField(name: string): { field: RuleField; subject: string } {
  const [, first = name, subject = ""] = /^(\w+)\.(.*)$/.exec(name) ?? [];
  return { field: findField(keyBySpelling[first] ?? first), subject };
}

/** The field of the catalog that a condition asks for. */
export const findRuleField = (name: string): RuleField => splitField(name).field;

/** The parts of a condition as the console shows them. */
export function toConditionDraft(condition: SegmentCondition): ConditionDraft {
  const { field: name, value, inLastDays, where = [], property = "" } = condition;
  const { field, subject } = splitField(name);
  const hasFact = field.kind === "campaign" || field.kind === "step";
  const [id = "", fact = ""] = hasFact ? subject.split(".") : [subject];
  const operator = simplifyOperator(field.kind, condition);
  return {
    id: nextId(),
    field: field.key,
    subject: id,
    choice: fact ? `${fact}.${operator}` : operator,
    values: isFlagKind(field.kind) ? [] : toValues(value).map(shownCount(field, operator)),
    days: inLastDays === undefined ? "" : String(inLastDays),
    where: where.map((one) => ({
      id: nextId(),
      name: one.field.replace(/^properties\./, ""),
      choice: one.operator,
      values: toValues(one.value),
    })),
    property,
  };
}

const toValues = (value: SegmentCondition["value"]): string[] =>
  value === undefined ? [] : [value].flat().map(String);

/** People say "at least 3 times", and rules "more often than 2 times". */
const shownCount =
  ({ kind }: RuleField, operator: string) =>
  (count: string): string => {
    if (kind !== "event") return count;
    if (operator === "greaterThan") return String(Math.floor(Number(count)) + 1);
    return operator === "lessThan" ? String(Math.ceil(Number(count)) - 1) : count;
  };
const storedCount = (operator: string, count: number): number => {
  if (operator === "greaterThan") return Math.ceil(count) - 1;
  return operator === "lessThan" ? Math.floor(count) + 1 : count;
};

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

function toCondition(draft: ConditionDraft): SegmentCondition | undefined {
  const { field: key, subject, choice, values } = draft;
  const field = findField(key);
  if (field.subject && !subject.trim()) return undefined;
  const options = toEventOptions(field, draft);
  if (!options || !toComparison(field, choice, values)) return undefined;
  return { ...withoutOptions(draft), ...options };
}

function withoutOptions({ field: key, subject, choice, values }: ConditionDraft): SegmentCondition {
  const field = findField(key);
  const [operator, fact] = choice.split(".").reverse() as [RuleOperator, string?];
  const { value } = toComparison(field, choice, values) ?? {};
  const isCount = field.kind === "event" && typeof value === "number";
  return {
    field: [key, ...(field.subject ? [subject.trim()] : []), ...(fact ? [fact] : [])].join("."),
    operator,
    ...(value !== undefined && { value: isCount ? storedCount(operator, value) : value }),
  };
}

/** Rules with conditions that may be incomplete. The API refuses those. */
export const toPartialRules = ({ match, conditions }: GroupDraft): SegmentRules => ({
  match,
  conditions: conditions.map((node) =>
    isGroup(node) ? toPartialRules(node) : (toCondition(node) ?? toPartialCondition(node)),
  ),
});

const toPartialCondition = (draft: ConditionDraft): SegmentCondition => {
  const { days, where, property } = draft;
  return {
    ...withoutOptions(draft),
    ...(days && { inLastDays: Number(days) }),
    ...(where.length > 0 && {
      where: where.map(({ name, choice, values }) => ({
        field: `properties.${name.trim()}`,
        operator: choice as RuleOperator,
        ...toComparison(propertyField, choice, values),
      })),
    }),
    ...(property && { property }),
  };
};

/** Whether every condition is complete. */
export const areComplete = (rules: SegmentRules): boolean => toRules(toDraft(rules)) !== undefined;

/** Undefined as long as the value is missing or cannot be read. */
function toComparison(
  field: RuleField,
  choice: string,
  values: string[],
): Pick<SegmentCondition, "value"> | undefined {
  const input = valueInputOf(field, choice);
  if (input === "none") return {};
  const given = values.map((value) => value.trim()).filter(Boolean);
  const typed = hasNumbers(field, input) ? given.map(Number) : given;
  if (typed.length === 0 || typed.some(Number.isNaN)) return undefined;
  return { value: ["several", "texts"].includes(input) ? typed : typed[0]! };
}

type EventOptions = Pick<SegmentCondition, "inLastDays" | "where" | "property">;

/** Undefined as long as they are not complete. */
function toEventOptions(
  { kind }: RuleField,
  { days, where, property }: ConditionDraft,
): EventOptions | undefined {
  if (kind === "property") return property.trim() ? { property: property.trim() } : undefined;
  if (kind !== "event") return {};
  const filters = where.map(toPropertyCondition);
  const areComplete = filters.every((one) => one !== undefined);
  if (!areComplete || (days && !(Number(days) > 0))) return undefined;
  return {
    ...(days && { inLastDays: Number(days) }),
    ...(filters.length > 0 && { where: filters }),
  };
}

function toPropertyCondition({ name, choice, values }: PropertyDraft) {
  const compared = toComparison(propertyField, choice, values);
  if (!compared || !name.trim()) return undefined;
  return { field: `properties.${name.trim()}`, operator: choice as RuleOperator, ...compared };
}

const hasNumbers = ({ kind }: RuleField, input: ValueInput): boolean =>
  ["number", "days", "distance"].includes(input) || kind === "number" || kind === "group";
