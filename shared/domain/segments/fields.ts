// The fields that rules may name, and where each lies on the contact.
import type { Attribute } from "../../conditions.ts";
import { groupSet, textFields } from "../contacts/contact.ts";
import { type CampaignFact, campaignFacts, campaignsOf, eventCount } from "../contacts/facts.ts";
import { distance } from "../validation/distance.ts";
import { type Kind, type Operator, operatorsOf } from "./operators.ts";

export interface Field {
  kind: Kind;
  operators: Operator[];
  /** Where its value lies: a name, or the way into a map. */
  attribute: Attribute;
  /** The key of its folded text. */
  folded?: string;
  /** Of a form or campaign: the id that the set holds. */
  member?: number;
  group?: "TAG" | "LIST";
}

const field = (kind: Kind, attribute: Attribute, more: Partial<Field> = {}): Field => ({
  kind,
  operators: operatorsOf[kind],
  attribute,
  ...more,
});

const counts = ["score", "sendCount", "openCount", "clickCount"];
const times = ["createdAt", "updatedAt", "lastSentAt", "lastOpenedAt", "lastClickedAt"];
const tag = field("group", groupSet("TAG"), { group: "TAG" });
const list = field("group", groupSet("LIST"), { group: "LIST" });

const plain = new Map<string, Field>([
  ...textFields.map((name): [string, Field] => [name, field("text", name, { folded: name })]),
  ...counts.map((name): [string, Field] => [name, field("number", name)]),
  ...times.map((name): [string, Field] => [name, field("time", name)]),
  ["status", field("status", "status")],
  ["id", field("id", "id")],
  ["siteId", field("id", "siteId")],
  ["tag", tag],
  ["tags", tag],
  ["list", list],
  ["lists", list],
]);

const maxName = 100;
type Reader = (rest: string) => Field | undefined;
const prefixed: Record<string, Reader | undefined> = {
  customFields: (key) => named(key, field("custom", ["customFields", key], { folded: `customFields.${key}` })),
  event: (name) => named(name, field("number", eventCount(name))),
  form: (id) => (isId(id) ? field("flag", "forms", { member: Number(id) }) : undefined),
  campaign: (rest) => {
    const [id = "", fact = "", ...more] = rest.split(".");
    const known = isId(id) && !more.length && (campaignFacts as readonly string[]).includes(fact);
    return known ? field("flag", campaignsOf(fact as CampaignFact), { member: Number(id) }) : undefined;
  },
  step: (rest) => {
    const [order = "", fact = "", ...more] = rest.split(".");
    const attribute = isId(order) && !more.length ? stepFacts[fact] : undefined;
    return attribute ? field("flag", attribute, { member: Number(order) }) : undefined;
  },
};

/** What only a step of a sequence asks: laid over the contact for the moment, by the order of the steps. */
export interface StepFacts {
  openedSteps: Set<number>;
  clickedSteps: Set<number>;
}
const stepFacts: Record<string, keyof StepFacts | undefined> = { opened: "openedSteps", clicked: "clickedSteps" };
export const isOfStep = (name: string): boolean => name.startsWith("step.");

const named = (name: string, one: Field): Field | undefined => (name.length >= 1 && name.length <= maxName ? one : undefined);
const isId = (text: string): boolean => /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));

// How the others are written; what stands in angles is the caller's.
const patterns = ["customFields.<key>", "event.<name>", "form.<id>", ...campaignFacts.map((fact) => `campaign.<id>.${fact}`)];
const stepPatterns = Object.keys(stepFacts).map((fact) => `step.<number>.${fact}`);

/** How all fields are called, the most like `name` first. */
export function namesLike(name: string, { ofSteps }: { ofSteps: boolean }): string[] {
  const head = (text: string) => text.slice(0, maxName).split(".", 1)[0]!.toLowerCase();
  const off = (one: string) => distance(head(name), head(one), maxName);
  return [...plain.keys(), ...patterns, ...(ofSteps ? stepPatterns : [])].sort((a, b) => off(a) - off(b));
}

/** undefined when there is no such field. */
export function fieldOf(name: string): Field | undefined {
  const dot = name.indexOf(".");
  if (dot < 0) return plain.get(name);
  const prefix = name.slice(0, dot);
  return Object.hasOwn(prefixed, prefix) ? prefixed[prefix]!(name.slice(dot + 1)) : undefined;
}
