// The id of an operation, from its method and path. operation-names.ts makes the other names of it.
import * as z from "zod";
import { basePath, type Route } from "./route.ts";

/**
 * `listSites`, `getSite`, `createSite`, `updateSite`, `deleteSite`, and for an action on one
 * record `cancelSend`. A route that this rule names badly gives its own id.
 */
export function operationId(route: Route): string {
  const { method, path, status, returns } = route;
  if (route.operationId) return route.operationId;
  const segments = shortPath(path).slice(1).split("/");
  const names = segments.flatMap((segment, i) =>
    isParameter(segment) ? [] : [segmentName(segment, isParameter(segments[i + 1]))],
  );
  const last = names.at(-1) ?? "";
  if (method !== "POST") return camelCase([verb(method, returns, last), ...names]);
  if (status === 201) return camelCase(["create", ...names.slice(0, -1), singular(last)]);
  // POST /sends/{id}/cancel is cancelSend.
  return camelCase([last, ...names.slice(0, -1)]);
}

const isParameter = (segment: string | undefined): boolean => segment?.startsWith("{") ?? false;

const segmentName = (segment: string, isSingular: boolean): string => {
  const name = camelCase(segment.split(/[^A-Za-z0-9]+/));
  return isSingular ? singular(name) : name;
};

const verbs: Partial<Record<Route["method"], string>> = {
  PUT: "update",
  PATCH: "update",
  DELETE: "delete",
};
const verb = (method: Route["method"], returns: z.ZodType | undefined, last: string): string =>
  verbs[method] ??
  (returns instanceof z.ZodObject && returns.shape[last] instanceof z.ZodArray ? "list" : "get");

/** Path without the base path: /sites/{id} */
export const shortPath = (path: string): string => path.replace(basePath, "");

/** Singular of a plural word: `reply` for `replies`. */
export const singular = (plural: string): string =>
  plural.replace(/ies$/, "y").replace(/(?<!s)s$/, "");

export const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
export const camelCase = (words: string[]): string =>
  words.map((word, i) => (i ? capitalize(word) : word)).join("");
