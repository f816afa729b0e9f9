// The fields of the action node: a resource, its operations, and the fields of each operation.
import type { CliGroup, CliOperation, OperationOption, OptionKind } from "../cli/operations.ts";
import { type OperationTable, parseOperation } from "../sdk/operation.ts";
import type { DisplayOptions, NodeOption, NodeProperty, Routing } from "./n8n-types.ts";
import {
  addJsonToBody,
  fillPath,
  joinQueryField,
  parseBodyField,
  readPages,
  refuseErrors,
  toItems,
} from "./requests.ts";

interface Operations {
  groups: CliGroup[];
  operations: CliOperation[];
  table: OperationTable;
}

export function createProperties({ groups, operations, table }: Operations): NodeProperty[] {
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  const resource: NodeProperty = {
    displayName: "Resource",
    name: "resource",
    type: "options",
    noDataExpression: true,
    default: "emails",
    options: groups
      .map(({ name, description }) => ({ name: toTitle(name), value: name, description }))
      .toSorted(byName),
  };
  const choices = groups.map(({ name }) => {
    const members = operations.filter(({ group }) => group === name);
    const options = members.map((operation) => toChoice(operation, table)).toSorted(byName);
    return toChoiceField(name, options, members[0]!.action);
  });
  return [resource, ...choices, ...operations.flatMap(toFields)];
}

const toChoiceField = (group: string, options: NodeOption[], first: string): NodeProperty => ({
  displayName: "Operation",
  name: "operation",
  type: "options",
  noDataExpression: true,
  displayOptions: { show: { resource: [group] } },
  default: first,
  options,
});

function toChoice(operation: CliOperation, table: OperationTable): NodeOption {
  const { group, action, summary, description, itemsName, hasPages } = operation;
  const { method, path, parameters } = parseOperation(action, table[group]![action]!);
  const [sentence = ""] = description.split("\n");
  const routing: Routing = {
    request: { method, url: path },
    send: { preSend: [fillPath(parameters)] },
    output: { postReceive: [refuseErrors, toItems(itemsName)] },
  };
  return {
    name: toTitle(action),
    value: action,
    action: summary,
    description: sentence.startsWith("Authentication:") ? summary : sentence,
    routing: hasPages ? toPagedRouting(routing, itemsName!) : routing,
  };
}

/** The function that reads the pages makes the items. */
const toPagedRouting = ({ request, send }: Routing, itemsName: string): Routing => ({
  ...(request && { request }),
  send: { ...send, paginate: true },
  output: { postReceive: [refuseErrors] },
  operations: { pagination: readPages(itemsName) },
});

/** The collection with the fields that an operation does not require. */
const collection = "additionalFields";
/** The node reads the pages itself. */
const pagingNames = ["page", "limit", "cursor"];

function toFields(operation: CliOperation): NodeProperty[] {
  const { group, action, parameters, hasPages } = operation;
  const displayOptions = { show: { resource: [group], operation: [action] } };
  const { required = [], optional = [] } = readOptions(operation);
  const fields: NodeProperty[] = [
    ...parameters.map(({ name, kind }) => pathField(name, kind)),
    ...required,
    ...(hasPages ? pagingFields(displayOptions) : []),
    ...collectionField([...optional, ...generalFields(operation)]),
  ];
  checkNames(operation, fields);
  return fields.map((field) => ({ displayOptions, ...field }));
}

function readOptions({ bodyOptions, queryOptions, hasPages }: CliOperation) {
  const inBody = new Set(bodyOptions.map(({ name }) => name));
  const isOmitted = ({ name, values }: OperationOption): boolean =>
    inBody.has(name) ||
    (hasPages && pagingNames.includes(name)) ||
    Boolean(name === "format" && values?.includes("csv"));
  const fields = [
    ...bodyOptions.map((option) => toField(option, "body")),
    ...queryOptions.filter((one) => !isOmitted(one)).map((option) => toField(option, "query")),
  ];
  return Object.groupBy(fields, ({ required }) => (required ? "required" : "optional"));
}

const pathField = (name: string, kind: OptionKind): NodeProperty => ({
  displayName: toTitle(name),
  name,
  type: kind === "number" ? "number" : "string",
  default: "",
  required: true,
});

const pagingFields = ({ show }: DisplayOptions): NodeProperty[] => [
  {
    displayName: "Return All",
    name: "returnAll",
    type: "boolean",
    default: false,
    description: "Whether to return all results or only up to a given limit",
  },
  {
    displayName: "Limit",
    name: "limit",
    type: "number",
    typeOptions: { minValue: 1 },
    default: 50,
    description: "Max number of results to return",
    displayOptions: { show: { ...show, returnAll: [false] } },
  },
];

/** Fields of the collection that are no field of the operation. */
function generalFields({ takesIdempotencyKey, bodyOptions }: CliOperation): NodeProperty[] {
  const body: NodeProperty = {
    displayName: "Body (JSON)",
    name: "json",
    type: "json",
    default: "{}",
    description: "Further fields of the body, in place of those above, also with null as the value",
    routing: { send: { preSend: [addJsonToBody(`${collection}.json`)] } },
  };
  const key: NodeProperty = {
    displayName: "Idempotency Key",
    name: "idempotencyKey",
    type: "string",
    default: "",
    description:
      "Within 24 hours, the same request with the same key is done once. " +
      "Give one if the node retries on fail.",
    routing: { request: { headers: { "Idempotency-Key": "={{ $value }}" } } },
  };
  return [...(bodyOptions.length ? [body] : []), ...(takesIdempotencyKey ? [key] : [])];
}

const collectionField = (options: NodeProperty[]): NodeProperty[] =>
  options.length
    ? [
        {
          displayName: "Additional Fields",
          name: collection,
          type: "collection",
          placeholder: "Add Field",
          default: {},
          options,
        },
      ]
    : [];

const defaults: Record<OptionKind, unknown> = {
  text: "",
  number: "",
  boolean: false,
  list: "",
  numbers: "",
  json: "{}",
};
const types: Partial<Record<OptionKind, string>> = {
  number: "number",
  boolean: "boolean",
  json: "json",
};
const hints: Partial<Record<OptionKind, string>> = {
  list: " Separate several by commas, or give an array by an expression.",
  numbers: " Separate several by commas, or give an array by an expression.",
};

function toField(option: OperationOption, type: "body" | "query"): NodeProperty {
  const { name, kind, description, required, values } = option;
  const isConverted = kind === "list" || kind === "numbers" || kind === "json";
  const convert = type === "body" ? parseBodyField(name, kind) : joinQueryField(name);
  const field: NodeProperty = {
    displayName: toTitle(name),
    name,
    type: types[kind] ?? "string",
    default: defaults[kind],
    description: description + (hints[kind] ?? ""),
    ...(required && { required }),
    routing: { send: { type, property: name, ...(isConverted && { preSend: [convert] }) } },
  };
  if (!values || kind !== "text") return field;
  const options = values.map((value) => ({ name: toTitle(value), value }));
  return { ...field, type: "options", default: values[0], options };
}

/** Fields that each operation has. */
const commonNames = ["resource", "operation", "requestOptions"];

function checkNames({ group, action }: CliOperation, fields: NodeProperty[]): void {
  const names = [...commonNames, ...fields.map(({ name }) => name)];
  const repeated = names.find((name, i) => names.indexOf(name) < i);
  if (repeated) throw new Error(`${group} ${action} has a second field ${repeated}`);
}

/** `sendingConfigs` and `sending_config` are "Sending Configs" and "Sending Config". */
const toTitle = (name: string): string =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .split(/[\s_.-]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");
