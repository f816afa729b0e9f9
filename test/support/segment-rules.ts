// Random segment rules and contacts, and a naive evaluation of rules to compare results with.

import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import type { CustomFieldType } from "../../shared/domain/audience/contacts/parse-field-value.ts";
import type { Operator, Scalar } from "../../shared/domain/audience/segments/rule-operators.ts";
import type {
  SegmentCondition,
  SegmentRules,
} from "../../shared/domain/audience/segments/segment-rules.ts";
import fc from "./fast-check.ts";

export const evaluationTime = new Date("2026-06-15T12:00:00.000Z");
export const existingTags = [1, 2, 3];
export const deletedTag = 9;

// Few values, so that rules match contacts. Some letters become two letters in lower case, or have
// two lower cases.
const words = [
  "Ann",
  "ann",
  "ANNA",
  "nn",
  "a",
  "ΣΊΣΥΦΟΣ",
  "σίσυφος",
  "ΣΥ",
  "İzmir",
  "straße",
  "5",
  "true",
  "2026-06-10",
  "7.5",
  "İ",
  "\u{1F600} Ann",
];
const word = fc.constantFrom(...words);
const count = fc.constantFrom(-2, 0, 1, 2, 5, 7.5);
const instants = [
  "2026-06-15T12:00:00.000Z",
  "2026-06-10T00:00:00.000Z",
  "2026-06-10T23:59:59.999Z",
  "2026-06-11T00:00:00.000Z",
  "2025-01-01T08:30:00.000Z",
  "2026-07-01T00:00:00.000Z",
];
const instant = fc.constantFrom(...instants);
const days = fc.constantFrom(
  "2026-06-10",
  "2026-06-15",
  "2025-01-01",
  "2026-06-10T23:59:59.999Z",
  "2026-06-11T02:00:00+02:00",
);
const custom = fc.oneof(
  word,
  count,
  fc.boolean(),
  fc.constant(null),
  days,
  fc.constantFrom("", "tomorrow", "2026-02-30"),
);

// Fields with declared types. Some contacts have a value from before the declaration.
export const declaredTypes: Record<string, CustomFieldType> = {
  day: "date",
  moment: "datetime",
  colors: "list",
  size: "number",
};
export const organizationZone = "America/New_York";
const zone = fc.constantFrom("Europe/Berlin", "Pacific/Kiritimati", "Pacific/Pago_Pago");
const leftover = fc.constantFrom("soon", 5, "2026-02-30", "Ann", null);
const anyDay = fc.constantFrom(
  ...["2026-06-10", "2026-06-14", "2026-06-15", "2026-06-16", "2026-06-22", "2024-02-29"],
  ...["2000-06-15", "1999-06-16", "2025-02-28"],
);
const anyMoment = fc.oneof(
  fc.constantFrom(...instants, "2026-06-14T10:30:00.000Z", "2026-06-16T01:00:00.000Z"),
  fc.constantFrom("2026-06-15T04:30:00.000Z", "2001-06-15T23:30:00.000Z"),
);
const colors = fc.uniqueArray(word, { minLength: 1, maxLength: 3 });

const optional = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
const ids = (from: number[]) =>
  optional(fc.uniqueArray(fc.constantFrom(...from), { minLength: 1 }).map((all) => new Set(all)));

/** Fields of a contact besides address and id. */
export const contactFields: fc.Arbitrary<Partial<ContactItem>> = fc
  .record({
    firstName: optional(fc.oneof(word, fc.constant(""))),
    company: optional(word),
    status: fc.constantFrom("subscribed" as const, "unsubscribed" as const),
    score: optional(count),
    openCount: optional(fc.constantFrom(0, 1, 5)),
    lastOpenedAt: optional(instant),
    createdAt: instant,
    timezone: optional(zone),
    customFields: optional(
      fc.record(
        {
          ...{ a: custom, "b.c": custom },
          day: fc.oneof({ arbitrary: anyDay, weight: 4 }, leftover),
          moment: fc.oneof({ arbitrary: anyMoment, weight: 4 }, leftover),
          colors: fc.oneof({ arbitrary: colors, weight: 4 }, leftover),
          size: fc.oneof(count, leftover),
        },
        { requiredKeys: [] },
      ),
    ),
    tags: fc.oneof(ids([...existingTags, deletedTag]), fc.constant(new Set([deletedTag]))),
    forms: ids([4]),
    openedCampaigns: ids([5, 6]),
    "event.bought": optional(fc.constantFrom(1, 5)),
  })
  .map(
    (given) =>
      Object.fromEntries(
        Object.entries(given).filter(([, value]) => value !== undefined),
      ) as Partial<ContactItem>,
  );

const oneToThree = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 3 });
type OperatorCases = [operators: Operator[], value: fc.Arbitrary<unknown>][];
const none = fc.constant(undefined);
const existence: OperatorCases[number] = [["exists", "notExists"], none];
const textWays: OperatorCases = [
  [["equals", "notEquals", "contains", "notContains", "startsWith", "endsWith"], word],
  [["in", "notIn"], oneToThree(word)],
  existence,
];
const numberWays: OperatorCases = [
  [["equals", "notEquals", "greaterThan", "lessThan"], count],
  [["in", "notIn"], oneToThree(count)],
  existence,
];
const timeWays: OperatorCases = [
  [["equals", "notEquals", "before", "after"], days],
  [["inLastDays", "notInLastDays"], fc.constantFrom(1, 5.5, 400)],
  existence,
];
const newDateWays: OperatorCases = [
  [["on", "notOn", "notBefore", "notAfter"], days],
  [["inNextDays", "notInNextDays"], fc.constantFrom(1, 5.5, 400)],
  [["today", "notToday"], none],
  [["anniversaryInDays", "notAnniversaryInDays"], fc.constantFrom(0, 1, 7, 258)],
];
const dateWays: OperatorCases = [
  [["equals", "notEquals", "before", "after"], fc.oneof(days, anyDay)],
  [["inLastDays", "notInLastDays"], fc.constantFrom(1, 5.5, 400)],
  ...newDateWays,
  existence,
];
const scalar = fc.oneof(word, count, fc.boolean());
const tag = fc.constantFrom(1, 2, deletedTag, "One", "none");
const flagWays: OperatorCases = [[["equals", "notEquals"], fc.boolean()], existence];
const emailEnd = fc.constantFrom("@x.com", "COM", "x.com.br", "a", "1@x.com");

const operatorCases: Record<string, OperatorCases> = {
  email: [[["endsWith"], emailEnd], ...textWays],
  firstName: textWays,
  company: textWays,
  status: [
    [["equals", "notEquals"], fc.constant("subscribed")],
    [["in", "notIn"], fc.constant(["unsubscribed", "pending"])],
    existence,
  ],
  id: numberWays,
  score: numberWays,
  openCount: numberWays,
  "event.bought": numberWays,
  lastOpenedAt: [...timeWays, ...newDateWays],
  createdAt: [...timeWays, ...newDateWays],
  "customFields.day": dateWays,
  "customFields.moment": dateWays,
  "customFields.colors": [
    [["equals", "notEquals", "contains", "notContains"], word],
    [["in", "notIn", "containsAny", "notContainsAny"], oneToThree(word)],
    existence,
  ],
  "customFields.size": [
    [["equals", "notEquals"], fc.oneof(count, fc.constantFrom("5", "7.50"))],
    [["greaterThan", "lessThan"], count],
  ],
  "customFields.a": [
    ...textWays,
    [["greaterThan", "lessThan"], count],
    ...timeWays
      .slice(0, 2)
      .map(([ops, value]): OperatorCases[number] => [ops.filter((op) => !/quals/.test(op)), value]),
    [["equals", "notEquals"], scalar],
    [["in", "notIn"], oneToThree(scalar)],
    [["containsAny", "notContainsAny"], oneToThree(word)],
    ...newDateWays,
  ],
  "customFields.b.c": [[["equals", "contains"], word]],
  tag: [
    [["exists"], none],
    [["equals", "notEquals", "contains", "notContains"], tag],
    [["in", "notIn"], oneToThree(tag)],
    existence,
  ],
  "form.4": flagWays,
  "campaign.5.opened": flagWays,
  "campaign.5.sent": flagWays,
};

const condition: fc.Arbitrary<SegmentCondition> = fc.oneof(
  ...Object.entries(operatorCases).flatMap(([field, each]) =>
    each.map(([operators, values]) =>
      fc
        .record({ operator: fc.constantFrom(...operators), value: values })
        .map(
          ({ operator, value }) =>
            ({ field, operator, ...(value !== undefined && { value }) }) as SegmentCondition,
        ),
    ),
  ),
);

/** Rules with up to three levels. The outermost level may be empty. */
export const rules: fc.Arbitrary<SegmentRules> = nestedRules(3, 0);
function nestedRules(depth: number, minLength: number): fc.Arbitrary<SegmentRules> {
  const node: fc.Arbitrary<SegmentCondition | SegmentRules> =
    depth > 1
      ? fc.oneof(
          { arbitrary: condition, weight: 3 },
          { arbitrary: nestedRules(depth - 1, 1), weight: 1 },
        )
      : condition;
  return fc.record({
    match: fc.constantFrom("all" as const, "any" as const),
    conditions: fc.array(node, { minLength, maxLength: 4 }),
  });
}

const lower = (value: unknown): string =>
  [...String(value)]
    .map((char) => char.toLowerCase())
    .join("")
    .replaceAll("ς", "σ");
const isPlain = (value: unknown): value is Scalar =>
  ["string", "number", "boolean"].includes(typeof value);
const tagIds: Record<string, number> = { One: 1, "1": 1, "2": 2, "3": 3 };

/** Evaluates rules in the simplest way. */
export function matchesNaively(
  contact: ContactItem,
  node: SegmentRules | SegmentCondition,
): boolean {
  if ("conditions" in node) {
    if (!node.conditions.length) return true;
    return node.match === "all"
      ? !node.conditions.some((one) => !matchesNaively(contact, one))
      : node.conditions.some((one) => matchesNaively(contact, one));
  }
  const { field, operator, value } = node;
  const type = declaredTypes[field.slice("customFields.".length)];
  const isDateField = type === "date" || type === "datetime";
  const opposite = {
    notEquals: "equals",
    notContains: "contains",
    notContainsAny: "containsAny",
    notInLastDays: "inLastDays",
    notExists: "exists",
    notIn: "in",
    ...strictOpposites,
  }[operator as string];
  if (opposite) {
    const isStrict = operator in strictOpposites || (isDateField && operator === "notInLastDays");
    if (isStrict && !dayRange(actualOf(contact, field))) return false;
    return !matchesNaively(contact, { ...node, operator: opposite as Operator });
  }
  if (type === "list") return listMatches(actualOf(contact, field), operator, value);
  const isLocal = isDateField || field.endsWith("At");
  const isDateOperator = ["on", "inNextDays", "today", "anniversaryInDays"].includes(operator);
  const isLocalOperator =
    isLocal &&
    (["equals", "before", "after"].includes(operator) ||
      (isDateField && operator === "inLastDays"));
  if (isDateOperator || isLocalOperator) {
    const place = isLocal ? (contact.timezone ?? organizationZone) : "UTC";
    return dateMatches(actualOf(contact, field), { operator, value, place });
  }
  if (operator === "containsAny")
    return (value as Scalar[]).some((one) =>
      matchesNaively(contact, { field, operator: "contains", value: String(one) }),
    );
  if (operator === "in")
    return (value as Scalar[]).some((one) =>
      matchesNaively(contact, { field, operator: "equals", value: one }),
    );
  if (field === "tag") return tagMatches([...(contact.tags ?? [])], operator, value);
  if (field === "form.4") return (contact.forms?.has(4) ?? false) === (value ?? true);
  if (field.startsWith("campaign.5"))
    return (
      ((field.endsWith("opened") ? contact.openedCampaigns : contact.sentCampaigns)?.has(5) ??
        false) === (value ?? true)
    );
  const compared = type === "number" && value !== undefined ? Number(value) : value;
  return compareScalar(actualOf(contact, field), field, operator, compared);
}

const strictOpposites = {
  ...{ notOn: "on", notBefore: "before", notAfter: "after", notToday: "today" },
  ...{ notInNextDays: "inNextDays", notAnniversaryInDays: "anniversaryInDays" },
};

function actualOf(contact: ContactItem, field: string): unknown {
  const own = contact as unknown as Record<string, unknown>;
  return field.startsWith("customFields.")
    ? contact.customFields?.[field.slice(13)]
    : (own[field] ?? (/score|Count|event/.test(field) ? 0 : undefined));
}

function listMatches(actual: unknown, operator: Operator, value: unknown): boolean {
  if (operator === "exists") return actual !== undefined && actual !== null && actual !== "";
  if (!Array.isArray(actual)) return false;
  const asked = [value].flat().map(lower);
  return actual.some((one) => asked.includes(lower(one)));
}

const localDay = (at: number, place: string): string =>
  new Date(at).toLocaleDateString("en-CA", { timeZone: place });

function dateMatches(
  actual: unknown,
  { operator, value, place }: { operator: Operator; value: unknown; place: string },
): boolean {
  if (!dayRange(actual)) return false;
  const text = actual as string;
  const at = text.length > 10 ? Date.parse(text) : undefined;
  const day = at === undefined ? text : localDay(at, place);
  const dayFrom = (days: number) =>
    new Date(Date.parse(localDay(evaluationTime.getTime(), place)) + days * 86_400_000)
      .toISOString()
      .slice(0, 10);
  const distance = ((at ?? 0) - evaluationTime.getTime()) / 86_400_000;
  const asked = String(value);
  const bothTimes = at !== undefined && asked.length > 10;
  const askedDay = asked.length > 10 ? localDay(Date.parse(asked), place) : asked;
  const [left, right] = bothTimes ? [at, Date.parse(asked)] : [day, askedDay];
  if (operator === "on" || operator === "equals") return left === right;
  if (operator === "before") return left < right;
  if (operator === "after") return left > right;
  if (operator === "today") return day === dayFrom(0);
  const days = value as number;
  if (operator === "inLastDays")
    return at === undefined
      ? day <= dayFrom(0) && day >= dayFrom(-Math.floor(days))
      : distance <= 0 && distance >= -days;
  if (operator === "inNextDays")
    return at === undefined
      ? day >= dayFrom(0) && day <= dayFrom(Math.floor(days))
      : distance >= 0 && distance <= days;
  const target = dayFrom(days);
  const isLeapYear = Number(target.slice(0, 4)) % 4 === 0;
  const counted = day.endsWith("-02-29") && !isLeapYear ? "-02-28" : day.slice(4);
  return target.endsWith(counted);
}

const tagMatches = (carried: number[], operator: Operator, value: unknown): boolean =>
  operator === "exists"
    ? carried.some((id) => id !== deletedTag)
    : carried.includes(tagIds[String(value)] ?? -1);

const dayRange = (text: unknown): [number, number] | undefined => {
  if (typeof text !== "string" || !/^\d{4}-\d\d-\d\d/.test(text) || text === "2026-02-30")
    return undefined;
  const from = Date.parse(text);
  return [from, text.length === 10 ? from + 86_400_000 - 1 : from];
};

function compareScalar(
  actual: unknown,
  field: string,
  operator: Operator,
  value: unknown,
): boolean {
  const when = dayRange(actual);
  const asked = dayRange(value);
  const texts = isPlain(actual) ? ([lower(actual), lower(value)] as const) : undefined;
  const ago = (evaluationTime.getTime() - (when?.[0] ?? Number.NaN)) / 86_400_000;
  const answers: Partial<Record<Operator, () => boolean>> = {
    exists: () =>
      isPlain(actual) && actual !== "" && !(actual === 0 && !field.startsWith("custom")),
    equals: () =>
      field.endsWith("At")
        ? when !== undefined && when[0] >= asked![0] && when[0] <= asked![1]
        : isPlain(actual) && lower(actual) === lower(value),
    contains: () => texts?.[0].includes(texts[1]) ?? false,
    startsWith: () => texts?.[0].startsWith(texts[1]) ?? false,
    endsWith: () => texts?.[0].endsWith(texts[1]) ?? false,
    greaterThan: () => typeof actual === "number" && actual > (value as number),
    lessThan: () => typeof actual === "number" && actual < (value as number),
    before: () => when !== undefined && when[0] < asked![0],
    after: () => when !== undefined && when[0] > asked![1],
    inLastDays: () => ago >= 0 && ago <= (value as number),
  };
  return answers[operator]!();
}
