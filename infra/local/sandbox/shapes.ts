// Request bodies are checked by a schema; each provider says in its own words what is wrong.
import * as z from "zod";
import { type Answer, Refused } from "./contract.ts";

/** `path` is dotted: personalizations.0.to. */
export function read<S extends z.ZodType>(schema: S, value: unknown, refusal: (path: string, message: string) => Answer): z.output<S> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const issue = error.issues[0]!;
  const unknown = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  throw new Refused(refusal([...issue.path, ...unknown].join("."), issue.message));
}

/** Some providers write null where others leave a field out. */
export const maybe = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? undefined);

export const strings = z.record(z.string(), z.string());

/** The headers of a list of names and values; a later one of the same name wins. */
export const named = <T>(list: T[] | undefined, name: (one: T) => string, value: (one: T) => string): Record<string, string> =>
  Object.fromEntries((list ?? []).map((one) => [name(one), value(one)]));
