import { ActionIcon, Button, SegmentedControl, Select, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { recordOptions } from "../../parts/filters.tsx";
import {
  type DraftStep,
  emailsBefore,
  isRules,
  type Rules,
  type StepCondition,
} from "./step-draft.ts";
import { numberIn, type StepEditor, useStepEditor } from "./step-editor.ts";
import { conditionText, fieldLabels, operatorTexts, rulesText, textOf } from "./step-texts.ts";

/** A fact about a contact that a condition can test. */
interface Fact {
  label: string;
  /** Operators by what people call them. */
  operators: Record<string, string>;
  /** The first condition about the fact. */
  initial: StepCondition;
  matches(condition: StepCondition): boolean;
  /** What the fact is about, such as an email or the name of a custom field. */
  Subject?: (props: ConditionProps) => React.ReactNode;
  Value?: (props: ConditionProps) => React.ReactNode;
}

const texts = (...operators: string[]): Record<string, string> =>
  Object.fromEntries(operators.map((operator) => [operator, operatorTexts[operator]!]));

const stepFact = (label: string, fact: "opened" | "clicked"): Fact => ({
  label,
  operators: { exists: "Yes", notExists: "No" },
  initial: { field: `step.0.${fact}`, operator: "exists" },
  matches: ({ field }) => field.startsWith("step.") && field.endsWith(`.${fact}`),
  Subject: EmailSubject,
});

const groupFact = (label: string, kind: "tag" | "list", negative: string): Fact => ({
  label,
  operators: { equals: "has it", notEquals: negative },
  initial: { field: kind, operator: "equals" },
  matches: ({ field, operator }) =>
    (field === kind || field === `${kind}s`) && /^(equals|notEquals)$/.test(operator),
  Value: kind === "tag" ? TagValue : ListValue,
});

const fieldFact = (field: string, operators: Record<string, string>, isNumber = false): Fact => ({
  label: fieldLabels[field]!,
  operators,
  initial: { field, operator: Object.keys(operators)[0]! },
  matches: (condition) => condition.field === field && condition.operator in operators,
  Value: isNumber ? NumberValue : TextValue,
});

const namedFact = (label: string, prefix: "customFields" | "event"): Fact => {
  const operators =
    prefix === "event"
      ? { greaterThan: "happened more often than", lessThan: "happened less often than" }
      : { ...textOperators, ...timeOperators };
  return {
    label,
    operators,
    initial: { field: `${prefix}.`, operator: Object.keys(operators)[0]! },
    matches: ({ field, operator }) => field.startsWith(`${prefix}.`) && operator in operators,
    Subject: NameSubject,
    Value: prefix === "event" ? NumberValue : TextValue,
  };
};

const textOperators = texts(
  "equals",
  "notEquals",
  "contains",
  "notContains",
  "startsWith",
  "endsWith",
  "exists",
  "notExists",
);
const countOperators = texts("greaterThan", "lessThan", "equals");
const timeOperators = texts("inLastDays", "notInLastDays");

const facts: Fact[] = [
  stepFact("Opened an email of this sequence", "opened"),
  stepFact("Clicked in an email of this sequence", "clicked"),
  groupFact("Has a tag", "tag", "does not have it"),
  groupFact("Is in a list", "list", "is not in it"),
  ...["firstName", "lastName", "company", "email", "source", "timezone"].map((field) =>
    fieldFact(field, textOperators),
  ),
  ...["score", "openCount", "clickCount"].map((field) => fieldFact(field, countOperators, true)),
  ...["lastOpenedAt", "lastClickedAt", "createdAt"].map((field) =>
    fieldFact(field, timeOperators, true),
  ),
  namedFact("Custom field", "customFields"),
  namedFact("Custom event", "event"),
];

interface RuleFieldsProps {
  step: DraftStep;
  onChange(rules: Rules): void;
}

/** Which contacts take the branch "Yes". */
export function RuleFields({ step, onChange }: RuleFieldsProps) {
  const editor = useStepEditor();
  const rules = step.rules ?? { match: "all", conditions: [] };
  const change = (conditions: Rules["conditions"]) => onChange({ ...rules, conditions });
  return (
    <div className="stack">
      {rules.conditions.length > 1 && (
        <SegmentedControl
          aria-label="How many conditions must hold"
          size="xs"
          value={rules.match}
          onChange={(match) => onChange({ ...rules, match: match as Rules["match"] })}
          data={[
            { value: "all", label: "All must hold" },
            { value: "any", label: "One is enough" },
          ]}
        />
      )}
      {rules.conditions.map((node, i) => (
        <fieldset key={i} className="plain-fieldset condition">
          <legend className="visually-hidden">Condition {i + 1}</legend>
          <ConditionRow
            step={step}
            node={node}
            onChange={(changed) => change(rules.conditions.with(i, changed))}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove condition ${i + 1}`}
            onClick={() => change(rules.conditions.toSpliced(i, 1))}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </fieldset>
      ))}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} />}
        onClick={() => change([...rules.conditions, firstCondition(step, editor)])}
      >
        Add condition
      </Button>
    </div>
  );
}

/** About the last email before the branch: most branches ask whether it was opened. */
function firstCondition(step: DraftStep, { history }: StepEditor): StepCondition {
  const email = emailsBefore(history.draft, step.key).at(-1);
  return email
    ? { field: `step.${email.key}.opened`, operator: "exists" }
    : { field: "tag", operator: "equals" };
}

interface ConditionProps {
  step: DraftStep;
  condition: StepCondition;
  onChange(condition: StepCondition): void;
}

interface ConditionRowProps {
  step: DraftStep;
  node: StepCondition | Rules;
  onChange(condition: StepCondition): void;
}

function ConditionRow({ step, node, onChange }: ConditionRowProps) {
  const { names, history } = useStepEditor();
  const sources = { names, numberOf: numberIn(history.draft) };
  if (isRules(node)) return <p>{rulesText(node, sources)}</p>;
  const fact = facts.find(({ matches }) => matches(node));
  // Conditions that were made by the API can be kept or removed.
  if (!fact) return <p>{conditionText(node, sources)}</p>;
  const { label, operators, Subject, Value } = fact;
  const props = { step, condition: node, onChange };
  const choose = (chosen: string | null) => {
    const next = facts.find((one) => one.label === chosen);
    if (next && next !== fact) onChange(next.initial);
  };
  return (
    <div className="stack condition-fields">
      <Select
        label="What is tested"
        searchable
        allowDeselect={false}
        data={facts.map((one) => one.label)}
        value={label}
        onChange={choose}
      />
      {Subject && <Subject {...props} />}
      <Select
        aria-label="How it is compared"
        allowDeselect={false}
        data={Object.entries(operators).map(([value, text]) => ({ value, label: text }))}
        value={node.operator}
        onChange={(operator) => {
          const { value, ...rest } = node;
          const hasValue = value !== undefined && !/xists$/.test(operator!);
          onChange({ ...rest, operator: operator!, ...(hasValue && { value }) });
        }}
      />
      {Value && !/xists$/.test(node.operator) && <Value {...props} />}
    </div>
  );
}

function EmailSubject({ step, condition, onChange }: ConditionProps) {
  const { history, names } = useStepEditor();
  const { draft } = history;
  const numberOf = numberIn(draft);
  const [, key = "", fact] = condition.field.split(".");
  const emails = emailsBefore(draft, step.key);
  return (
    <Select
      label="Email"
      placeholder={emails.length > 0 ? "Choose an email" : "No email comes before"}
      data={emails.map((email) => ({
        value: email.key,
        label: `${numberOf(email.key)}. ${textOf(email, { names, numberOf })}`,
      }))}
      value={emails.some((email) => email.key === key) ? key : null}
      onChange={(chosen) => onChange({ ...condition, field: `step.${chosen ?? 0}.${fact}` })}
    />
  );
}

function NameSubject({ condition, onChange }: ConditionProps) {
  const [prefix = "", ...rest] = condition.field.split(".");
  return (
    <TextInput
      label={prefix === "event" ? "Name of the event" : "Name of the field"}
      maxLength={100}
      value={rest.join(".")}
      onChange={(event) =>
        onChange({ ...condition, field: `${prefix}.${event.currentTarget.value}` })
      }
    />
  );
}

interface GroupValueProps extends ConditionProps {
  label: string;
  groups: { id: number; name: string }[];
}

function GroupValue({ label, groups, condition, onChange }: GroupValueProps) {
  return (
    <Select
      label={label}
      placeholder={`Choose a ${label.toLowerCase()}`}
      searchable
      allowDeselect={false}
      data={recordOptions(groups)}
      value={condition.value === undefined ? null : String(condition.value)}
      onChange={(id) => onChange({ ...condition, value: Number(id) })}
    />
  );
}

function TagValue(props: ConditionProps) {
  return <GroupValue label="Tag" groups={useStepEditor().choices.tags} {...props} />;
}

function ListValue(props: ConditionProps) {
  return <GroupValue label="List" groups={useStepEditor().choices.lists} {...props} />;
}

function TextValue({ condition, onChange }: ConditionProps) {
  return (
    <TextInput
      aria-label="Value"
      placeholder="Value"
      maxLength={500}
      value={String(condition.value ?? "")}
      onChange={(event) => onChange({ ...condition, value: event.currentTarget.value })}
    />
  );
}

function NumberValue({ condition, onChange }: ConditionProps) {
  return (
    <TextInput
      type="number"
      aria-label="Number"
      placeholder="Number"
      value={String(condition.value ?? "")}
      onChange={({ currentTarget: { value } }) =>
        onChange({ ...condition, value: value === "" ? undefined : Number(value) })
      }
    />
  );
}
