// What is wrong with a value, as a person would say it, in words that go on from the name of the field: "must be a text". Words that a
// schema has of its own go over these.
import type * as z from "zod";

type Issue = z.core.$ZodRawIssue;
type Of<Code extends Issue["code"]> = Extract<Issue, { code: Code }>;

/** For `safeParse`, as its `error`. */
export const faults: z.core.$ZodErrorMap = (issue) => (sayings[issue.code] as ((issue: Issue) => string | undefined) | undefined)?.(issue);

const sayings: { [Code in Issue["code"]]?: (issue: Of<Code>) => string | undefined } = {
  invalid_type: ({ input, expected, inst }) => (input === undefined ? "is required" : kind(expected, inst)),
  invalid_value: ({ values }) => oneOf(values),
  invalid_format: ({ format }) => formats[format] ?? "has characters that it cannot have",
  too_small: ({ origin, minimum, inclusive }) =>
    origin in counted && minimum === 1 ? "must not be empty" : bound(origin, inclusive ? "at least" : "more than", minimum),
  too_big: ({ origin, maximum, inclusive }) => bound(origin, inclusive ? "at most" : "less than", maximum),
  not_multiple_of: ({ divisor }) => `must be a multiple of ${divisor}`,
  unrecognized_keys: ({ keys }) => `has fields that are not known here: ${keys.slice(0, 10).join(", ").slice(0, 200)}`,
  invalid_union: (issue) => ("options" in issue && Array.isArray(issue.options) ? oneOf(issue.options) : either(issue.errors)),
  invalid_key: ({ issues }) => `is a name that ${issues[0]?.message ?? "cannot be"}`,
};

const kinds: Record<string, string> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "an object",
  record: "an object",
  null: "null",
  date: "a time",
};

function kind(expected: string, inst: Issue["inst"]): string | undefined {
  if (expected !== "int" && expected !== "number") return kinds[expected] && `must be ${kinds[expected]}`;
  const checks = checksOf(inst);
  const whole = expected === "int" || checks.some(({ check }) => check === "number_format");
  return `must be ${whole ? kinds.int : kinds.number}${range(checks, whole)}`;
}

interface Check {
  check: string;
  value?: unknown;
  inclusive?: boolean;
}

/** Of the schema that was not met, itself among them where it is one. */
function checksOf(inst: Issue["inst"]): Check[] {
  const { def } = (inst?._zod ?? {}) as { def?: Partial<Check> & { checks?: { _zod: { def: Check } }[] } };
  return [...(def?.check ? [def as Check] : []), ...(def?.checks ?? []).map(({ _zod }) => _zod.def)];
}

function range(checks: Check[], whole: boolean): string {
  const edge = (wanted: string, step: number) => {
    const { value, inclusive } = checks.findLast(({ check, value }) => check === wanted && typeof value === "number") ?? {};
    return typeof value === "number" && (inclusive || whole) ? number(inclusive ? value : value + step) : undefined;
  };
  const [from, to] = [edge("greater_than", 1), edge("less_than", -1)];
  if (from !== undefined && to !== undefined) return ` from ${from} to ${to}`;
  if (from !== undefined) return `, at least ${from}`;
  return to === undefined ? "" : `, at most ${to}`;
}

const formats: Record<string, string> = {
  email: "must be one valid email address",
  url: "must be a URL such as https://www.example.com",
  datetime: "must be a time such as 2026-01-31T09:30:00Z",
  date: "must be a date such as 2026-01-31",
  time: "must be a time of day such as 09:30",
  uuid: "must be a UUID",
};

const counted = { string: "characters", array: "items", set: "items", map: "fields" };

function bound(origin: string, how: string, edge: number | bigint): string {
  const things = (counted as Record<string, string>)[origin];
  return things ? `must have ${how} ${number(edge)} ${edge === 1 ? things.slice(0, -1) : things}` : `must be ${how} ${number(edge)}`;
}

const number = (value: number | bigint): string => value.toLocaleString("en", { maximumFractionDigits: 10 });

function oneOf(values: readonly unknown[]): string {
  const said = values.slice(0, 50).map(String).join(", ");
  return values.length === 1 ? `must be ${said}` : `must be one of: ${said}`;
}

/** Of several kinds it may be: what each asks for, or what is wrong inside of the one that it comes near. */
function either(errors: readonly z.core.$ZodIssue[][]): string {
  const inside = errors.flatMap(([first]) => (first?.path.length ? [`${first.path.join(".")} ${first.message}`] : []));
  if (inside[0]) return `has something wrong inside: ${inside[0]}`.slice(0, 500);
  const asked = errors.flatMap(([first]) => (first?.message.startsWith("must be ") ? [first.message.slice("must be ".length)] : []));
  return asked.length === errors.length && asked.length > 0
    ? `must be ${[...new Set(asked)].join(" or ")}`
    : "is of no kind that can be here";
}
