// What a condition can ask for, in the words of the console.
import type { SegmentCondition } from "pennymail";
import type { NamedGroup } from "../../data/queries.ts";
import type { ContactFieldType } from "../contact-field-types.ts";

export type RuleOperator = SegmentCondition["operator"];

type FieldKind =
  | "text"
  | "number"
  | "time"
  | "status"
  | "group"
  | "custom"
  | "customText"
  | "customNumber"
  | "customBoolean"
  | "event"
  | "topic"
  | "form"
  | "campaign";

export interface RuleField {
  /** Name of the field, or what stands before the subject: `topic` in `topic.3`. */
  key: string;
  label: string;
  kind: FieldKind;
  /** Records that the field or its value names. */
  records?: NamedGroup;
  /** The second part of the field, as people call it. Undefined if the field has one part. */
  subject?: string;
}

export const fieldGroups: { group: string; fields: RuleField[] }[] = [
  {
    group: "Person",
    fields: [
      { key: "email", label: "Email", kind: "text" },
      { key: "firstName", label: "First name", kind: "text" },
      { key: "lastName", label: "Last name", kind: "text" },
      { key: "company", label: "Company", kind: "text" },
      { key: "phone", label: "Phone", kind: "text" },
      { key: "timezone", label: "Time zone", kind: "text" },
      { key: "source", label: "Source", kind: "text" },
      { key: "createdAt", label: "Added", kind: "time" },
      { key: "updatedAt", label: "Changed", kind: "time" },
      { key: "customFields", label: "Custom field", kind: "custom", subject: "Name of the field" },
    ],
  },
  {
    group: "Membership",
    fields: [
      { key: "status", label: "Status", kind: "status" },
      { key: "tag", label: "Tag", kind: "group", records: "tags" },
      { key: "list", label: "List", kind: "group", records: "lists" },
      { key: "topic", label: "Topic", kind: "topic", records: "topics", subject: "Topic" },
    ],
  },
  {
    group: "Behaviour",
    fields: [
      {
        key: "campaign",
        label: "Campaign",
        kind: "campaign",
        records: "campaigns",
        subject: "Campaign",
      },
      { key: "form", label: "Form", kind: "form", records: "forms", subject: "Form" },
      { key: "event", label: "Event", kind: "event", subject: "Name of the event" },
      { key: "score", label: "Lead score", kind: "number" },
      { key: "sendCount", label: "Emails sent", kind: "number" },
      { key: "openCount", label: "Opens", kind: "number" },
      { key: "clickCount", label: "Clicks", kind: "number" },
      { key: "lastSentAt", label: "Last email", kind: "time" },
      { key: "lastOpenedAt", label: "Last open", kind: "time" },
      { key: "lastClickedAt", label: "Last click", kind: "time" },
    ],
  },
];

const knownFields = new Map(
  fieldGroups.flatMap(({ fields }) => fields).map((field) => [field.key, field]),
);

/** Fields that only programs ask for, such as `id`, are numbers. */
export const findField = (key: string): RuleField =>
  knownFields.get(key) ?? { key, label: key, kind: "number" };

export interface OperatorChoice {
  /** An operator. For campaigns: what happened and an operator, such as `opened.exists`. */
  value: string;
  label: string;
}

const choices = (labels: Record<string, string>): OperatorChoice[] =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

const existence = { exists: "is known", notExists: "is not known" };
const equality = { equals: "is", notEquals: "is not" };
const oneOf = { in: "is one of", notIn: "is none of" };
const parts = { contains: "contains", notContains: "does not contain" };
const ends = { startsWith: "begins with", endsWith: "ends with" };
const order = { greaterThan: "is more than", lessThan: "is less than" };
const times = {
  inLastDays: "was in the last … days",
  notInLastDays: "was not in the last … days",
  before: "was before",
  after: "was after",
};

const choicesByKind: Record<FieldKind, OperatorChoice[]> = {
  text: choices({ ...equality, ...parts, ...ends, ...oneOf, ...existence }),
  number: choices({ ...order, ...equality, ...oneOf, exists: "is not 0", notExists: "is 0" }),
  time: choices({
    ...times,
    equals: "was on",
    notEquals: "was not on",
    exists: "was at any time",
    notExists: "was never",
  }),
  status: choices({ ...equality, ...oneOf }),
  group: choices({ ...equality, ...oneOf, exists: "is any", notExists: "is none" }),
  custom: choices({ ...equality, ...parts, ...ends, ...order, ...times, ...oneOf, ...existence }),
  customText: choices({ ...equality, ...parts, ...ends, ...times, ...oneOf, ...existence }),
  customNumber: choices({ ...order, ...equality, ...oneOf, ...existence }),
  customBoolean: choices({ equals: "is", ...existence }),
  event: choices({
    exists: "happened",
    notExists: "never happened",
    greaterThan: "happened more often than",
    lessThan: "happened less often than",
    equals: "happened exactly",
    notEquals: "did not happen exactly",
  }),
  topic: choices({ exists: "is subscribed", notExists: "is not subscribed" }),
  form: choices({ exists: "was submitted", notExists: "was not submitted" }),
  campaign: choices({
    "sent.exists": "was received",
    "sent.notExists": "was not received",
    "opened.exists": "was opened",
    "opened.notExists": "was not opened",
    "clicked.exists": "was clicked",
    "clicked.notExists": "was not clicked",
  }),
};

export const operatorChoices = ({ kind }: RuleField): OperatorChoice[] => choicesByKind[kind];

export const operatorLabel = (field: RuleField, value: string): string =>
  operatorChoices(field).find((choice) => choice.value === value)?.label ?? value;

/** How the value of a condition is entered. */
export type ValueInput = "none" | "text" | "texts" | "number" | "days" | "date" | "one" | "several";

const inputByOperator: Partial<Record<string, ValueInput>> = {
  exists: "none",
  notExists: "none",
  inLastDays: "days",
  notInLastDays: "days",
  before: "date",
  after: "date",
  greaterThan: "number",
  lessThan: "number",
};
const inputByKind: Partial<Record<FieldKind, ValueInput>> = {
  number: "number",
  event: "number",
  time: "date",
  customNumber: "number",
  customBoolean: "one",
};

const kindByType: Record<ContactFieldType, FieldKind> = {
  text: "customText",
  number: "customNumber",
  boolean: "customBoolean",
};

/** A custom field whose type is known. */
export const customFieldOf = (type: ContactFieldType, label: string): RuleField => ({
  key: "customFields",
  label,
  kind: kindByType[type],
});

export function valueInputOf({ kind }: RuleField, choice: string): ValueInput {
  const operator = choice.split(".").at(-1)!;
  const hasOptions = kind === "status" || kind === "group";
  if (operator === "in" || operator === "notIn") return hasOptions ? "several" : "texts";
  const byOperator = inputByOperator[operator];
  if (byOperator) return byOperator;
  return hasOptions ? "one" : (inputByKind[kind] ?? "text");
}
