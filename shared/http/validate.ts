import * as z from "zod";
import { invalid, limitExceeded, missing, type ProblemDetail } from "../errors.ts";
import { EmailAddress } from "../kernel/email-fields.ts";
import { findMistakenName, unknownFields } from "../kernel/field-names.ts";
import { isObject } from "../kernel/json.ts";
import { digitsOfUuid } from "../kernel/uuid-ids.ts";
import { validationMessages } from "../kernel/validation-messages.ts";
import type { Route } from "./route.ts";

/**
 * Returns the validated value. Throws 400 with a message that names the field, and lists unknown
 * fields, because one may be misspelt.
 */
export function validate(schema: z.ZodType | undefined, value: unknown): unknown {
  if (!schema) return undefined;
  refuseMistakenName(schema, value);
  const { success, data, error } = schema.safeParse(value, { error: validationMessages });
  if (success) return data;
  const nearest = error.issues.flatMap((issue) => nearestUnionIssues(issue, value));
  const tooMany = nearest.find((issue) => issue.code === "too_big" && issue.origin === "array");
  if (tooMany) throw limitExceeded(tooMany.path.join("."), toDetail(tooMany, value).message);
  const issues = nearest.map((issue) => toDetail(issue, value));
  const unknown = [
    ...unknownFields(schema, value),
    ...unknownFieldsBeside(nearest[0]?.path ?? [], { schema, value }),
  ];
  const details = [
    ...issues.slice(0, 20),
    ...unknown.map((path) => ({ path, message: `${path} is unknown` })),
  ];
  const unknownFieldsNote = unknown.length ? ` (not known here: ${unknown.join(", ")})` : "";
  throw invalid(`${issues[0]?.message ?? "The request is not valid"}${unknownFieldsNote}`, {
    details,
  });
}

/** Validates the path parameter `email` like any other input. */
export const validateEmailParam = ({ email }: { email: string }): string =>
  (validate(z.object({ email: EmailAddress }), { email }) as { email: string }).email;

function refuseMistakenName(schema: z.ZodType, value: unknown): void {
  const mistake = findMistakenName(schema, value);
  if (mistake) throw invalid(mistake.message, { details: [mistake] });
}

/**
 * Validates a query. Routes that read refuse unknown parameters if they have parameters or return a
 * list, so that a misspelt filter does not return everything. Public routes take them, because
 * other programs add parameters to links.
 */
export function checkedQuery(
  { method, auth, query, returns }: Pick<Route, "method" | "auth" | "query" | "returns">,
  value: Record<string, unknown>,
): unknown {
  const isStrict = method === "GET" && auth !== "public" && (query || isList(returns));
  const [unknown, ...others] = isStrict ? unknownFields(query ?? z.object({}), value) : [];
  if (unknown === undefined) return validate(query, value);
  throw invalid(`There is no query parameter ${unknown} here`, {
    details: [unknown, ...others].map((path) => ({ path, message: `${path} is unknown` })),
  });
}

/** Whether the response has arrays only, such as `{ steps: [] }`. */
const isList = (returns: z.ZodType | undefined): boolean =>
  returns instanceof z.ZodObject &&
  Object.values(returns.shape).every((field) => field instanceof z.ZodArray);

type Issue = z.core.$ZodIssue;

/** A union may have a message of its own, which says more than those of its options. */
const hasUsualMessage = (issue: Issue): boolean =>
  issue.message === validationMessages(issue as Parameters<typeof validationMessages>[0]);

const isOfSameType = ([first]: Issue[]): boolean =>
  first !== undefined && !/^invalid_(type|value)$/.test(first.code);

/** For a union, the issues of the option that the value matches best. */
function nearestUnionIssues(issue: Issue, value: unknown): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const unionValue = valueAt(value, issue.path);
  const nested = issue.errors.filter(([first]) => first?.path.length);
  const nearest =
    nested.find((issues) => issues.some(({ path }) => valueAt(unionValue, path) !== undefined)) ??
    nested[0] ??
    (hasUsualMessage(issue) ? issue.errors.find(isOfSameType) : undefined);
  return (
    nearest?.flatMap((inner) =>
      nearestUnionIssues({ ...inner, path: [...issue.path, ...inner.path] }, value),
    ) ?? [issue]
  );
}

/** The unknown fields of the nested object that a wrong field is in: one may be meant for it. */
function unknownFieldsBeside(
  path: PropertyKey[],
  { schema, value }: { schema: z.ZodType; value: unknown },
): string[] {
  const parent = path.slice(0, -1);
  if (!parent.length) return [];
  const parentSchema = parent.reduce<unknown>(schemaOfField, schema);
  const prefix = parent.join(".");
  return unknownFields(parentSchema, valueAt(value, parent)).map((name) => `${prefix}.${name}`);
}

/** Undefined inside of unions and records, whose fields depend on the value. */
function schemaOfField(schema: unknown, name: PropertyKey): unknown {
  const plain = withoutWrapper(schema);
  if (plain instanceof z.ZodArray) return withoutWrapper(plain.element);
  return plain instanceof z.ZodObject ? withoutWrapper(plain.shape[name as string]) : undefined;
}

/** The schema of an optional or nullable value, or of one with a default. */
function withoutWrapper(schema: unknown): unknown {
  if (schema instanceof z.ZodPipe) return withoutWrapper(schema.in);
  const isWrapper =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault;
  return isWrapper ? withoutWrapper(schema.unwrap()) : schema;
}

function toDetail(issue: Issue, value: unknown): ProblemDetail {
  // A field name may be as long as the body.
  const path = issue.path.join(".").slice(0, 200);
  const absent = codesOfMissingValues.has(issue.code) && valueAt(value, issue.path) === undefined;
  const subject = path || "The body";
  const text = absent ? "is required" : issue.message.slice(0, 500);
  return {
    path,
    message: text.startsWith("is required") ? `${subject} ${text}` : `${subject}: ${text}`,
  };
}

const codesOfMissingValues = new Set<string | undefined>([
  "invalid_type",
  "invalid_value",
  "invalid_union",
]);

const valueAt = (value: unknown, path: PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (parent, name) => (parent as Record<PropertyKey, unknown> | undefined | null)?.[name],
    value,
  );

/**
 * Up to 20 paths of fields that the schema dropped, such as `recipients.0.colour`, each cut to 100
 * characters.
 */
export function ignoredFields(sent: unknown, parsed: unknown, path = ""): string[] {
  if (Array.isArray(sent) && Array.isArray(parsed))
    return sent
      .slice(0, 100)
      .flatMap((item, i) => ignoredFields(item, parsed[i], `${path}${i}.`))
      .slice(0, 20);
  if (!isObject(sent) || !isObject(parsed)) return [];
  return Object.entries(sent)
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) =>
      Object.hasOwn(parsed, name)
        ? ignoredFields(value, parsed[name], `${path}${name}.`)
        : [(path + name).slice(0, 100)],
    )
    .slice(0, 20);
}

/**
 * The longest token of an emailed link has about 800 characters. A tracked link contains the URL
 * that it leads to.
 */
export const maxPathTextLength = (name: string): number => (name === "link" ? 2000 : 1000);

/**
 * Converts ids in the path to numbers. Throws 404 for an id that is neither a positive integer nor
 * the UUID of one, and for a text that is too long.
 */
export const parsePathParams = (
  params: Record<string, string | undefined> | undefined,
): Record<string, string | number> =>
  Object.fromEntries(
    Object.entries(params ?? {}).map(([name, text = ""]) => [
      name,
      /^id$|Id$/.test(name) ? parseId(text) : checkLength(name, text),
    ]),
  );

function checkLength(name: string, text: string): string {
  const max = maxPathTextLength(name);
  if (text.length > max)
    throw missing(`Not found: a part of the path has more than ${max} characters`);
  return text;
}

function parseId(text: string): number {
  const digits = digitsOfUuid(text) ?? text;
  const id = Number(digits);
  if (!/^[1-9]\d{0,15}$/.test(digits) || !Number.isSafeInteger(id))
    throw missing("Not found: the id in the path must be a positive whole number");
  return id;
}
