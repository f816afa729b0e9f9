// Completion for bash and zsh. Both call `pennymail completion words`, which reads the line from
// the environment, as bash's `complete -C` gives it.
import type { Command } from "./command.ts";
import { CommandError } from "./exit-codes.ts";
import {
  findMainOperation,
  findOperation,
  kebabCase,
  mainOperations,
  operationsOf,
} from "./names.ts";
import { parserOptions } from "./operation-options.ts";
import { groups } from "./operations.ts";
import { commonOptions } from "./parse-arguments.ts";

const bash = "complete -o default -C 'pennymail completion words' pennymail\n";
const scripts: Record<string, string> = {
  bash,
  zsh: `autoload -U +X bashcompinit && bashcompinit\n${bash}`,
};

export const completion: Command = {
  usage: "completion bash|zsh",
  summary: "Print the completion for a shell",
  description: 'Add it to ~/.bashrc or ~/.zshrc: eval "$(pennymail completion bash)".',
  words: [1, 1],
  run: async ({ terminal, words: [shell = ""] }) => {
    const script = scripts[shell];
    if (!script) throw new CommandError("The shell must be bash or zsh");
    terminal.write(script);
  },
};

/** The words that can complete the last word of a line. */
export function completeLine(line: string, commands: Record<string, Command>): string[] {
  const words = line.trimStart().split(/\s+/).slice(1);
  const last = words.at(-1) ?? "";
  return candidates(words.slice(0, -1), commands).filter((word) => word.startsWith(last));
}

function candidates([first, second, ...rest]: string[], commands: Record<string, Command>) {
  if (first === undefined)
    return [
      ...Object.keys(commands),
      ...mainOperations().map(({ action }) => kebabCase(action)),
      ...groups.map(({ name }) => kebabCase(name)),
    ];
  const command = commands[first];
  if (command) return optionNames(command.options);
  const main = findMainOperation(first);
  if (main) return optionNames(parserOptions(main));
  if (second === undefined) return operationsOf(first).map(({ action }) => kebabCase(action));
  const operation = findOperation(first, second);
  return operation
    ? optionNames(parserOptions(operation)).filter((name) => !rest.includes(name))
    : [];
}

const optionNames = (options: object = {}): string[] =>
  Object.keys({ ...options, ...commonOptions }).map((name) => `--${name}`);
