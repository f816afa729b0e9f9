// What a condition can ask for, in the words of the console.

import type { SegmentCondition } from "pennymail";
import type { NamedGroup } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
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
  | "customDate"
  | "customList"
  | "event"
  | "property"
  | "topic"
  | "form"
  | "campaign"
  | "step";

export interface RuleField {
  /** Name of the field, or what stands before the subject: `topic` in `topic.3`. */
  key: string;
  label: string;
  kind: FieldKind;
  /** Records that the field or its value names. */
  records?: NamedGroup;
  /** "Choose a tag" */
  choose?: string;
  /** The second part of the field, as people call it. Undefined if the field has one part. */
  subject?: string;
  /** The subject is the name of a custom event. */
  isOfEvent?: true;
}

const ofEvent = { subject: t("Name of the event"), isOfEvent: true } as const;

export interface RuleFieldGroup {
  group: string;
  fields: RuleField[];
}

export const fieldGroups: RuleFieldGroup[] = [
  {
    group: t("Person"),
    fields: [
      { key: "email", label: t("Email"), kind: "text" },
      { key: "firstName", label: t("First name"), kind: "text" },
      { key: "lastName", label: t("Last name"), kind: "text" },
      { key: "company", label: t("Company"), kind: "text" },
      { key: "phone", label: t("Phone"), kind: "text" },
      { key: "timezone", label: t("Time zone"), kind: "text" },
      { key: "locale", label: t("Language"), kind: "text" },
      { key: "externalId", label: t("External id"), kind: "text" },
      { key: "source", label: t("Source"), kind: "text" },
      { key: "createdAt", label: t("Added"), kind: "time" },
      { key: "updatedAt", label: t("Changed"), kind: "time" },
      {
        key: "customFields",
        label: t("Custom field"),
        kind: "custom",
        subject: t("Name of the field"),
      },
    ],
  },
  {
    group: t("Membership"),
    fields: [
      { key: "status", label: t("Status"), kind: "status", choose: t("Choose a status") },
      { key: "tag", label: t("Tag"), kind: "group", records: "tags", choose: t("Choose a tag") },
      {
        key: "list",
        label: t("List"),
        kind: "group",
        records: "lists",
        choose: t("Choose a list"),
      },
      {
        key: "topic",
        label: t("Topic"),
        kind: "topic",
        records: "topics",
        subject: t("Topic"),
        choose: t("Choose a topic"),
      },
    ],
  },
  {
    group: t("Behaviour"),
    fields: [
      {
        key: "campaign",
        label: t("Campaign"),
        kind: "campaign",
        records: "campaigns",
        subject: t("Campaign"),
        choose: t("Choose a campaign"),
      },
      {
        key: "form",
        label: t("Form"),
        kind: "form",
        records: "forms",
        subject: t("Form"),
        choose: t("Choose a form"),
      },
      { key: "event", label: t("Event"), kind: "event", ...ofEvent },
      { key: "firstEventAt", label: t("First event"), kind: "time", ...ofEvent },
      { key: "lastEventAt", label: t("Latest event"), kind: "time", ...ofEvent },
      { key: "lastEvent", label: t("In the latest event"), kind: "property", ...ofEvent },
      { key: "score", label: t("Lead score"), kind: "number" },
      { key: "sendCount", label: t("Emails sent"), kind: "number" },
      { key: "openCount", label: t("Opens"), kind: "number" },
      { key: "clickCount", label: t("Clicks"), kind: "number" },
      { key: "lastSentAt", label: t("Last email"), kind: "time" },
      { key: "lastOpenedAt", label: t("Last open"), kind: "time" },
      { key: "lastClickedAt", label: t("Last click"), kind: "time" },
    ],
  },
];

/** What only conditions of a sequence can ask for. */
export const sequenceFields = {
  group: t("This sequence"),
  fields: [
    {
      key: "step",
      label: t("Sequence email"),
      kind: "step",
      subject: t("Email"),
      choose: t("Choose an email"),
    },
  ],
} satisfies RuleFieldGroup;

/** What only conditions on one event can ask for. */
export const eventFields = {
  group: t("The event"),
  fields: [
    {
      key: "properties",
      label: t("Event property"),
      kind: "custom",
      subject: t("Name of the property"),
    },
  ],
} satisfies RuleFieldGroup;

const knownFields = new Map(
  [...fieldGroups, sequenceFields, eventFields]
    .flatMap(({ fields }): RuleField[] => fields)
    .map((field) => [field.key, field]),
);

/** Fields that only programs ask for, such as `id`, are numbers. */
export const findField = (key: string): RuleField =>
  knownFields.get(key) ?? { key, label: key, kind: "number" };

export interface OperatorChoice {
  /** An operator. Of campaigns and steps with what happened, such as `opened.exists`. */
  value: string;
  label: string;
}

const choices = (labels: Record<string, string>): OperatorChoice[] =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

const existence = { exists: t("is known"), notExists: t("is not known") };
const equality = { equals: t("is"), notEquals: t("is not") };
const oneOf = { in: t("is one of"), notIn: t("is none of") };
const parts = { contains: t("contains"), notContains: t("does not contain") };
const ends = { startsWith: t("begins with"), endsWith: t("ends with") };
const order = { greaterThan: t("is more than"), lessThan: t("is less than") };
const times = {
  inLastDays: t("was in the last … days"),
  notInLastDays: t("was not in the last … days"),
  before: t("was before"),
  after: t("was after"),
};

const anyValue = {
  ...equality,
  ...parts,
  ...ends,
  ...order,
  ...times,
  ...oneOf,
  ...existence,
};

const customTimes = {
  today: t("is today"),
  notToday: t("is another day than today"),
  on: t("is on"),
  notOn: t("is on another day than"),
  before: t("is before"),
  notBefore: t("is on or after"),
  after: t("is after"),
  notAfter: t("is on or before"),
  inLastDays: t("was in the last … days"),
  notInLastDays: t("was not in the last … days"),
  inNextDays: t("is in the next … days"),
  notInNextDays: t("is not in the next … days"),
  anniversaryInDays: t("has its anniversary in … days"),
  notAnniversaryInDays: t("does not have its anniversary in … days"),
};

const choicesByKind: Record<FieldKind, OperatorChoice[]> = {
  text: choices({ ...equality, ...parts, ...ends, ...oneOf, ...existence }),
  number: choices({ ...order, ...equality, ...oneOf, exists: t("is not 0"), notExists: t("is 0") }),
  time: choices({
    ...times,
    equals: t("was on"),
    notEquals: t("was not on"),
    exists: t("was at any time"),
    notExists: t("was never"),
    today: t("was today"),
    anniversaryInDays: t("has its anniversary in … days"),
  }),
  status: choices({ ...equality, ...oneOf }),
  group: choices({ ...equality, ...oneOf, exists: t("is any"), notExists: t("is none") }),
  custom: choices(anyValue),
  customText: choices({ ...equality, ...parts, ...ends, ...times, ...oneOf, ...existence }),
  customNumber: choices({ ...order, ...equality, ...oneOf, ...existence }),
  customBoolean: choices({ equals: t("is"), ...existence }),
  customDate: choices({ ...customTimes, ...existence }),
  customList: choices({
    ...parts,
    containsAny: t("contains one of"),
    notContainsAny: t("contains none of"),
    ...existence,
  }),
  event: choices({
    exists: t("happened"),
    notExists: t("did not happen"),
    greaterThan: t("happened at least … times"),
    lessThan: t("happened at most … times"),
    equals: t("happened exactly … times"),
    notEquals: t("did not happen exactly … times"),
  }),
  property: choices(anyValue),
  topic: choices({ exists: t("is subscribed"), notExists: t("is not subscribed") }),
  form: choices({ exists: t("was submitted"), notExists: t("was not submitted") }),
  campaign: choices({
    "sent.exists": t("was received"),
    "sent.notExists": t("was not received"),
    "opened.exists": t("was opened"),
    "opened.notExists": t("was not opened"),
    "clicked.exists": t("was clicked"),
    "clicked.notExists": t("was not clicked"),
  }),
  step: choices({
    "opened.exists": t("was opened"),
    "opened.notExists": t("was not opened"),
    "clicked.exists": t("was clicked"),
    "clicked.notExists": t("was not clicked"),
  }),
};

export const operatorChoices = ({ kind }: RuleField): OperatorChoice[] => choicesByKind[kind];

/** What one property of an event is compared with. */
export const propertyField: RuleField = { key: "property", label: t("Property"), kind: "property" };

/** The comparisons that have a number in their middle, for the number 1. */
const labelsOfOne: Record<string, string> = {
  [t("was in the last … days")]: t("was in the last … day"),
  [t("was not in the last … days")]: t("was not in the last … day"),
  [t("is in the next … days")]: t("is in the next … day"),
  [t("is not in the next … days")]: t("is not in the next … day"),
  [t("has its anniversary in … days")]: t("has its anniversary in … day"),
  [t("does not have its anniversary in … days")]: t("does not have its anniversary in … day"),
  [t("happened at least … times")]: t("happened at least … time"),
  [t("happened at most … times")]: t("happened at most … time"),
  [t("happened exactly … times")]: t("happened exactly … time"),
  [t("did not happen exactly … times")]: t("did not happen exactly … time"),
};
export const labelOfOne = (label: string): string => labelsOfOne[label] ?? label;

export const operatorLabel = (field: RuleField, value: string): string =>
  operatorChoices(field).find((choice) => choice.value === value)?.label ?? value;

/** How the value of a condition is entered. */
export type ValueInput =
  | "none"
  | "text"
  | "texts"
  | "number"
  | "days"
  | "distance"
  | "date"
  | "one"
  | "several";

const inputByOperator: Partial<Record<string, ValueInput>> = {
  exists: "none",
  notExists: "none",
  today: "none",
  notToday: "none",
  inLastDays: "days",
  notInLastDays: "days",
  inNextDays: "days",
  notInNextDays: "days",
  anniversaryInDays: "distance",
  notAnniversaryInDays: "distance",
  before: "date",
  notBefore: "date",
  after: "date",
  notAfter: "date",
  on: "date",
  notOn: "date",
  containsAny: "texts",
  notContainsAny: "texts",
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
  date: "customDate",
  datetime: "customDate",
  list: "customList",
  url: "customText",
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
