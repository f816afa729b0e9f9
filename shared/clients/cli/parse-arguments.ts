import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import type { CommandInput } from "./command.ts";
import { CommandError } from "./exit-codes.ts";

type Parsed = Omit<CommandInput, "terminal">;

/** Options that every command takes. */
export const commonOptions = {
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const satisfies ParseArgsOptionsConfig;

/** Throws CommandError for an unknown option, a missing value and a wrong number of arguments. */
export function parseArguments(
  args: string[],
  options: ParseArgsOptionsConfig,
  [fewest, most]: [number, number],
): Parsed {
  const { values, positionals } = parse(args, { ...options, ...commonOptions });
  if (values.help) return { values: values as Parsed["values"], words: positionals };
  if (positionals.length > most)
    throw new CommandError(`Unexpected argument: ${positionals.slice(most).join(" ")}`);
  if (positionals.length < fewest) throw new CommandError("An argument is missing");
  return { values: values as Parsed["values"], words: positionals };
}

function parse(args: string[], options: ParseArgsOptionsConfig) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new CommandError((error as Error).message.split(/\.? To specify/)[0]!);
  }
}
