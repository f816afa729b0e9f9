import * as z from "zod";
import { type Detail, invalid, missing, overLimit } from "../errors.ts";
import { faults } from "../faults.ts";

/** The checked value, or 400 with a sentence that names the field; and with what is not known here: it may be a field misspelt. */
export function checked(schema: z.ZodType | undefined, value: unknown): unknown {
  if (!schema) return undefined;
  const { success, data, error } = schema.safeParse(value, { error: faults });
  if (success) return data;
  const tooMany = error.issues.find((issue) => issue.code === "too_big" && issue.origin === "array");
  if (tooMany) throw overLimit(tooMany.path.join("."), detailOf(tooMany, value).message);
  const wrong = error.issues.flatMap((issue) => nearest(issue, value)).map((issue) => detailOf(issue, value));
  const strange = strangeTo(schema, value);
  const details = [...wrong.slice(0, 20), ...strange.map((path) => ({ path, message: `${path} is not known here` }))];
  const aside = strange.length ? ` (not known here: ${strange.join(", ")})` : "";
  throw invalid(`${wrong[0]?.message ?? "The request is not valid"}${aside}`, { details });
}

type Issue = z.core.$ZodIssue;

/** Where a value may be of several kinds: what is wrong inside of the one that it comes near. */
function nearest(issue: Issue, value: unknown): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const at = valueAt(value, issue.path);
  const inside = issue.errors.filter(([first]) => first?.path.length);
  const near = inside.find((some) => some.some(({ path }) => valueAt(at, path) !== undefined)) ?? inside[0];
  return near?.flatMap((one) => nearest({ ...one, path: [...issue.path, ...one.path] }, value)) ?? [issue];
}

/** Names of fields that a schema does not have, as far as it says which it has; 5 at the most, and of each 100 characters. */
function strangeTo(schema: z.ZodType, value: unknown): string[] {
  const known = namesIn(schema);
  if (!known || !isPlain(value)) return [];
  const names = Object.keys(value).filter((name) => value[name] !== undefined && !known.includes(name));
  return names.slice(0, 5).map((name) => name.slice(0, 100));
}

function namesIn(schema: unknown): string[] | undefined {
  if (schema instanceof z.ZodObject) return schema.def.catchall ? undefined : Object.keys(schema.shape);
  if (!(schema instanceof z.ZodUnion)) return undefined;
  const options = schema.options.map(namesIn);
  return options.some((names) => !names) ? undefined : options.flatMap((names) => names ?? []);
}

function detailOf(issue: Issue, value: unknown): Detail {
  // A key may be as long as the body.
  const path = issue.path.join(".").slice(0, 200);
  const absent = unanswered.has(issue.code) && valueAt(value, issue.path) === undefined;
  const named = path || "The body";
  const said = absent ? "is required" : issue.message.slice(0, 500);
  return { path, message: said.startsWith("is required") ? `${named} ${said}` : `${named}: ${said}` };
}

const unanswered = new Set<string | undefined>(["invalid_type", "invalid_value", "invalid_union"]);

const valueAt = (value: unknown, path: PropertyKey[]): unknown =>
  path.reduce<unknown>((at, step) => (at as Record<PropertyKey, unknown> | undefined | null)?.[step], value);

/** Names of fields that were given and not read, such as `recipients.0.colour`; 20 at the most, and of each 100 characters. */
export function unread(given: unknown, taken: unknown, path = ""): string[] {
  if (Array.isArray(given) && Array.isArray(taken))
    return given
      .slice(0, 100)
      .flatMap((one, i) => unread(one, taken[i], `${path}${i}.`))
      .slice(0, 20);
  if (!isPlain(given) || !isPlain(taken)) return [];
  return Object.entries(given)
    .flatMap(([name, value]) =>
      Object.hasOwn(taken, name) ? unread(value, taken[name], `${path}${name}.`) : value === undefined ? [] : [(path + name).slice(0, 100)],
    )
    .slice(0, 20);
}

const isPlain = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** Path parameters as the route types them; an id that is no integer names nothing. */
export const pathParams = (given: Record<string, string | undefined> | undefined): Record<string, string | number> =>
  Object.fromEntries(Object.entries(given ?? {}).map(([name, text = ""]) => [name, /^id$|Id$/.test(name) ? integer(text) : text]));

function integer(text: string): number {
  const id = Number(text);
  if (!/^[1-9]\d{0,15}$/.test(text) || !Number.isSafeInteger(id)) throw missing("Not found");
  return id;
}
