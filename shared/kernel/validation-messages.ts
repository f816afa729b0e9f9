// Plain error messages for invalid values. They continue the name of the field: "must be a text". A
// schema can override them.
import type * as z from "zod";

type Issue = z.core.$ZodRawIssue;
type IssueOf<Code extends Issue["code"]> = Extract<Issue, { code: Code }>;

/** The `error` option of `safeParse`. */
export const validationMessages: z.core.$ZodErrorMap = (issue) =>
  (messageByCode[issue.code] as ((issue: Issue) => string | undefined) | undefined)?.(issue);

const messageByCode: { [Code in Issue["code"]]?: (issue: IssueOf<Code>) => string | undefined } = {
  invalid_type: ({ input, expected, inst: schema }) =>
    input === undefined ? "is required" : typeMessage(expected, schema),
  invalid_value: ({ values }) => choiceMessage(values),
  invalid_format: ({ format }) =>
    formatMessages[format] ?? "contains characters that are not allowed",
  too_small: ({ origin, minimum, inclusive }) =>
    origin in unitNames && minimum === 1
      ? "must not be empty"
      : sizeMessage(origin, inclusive ? "at least" : "more than", minimum),
  too_big: ({ origin, maximum, inclusive }) =>
    sizeMessage(origin, inclusive ? "at most" : "less than", maximum),
  not_multiple_of: ({ divisor }) => `must be a multiple of ${divisor}`,
  unrecognized_keys: ({ keys }) =>
    `has unknown fields: ${keys.slice(0, 10).join(", ").slice(0, 200)}`,
  invalid_union: (issue) =>
    "options" in issue && Array.isArray(issue.options)
      ? choiceMessage(issue.options)
      : unionMessage(issue.errors),
  invalid_key: ({ issues }) => `has a name that ${issues[0]?.message ?? "is not allowed"}`,
};

const typeNames: Record<string, string> = {
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

function typeMessage(expected: string, schema: Issue["inst"]): string | undefined {
  if (expected !== "int" && expected !== "number")
    return typeNames[expected] && `must be ${typeNames[expected]}`;
  const checks = schemaChecks(schema);
  const isInteger = expected === "int" || checks.some(({ check }) => check === "number_format");
  return `must be ${isInteger ? typeNames.int : typeNames.number}${rangeSuffix(checks, isInteger)}`;
}

interface Check {
  check: string;
  value?: unknown;
  inclusive?: boolean;
}

/** The checks of a schema, including the schema itself if it is a check. */
function schemaChecks(schema: Issue["inst"]): Check[] {
  const { def } = (schema?._zod ?? {}) as {
    def?: Partial<Check> & { checks?: { _zod: { def: Check } }[] };
  };
  return [
    ...(def?.check ? [def as Check] : []),
    ...(def?.checks ?? []).map(({ _zod }) => _zod.def),
  ];
}

function rangeSuffix(checks: Check[], isInteger: boolean): string {
  const bound = (kind: string, step: number) => {
    const { value, inclusive } =
      checks.findLast(({ check, value }) => check === kind && typeof value === "number") ?? {};
    return typeof value === "number" && (inclusive || isInteger)
      ? formatNumber(inclusive ? value : value + step)
      : undefined;
  };
  const [from, to] = [bound("greater_than", 1), bound("less_than", -1)];
  if (from !== undefined && to !== undefined) return ` from ${from} to ${to}`;
  if (from !== undefined) return `, at least ${from}`;
  return to === undefined ? "" : `, at most ${to}`;
}

const formatMessages: Record<string, string> = {
  email: "must be a valid email address",
  url: "must be a URL such as https://www.example.com",
  datetime: "must be a date and time such as 2026-01-31T09:30:00Z",
  date: "must be a date such as 2026-01-31",
  time: "must be a time of day such as 09:30",
  uuid: "must be a UUID",
};

const unitNames = { string: "characters", array: "items", set: "items", map: "fields" };

function sizeMessage(origin: string, comparison: string, limit: number | bigint): string {
  const unit = (unitNames as Record<string, string>)[origin];
  return unit
    ? `must have ${comparison} ${formatNumber(limit)} ${limit === 1 ? unit.slice(0, -1) : unit}`
    : `must be ${comparison} ${formatNumber(limit)}`;
}

const formatNumber = (value: number | bigint): string =>
  value.toLocaleString("en", { maximumFractionDigits: 10 });

function choiceMessage(values: readonly unknown[]): string {
  const list = values.slice(0, 50).map(String).join(", ");
  return values.length === 1 ? `must be ${list}` : `must be one of: ${list}`;
}

/**
 * For a union: the issue inside of the option that matches best, else what each option requires.
 */
function unionMessage(errors: readonly z.core.$ZodIssue[][]): string {
  const nested = errors.flatMap(([first]) =>
    first?.path.length ? [`${first.path.join(".")} ${first.message}`] : [],
  );
  if (nested[0]) return `is not valid: ${nested[0]}`.slice(0, 500);
  const requirements = errors.flatMap(([first]) =>
    first?.message.startsWith("must be ") ? [first.message.slice("must be ".length)] : [],
  );
  return requirements.length === errors.length && requirements.length > 0
    ? `must be ${[...new Set(requirements)].join(" or ")}`
    : "has a type that is not allowed here";
}
