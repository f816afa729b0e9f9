// The texts of the console: each is a message that every language has.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, TYPE } from "@formatjs/icu-messageformat-parser";
import { describe, expect, test } from "vitest";
import { parseAst } from "vitest/node";
import { german } from "../../shared/console/language/german.ts";

const folder = join(import.meta.dirname, "../../shared/console");
const files = globSync("**/*.{ts,tsx}", { cwd: folder }).filter(
  (file) => !file.endsWith(".d.ts") && !file.startsWith("language/"),
);

interface Node {
  type: string;
  [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value;

/** All nodes below one, with itself. */
function nodesOf(node: Node): Node[] {
  const children = Object.values(node).flatMap((value) =>
    Array.isArray(value) ? value.filter(isNode) : [value].filter(isNode),
  );
  return [node, ...children.flatMap(nodesOf)];
}

/** The value of a text that may be put together from literals. Undefined: it has other parts. */
function textOf(node: Node): string | undefined {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type !== "BinaryExpression" || node.operator !== "+") return undefined;
  const [left, right] = [textOf(node.left as Node), textOf(node.right as Node)];
  return left === undefined || right === undefined ? undefined : left + right;
}

const isTranslation = (node: Node): boolean =>
  node.type === "CallExpression" && ["t", "tNodes"].includes((node.callee as Node).name as string);

interface Finding {
  file: string;
  text: string;
}

const messages: Finding[] = [];
const dynamic: Finding[] = [];
const untranslated: Finding[] = [];

const textAttributes = new Set([
  "action",
  "alt",
  "aria-label",
  "description",
  "label",
  "note",
  "placeholder",
  "title",
]);
const hasWord = (text: string): boolean => /\p{L}{2,}/u.test(text);
/** Examples of addresses and codes are the same in all languages. */
const isExample = (text: string): boolean => /^(\S*[@:/._{]\S*|[\w-]+: \w+|\{.*\})$/.test(text);

for (const file of files) {
  const code = readFileSync(join(folder, file), "utf8");
  for (const node of nodesOf(parseAst(code, { lang: "tsx" }) as unknown as Node)) {
    if (isTranslation(node)) {
      const text = textOf((node.arguments as Node[])[0]!);
      if (text === undefined)
        dynamic.push({ file, text: code.slice(node.start as number, node.end as number) });
      else messages.push({ file, text });
    }
    if (node.type === "JSXText" && hasWord(node.value as string))
      untranslated.push({ file, text: (node.value as string).trim() });
    if (node.type === "JSXAttribute" && isNode(node.value)) {
      const text = textOf(node.value);
      const name = (node.name as Node).name as string;
      if (text && textAttributes.has(name) && hasWord(text) && !isExample(text))
        untranslated.push({ file, text: `${name}="${text}"` });
    }
  }
}

/** The values and tags of a message. */
function partsOf(message: string): string[] {
  const parts = new Set<string>();
  const visit = (elements: ReturnType<typeof parse>) => {
    for (const element of elements) {
      if (element.type === TYPE.literal || element.type === TYPE.pound) continue;
      parts.add(element.type === TYPE.tag ? `<${element.value}>` : `{${element.value}}`);
      if (element.type === TYPE.tag) visit(element.children);
      if ("options" in element)
        for (const { value } of Object.values(element.options)) visit(value);
    }
  };
  visit(parse(message));
  return [...parts].sort();
}

test("messages are literals, so that they can be found", () => {
  expect(dynamic).toEqual([]);
  expect(messages.length).toBeGreaterThan(2000);
});

test("each text and label of an element is a message", () => {
  expect(untranslated).toEqual([]);
});

describe("German", () => {
  const used = [...new Set(messages.map(({ text }) => text))];

  test("has each message", () => {
    expect(messages.filter(({ text }) => !german[text])).toEqual([]);
  });

  test("has no message that is not used", () => {
    expect(Object.keys(german).filter((text) => !used.includes(text))).toEqual([]);
  });

  test("has the values and tags of each message", () => {
    const formatted = used.filter((text) => /[{<]/.test(text) && german[text]);
    const wrong = formatted.filter((text) => {
      try {
        return String(partsOf(text)) !== String(partsOf(german[text]!));
      } catch {
        // Texts with code in braces have no values.
        return false;
      }
    });
    expect(wrong).toEqual([]);
  });
});
