import type { Operation, Parameter } from "../openapi.ts";
import type { Schema } from "../schemas.ts";

/** A line for the shell that calls this endpoint. `$KEY` holds the API key, the file `jar` the session cookie. */
export function curl(baseUrl: string, method: string, path: string, operation: Operation, parameters: Parameter[]): string {
  const parts = [
    `curl ${methodFlag(method, operation)}${quoted(baseUrl + filled(path, parameters) + required(parameters))}`,
    ...credential(operation),
    ...bodyOf(operation),
  ];
  return parts.join(" \\\n  ");
}

// curl posts whenever there is a body.
function methodFlag(method: string, operation: Operation): string {
  const implied = operation.requestBody ? "POST" : "GET";
  return method === implied ? "" : `-X ${method} `;
}

const exampleOf = (parameters: Parameter[], place: Parameter["in"], asked: string): string =>
  encodeURIComponent(String(parameters.find(({ in: where, name }) => where === place && name === asked)?.example ?? 1));

const filled = (path: string, parameters: Parameter[]): string =>
  path.replace(/{(\w+)}/g, (_, name: string) => exampleOf(parameters, "path", name).replace("%40", "@"));

const required = (parameters: Parameter[]): string => {
  const needed = parameters
    .filter((one) => one.in === "query" && one.required)
    .map(({ name }) => `${name}=${exampleOf(parameters, "query", name)}`);
  return needed.length ? `?${needed.join("&")}` : "";
};

function credential({ security, operationId }: Operation): string[] {
  if (security.some(({ apiKey }) => apiKey)) return ['-H "Authorization: Bearer $KEY"'];
  if (security.length) return ["-b jar"];
  // What sets the cookie is called to keep it.
  return /^auth(Login|Signup)$/.test(operationId) ? ["-c jar"] : [];
}

/** As the content type that is named first has it. */
function bodyOf({ requestBody }: Operation): string[] {
  const [first] = Object.entries(requestBody?.content ?? {});
  if (!first) return [];
  const [type, { schema, example }] = first;
  const form = typeof example === "object" && forms[type];
  if (form) return form(Object.entries(example as object), schema);
  const body = example === undefined ? "--data-binary @events" : `-d ${quoted(JSON.stringify(example, null, 2))}`;
  return [`-H "Content-Type: ${type}"`, body];
}

type Form = (fields: [string, unknown][], schema: Schema) => string[];
const forms: Record<string, Form | undefined> = {
  "application/x-www-form-urlencoded": (fields) =>
    fields.length ? fields.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`) : ["-d ''"],
  "multipart/form-data": (fields, { properties = {} }) =>
    fields.map(([name, value]) => `-F ${quoted(`${name}=${properties[name]?.format === "binary" ? "@" : ""}${value}`)}`),
};

/** For a POSIX shell. */
const quoted = (word: string): string => (/^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
