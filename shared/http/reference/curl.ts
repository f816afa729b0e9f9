import type { Operation, Parameter } from "../openapi.ts";

/** A line for the shell that calls this endpoint. `$KEY` holds the API key, the file `jar` the session cookie. */
export function curl(baseUrl: string, method: string, path: string, operation: Operation, parameters: Parameter[]): string {
  const parts = [
    `curl ${methodFlag(method, operation)}${quoted(baseUrl + filled(path) + required(parameters))}`,
    ...credential(operation),
    ...bodyOf(operation),
  ];
  return parts.join(" \\\n  ");
}

const json = ({ requestBody }: Operation) => requestBody?.content["application/json"];
const exampleOf = (operation: Operation): unknown => json(operation)?.example;

// curl posts whenever there is a body.
function methodFlag(method: string, operation: Operation): string {
  const implied = operation.requestBody ? "POST" : "GET";
  return method === implied ? "" : `-X ${method} `;
}

const filled = (path: string): string =>
  path.replace(/{(\w+)}/g, (_, name: string) => (/^id$|Id$/.test(name) ? "1" : (text[name] ?? name)));
const text: Record<string, string | undefined> = { email: "ada@example.com" };

const required = (parameters: Parameter[]): string => {
  const needed = parameters.filter((one) => one.in === "query" && one.required).map(({ name }) => `${name}=1`);
  return needed.length ? `?${needed.join("&")}` : "";
};

function credential({ security, operationId }: Operation): string[] {
  if (security.some(({ apiKey }) => apiKey)) return ['-H "Authorization: Bearer $KEY"'];
  if (security.length) return ["-b jar"];
  // What sets the cookie is called to keep it.
  return /^auth(Login|Signup)$/.test(operationId) ? ["-c jar"] : [];
}

function bodyOf(operation: Operation): string[] {
  const example = exampleOf(operation);
  if (example !== undefined) return ['-H "Content-Type: application/json"', `-d ${quoted(JSON.stringify(example, null, 2))}`];
  const types = Object.keys(operation.requestBody?.content ?? {});
  const [type] = types.filter((one) => one !== "application/json").concat(types);
  return type ? [`-H "Content-Type: ${type}"`, `--data-binary @file${type === "text/csv" ? ".csv" : ""}`] : [];
}

/** For a POSIX shell. */
const quoted = (word: string): string => (/^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
