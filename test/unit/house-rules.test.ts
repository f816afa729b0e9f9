// Rules for every file of the project. Each rule carries an example that breaks it, which proves
// that the rule finds violations.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAst } from "vitest/node";
import * as z from "zod";
import { workers } from "../../functions/queue-workers.ts";
import { groups } from "../../functions/route-groups.ts";
import { schedules } from "../../functions/schedules.ts";
import { shortPath } from "../../shared/http/operation-id.ts";
import { queues } from "../../shared/queues.ts";
import { roleNames } from "../../shared/rights.ts";

const root = join(import.meta.dirname, "../..");
const git = (...args: string[]): string[] =>
  execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);
// Files that git tracks or will track. A downloaded archive has no repository, so there the rules
// read the folders.
const everything = existsSync(join(root, ".git"))
  ? git("ls-files", "--cached", "--others", "--exclude-standard").filter((file) =>
      existsSync(join(root, file)),
    )
  : ["bin", "functions", "infra", "shared", "test"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
        (file) => `${folder}/${file}`,
      ),
    );
const sources = everything.filter((file) => /\.tsx?$/.test(file));
const textOf = (file: string): string => readFileSync(join(root, file), "utf8");
/** Removes comments and keeps line numbers. */
const codeOf = (text: string): string =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ""))
    .replace(/(^|\s)\/\/.*$/gm, "$1");

interface Rule {
  promise: string;
  /** The files that must keep the rule. */
  files: RegExp;
  exceptions?: RegExp;
  forbidden: RegExp;
  /** A line that breaks the rule. */
  example: string;
}

// The clients and the console run on the computers of others.
const service = /^(shared\/(?!clients\/|console\/)|functions\/)/;
const rules: Rule[] = [
  {
    promise: "only the adapters of AWS import its SDK",
    files: service,
    exceptions: /^shared\/adapters\/(aws|dynamodb|eventbridge|sqs|s3|kms)\//,
    forbidden: /from "@aws-sdk\/|import\("@aws-sdk\//,
    example: 'import { S3Client } from "@aws-sdk/client-s3";',
  },
  {
    promise: "only adapters call other services",
    files: service,
    exceptions: /^shared\/adapters\//,
    forbidden: /(?<![.\w])fetch\(|from "(node:)?(https?|http2|dns|dns\/promises|tls|dgram|undici)"/,
    example: "await fetch(url)",
  },
  {
    promise: "only permitSite checks access to the records of a site, because sites can be deleted",
    files: service,
    exceptions: /^shared\/(caller|kernel\/site-access|domain\/identity\/sites)\.ts$/,
    forbidden: /[^.\w]permit\(/,
    example: "  permit(who, record.siteId);",
  },
  {
    promise: "only these modules write the status of contacts, and commit it with its departures",
    files: service,
    exceptions:
      /^shared\/domain\/(audience\/(contacts\/(contact-(status|writes)|contacts|convert-field|upsert-transactions)|suppressions\/suppressions)|forms\/acceptance)\.ts$/,
    forbidden: /\b(statusWrite|changeWrites|contactWrites\.(insert|remove)Writes)\(/,
    example: "await write(contactStatus.statusWrite(before, after));",
  },
  {
    promise: "the change of a contact decides whether it departs, not the caller",
    files: service,
    exceptions:
      /^shared\/domain\/audience\/(contacts\/(contact-events|departures)|suppressions\/suppressions)\.ts$/,
    forbidden: /\bcommitDepartures\(/,
    example: "await commitDepartures(orgId, { contactIds: [id] }, commit);",
  },
  {
    promise: "the domain does not import HTTP, Lambda events or the entry points",
    files: /^shared\/(domain|providers)\//,
    forbidden: /from "(aws-lambda|@middy\/[^"]+|(\.\.\/)+(http|functions)\/[^"]+)"/,
    example: 'import { route } from "../http/route.ts";',
  },
  {
    promise: "shared/ imports nothing from the folders that use it",
    files: /^shared\//,
    forbidden: /from "[^"]*\/(functions|infra|bin)\//,
    example: 'from "../../infra/local/engines/engines.ts"',
  },
  {
    promise: "only keys.ts creates keys of items",
    files: service,
    exceptions: /^shared\/keys\.ts$/,
    forbidden: /\b(due|new)?[ps]k: *["'`]|["'`][A-Z]{2,}#|\}#[A-Z]{2,}/,
    example: 'const address = { pk: "USER#1" };',
  },
  {
    promise: "code names each queue and index where it uses it, because grants are read from there",
    files: service,
    exceptions: /^shared\/(keys|queues)\.ts$/,
    forbidden:
      /(?<!^\s+)\b(queues|indexes)\b(?!\.[a-zA-Z]|(\.ts)?"|\s*[,}][^;]*from "|\s*\}\s*from ")/,
    example: "for (const queue of Object.values(queues)) enqueue(queue, []);",
  },
  {
    promise: "clock.ts is the only source of time",
    files: service,
    exceptions: /^shared\/clock\.ts$/,
    forbidden: /\bDate\.now\(|new Date\(\)/,
    example: "const at = new Date();",
  },
  {
    promise: "random values come from node:crypto",
    files: service,
    forbidden: /Math\.random/,
    example: "Math.random()",
  },
  {
    promise: "only config.ts reads the environment",
    files: service,
    exceptions: /^shared\/(config|adapters\/s3\/objects)\.ts$/,
    forbidden: /process\.env/,
    example: "process.env.TABLE_NAME",
  },
  {
    promise: "only log.ts writes logs",
    files: service,
    forbidden: /\bconsole\.\w/,
    example: "console.log(mail)",
  },
  {
    promise: "tables of functions replace switch statements",
    files: /^(shared|functions|infra|bin)\//,
    forbidden: /\bswitch \(/,
    example: "switch (step.type) {",
  },
  {
    promise: "tests mock no modules",
    files: /^test\//,
    exceptions: /house-rules/,
    forbidden: /\bvi\.(mock|doMock|hoisted)\(/,
    example: 'vi.mock("../../shared/clock.ts")',
  },
  {
    promise: "tests draw random values by the seed of the run",
    files: /^test\//,
    exceptions: /house-rules|support\/fast-check\.ts$/,
    forbidden: /Math\.random|from "fast-check"/,
    example: 'import fc from "fast-check";',
  },
  {
    promise: "no test has a time limit of its own, which a busy machine reaches",
    files: /^test\//,
    exceptions:
      /house-rules|support\/(wait-for|python-environment)\.ts$|^test\/(deploy|fuzz|generators|typed)\//,
    forbidden: /\bvi\.(waitFor|setConfig)\(|\btimeout: \d[\d_]{3}|^ *\}, [\d_]{4,}\);/,
    example: "await expect.poll(read, { timeout: 20_000 }).toBe(1);",
  },
  {
    promise: "no test is skipped permanently or runs alone",
    files: /^test\//,
    exceptions: /house-rules/,
    forbidden: /\b(test|describe|it)\.(only|skip|todo)\(/,
    example: 'test.only("x")',
  },
];

const findViolations = ({ files, exceptions, forbidden }: Rule): string[] =>
  sources
    .filter((file) => files.test(file) && !exceptions?.test(file))
    .flatMap((file) =>
      codeOf(textOf(file))
        .split("\n")
        .flatMap((line, i) => (forbidden.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
    );

/** A node of an ESTree syntax tree. */
interface SyntaxNode {
  type: string;
  start: number;
  [field: string]: unknown;
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === "object" && value !== null && "type" in value && "start" in value;

/** All nodes of a TypeScript source. */
function nodesOf(text: string, lang: "ts" | "tsx" = "ts"): SyntaxNode[] {
  const root: unknown = parseAst(text, { lang });
  const nodes = [root].filter(isNode);
  for (const node of nodes)
    for (const value of Object.values(node))
      if (Array.isArray(value)) nodes.push(...value.filter(isNode));
      else if (isNode(value)) nodes.push(value);
  return nodes;
}

interface SyntaxRule {
  promise: string;
  files: RegExp;
  isForbidden(node: SyntaxNode): boolean;
  /** Code that breaks the rule. */
  example: string;
}

/** The node and all nodes in it, without those in functions, which run later. */
function nodesRunBy(node: SyntaxNode): SyntaxNode[] {
  const nodes = [node];
  for (const one of nodes)
    for (const value of Object.values(one))
      nodes.push(
        ...[value]
          .flat()
          .filter(isNode)
          .filter(({ type }) => !/Function/.test(type)),
      );
  return nodes;
}

const awaits = (node: unknown): boolean =>
  isNode(node) && nodesRunBy(node).some(({ type }) => type === "AwaitExpression");

const branches = ["test", "consequent", "alternate"];
const syntaxRules: SyntaxRule[] = [
  {
    promise: "no conditional expression contains another as its condition or branch",
    files: /\.ts$/,
    isForbidden: (node) =>
      node.type === "ConditionalExpression" &&
      branches.some((branch) => {
        const child = node[branch];
        return isNode(child) && child.type === "ConditionalExpression";
      }),
    example: "const rank = a ? 1 : (b ? 2 : 3);",
  },
  {
    // A promise that an earlier element started may reject in the meantime, which ends the process.
    promise: "later elements of a list of promises do not await",
    files: /\.ts$/,
    isForbidden: (node) =>
      node.type === "CallExpression" &&
      isNode(node.callee) &&
      isNode(node.callee.object) &&
      node.callee.object.name === "Promise" &&
      [(node.arguments as SyntaxNode[])[0]?.elements ?? []].flat().slice(1).some(awaits),
    example: "await Promise.all([write(a), write(await build(b))]);",
  },
  {
    promise: "functions of the service have at most three positional parameters",
    files: service,
    isForbidden: ({ type, params }) =>
      Array.isArray(params) && params.length > 3 && !type.startsWith("TSTypeParameter"),
    example: "interface Store { save(orgId: number, siteId: number, id: number, at: Date): void }",
  },
];

/** `deriveHex` and `derive-hex` both become `derive`, `hex`. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/);

/** Words whose meaning readers had to guess. */
const bannedWords = new Set([
  "anew",
  "begun",
  "beside",
  "chores",
  "country",
  "meant",
  "remains",
  "standing",
  "theirs",
  "told",
  "traveller",
  "volley",
  "whoever",
  "wishes",
]);
const hasBannedWord = (name: string): boolean =>
  wordsOf(name).some((word) => bannedWords.has(word));

interface ExportedName {
  file: string;
  name: string;
  isType: boolean;
}

const exportsOf = (file: string): ExportedName[] =>
  [
    ...textOf(file).matchAll(
      /^export (?:abstract |async )*(const|let|function\*?|class|interface|type|enum) (\w+)/gm,
    ),
  ].map(([, kind = "", name = ""]) => ({
    file,
    name,
    isType: /class|interface|type|enum/.test(kind),
  }));

/** Paths of files that differ from a neighbour by the plural ending only. */
function findPlurals(files: string[]): string[] {
  const known = new Set(files);
  return files.filter((file) => {
    const [, stem = "", extension = ""] = /^(.*?[^/.]*)((?:\.[a-z]+)+)$/.exec(file) ?? [];
    const plurals = [`${stem}s`, `${stem}es`, stem.replace(/y$/, "ies")];
    return plurals.some((plural) => plural !== stem && known.has(plural + extension));
  });
}

const longestLine = 100;
const findLongLines = (text: string): string[] =>
  text.split("\n").filter((line) => line.length > longestLine);

const longestFile = 350;
const isLongFile = (text: string): boolean => text.trimEnd().split("\n").length > longestFile;

describe("house rules", () => {
  test.for(rules)("$promise", (rule) => {
    expect(rule.example).toMatch(rule.forbidden);
    expect(sources.some((file) => rule.files.test(file))).toBe(true);
    expect(findViolations(rule)).toEqual([]);
  });

  // One test for all rules on syntax, because parsing takes most of the time.
  test(syntaxRules.map(({ promise }) => promise).join("; "), () => {
    for (const { isForbidden, example } of syntaxRules)
      expect(nodesOf(example).filter(isForbidden), example).toHaveLength(1);
    const violations = sources.flatMap((file) => {
      const rulesOfFile = syntaxRules.filter(({ files }) => files.test(file));
      const text = textOf(file);
      return nodesOf(text, file.endsWith("x") ? "tsx" : "ts").flatMap((node) =>
        rulesOfFile
          .filter(({ isForbidden }) => isForbidden(node))
          .map(({ promise }) => {
            const line = text.slice(0, node.start).split("\n").length;
            return `${file}:${line}: ${promise}`;
          }),
      );
    });
    expect(violations).toEqual([]);
  });

  test("no exported type name of the product is declared twice", () => {
    const types = sources
      .filter((file) => /^(bin|functions|infra|shared)\//.test(file))
      .flatMap(exportsOf)
      .filter(({ isType }) => isType);
    const repeated = Map.groupBy(types, ({ name }) => name)
      .values()
      .filter((declarations) => declarations.length > 1)
      .map((declarations) => declarations.map(({ name, file }) => `${name} in ${file}`));
    expect([...repeated]).toEqual([]);
  });

  test("a namespace import is called like its file, unless the importer uses that name itself", () => {
    const toName = (path: string) =>
      basename(path, ".ts").replace(/[-.](\w)/g, (_, letter: string) => letter.toUpperCase());
    const findOthers = (file: string, text: string) =>
      [...text.matchAll(/^import (?:type )?\* as (\w+) from "(\.[^"]+)";$/gm)]
        .map(([line, name, path]) => ({ line, name, wanted: toName(path!) }))
        .filter(({ name, wanted }) => name !== wanted)
        .filter(({ line, wanted }) => {
          const rest = codeOf(text.replace(line, ""));
          return !new RegExp(`(?<![.\\w$"'\`-])${wanted}\\b(?!-)`).test(rest);
        })
        .map(({ name, wanted }) => `${file}: ${name} is ${wanted}`);
    expect(findOthers("a.ts", 'import * as steps from "./step-graph.ts";')).toHaveLength(1);
    expect(
      sources
        .filter((file) => /^(bin|functions|infra|shared)\//.test(file))
        .flatMap((file) => findOthers(file, textOf(file))),
    ).toEqual([]);
  });

  test("no file name or exported name contains a banned word", () => {
    expect(["whatWasTold", "begun.ts", "country"].filter(hasBannedWord)).toHaveLength(3);
    expect(everything.filter(hasBannedWord)).toEqual([]);
    expect(sources.flatMap(exportsOf).filter(({ name }) => hasBannedWord(name))).toEqual([]);
  });

  test("no file name differs from a neighbour only by the plural", () => {
    expect(findPlurals(["a/step.ts", "a/steps.ts", "b/entry.css", "b/entries.css"])).toEqual([
      "a/step.ts",
      "b/entry.css",
    ]);
    expect(findPlurals(everything)).toEqual([]);
  });

  test("no line of the product is longer than 100 characters", () => {
    expect(findLongLines(`${"x".repeat(longestLine)}\n// ${"x".repeat(longestLine)}`)).toHaveLength(
      1,
    );
    const product = everything.filter((file) =>
      /^(bin|functions|infra|shared)\/.*\.(tsx?|js|css)$/.test(file),
    );
    expect(
      product.flatMap((file) => findLongLines(textOf(file)).map((line) => `${file}: ${line}`)),
    ).toEqual([]);
  });

  test("no file of the domain is longer than 350 lines", () => {
    expect(isLongFile("x\n".repeat(longestFile + 1))).toBe(true);
    expect(isLongFile("x\n".repeat(longestFile))).toBe(false);
    const domain = sources.filter((file) => file.startsWith("shared/domain/"));
    expect(domain.length).toBeGreaterThan(100);
    expect(domain.filter((file) => isLongFile(textOf(file)))).toEqual([]);
  });

  test("checks are not switched off", () => {
    const off = /@ts-(ignore|expect-error|nocheck)|biome-ignore|eslint-disable|knip-ignore/;
    expect(
      sources.filter((file) => !file.includes("house-rules") && off.test(textOf(file))),
    ).toEqual([]);
  });

  test("no file mentions documents outside the repository", () => {
    const outside = new RegExp(
      [
        "/work/",
        "design\\.md",
        "interface(-decisions)?\\.md",
        "scale\\.md",
        "toolchain\\.md",
        "local-engines\\.md",
      ].join("|"),
    );
    const texts = everything.filter(
      (file) =>
        /\.(ts|js|json|md|html|css|yml|yaml)$|^\.ci\//.test(file) && !file.includes("house-rules"),
    );
    expect(texts.length).toBeGreaterThan(100);
    expect(texts.filter((file) => outside.test(textOf(file)))).toEqual([]);
  });
});

describe("entry points", () => {
  const namesIn = (kind: string, otherNames: string[]) =>
    readdirSync(join(root, "functions", kind))
      .map((file) => basename(file, ".ts"))
      .filter((name) => !otherNames.includes(name));

  test("each file of functions/http exports the handler of the route group with its name", async () => {
    expect(namesIn("http", ["fallback"]).toSorted()).toEqual(
      groups.map(({ name }) => name).toSorted(),
    );
    for (const { name, handler } of groups)
      expect((await import(`../../functions/http/${name}.ts`)).handler, name).toBe(handler);
  });

  test("an idempotent retry never repeats a response that contains a secret", () => {
    const secrets = ["secret", "key", "recoveryCodes", "qrCode", "otpauthUrl"];
    const posts = groups
      .flatMap(({ routes }) => routes)
      .filter(({ method, auth }) => method === "POST" && auth !== "public");
    const routesWithSecrets = posts.flatMap(({ key, returns, fieldsShownOnce }) => {
      const schema = JSON.stringify(
        returns ? z.toJSONSchema(returns, { unrepresentable: "any" }) : {},
      );
      const returned = secrets.filter((name) => schema.includes(`"${name}":{`));
      return returned.length ? [{ key, returned, fieldsShownOnce }] : [];
    });
    expect(routesWithSecrets.length).toBeGreaterThan(4);
    for (const { key, returned, fieldsShownOnce } of routesWithSecrets)
      expect(fieldsShownOnce.toSorted(), key).toEqual(returned.toSorted());
  });

  test("each file of functions/queue exports the worker of the queue with its name", async () => {
    expect(namesIn("queue", []).toSorted()).toEqual(
      workers.map(({ queue }) => queue.name).toSorted(),
    );
    for (const { queue, handler } of workers)
      expect((await import(`../../functions/queue/${queue.name}.ts`)).handler, queue.name).toBe(
        handler,
      );
  });

  test("test/fixtures/roles-and-routes.csv has a row for each route that takes sessions", () => {
    const [header = "", ...lines] = textOf("test/fixtures/roles-and-routes.csv").trim().split("\n");
    expect(header).toBe(["route", ...roleNames].join(","));
    const rows = lines.map((line) => line.split(","));
    const taking = groups
      .flatMap(({ routes }) => routes)
      .filter(({ auth }) => auth === "account" || auth === "session");
    expect(rows.map(([signature]) => signature).toSorted()).toEqual(
      taking
        .map(({ method, path }) => `${method} ${shortPath(path).replace(/{(\w+)}/g, ":$1")}`)
        .toSorted(),
    );
    for (const [signature, ...cells] of rows)
      expect(cells.join(), signature).toMatch(/^((yes|no)(,|$)){5}$/);
  });

  test("every queue has a worker", () => {
    expect(
      Object.values(queues)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(workers.map(({ queue }) => queue.name).toSorted());
  });

  test("each file of functions/schedule exports the schedule with its name", async () => {
    expect(namesIn("schedule", []).toSorted()).toEqual(
      schedules.map(({ name }) => name).toSorted(),
    );
    for (const { name, handler } of schedules)
      expect((await import(`../../functions/schedule/${name}.ts`)).handler, name).toBe(handler);
  });
});
