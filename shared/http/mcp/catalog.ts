// The catalog of the MCP server: the operations of the API as tools, and the guides. The build
// makes it, so that the function of the server contains neither the route groups nor the files.

import type { Right } from "../../rights.ts";
import type { JsonSchema } from "../openapi/json-schemas.ts";
import type { AccessLevel, RouteMethod } from "../route.ts";

/** An operation that API keys may call. */
export interface McpOperation {
  /** Its id in the OpenAPI document: `createContact`. */
  name: string;
  /** The resource: `sending-configs`. */
  group: string;
  method: RouteMethod;
  /** `/api/v1/contacts/{id}` */
  path: string;
  /** The scope that an API key needs. */
  scope: string;
  /** The right that includes it. */
  right: Right | undefined;
  level: AccessLevel;
  summary: string;
  description: string;
  /** It changes nothing: a GET, or a preview. */
  isReadOnly: boolean;
  /** It can use up the emails of the plan, or credits. */
  isPaid: boolean;
  pathParameters: string[];
  queryParameters: string[];
  /** Content type of the body. Undefined if it takes none. */
  bodyType: "application/json" | "text/csv" | undefined;
  takesIdempotencyKey: boolean;
  /** An object with the parameters by name, and the body as `body`. */
  inputSchema: JsonSchema;
  /** Schema of `data`. Undefined for text. */
  returns: JsonSchema | undefined;
}

export interface McpGroup {
  name: string;
  description: string;
}

export interface McpGuide {
  /** `first-send` */
  name: string;
  title: string;
  /** Markdown. */
  text: string;
}

export interface McpCatalog {
  operations: McpOperation[];
  /** The groups of these operations. */
  groups: McpGroup[];
  guides: McpGuide[];
}
