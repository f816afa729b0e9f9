// Structured logs of ids, counts, route names and errors. Entries never contain an address, a body
// or a secret.
import { systemTime } from "../clock.ts";
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

const levels = ["DEBUG", "INFO", "WARN", "ERROR", "SILENT"];

/** Writes each entry as one JSON line, for CloudWatch. */
const writeJson: Writer = ({ level, message, facts, error }) => {
  const name = level.toUpperCase();
  if (levels.indexOf(name) < levels.indexOf(config.logLevel)) return;
  const entry = {
    level: name,
    message,
    timestamp: systemTime().toISOString(),
    service: "pennymail",
    facts,
    ...(error && { error: toPlainError(error) }),
  };
  const line = `${JSON.stringify(entry)}\n`;
  if (level === "info") writeWithTurn(line);
  else process.stderr.write(line);
};

/** Lines of many requests that continue in the same turn are one system call. */
function writeWithTurn(line: string): void {
  const { stdout } = process;
  if (!stdout.writableCorked) {
    stdout.cork();
    process.nextTick(() => stdout.uncork());
  }
  stdout.write(line);
}

const toPlainError = ({ name, message, stack, cause }: Error): object => ({
  name,
  message,
  stack,
  ...(cause instanceof Error && { cause: toPlainError(cause) }),
});

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
