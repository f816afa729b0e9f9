// The fields that rules can name, and the attribute of each.
import type { AttributePath } from "../../../adapters/dynamodb/conditions.ts";
import { editDistance } from "../../../kernel/edit-distance.ts";
import { groupAttribute } from "../contacts/contact-schema.ts";
import { textFields } from "../contacts/contact-search-text.ts";
import type { CustomFieldType } from "../contacts/parse-field-value.ts";
import {
  type CampaignInteraction,
  campaignAttribute,
  campaignInteractions,
  eventCountAttribute,
  firstEventAttribute,
  lastEventAttribute,
} from "../contacts/segment-attributes.ts";
import type { MailFields } from "../mail-counts/mail-counts.ts";
import type { MailTopic } from "../topics/topic-subscription.ts";
import { type Operator, operatorsByKind, type SegmentFieldKind } from "./rule-operators.ts";

export interface SegmentField {
  kind: SegmentFieldKind;
  operators: Operator[];
  attribute: AttributePath;
  /** Key of its text in the attribute `folded`. */
  foldedKey?: string;
  /** For forms, campaigns, steps and topics: the id that the set must contain. */
  setMember?: number;
  /** The contact must not be in the set: it is subscribed to the topic by default. */
  isInverted?: boolean;
  topicId?: number;
  /** Declared type of the custom field. */
  type?: CustomFieldType;
  /** What mail-counts.ts adds to the attribute, so DynamoDB cannot decide. */
  mails?: MailFields;
  group?: "TAG" | "LIST";
  event?: { name: string; fact: EventFact };
}
/** What a field tells about the events of a name. */
export type EventFact = "count" | "first" | "last" | "latest";

const field = (
  kind: SegmentFieldKind,
  attribute: AttributePath,
  more: Partial<SegmentField> = {},
): SegmentField => ({
  kind,
  operators: operatorsByKind[kind],
  attribute,
  ...more,
});

const mailCounts: MailFields = { counts: true, campaignIds: [] };
const numberFields = ["score", "openCount", "clickCount"];
const timeFields = ["createdAt", "updatedAt", "lastOpenedAt", "lastClickedAt"];
const tag = field("group", groupAttribute("TAG"), { group: "TAG" });
const list = field("group", groupAttribute("LIST"), { group: "LIST" });

const plainFields = new Map<string, SegmentField>([
  ...textFields.map((name): [string, SegmentField] => [
    name,
    field("text", name, { foldedKey: name }),
  ]),
  ...numberFields.map((name): [string, SegmentField] => [name, field("number", name)]),
  ...timeFields.map((name): [string, SegmentField] => [name, field("time", name)]),
  ["sendCount", field("number", "sendCount", { mails: mailCounts })],
  ["lastSentAt", field("time", "lastSentAt", { mails: mailCounts })],
  ["status", field("status", "status")],
  ["id", field("id", "id")],
  ["siteId", field("id", "siteId")],
  ["tag", tag],
  ["tags", tag],
  ["list", list],
  ["lists", list],
]);

const maxName = 100;
/** The longest name of a field. */
export const maxFieldName = "customFields.".length + maxName;
type FieldParser = (rest: string) => SegmentField | undefined;
const prefixParsers: Record<string, FieldParser | undefined> = {
  customFields: (key) =>
    ifNameFits(key, field("custom", ["customFields", key], { foldedKey: `customFields.${key}` })),
  event: (name) =>
    ifNameFits(
      name,
      field("number", eventCountAttribute(name), { event: { name, fact: "count" } }),
    ),
  firstEventAt: (name) =>
    ifNameFits(name, field("time", firstEventAttribute(name), { event: { name, fact: "first" } })),
  lastEventAt: (name) =>
    ifNameFits(name, field("time", lastEventAttribute(name), { event: { name, fact: "last" } })),
  // The condition names the property.
  lastEvent: (name) =>
    ifNameFits(
      name,
      field("property", eventCountAttribute(name), { event: { name, fact: "latest" } }),
    ),
  form: (id) => (isId(id) ? field("flag", "forms", { setMember: Number(id) }) : undefined),
  topic: (id) =>
    isId(id)
      ? field("flag", "switchedTopics", { setMember: Number(id), topicId: Number(id) })
      : undefined,
  campaign: (rest) => {
    const [id = "", fact = "", ...more] = rest.split(".");
    const known =
      isId(id) && !more.length && (campaignInteractions as readonly string[]).includes(fact);
    return known
      ? field("flag", campaignAttribute(fact as CampaignInteraction), {
          setMember: Number(id),
          ...(fact === "sent" && { mails: { counts: false, campaignIds: [Number(id)] } }),
        })
      : undefined;
  },
  properties: (path) =>
    ifNameFits(path, field("property", ["eventProperties", path] satisfies EventAttributePath)),
  step: (rest) => {
    const [order = "", fact = "", ...more] = rest.split(".");
    const attribute = isId(order) && !more.length ? stepAttributes[fact] : undefined;
    return attribute ? field("flag", attribute, { setMember: Number(order) }) : undefined;
  },
};

/**
 * Attributes for step conditions, added to the contact for the test: orders of the steps whose mail
 * was opened or clicked.
 */
export interface StepEngagement {
  openedSteps: Set<number>;
  clickedSteps: Set<number>;
}
const stepAttributes: Record<string, keyof StepEngagement | undefined> = {
  opened: "openedSteps",
  clicked: "clickedSteps",
};
export const isStepField = (name: string): boolean => name.startsWith("step.");

/** Attribute for filters of events, added to the contact for the test. */
export interface FilteredEvent {
  /** The properties of the event, from JSON. */
  eventProperties: Record<string, unknown>;
}
type EventAttributePath = [keyof FilteredEvent, path: string];
export const isPropertyField = (name: string): boolean => name.startsWith("properties.");

/** Adds the JSON text of an event's properties to the contact, for a matcher of an event filter. */
export const withEventProperties = <T extends object>(
  contact: T,
  properties: string | undefined,
): T & FilteredEvent => ({
  ...contact,
  eventProperties: properties === undefined ? {} : JSON.parse(properties),
});

const ifNameFits = (name: string, one: SegmentField): SegmentField | undefined =>
  name.length >= 1 && name.length <= maxName ? one : undefined;
const isId = (text: string): boolean =>
  /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));

const patterns = [
  "customFields.<key>",
  "event.<name>",
  "firstEventAt.<name>",
  "lastEventAt.<name>",
  "lastEvent.<name>",
  "form.<id>",
  "topic.<id>",
  ...campaignInteractions.map((fact) => `campaign.<id>.${fact}`),
];
const stepPatterns = Object.keys(stepAttributes).map((fact) => `step.<number>.${fact}`);

/** Where rules stand, which decides the fields that they can name. */
export type RuleScope = "segment" | "step" | "event" | "where";
const patternsByScope: Record<RuleScope, string[]> = {
  segment: [],
  step: [...stepPatterns, "properties.<key>"],
  event: ["properties.<key>"],
  where: [],
};

/** All field names, most similar to `name` first. */
export function suggestFieldNames(name: string, scope: RuleScope): string[] {
  const head = (text: string) => text.slice(0, maxName).split(".", 1)[0]!.toLowerCase();
  const off = (one: string) => editDistance(head(name), head(one), maxName);
  return [...plainFields.keys(), ...patterns, ...patternsByScope[scope]].sort(
    (a, b) => off(a) - off(b),
  );
}

/** A custom field as the site spells it, with its declared type. */
export function siteField(
  field: SegmentField,
  spellingOf: (name: string) => string = (name) => name,
  typeOf: (name: string) => CustomFieldType | undefined = () => undefined,
): SegmentField {
  if (field.kind !== "custom") return field;
  const name = field.attribute[1]!;
  const type = typeOf(name);
  const spelled = parseField(`customFields.${spellingOf(name)}`) ?? field;
  return type ? { ...spelled, type } : spelled;
}

/** The field of a topic, by its default. Nobody is subscribed to a topic that does not exist. */
export function topicField(
  field: SegmentField,
  topics: Map<number, MailTopic> | undefined,
): SegmentField {
  if (field.topicId === undefined) return field;
  const topic = topics?.get(field.topicId);
  return topic
    ? { ...field, isInverted: topic.defaultSubscription === "subscribed" }
    : { ...field, setMember: noTopic };
}
const noTopic = 0;

/** Undefined for an unknown field. */
export function parseField(name: string): SegmentField | undefined {
  const dot = name.indexOf(".");
  if (dot < 0) return plainFields.get(name);
  const prefix = name.slice(0, dot);
  return Object.hasOwn(prefixParsers, prefix)
    ? prefixParsers[prefix]!(name.slice(dot + 1))
    : undefined;
}
