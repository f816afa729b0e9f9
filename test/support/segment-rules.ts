// Random segment rules and contacts, and a naive evaluation of rules to compare results with.
import fc from "fast-check";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import type { Operator, Scalar } from "../../shared/domain/audience/segments/rule-operators.ts";
import type {
  SegmentCondition,
  SegmentRules,
} from "../../shared/domain/audience/segments/segment-rules.ts";

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
    customFields: optional(fc.record({ a: custom, "b.c": custom }, { requiredKeys: [] })),
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
  lastOpenedAt: timeWays,
  createdAt: timeWays,
  "customFields.a": [
    ...textWays,
    [["greaterThan", "lessThan"], count],
    ...timeWays
      .slice(0, 2)
      .map(([ops, value]): OperatorCases[number] => [ops.filter((op) => !/quals/.test(op)), value]),
    [["equals", "notEquals"], scalar],
    [["in", "notIn"], oneToThree(scalar)],
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
  const opposite = {
    notEquals: "equals",
    notContains: "contains",
    notInLastDays: "inLastDays",
    notExists: "exists",
    notIn: "in",
  }[operator as string];
  if (opposite) return !matchesNaively(contact, { ...node, operator: opposite as Operator });
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
  const own = contact as unknown as Record<string, unknown>;
  const actual = field.startsWith("customFields.")
    ? contact.customFields?.[field.slice(13)]
    : (own[field] ?? (/score|Count|event/.test(field) ? 0 : undefined));
  return compareScalar(actual, field, operator, value);
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
