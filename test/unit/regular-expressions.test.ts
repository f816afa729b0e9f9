// Text from outside must not stall the process: no regular expression may take more than linear
// time.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Context, createContext, Script } from "node:vm";
import { expect, test } from "vitest";
import { measureCpuTime } from "../support/cpu-time.ts";

const root = join(import.meta.dirname, "../..");
const files = ["shared", "functions"]
  .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }))
  .sort();

interface Found {
  file: string;
  line: number;
  source: string;
  flags: string;
}

const token = new RegExp(
  [
    String.raw`(?<blank>\s+|//[^\n]*|/\*[^]*?\*/)`,
    String.raw`(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')`,
    String.raw`(?<word>[\w$#]+)`,
    String.raw`(?<regex>/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*)`,
    "(?<other>[^])",
  ].join("|"),
  "y",
);
const wordsBeforeRegex = new Set(["return", "typeof", "case", "in", "of", "await", "yield"]);

/** Markup in template strings is parsed as code, and most of it is no regular expression. */
function isValid({ source, flags }: Found): boolean {
  try {
    return new RegExp(source, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

/** Finds the regular expressions of a TypeScript file. */
function regularExpressions(file: string): Found[] {
  const text = readFileSync(join(root, file), "utf8");
  const found: Found[] = [];
  let before = "";
  for (let at = 0; at < text.length; ) {
    token.lastIndex = at;
    const { 0: all, groups = {} } = token.exec(text)!;
    const isValue = /[\w$)\]"'}]$/.test(before) && !wordsBeforeRegex.has(before);
    const isRegex = groups.regex !== undefined && !isValue;
    if (isRegex) {
      const end = all.lastIndexOf("/");
      const line = text.slice(0, at).split("\n").length;
      const one = { file, line, source: all.slice(1, end), flags: all.slice(end + 1) };
      if (isValid(one)) found.push(one);
    }
    if (groups.blank === undefined) before = groups.regex !== undefined && isValue ? "/" : all;
    at += groups.regex !== undefined && isValue ? 1 : all.length;
  }
  return found;
}

const length = 100_000;
const basicUnits = [
  ..."a0 \t\n\r:;.,-_<>&='\"/\\@%()[]{}|+*!é\u0000\u00a0\u0301",
  "ab",
  "a.",
  "a:",
  "a ",
  "<a",
  "=a",
  "\r\n",
  "😀",
];

const manyOf = (unit: string) => unit.repeat(Math.ceil(length / unit.length));
const basicTexts = basicUnits.flatMap((unit) => [manyOf(unit), `${manyOf(unit)}\u0001`]);

/** Texts made of the literals of the expression, so that it matches large parts of them. */
function hostileTexts({ source }: Found): string[] {
  const plain = source
    .replace(/\\[dDsSwWbBnrtpP](\{\w+\})?|\(\?[:=!<]*/g, " ")
    .replace(/\\(.)/g, "$1");
  const [first = "", ...more] = plain.match(/[^\s()[\]{}|*+?^$]+/g) ?? [];
  const own = new Set([first, ...more.slice(0, 4)].filter(Boolean));
  return [
    ...basicTexts,
    ...basicUnits.map((unit) => `${first}${manyOf(unit)}\u0001`),
    ...[...own].flatMap((unit) => [
      `${manyOf(unit)}\u0001`,
      `${manyOf(unit[0]!)}\u0001`,
      `${first}${manyOf(unit)}`,
    ]),
  ];
}

// In linear time, all texts together take far less than a second. In quadratic time, each takes
// more than ten seconds.
const limitMs = 8000;
const script = new Script("for (text of texts) text.replace(expression, '')");

/** Returns the start of a text for which the expression is too slow. */
function stalls(found: Found, maxCpuMs = limitMs / 2, timeout = limitMs): string | undefined {
  const context = createContext({ expression: undefined, texts: hostileTexts(found), text: "" });
  // With `g`, the expression searches for all matches, like in `replace` and `matchAll`.
  context.expression = new RegExp(found.source, `${found.flags.replace(/[gy]/g, "")}g`);
  let ends = true;
  const cpuMs = measureCpuTime(() => {
    ends = endsWithin(timeout, context);
  });
  if (ends) return undefined;
  // On a busy machine, most of the time belongs to other processes.
  return cpuMs < maxCpuMs
    ? stalls(found, maxCpuMs, timeout * 2)
    : String(context.text).slice(0, 20);
}

function endsWithin(timeout: number, context: Context): boolean {
  try {
    script.runInContext(context, { timeout });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return false;
    throw error;
  }
}

/** Files whose expressions only read text of the service. */
const ownTextOnly = [
  "shared/pages/tracking-script.ts",
  "shared/domain/automation/playbooks/playbook-mail.ts",
];

const all = files.filter((file) => !ownTextOnly.includes(file)).flatMap(regularExpressions);

test("regular expressions are found in the sources", () => {
  expect(all.length).toBeGreaterThan(150);
  expect(all.map(({ source }) => source)).toContain("^v=spf1( |$)");
});

test("the detector finds an expression that takes quadratic time", () => {
  const spf = {
    file: "",
    line: 0,
    source: String.raw`^:[\da-f:.]*:[\da-f:.]*(\/\d{1,3})?$`,
    flags: "i",
  };
  expect(stalls(spf, 1000, 2000)).toMatch(/^:/);
});

test.each(files.filter((file) => all.some((found) => found.file === file)))(
  "%s reads hostile text in linear time",
  (file) => {
    const slow = all
      .filter((found) => found.file === file)
      .flatMap((found) => {
        const text = stalls(found);
        return text === undefined
          ? []
          : [
              `${file}:${found.line} /${found.source}/${found.flags} takes too long for ${JSON.stringify(text)}`,
            ];
      });
    expect(slow).toEqual([]);
  },
);
