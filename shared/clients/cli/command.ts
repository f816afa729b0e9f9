import type { ParseArgsOptionsConfig } from "node:util";
import type { Terminal } from "./terminal.ts";

export interface CommandInput {
  terminal: Terminal;
  /** The values of the options by their names on the command line. */
  values: Record<string, string | boolean | (string | boolean)[] | undefined>;
  words: string[];
}

/** A command that is no operation of the API. */
export interface Command {
  /** What follows `pennymail`: `import FILE [options]`. */
  usage: string;
  summary: string;
  description?: string;
  options?: ParseArgsOptionsConfig;
  /** Explanations of the options, by name. */
  optionTexts?: Record<string, string>;
  /** The fewest and the most arguments. */
  words?: [number, number];
  run(input: CommandInput): Promise<void>;
}

export const textOf = (value: CommandInput["values"][string]): string | undefined =>
  typeof value === "string" ? value : undefined;
