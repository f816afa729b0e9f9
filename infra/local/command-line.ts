// The command line of the npm scripts: --help, unknown options, and errors in one sentence.
import { realpathSync } from "node:fs";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { CliError } from "./cli-error.ts";

type Values<O extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: O; allowPositionals: true }>
>["values"];

interface Command<O extends ParseArgsOptionsConfig> {
  /** The first line shows the call; further lines explain. */
  usage: string;
  options?: O;
  /** The fewest and the most positional arguments. */
  words?: [number, number];
  run(args: { values: Values<O>; words: string[] }): Promise<unknown>;
}

/** Runs a command with the arguments of this process. Prints errors and then exits with code 1. */
export async function runCommand<O extends ParseArgsOptionsConfig>({
  usage,
  options,
  words,
  run,
}: Command<O>): Promise<void> {
  if (printsHelp(usage)) return;
  try {
    await run(parse(options ?? ({} as O), words ?? [0, 0], usage));
  } catch (error) {
    console.error(error instanceof CliError ? error.message : error);
    process.exitCode = 1;
  }
}

/** Whether Node.js was started with this module. `import.meta.main` needs Node 24.2. */
export const isMainModule = ({ filename }: ImportMeta): boolean =>
  filename === realpathSync(process.argv[1] ?? "");

/** Prints the usage if --help is given, and returns whether it did. */
export function printsHelp(usage: string): boolean {
  const args = process.argv.slice(2);
  const wantsHelp = args.includes("--help") || args.includes("-h");
  if (wantsHelp) console.log(`Usage: ${usage}`);
  return wantsHelp;
}

function parse<O extends ParseArgsOptionsConfig>(
  options: O,
  [fewest, most]: [number, number],
  usage: string,
) {
  const { values, positionals } = parseOptions(options, usage);
  const count = positionals.length;
  if (count > most)
    throw misused(`Unexpected argument: ${positionals.slice(most).join(" ")}`, usage);
  if (count < fewest) throw misused("An argument is missing", usage);
  return { values, words: positionals };
}

function parseOptions<O extends ParseArgsOptionsConfig>(options: O, usage: string) {
  try {
    return parseArgs({ args: process.argv.slice(2), options, allowPositionals: true });
  } catch (error) {
    throw misused((error as Error).message.split(/\.? To specify/)[0]!, usage);
  }
}

/** The error for a wrong call, with the usage. */
export const misused = (why: string, usage: string): CliError =>
  new CliError(`${why}\nUsage: ${usage}`);
