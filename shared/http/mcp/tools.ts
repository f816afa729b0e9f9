// The tools: four that reach all operations, and on request one for each operation of a group.
import type { Caller } from "../../caller.ts";
import { isObject } from "../../kernel/json.ts";
import { permits } from "../../rights.ts";
import type { ForwardedClient } from "../forwarded-client.ts";
import type { JsonSchema } from "../openapi/json-schemas.ts";
import { approvalRules } from "./approval-rules.ts";
import { requestApproval } from "./approvals.ts";
import { type CallApi, createApiCaller, type OperationArguments } from "./call-api.ts";
import type { McpCatalog, McpOperation } from "./catalog.ts";
import { findOperations } from "./find-operations.ts";
import { ToolFailure } from "./tool-failure.ts";
import { failureResult, jsonResult, type ToolResult, toResult } from "./tool-results.ts";

export interface ToolContext {
  catalog: McpCatalog;
  caller: Caller;
  /** The header of the caller, with the API key. */
  authorization: string;
  client: ForwardedClient;
  /** Groups whose operations are tools of their own. */
  groups: string[];
}

interface ToolDefinition {
  name: string;
  title: string;
  description: string;
  inputSchema: { type: "object"; [keyword: string]: unknown };
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
}

interface Tool extends ToolDefinition {
  run(args: Record<string, unknown>): Promise<ToolResult>;
}

export interface Tools {
  list(): ToolDefinition[];
  /** Undefined if there is no such tool. */
  call(name: string, args: Record<string, unknown>): Promise<ToolResult> | undefined;
}

export function createTools(context: ToolContext): Tools {
  const { catalog, groups } = context;
  const runner = { ...context, callApi: createApiCaller(context) };
  const tools = new Map(
    [
      ...commonTools(runner),
      ...catalog.operations
        .filter(({ group }) => groups.includes(group))
        .map((operation) => operationTool(runner, operation)),
    ].map((tool) => [tool.name, tool]),
  );
  return {
    list: () => [...tools.values()].map(({ run, ...definition }) => definition),
    call: (name, args) => tools.get(name)?.run(args).catch(failureResult),
  };
}

interface Runner extends ToolContext {
  callApi: CallApi;
}

const commonTools = (runner: Runner): Tool[] => [
  findTool(runner),
  describeTool(runner),
  readTool(runner),
  changeTool(runner),
];

const readOnly = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

const operationName: JsonSchema = {
  type: "string",
  maxLength: 100,
  description: "Name of the operation, as find_operations returns it.",
};
const operationArguments: JsonSchema = {
  type: "object",
  description: "Arguments of the operation, as describe_operation explains them.",
};
const fromCharacter: JsonSchema = {
  type: "integer",
  minimum: 0,
  description: "Continues a result that was too long. Takes the number that it named.",
};
const approvalToken: JsonSchema = {
  type: "string",
  maxLength: 1000,
  description:
    "Token of the preview that the same call without it returned. Give it only after the user " +
    "has seen the preview and agreed.",
};

const objectSchema = (properties: Record<string, JsonSchema>, required: string[]) => ({
  type: "object" as const,
  properties,
  required,
  additionalProperties: false,
});

const findTool = ({ catalog, caller }: Runner): Tool => ({
  name: "find_operations",
  title: "Find operations",
  description:
    "Finds operations of Pennymail by words, such as `schedule campaign`. Without words, lists " +
    `those of a group. Groups: ${catalog.groups.map(({ name }) => name).join(", ")}.`,
  inputSchema: objectSchema(
    {
      words: { type: "string", maxLength: 200, description: "What you want to do." },
      group: { type: "string", maxLength: 50, description: "Only operations of this group." },
    },
    [],
  ),
  annotations: readOnly,
  run: async ({ words = "", group }) => {
    const known = catalog.groups.map(({ name }) => name);
    if (group !== undefined && !known.some((name) => name === group))
      throw new ToolFailure("not_found", `There is no group ${String(group).slice(0, 50)}`, {
        remedy: `The groups are ${known.join(", ")}.`,
      });
    const operations = catalog.operations.filter(
      (operation) =>
        mayCall(caller, operation) && (group === undefined || operation.group === group),
    );
    const text = String(words).slice(0, 200);
    const found = text.trim() || !group ? findOperations(operations, text) : operations;
    return jsonResult({
      operations: found.map(({ name, group: resource, summary, isReadOnly }) => ({
        operation: name,
        group: resource,
        summary,
        tool: isReadOnly ? "read" : "change",
      })),
      ...(!found.length && { groups: catalog.groups }),
    });
  },
});

/** Whether the API key may call the operation, as far as its scopes and its site decide. */
const mayCall = ({ scopes, siteIds }: Caller, operation: McpOperation): boolean =>
  permits(scopes, operation) && (!siteIds || operation.level === "site");

const describeTool = ({ catalog }: Runner): Tool => ({
  name: "describe_operation",
  title: "Describe an operation",
  description: "Returns the arguments and the result of an operation as JSON Schema.",
  inputSchema: objectSchema({ operation: operationName, fromCharacter }, ["operation"]),
  annotations: readOnly,
  run: async (args) => {
    const operation = findOperation(catalog, args.operation);
    const { name, summary, isReadOnly, scope, inputSchema, returns } = operation;
    const description = {
      operation: name,
      summary,
      description: describe(operation),
      tool: isReadOnly ? "read" : "change",
      scope,
      arguments: inputSchema,
      returns: returns ?? "CSV",
    };
    return toResult(JSON.stringify(description), { from: positionOf(args), hint: continueHint });
  },
});

const approvalNote =
  "If it mails more than 10 people, it first returns a preview with an approvalToken, and does " +
  "nothing.";

const describe = ({ name, description }: McpOperation): string =>
  [description, approvalRules[name] && approvalNote].filter(Boolean).join(" ");

const readTool = (runner: Runner): Tool => ({
  name: "read",
  title: "Read",
  description:
    "Calls an operation that changes nothing. Lists return 20 items: pass " +
    "`pagination.nextCursor` as the argument `cursor` for the next ones.",
  inputSchema: objectSchema(
    { operation: operationName, arguments: operationArguments, fromCharacter },
    ["operation"],
  ),
  annotations: readOnly,
  run: async (args) => {
    const operation = findOperation(runner.catalog, args.operation);
    if (!operation.isReadOnly)
      throw new ToolFailure("not_read_only", `${operation.name} changes something`, {
        remedy: "Use the tool `change`.",
      });
    return runRead(runner, operation, { ...args, arguments: argumentsOf(args.arguments) });
  },
});

const changeTool = (runner: Runner): Tool => ({
  name: "change",
  title: "Change",
  description:
    "Calls an operation that creates, changes, sends or deletes something. A call that mails " +
    "more than 10 people first returns a preview with an approvalToken, and does nothing.",
  inputSchema: objectSchema(
    { operation: operationName, arguments: operationArguments, approvalToken },
    ["operation"],
  ),
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  },
  run: async (args) => {
    const operation = findOperation(runner.catalog, args.operation);
    return runChange(runner, operation, { ...args, arguments: argumentsOf(args.arguments) });
  },
});

/** One operation as a tool. Its arguments are those of the operation. */
function operationTool(runner: Runner, operation: McpOperation): Tool {
  const { name, summary, method, isReadOnly, isPaid, inputSchema } = operation;
  const needsApproval = approvalRules[name] !== undefined;
  const ownArguments = {
    ...(isReadOnly && { fromCharacter }),
    ...(needsApproval && { approvalToken }),
  };
  return {
    name,
    title: summary,
    description: `${summary}. ${describe(operation)}`.trim(),
    inputSchema: {
      ...inputSchema,
      type: "object",
      properties: { ...inputSchema.properties, ...ownArguments },
    },
    annotations: isReadOnly
      ? readOnly
      : {
          readOnlyHint: false,
          destructiveHint: method !== "POST" || needsApproval,
          idempotentHint: method !== "POST",
          openWorldHint: isPaid || needsApproval,
        },
    run: ({ fromCharacter: from, approvalToken: token, ...args }) =>
      isReadOnly
        ? runRead(runner, operation, { arguments: args, fromCharacter: from })
        : runChange(runner, operation, { arguments: args, approvalToken: token }),
  };
}

function findOperation({ operations }: McpCatalog, name: unknown): McpOperation {
  const found = operations.find((operation) => operation.name === name);
  if (found) return found;
  throw new ToolFailure("not_found", `There is no operation ${String(name).slice(0, 100)}`, {
    remedy: "Use find_operations.",
  });
}

/** Some models write the arguments as JSON text. */
function argumentsOf(value: unknown): OperationArguments {
  const args = typeof value === "string" ? parse(value) : (value ?? {});
  if (isObject(args)) return args;
  throw new ToolFailure("validation_failed", "`arguments` must be an object");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface OperationCall {
  arguments: OperationArguments;
  fromCharacter?: unknown;
  approvalToken?: unknown;
}

const continueHint = "Repeat the call with fromCharacter: NEXT for the rest.";

const positionOf = ({ fromCharacter: from = 0 }: { fromCharacter?: unknown }): number => {
  if (Number.isSafeInteger(from) && Number(from) >= 0) return Number(from);
  throw new ToolFailure("validation_failed", "`fromCharacter` must be a whole number from 0");
};

async function runRead(
  { callApi }: Runner,
  operation: McpOperation,
  call: OperationCall,
): Promise<ToolResult> {
  const from = positionOf(call);
  return toResult(await callApi(operation, call.arguments), { from, hint: continueHint });
}

async function runChange(
  { catalog, caller, callApi }: Runner,
  operation: McpOperation,
  { arguments: args, approvalToken: token }: OperationCall,
): Promise<ToolResult> {
  if (token !== undefined && typeof token !== "string")
    throw new ToolFailure("validation_failed", "`approvalToken` must be a text");
  const read = async (name: string, readArguments: OperationArguments): Promise<unknown> =>
    JSON.parse(await callApi(findOperation(catalog, name), readArguments)).data;
  const approval = await requestApproval({ caller, operation, args, token }, read);
  if (approval.preview) return jsonResult(approval.preview);
  const { idempotencyKey } = operation.takesIdempotencyKey ? approval : {};
  return toResult(
    await callApi(operation, { ...(idempotencyKey && { idempotencyKey }), ...args }),
    {
      from: 0,
      hint: "The change is made. Read the record for the rest.",
    },
  );
}
