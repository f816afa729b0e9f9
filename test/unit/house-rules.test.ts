// What every file of ours keeps to, so that a reader need not wonder. Each rule carries a line that breaks it, to show that it would be seen.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { groups } from "../../functions/http/index.ts";
import { workers } from "../../functions/queue/index.ts";
import { ticks } from "../../functions/schedule/index.ts";
import { queues } from "../../shared/queues.ts";

const root = join(import.meta.dirname, "../..");
const git = (...args: string[]): string[] => execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);
// Committed or about to be. Without a repository (a downloaded archive) the folders themselves are read.
const everything = existsSync(join(root, ".git"))
  ? git("ls-files", "--cached", "--others", "--exclude-standard").filter((file) => existsSync(join(root, file)))
  : ["bin", "functions", "infra", "shared", "test"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`),
    );
const sources = everything.filter((file) => file.endsWith(".ts"));
const textOf = (file: string): string => readFileSync(join(root, file), "utf8");
/** Without comments; a line keeps its number. */
const codeOf = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, "")).replace(/(^|\s)\/\/.*$/gm, "$1");

interface Rule {
  promise: string;
  /** Files it holds for. */
  of: RegExp;
  /** Files it does not hold for. */
  but?: RegExp;
  forbidden: RegExp;
  /** A line that breaks it. */
  example: string;
}

const ours = /^(shared|functions)\//;
const rules: Rule[] = [
  {
    promise: "only the four doors to AWS import its SDK",
    of: ours,
    but: /^shared\/doors\/(table\/\w+|queue|blobs|vault)\.ts$/,
    forbidden: /from "@aws-sdk\/|import\("@aws-sdk\//,
    example: 'import { S3Client } from "@aws-sdk/client-s3";',
  },
  {
    promise: "only the doors call out",
    of: ours,
    but: /^shared\/doors\//,
    forbidden: /(?<![.\w])fetch\(|from "(node:)?(https?|http2|dns|dns\/promises|tls|dgram|undici)"/,
    example: "await fetch(url)",
  },
  {
    promise: "the domain has not heard of HTTP, of events of Lambda, or of our entry points",
    of: /^shared\/(domain|providers)\//,
    forbidden: /from "(aws-lambda|@middy\/[^"]+|(\.\.\/)+(http|functions)\/[^"]+)"/,
    example: 'import { route } from "../http/route.ts";',
  },
  {
    promise: "what is shared does not know who shares it",
    of: /^shared\//,
    forbidden: /from "[^"]*\/(functions|infra|bin)\//,
    example: 'from "../../infra/local/engines.ts"',
  },
  {
    promise: "keys of items are made in keys.ts alone",
    of: ours,
    but: /^shared\/keys\.ts$/,
    forbidden: /\b(due|new)?[ps]k: *["'`]|["'`][A-Z]{2,}#|\}#[A-Z]{2,}/,
    example: 'const address = { pk: "USER#1" };',
  },
  {
    promise: "queues and shelves are named where they are used, which is what grants are read from",
    of: ours,
    but: /^shared\/(keys|queues)\.ts$/,
    forbidden: /\b(queues|shelves)\b(?!\.[a-zA-Z]|(\.ts)?"|\s*[,}][^;]*from "|\s*\}\s*from ")/,
    example: "for (const queue of Object.values(queues)) enqueue(queue, []);",
  },
  {
    promise: "clock.ts is the only source of time",
    of: ours,
    but: /^shared\/clock\.ts$/,
    forbidden: /\bDate\.now\(|new Date\(\)/,
    example: "const at = new Date();",
  },
  { promise: "chance comes from node:crypto", of: ours, forbidden: /Math\.random/, example: "Math.random()" },
  {
    promise: "the environment is read in config.ts",
    of: ours,
    but: /^shared\/(config|doors\/\w+)\.ts$/,
    forbidden: /process\.env/,
    example: "process.env.TABLE_NAME",
  },
  { promise: "what is logged goes through log.ts", of: ours, forbidden: /\bconsole\./, example: "console.log(mail)" },
  {
    promise: "a table of functions stands where others switch",
    of: /^(shared|functions|infra|bin)\//,
    forbidden: /\bswitch \(/,
    example: "switch (step.type) {",
  },
  {
    promise: "nothing of ours is mocked",
    of: /^test\//,
    but: /house-rules/,
    forbidden: /\bvi\.(mock|doMock|hoisted)\(/,
    example: 'vi.mock("../../shared/clock.ts")',
  },
  {
    promise: "no test is skipped for good or runs alone",
    of: /^test\//,
    but: /house-rules/,
    forbidden: /\b(test|describe|it)\.(only|skip|todo)\(/,
    example: 'test.only("x")',
  },
];

const broken = ({ of, but, forbidden }: Rule): string[] =>
  sources
    .filter((file) => of.test(file) && !but?.test(file))
    .flatMap((file) =>
      codeOf(textOf(file))
        .split("\n")
        .flatMap((line, i) => (forbidden.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
    );

describe("house rules", () => {
  test.for(rules)("$promise", (rule) => {
    expect(rule.example).toMatch(rule.forbidden);
    expect(sources.some((file) => rule.of.test(file))).toBe(true);
    expect(broken(rule)).toEqual([]);
  });

  test("checks are not switched off", () => {
    const off = /@ts-(ignore|expect-error|nocheck)|biome-ignore|eslint-disable|knip-ignore/;
    expect(sources.filter((file) => !file.includes("house-rules") && off.test(textOf(file)))).toEqual([]);
  });

  test("nobody needs what lies outside the repository", () => {
    const outside = new RegExp(
      ["/work/", "design\\.md", "interface(-decisions)?\\.md", "scale\\.md", "toolchain\\.md", "local-engines\\.md"].join("|"),
    );
    const texts = everything.filter((file) => /\.(ts|js|json|md|html|css|yml|yaml)$|^\.ci\//.test(file) && !file.includes("house-rules"));
    expect(texts.length).toBeGreaterThan(100);
    expect(texts.filter((file) => outside.test(textOf(file)))).toEqual([]);
  });
});

describe("entry points", () => {
  const namesIn = (kind: string, others: string[]) =>
    readdirSync(join(root, "functions", kind))
      .map((file) => basename(file, ".ts"))
      .filter((name) => !others.includes(name));

  test("every file of functions/http is a group of the same name, in the index, and calls its handler", async () => {
    expect(namesIn("http", ["index", "interface", "fallback"]).toSorted()).toEqual(groups.map(({ name }) => name).toSorted());
    for (const { name, handler } of groups) expect((await import(`../../functions/http/${name}.ts`)).handler, name).toBe(handler);
  });

  test("what opens a door is shown once: no answer is repeated with it", () => {
    const secrets = ["secret", "key", "recoveryCodes", "qrCode", "otpauthUrl"];
    const posts = groups.flatMap(({ routes }) => routes).filter(({ method, auth }) => method === "POST" && auth !== "public");
    const telling = posts.flatMap((route) => {
      const told = JSON.stringify(route.returns ? z.toJSONSchema(route.returns, { unrepresentable: "any" }) : {});
      const open = secrets.filter((name) => told.includes(`"${name}":{`));
      return open.length ? [{ key: route.key, open, once: route.once }] : [];
    });
    expect(telling.length).toBeGreaterThan(4);
    for (const { key, open, once } of telling) expect(once.toSorted(), key).toEqual(open.toSorted());
  });

  test("every file of functions/queue is the worker of the queue of that name, in the index", async () => {
    expect(namesIn("queue", ["index"]).toSorted()).toEqual(workers.map(({ queue }) => queue.name).toSorted());
    for (const { queue, handler } of workers)
      expect((await import(`../../functions/queue/${queue.name}.ts`)).handler, queue.name).toBe(handler);
  });

  test("every queue has a worker", () => {
    expect(
      Object.values(queues)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(workers.map(({ queue }) => queue.name).toSorted());
  });

  test("every file of functions/schedule is a tick of the same name, in the index", async () => {
    expect(namesIn("schedule", ["index"]).toSorted()).toEqual(ticks.map(({ name }) => name).toSorted());
    for (const { name, handler } of ticks) expect((await import(`../../functions/schedule/${name}.ts`)).handler, name).toBe(handler);
  });
});
