// The guides as a reader follows them: files are saved under the name in their first line, and the
// commands of a guide run in one shell, in order.
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";

const run = promisify(execFile);

export interface GuideBlock {
  language: string;
  text: string;
  /** From the first line of a program: `// name.mjs`, `# name.py` or `<!-- name.html -->`. */
  file?: string;
}

/** The code blocks of the guide with this title, in the texts of all guides. */
export function readBlocks(guides: string, title: string): GuideBlock[] {
  const sections = guides.split(/^(?=# )/m);
  // In shell and Python, a comment also begins with "# ".
  const start = sections.findIndex((section) => section.startsWith(`# ${title}\n`));
  if (start < 0) throw new Error(`There is no guide "${title}"`);
  let text = sections[start]!;
  for (const next of sections.slice(start + 1)) {
    if ((text.match(/^```/gm)?.length ?? 0) % 2 === 0) break;
    text += next;
  }
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => {
    const file = /^(?:\/\/|#|<!--) ([\w.-]+\.\w+)\b/.exec(code!)?.[1];
    return { language: language!, text: code!, ...(file && { file }) };
  });
}

/** Saves the files of a guide. A file whose name comes again continues. */
export function saveFiles(blocks: GuideBlock[], folder: string): void {
  mkdirSync(folder, { recursive: true });
  const texts = new Map<string, string>();
  for (const { file, text } of blocks)
    if (file !== undefined) texts.set(file, (texts.get(file) ?? "") + text);
  for (const [file, text] of texts) writeFileSync(join(folder, file), text);
}

const marker = "--- end of block ---";

/**
 * Runs the commands of a guide in one shell that stops at the first error. Returns what each block
 * prints. The json block after it states its shape.
 */
export async function runCommands(
  blocks: GuideBlock[],
  { folder, env }: { folder: string; env: Record<string, string> },
): Promise<string[]> {
  const commands = blocks.filter(({ language }) => language === "sh");
  const script = commands.map(({ text }) => `${text}printf '\\n%s\\n' '${marker}'\n`).join("");
  writeFileSync(join(folder, "guide.sh"), script);
  const shell = await run("bash", ["-e", "-o", "pipefail", "guide.sh"], {
    cwd: folder,
    env: { HOME: folder, ...env },
  }).catch(({ stdout, stderr }: { stdout: string; stderr: string }) => {
    throw new Error(`The guide failed:\n${stdout}\n${stderr}`);
  });
  const outputs = shell.stdout.split(`\n${marker}\n`).slice(0, -1);
  expect(shell.stdout).not.toMatch(/^\{"error":/m);
  for (const [i, { language, text }] of blocks.entries())
    if (language === "json") {
      const before = blocks.slice(0, i).filter((block) => block.language === "sh").length;
      expectShape(parseLast(outputs[before - 1] ?? ""), JSON.parse(text));
    }
  return outputs;
}

/** The last JSON of an output: a whole output, or its last line. */
function parseLast(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return JSON.parse(output.trimEnd().split("\n").at(-1)!);
  }
}

/** Every field that a guide shows exists, with a value of the same type. */
function expectShape(actual: unknown, shown: unknown, path = "response"): void {
  expect(typeOf(actual), path).toBe(typeOf(shown));
  if (Array.isArray(shown)) {
    const [first] = actual as unknown[];
    if (shown.length) expectShape(first, shown[0], `${path}[0]`);
  } else if (typeof shown === "object" && shown !== null)
    for (const [key, value] of Object.entries(shown))
      expectShape((actual as Record<string, unknown>)[key], value, `${path}.${key}`);
}

const typeOf = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "string" && isTime(value) ? "time" : typeof value;
};
const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text);
