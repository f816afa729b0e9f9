// The names of an operation, all from its method and path: the id, the tag, and the method of the
// SDK. The OpenAPI document and the generators of the clients read them here.
import { camelCase, capitalize, operationId, shortPath, singular } from "./operation-id.ts";
import { resourceOfPath } from "./resources.ts";
import type { Route } from "./route.ts";

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

/** `listCampaignVariants` of the group `campaigns` is `listVariants`. */
function withoutNoun(id: string, group: string): string {
  const plural = capitalize(group);
  const [, verb, rest = ""] =
    new RegExp(`^([a-z]+)(?:${plural}|${singular(plural)})(?![a-z])(.*)$`).exec(id) ?? [];
  return verb ? verb + rest : id;
}
