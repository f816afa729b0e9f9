// The operations of the API as commands.

/** How the text of an option becomes a value. `list`: the option may be repeated. */
export type OptionKind = "text" | "number" | "boolean" | "list" | "numbers" | "json";

export interface OperationOption {
  /** Name in the API: `firstName`. */
  name: string;
  kind: OptionKind;
  description: string;
  required?: true;
  /** Whether the value can be `null`. */
  nullable?: true;
  /** The only values. */
  values?: string[];
}

export interface CliOperation {
  /** `sendingConfigs` */
  group: string;
  action: string;
  summary: string;
  description: string;
  /** The path parameters, which are arguments. */
  parameters: { name: string; kind: OptionKind }[];
  bodyOptions: OperationOption[];
  queryOptions: OperationOption[];
  takesBody: boolean;
  /** Whether the body is a file, which is the last argument. */
  takesFile: boolean;
  takesQuery: boolean;
  takesIdempotencyKey: boolean;
  isPublic: boolean;
  /** Field of a page that has the items, if it is a list. */
  itemsName?: string;
  hasPages: boolean;
}

/** A group of commands. */
export interface CliGroup {
  name: string;
  description: string;
}

/** In the package, all groups of the OpenAPI document. */
export const groups: CliGroup[] = [];
/** In the package, all operations of the OpenAPI document. */
export const operations: CliOperation[] = [];
