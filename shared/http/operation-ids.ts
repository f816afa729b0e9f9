import * as z from "zod";
import { basePath, type Route } from "./route.ts";

/** A name for programs, from method and path: `listSites`, `getSite`, `createSite`, `cancelSend`, `authLogin`. */
export function operationId({ method, path, status, returns }: Route): string {
  const segments = (path.replace(basePath, "").slice(1) || "home").split("/");
  const names = segments.flatMap((segment, i) => (isParameter(segment) ? [] : [nameOf(segment, isParameter(segments[i + 1]))]));
  const last = names.at(-1) ?? "";
  if (method !== "POST") return camel([verb(method, returns, last), ...names]);
  if (status === 201 && singular(last) !== last) return camel(["create", ...names.slice(0, -1), singular(last)]);
  // Beside the same without a parameter: POST /unsubscribe and POST /unsubscribe/{token}.
  if (isParameter(segments.at(-1))) return camel([...names, "by", segments.at(-1)!.slice(1, -1)]);
  // What is done to one thing is said first: /sends/{id}/cancel.
  return isParameter(segments.at(-2)) ? camel([last, ...names.slice(0, -1)]) : camel(names);
}

const isParameter = (segment: string | undefined): boolean => segment?.startsWith("{") ?? false;

const nameOf = (segment: string, one: boolean): string => {
  const name = camel(segment.split(/[^A-Za-z0-9]+/));
  return one ? singular(name) : name;
};

const verbs: Partial<Record<Route["method"], string>> = { PUT: "update", PATCH: "update", DELETE: "delete" };
const verb = (method: Route["method"], returns: z.ZodType | undefined, last: string): string =>
  verbs[method] ?? (returns instanceof z.ZodObject && returns.shape[last] instanceof z.ZodArray ? "list" : "get");

const singular = (plural: string): string => plural.replace(/ies$/, "y").replace(/(?<!s)s$/, "");
const camel = (words: string[]): string => words.map((word, i) => (i ? word.charAt(0).toUpperCase() + word.slice(1) : word)).join("");
