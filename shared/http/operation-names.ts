// The names of an operation, all from its method and path: the id, the tag, and the method of the
// SDK. The OpenAPI document and the generators of the clients read them here.
import * as z from "zod";
import { resourceOfPath, singular } from "./resources.ts";
import { basePath, type Route } from "./route.ts";

export interface OperationNames {
  /** Verb and noun, unique: `createSendingConfig`. */
  operationId: string;
  /** The resource: `sending-configs`. See resources.ts. */
  tag: string;
  /** The resource in camel case: `sendingConfigs`. */
  group: string;
  /** The id without the noun of the resource: `create`. Unique in its group. */
  action: string;
}

/** `sendingConfigs.create`, `contacts.applyTag`, `emails.send` are `group.action` in the SDK. */
export function operationNames(route: Route): OperationNames {
  const id = operationId(route);
  const tag = resourceOfPath(shortPath(route.path));
  const group = camelCase(tag.split("-"));
  return { operationId: id, tag, group, action: withoutNoun(id, group) };
}

/** Path without the base path: /sites/{id} */
export const shortPath = (path: string): string => path.replace(basePath, "");

/** `listCampaignVariants` of the group `campaigns` is `listVariants`. */
function withoutNoun(id: string, group: string): string {
  const plural = capitalize(group);
  const [, verb, rest = ""] =
    new RegExp(`^([a-z]+)(?:${plural}|${singular(plural)})(?![a-z])(.*)$`).exec(id) ?? [];
  return verb ? verb + rest : id;
}

/**
 * `listSites`, `getSite`, `createSite`, `updateSite`, `deleteSite`, and for an action on one
 * record `cancelSend`. A route that this rule names badly gives its own id.
 */
function operationId({ method, path, status, returns, operationId }: Route): string {
  if (operationId) return operationId;
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

export const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const camelCase = (words: string[]): string =>
  words.map((word, i) => (i ? capitalize(word) : word)).join("");
