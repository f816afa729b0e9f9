import * as z from "zod";
import { basePath, type Route } from "../route.ts";

/**
 * Verb and noun, as a method name of generated clients: `listSites`, `getSite`, `createSite`,
 * `cancelSend`. A route that this rule names badly gives its own.
 */
export function operationId({ method, path, status, returns, operationId }: Route): string {
  if (operationId) return operationId;
  const segments = path.replace(basePath, "").slice(1).split("/");
  const names = segments.flatMap((segment, i) =>
    isParameter(segment) ? [] : [segmentName(segment, isParameter(segments[i + 1]))],
  );
  const last = names.at(-1) ?? "";
  if (method !== "POST") return camel([verb(method, returns, last), ...names]);
  if (status === 201) return camel(["create", ...names.slice(0, -1), singular(last)]);
  // An action on one record: POST /sends/{id}/cancel is cancelSend.
  return camel([last, ...names.slice(0, -1)]);
}

const isParameter = (segment: string | undefined): boolean => segment?.startsWith("{") ?? false;

const segmentName = (segment: string, isSingular: boolean): string => {
  const name = camel(segment.split(/[^A-Za-z0-9]+/));
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

export const singular = (plural: string): string =>
  plural.replace(/ies$/, "y").replace(/(?<!s)s$/, "");
const camel = (words: string[]): string =>
  words.map((word, i) => (i ? word.charAt(0).toUpperCase() + word.slice(1) : word)).join("");
