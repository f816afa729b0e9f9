// Random events and rules about them, and a naive evaluation of such rules.
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import type { Operator } from "../../shared/domain/audience/segments/rule-operators.ts";
import type {
  PropertyCondition,
  SegmentCondition,
  SegmentRules,
} from "../../shared/domain/audience/segments/segment-rules.ts";
import fc from "./fast-check.ts";
import { evaluationTime, matchesNaively } from "./segment-rules.ts";

export interface RandomEvent {
  name: string;
  /** Half a day later than so many days ago, so that no answer depends on the hour. */
  daysAgo: number;
  properties: Record<string, unknown>;
}

const names = ["bought", "viewed.item"];
const name = fc.constantFrom(...names);
const day = 86_400_000;
export const atOf = ({ daysAgo }: RandomEvent, now: Date): string =>
  new Date(now.getTime() - (daysAgo + 0.5) * day).toISOString();

const total = fc.constantFrom(5, 50, 99.5, "50", true);
const plan = fc.constantFrom("pro", "Pro", "free", 50);
export const randomEvents: fc.Arbitrary<RandomEvent[]> = fc.array(
  fc.record({
    name,
    daysAgo: fc.constantFrom(0, 1, 3, 8, 29, 60),
    properties: fc.record({ total, plan }, { requiredKeys: [] }),
  }),
  { maxLength: 6 },
);

const number = fc.constantFrom(0, 1, 2, 3, 1.5);
const numberOperators: [Operator[], fc.Arbitrary<unknown>][] = [
  [["equals", "notEquals", "greaterThan", "lessThan"], number],
  [["in", "notIn"], fc.array(number, { minLength: 1, maxLength: 2 })],
  [["exists", "notExists"], fc.constant(undefined)],
];
const propertyOperators: [Operator[], fc.Arbitrary<unknown>][] = [
  [["equals", "notEquals"], fc.oneof(total, plan)],
  [["greaterThan", "lessThan"], fc.constantFrom(5, 50)],
  [["in", "notIn"], fc.array(plan, { minLength: 1, maxLength: 2 })],
  [["contains", "startsWith"], fc.constantFrom("p", "5", "PRO")],
  [["exists", "notExists"], fc.constant(undefined)],
];
const timeOperators: [Operator[], fc.Arbitrary<unknown>][] = [
  [["inLastDays", "notInLastDays"], fc.constantFrom(1, 2, 10, 30)],
  [["exists", "notExists"], fc.constant(undefined)],
];

const comparison = (cases: [Operator[], fc.Arbitrary<unknown>][]) =>
  fc.oneof(
    ...cases.map(([operators, values]) =>
      fc.record({ operator: fc.constantFrom(...operators), value: values }),
    ),
  );
const withoutUndefined = <T extends object>(given: object): T =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;

const property = fc.constantFrom("total", "plan");
const where: fc.Arbitrary<PropertyCondition> = fc
  .tuple(property, comparison(propertyOperators))
  .map(([key, one]) => withoutUndefined({ field: `properties.${key}`, ...one }));

const condition: fc.Arbitrary<SegmentCondition> = fc
  .oneof(
    fc.record({
      field: name.map((one) => `event.${one}`),
      comparison: comparison(numberOperators),
      inLastDays: fc.constantFrom(undefined, 1, 2, 5, 30),
      where: fc.option(fc.array(where, { minLength: 1, maxLength: 2 }), { nil: undefined }),
    }),
    fc.record({
      field: fc
        .tuple(fc.constantFrom("firstEventAt", "lastEventAt"), name)
        .map((parts) => parts.join(".")),
      comparison: comparison(timeOperators),
    }),
    fc.record({
      field: name.map((one) => `lastEvent.${one}`),
      comparison: comparison(propertyOperators),
      property,
    }),
    fc.record({
      field: fc.constant("company"),
      comparison: fc.record({
        operator: fc.constantFrom("equals" as const, "notEquals" as const),
        value: fc.constant("Acme"),
      }),
    }),
  )
  .map(({ comparison: one, ...rest }) => withoutUndefined({ ...rest, ...one }));

export const eventRules: fc.Arbitrary<SegmentRules> = nested(3, 0);
function nested(depth: number, minLength: number): fc.Arbitrary<SegmentRules> {
  const node: fc.Arbitrary<SegmentCondition | SegmentRules> =
    depth > 1
      ? fc.oneof(
          { arbitrary: condition, weight: 3 },
          { arbitrary: nested(depth - 1, 1), weight: 1 },
        )
      : condition;
  return fc.record({
    match: fc.constantFrom("all" as const, "any" as const),
    conditions: fc.array(node, { minLength, maxLength: 3 }),
  });
}

export interface Person {
  company: string;
  events: RandomEvent[];
}

/** Evaluates rules in the simplest way. */
export function personMatches(person: Person, node: SegmentRules | SegmentCondition): boolean {
  if ("conditions" in node) {
    const matches = (one: SegmentRules | SegmentCondition) => personMatches(person, one);
    if (!node.conditions.length) return true;
    return node.match === "all" ? node.conditions.every(matches) : node.conditions.some(matches);
  }
  const [field, key] = comparedField(node);
  const value = comparedValue(person, node);
  const contact = field === "customFields.a" ? { customFields: { a: value } } : { [field]: value };
  return matchesNaively(contact as unknown as ContactItem, { ...node, field: key });
}

function comparedField({ field }: SegmentCondition): [string, string] {
  if (field.startsWith("event.")) return ["event.x", "event.x"];
  if (field.startsWith("lastEvent.")) return ["customFields.a", "customFields.a"];
  return field === "company" ? [field, field] : ["lastOpenedAt", "lastOpenedAt"];
}

/** What the condition compares. */
export function comparedValue(
  { company, events }: Person,
  { field, inLastDays = Number.POSITIVE_INFINITY, where = [], property: key }: SegmentCondition,
): unknown {
  if (field === "company") return company;
  const [head, ...rest] = field.split(".");
  // The later recorded one of two events at one time comes first.
  const ofName = events
    .filter((one) => one.name === rest.join("."))
    .toReversed()
    .toSorted((a, b) => a.daysAgo - b.daysAgo);
  if (head === "lastEvent") return ofName[0]?.properties[key!];
  if (head === "event")
    return ofName.filter(
      ({ daysAgo, properties }) =>
        daysAgo + 0.5 < inLastDays && where.every((one) => propertyMatches(properties, one)),
    ).length;
  const one = head === "firstEventAt" ? ofName.at(-1) : ofName[0];
  return one && atOf(one, evaluationTime);
}

const propertyMatches = (properties: Record<string, unknown>, one: PropertyCondition): boolean => {
  const contact = { customFields: { a: properties[one.field.slice("properties.".length)] } };
  return matchesNaively(contact as unknown as ContactItem, { ...one, field: "customFields.a" });
};
