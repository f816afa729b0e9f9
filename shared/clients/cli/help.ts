// The texts of --help.
import type { Command } from "./command.ts";
import { configPath } from "./config-file.ts";
import { exitCodeMeanings } from "./exit-codes.ts";
import { kebabCase, mainOperations, operationsOf } from "./names.ts";
import { optionsOf, takesData } from "./operation-options.ts";
import { type CliOperation, groups, type OperationOption, type OptionKind } from "./operations.ts";

const lineLength = 100;

/** Two columns; the second one is wrapped. */
function twoColumns(rows: [string, string][]): string {
  const width = Math.max(...rows.map(([first]) => first.length)) + 2;
  const indent = " ".repeat(width + 2);
  return rows
    .map(([first, second]) => {
      const lines = wrap(second, lineLength - indent.length);
      return `  ${first.padEnd(width)}${lines.join(`\n${indent}`)}`.trimEnd();
    })
    .join("\n");
}

/** Lines of at most this length, unless a word is longer. */
function wrap(text: string, length: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + word.length < length)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const paragraphs = (...texts: string[]): string =>
  texts
    .flatMap((text) => text.split(/\n+/))
    .map((text) => wrap(text, lineLength).join("\n"))
    .join("\n");

const firstSentence = (text: string): string => text.split(/(?<=\.) /)[0]!.replace(/\.$/, "");

export function generalHelp(commands: Record<string, Command>): string {
  const own = Object.entries(commands).map(([name, { summary }]): [string, string] => [
    name,
    summary,
  ]);
  const main = mainOperations().map(({ action, summary }): [string, string] => [
    kebabCase(action),
    summary,
  ]);
  const rest = groups.map(({ name, description }): [string, string] => [
    kebabCase(name),
    firstSentence(description),
  ]);
  return `Usage: pennymail COMMAND [options]
       pennymail GROUP ACTION [arguments] [options]

Commands:
${twoColumns([...own, ...main])}

Groups of actions:
${twoColumns(rest)}

\`pennymail GROUP --help\` lists the actions of a group, and \`--help\` after a command explains it.
Results are tables for people. With --json, or if the output is no terminal, they are JSON.

Settings: ${configPath()}, or the environment:
${twoColumns([
  ["PENNYMAIL_URL", "URL of the service"],
  ["PENNYMAIL_API_KEY", "API key"],
  ["PENNYMAIL_SITE_ID", "site of all commands that name none"],
])}

Exit codes:
${twoColumns(exitCodeMeanings.map(([code, meaning]) => [String(code), meaning]))}
`;
}

export function groupHelp(group: string): string {
  const actions = operationsOf(group).map((operation): [string, string] => [
    usageOf(operation),
    operation.summary,
  ]);
  return `Usage: pennymail ${group} ACTION [arguments] [options]

${twoColumns(actions)}
`;
}

/** `contacts remove-tag ID TAG-ID` */
const usageOf = (operation: CliOperation): string =>
  [kebabCase(operation.action), ...argumentNames(operation)].join(" ");

export const argumentNames = ({ parameters, takesFile }: CliOperation): string[] => [
  ...parameters.map(({ name }) => kebabCase(name).toUpperCase()),
  ...(takesFile ? ["FILE"] : []),
];

export function operationHelp(operation: CliOperation): string {
  const options = optionsOf(operation).map((option): [string, string] => [
    optionUsage(option),
    optionText(option),
  ]);
  const further: [string, string][] = [
    ...(takesData(operation) ? [dataHelp] : []),
    ...(operation.hasPages ? [allHelp] : []),
    ...(operation.takesIdempotencyKey ? [keyHelp] : []),
    ...commonHelp,
  ];
  return `Usage: pennymail ${kebabCase(operation.group)} ${usageOf(operation)} [options]

${paragraphs(`${operation.summary}.`, operation.description)}

Options:
${twoColumns([...options, ...further])}
`;
}

const dataHelp: [string, string] = [
  "--data JSON",
  "The whole body: JSON, @file.json, or - for the standard input. Options replace its fields",
];
const allHelp: [string, string] = ["--all", "All pages, as one JSON object per line"];
const keyHelp: [string, string] = [
  "--idempotency-key TEXT",
  "The same command with the same key is done once in 24 hours",
];
const commonHelp: [string, string][] = [
  ["--json", "Print JSON, also to a terminal"],
  ["-h, --help", "Print this"],
];

const placeholders: Record<OptionKind, string> = {
  text: " TEXT",
  number: " NUMBER",
  boolean: "",
  list: " TEXT ...",
  numbers: " NUMBER ...",
  json: " JSON",
};

export function optionUsage({ name, kind }: OperationOption): string {
  const option = kebabCase(name);
  return kind === "boolean" ? `--[no-]${option}` : `--${option}${placeholders[kind]}`;
}

/** A value that is no word, such as a tab, is quoted. */
const quoteSign = (value: string): string => (/^\w/.test(value) ? value : JSON.stringify(value));

export function optionText({ description, required, values, kind }: OperationOption): string {
  return [
    ...(required ? ["Required."] : []),
    description,
    ...(values ? [`One of ${values.map(quoteSign).join(", ")}.`] : []),
    ...(/^(list|numbers)$/.test(kind) ? ["Can be repeated."] : []),
  ].join(" ");
}

export function commandHelp({ usage, summary, description, optionTexts = {} }: Command): string {
  const rows = Object.entries(optionTexts).map(([name, text]): [string, string] => [name, text]);
  return `Usage: pennymail ${usage}

${paragraphs([`${summary}.`, description].filter(Boolean).join(" "))}

Options:
${twoColumns([...rows, ...commonHelp])}
`;
}
