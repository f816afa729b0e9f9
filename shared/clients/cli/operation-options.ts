// Options of the command line become values of the API.
import { readFileSync } from "node:fs";
import type { ParseArgsOptionsConfig } from "node:util";
import type { CommandInput } from "./command.ts";
import { CommandError } from "./exit-codes.ts";
import { kebabCase } from "./names.ts";
import type { CliOperation, OperationOption, OptionKind } from "./operations.ts";

type Values = CommandInput["values"];

/** Body and query have some fields in common. */
export const optionsOf = ({ bodyOptions, queryOptions, takesFile }: CliOperation) => {
  const names = new Set(queryOptions.map(({ name }) => name));
  return [
    ...queryOptions,
    ...(takesFile ? [] : bodyOptions.filter(({ name }) => !names.has(name))),
  ];
};

export function parserOptions(operation: CliOperation): ParseArgsOptionsConfig {
  return {
    ...fieldParserOptions(optionsOf(operation)),
    ...(takesData(operation) && { data: { type: "string" } }),
    ...(operation.hasPages && { all: { type: "boolean" } }),
    ...(operation.takesIdempotencyKey && { "idempotency-key": { type: "string" } }),
  };
}

/** `--secure` has `--no-secure`. */
export function fieldParserOptions(fields: OperationOption[]): ParseArgsOptionsConfig {
  const options = fields.flatMap(({ name, kind }) => {
    const type = kind === "boolean" ? ("boolean" as const) : ("string" as const);
    const multiple = kind === "list" || kind === "numbers";
    const option = [kebabCase(name), { type, multiple }] as const;
    return kind === "boolean" ? [option, [`no-${kebabCase(name)}`, { type }] as const] : [option];
  });
  return Object.fromEntries(options);
}

/** `--data`: the whole body as JSON. */
export const takesData = ({ takesBody, takesFile }: CliOperation): boolean =>
  takesBody && !takesFile;

/** The body: `--data`, with the options in place of its fields. Undefined if nothing is given. */
export function readBody(operation: CliOperation, values: Values): object | undefined {
  const { data } = values;
  const base = typeof data === "string" ? readData(data) : undefined;
  const fields = readFields(operation.bodyOptions, values);
  if (!base && !Object.keys(fields).length)
    return operation.bodyOptions.some(({ required }) => required) ? {} : undefined;
  return { ...base, ...fields };
}

/** Throws CommandError if a required option is missing and there is no `--data`. */
export function checkRequired(operation: CliOperation, values: Values): void {
  if (values.data !== undefined) return;
  const missing = optionsOf(operation).filter(
    ({ name, required }) => required && values[kebabCase(name)] === undefined,
  );
  if (!missing.length) return;
  const names = missing.map(({ name }) => `--${kebabCase(name)}`).join(", ");
  throw new CommandError(
    `${missing.length === 1 ? "An option is" : "Options are"} missing: ${names}`,
  );
}

/** JSON, `@file.json`, or `-` for the standard input. */
function readData(text: string): object {
  const json = text.startsWith("@") || text === "-" ? readText(text.replace("@", "")) : text;
  const data = parseJson(json, "--data");
  if (typeof data !== "object" || data === null || Array.isArray(data))
    throw new CommandError("--data must be a JSON object");
  return data;
}

/** Text of a file; `-` is the standard input. */
function readText(path: string): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

export function readFields(options: OperationOption[], values: Values): Record<string, unknown> {
  const given = options.flatMap((option) => {
    const value = readField(option, values);
    return value === undefined ? [] : [[option.name, value]];
  });
  return Object.fromEntries(given);
}

function readField({ name, kind, nullable, values: allowed }: OperationOption, values: Values) {
  const option = kebabCase(name);
  if (values[`no-${option}`] === true) return false;
  const value = values[option];
  if (value === undefined || typeof value === "boolean") return value;
  if (nullable && value === "null") return null;
  if (allowed && !allowed.includes(String(value)))
    throw new CommandError(`--${option} must be one of ${allowed.join(", ")}`);
  return converters[kind](value as never, `--${option}`);
}

const converters: Record<OptionKind, (value: never, option: string) => unknown> = {
  text: (value: string) => value,
  boolean: (value: string) => value,
  number: (value: string, option) => parseNumber(value, option),
  list: (values: string[]) => values,
  numbers: (values: string[], option) => values.map((value) => parseNumber(value, option)),
  json: (value: string, option) => parseJson(value, option),
};

export function parseNumber(text: string, name: string): number {
  const value = Number(text);
  if (!text.trim() || !Number.isFinite(value)) throw new CommandError(`${name} must be a number`);
  return value;
}

export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(`${name} must be JSON`);
  }
}
