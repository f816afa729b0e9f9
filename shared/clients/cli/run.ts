// The command line `pennymail`.
import type { Command } from "./command.ts";
import { commands } from "./command-list.ts";
import { completeLine } from "./completion.ts";
import { CommandError, errorToJson, exitCodeOf, exitCodes, explainError } from "./exit-codes.ts";
import { argumentNames, commandHelp, generalHelp, groupHelp, operationHelp } from "./help.ts";
import { findMainOperation, findOperation, kebabCase, operationsOf } from "./names.ts";
import { parserOptions } from "./operation-options.ts";
import type { CliOperation } from "./operations.ts";
import { parseArguments } from "./parse-arguments.ts";
import { runOperation } from "./run-operation.ts";
import type { Terminal } from "./terminal.ts";
import { version } from "./version.ts";

/** Runs a command. Prints errors, and returns the exit code. */
export async function runCli(args: string[], terminal: Terminal): Promise<number> {
  try {
    await dispatch(args, terminal);
    return exitCodes.done;
  } catch (error) {
    const text = args.includes("--json") ? JSON.stringify(errorToJson(error)) : explainError(error);
    terminal.writeError(`${text}\n`);
    return exitCodeOf(error);
  }
}

async function dispatch(args: string[], terminal: Terminal): Promise<void> {
  const [first = "--help", ...rest] = args;
  if (/^(--help|-h|help)$/.test(first)) return terminal.write(generalHelp(commands));
  if (/^(--version|-v)$/.test(first)) return terminal.write(`${version}\n`);
  if (first === "completion" && rest[0] === "words") return printCompletions(terminal);
  const name = kebabCase(first);
  const command = commands[name];
  if (command) return runCommand(command, rest, terminal);
  const main = findMainOperation(name);
  if (main) return runApiCommand(main, rest, terminal);
  if (!operationsOf(name).length)
    throw new CommandError(`There is no command ${first}: \`pennymail --help\` lists all`);
  const [action = "--help", ...further] = rest;
  if (/^(--help|-h)$/.test(action)) return terminal.write(groupHelp(name));
  const operation = findOperation(name, kebabCase(action));
  if (!operation)
    throw new CommandError(
      `${name} has no action ${action}: \`pennymail ${name} --help\` lists all`,
    );
  return runApiCommand(operation, further, terminal);
}

async function runCommand(command: Command, args: string[], terminal: Terminal): Promise<void> {
  const parsed = parseArguments(args, command.options ?? {}, command.words ?? [0, 0]);
  if (parsed.values.help) return terminal.write(commandHelp(command));
  return command.run({ ...parsed, terminal });
}

async function runApiCommand(
  operation: CliOperation,
  args: string[],
  terminal: Terminal,
): Promise<void> {
  const count = argumentNames(operation).length;
  const parsed = parseArguments(args, parserOptions(operation), [count, count]);
  if (parsed.values.help) return terminal.write(operationHelp(operation));
  return runOperation(operation, { ...parsed, terminal });
}

/** The line up to the cursor is in the environment. */
function printCompletions(terminal: Terminal): void {
  const { COMP_LINE = "", COMP_POINT = COMP_LINE.length } = process.env;
  const words = completeLine(COMP_LINE.slice(0, Number(COMP_POINT)), commands);
  terminal.write(words.map((word) => `${word}\n`).join(""));
}
