// Structured logs of ids, counts, route names and errors. Entries never contain an address, a body
// or a secret.
import { Logger } from "@aws-lambda-powertools/logger";
import { config } from "../config.ts";

export type LogFields = Record<string, string | number | boolean | undefined>;

export interface LogEntry {
  level: "info" | "warn" | "error";
  message: string;
  facts: LogFields;
  /** For level `error`. */
  error?: Error;
}

type Writer = (entry: LogEntry) => void;

let logger: Logger | undefined;

/** Writes each entry as one JSON line, for CloudWatch. */
const writeJson: Writer = ({ level, message, facts: fields, error }) => {
  logger ??= new Logger({ serviceName: "pennymail", logLevel: config.logLevel as "INFO" });
  logger[level](message, error ? { facts: fields, error } : { facts: fields });
};

let write = writeJson;

/** Replaces the writer. The local runner prints entries for people. */
export function writeLogWith(writer: Writer): void {
  write = writer;
}

export const info = (message: string, fields: LogFields): void =>
  write({ level: "info", message, facts: fields });

/** Logs a state that is not an error but that an operator should change. */
export const warn = (message: string, fields: LogFields): void =>
  write({ level: "warn", message, facts: fields });

/** Logs an error with its stack. Its message must not contain addresses, bodies or secrets. */
export function error(message: string, thrown: unknown, fields: LogFields = {}): void {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  write({ level: "error", message, facts: fields, error });
}
