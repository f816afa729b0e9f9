import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseSettings } from "../../infra/aws/settings.ts";
import { queues } from "../../shared/queues.ts";

const root = join(import.meta.dirname, "../..");
const source = (path: string): string => readFileSync(join(root, path), "utf8");
const listFiles = (...patterns: string[]): string[] =>
  execFileSync("git", ["ls-files", "-co", "--exclude-standard", ...patterns], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    .filter((file) => file && existsSync(join(root, file)));
const codeOf = (text: string) => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
const readme = source("README.md");
const localReadme = source("infra/local/README.md");
const awsReadme = source("infra/aws/README.md");
const localReadmeCode = codeOf(localReadme);
const awsReadmeCode = codeOf(awsReadme);

describe("README", () => {
  test("of the local service lists every setting that the service reads", () => {
    const names = [...source("shared/config.ts").matchAll(/(?:optional|need)\("(\w+)"\)/g)].map(
      ([, name]) => name,
    );
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) expect(localReadmeCode).toContain(name);
  });

  test("of the local service lists every setting of the local runner", () => {
    const service = source("infra/local/service.ts");
    const read = [
      ...service.matchAll(/\bsettings\.([A-Z_]+)/g),
      ...service.matchAll(/{ ([A-Z_, ]+)[^}]*}: Settings/g),
    ];
    const names = read.flatMap(([, some]) => some!.split(",").map((name) => name.trim()));
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) expect(localReadmeCode.join(", ").split(", ")).toContain(name);
  });

  test("of AWS lists every option of a deployment", () => {
    const settings: string[] = [];
    parseSettings((name) => void settings.push(name));
    expect(settings).toContain("stage");
    for (const name of settings) expect(awsReadmeCode).toContain(name);
  });

  test("of AWS lists every queue", () => {
    for (const { name } of Object.values(queues)) expect(awsReadmeCode).toContain(name);
  });

  test("of the local service, and the Dockerfile, start it as npm start does", () => {
    const { start } = JSON.parse(source("package.json")).scripts;
    expect(localReadme).toContain(`ExecStart=/opt/pennymail/node_modules/.bin/${start}\n`);
    const [, command] = /^CMD ([\s\S]*)/m.exec(source("infra/local/Dockerfile"))!;
    expect(JSON.parse(command!.replaceAll("\\\n", "")).join(" ")).toBe(start);
  });

  test("has at most 150 lines", () => {
    expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(150);
  });

  test("of the local service quotes the error of email that was not sent within a day", () => {
    const [, error] = /fails with "([^"]+)"/.exec(localReadme) ?? [];
    expect(source("shared/domain/sending/provider-calls/provider-call.ts")).toContain(
      `error: \`${error}: `,
    );
  });
});

/** Words that look like a file or a function of the repository. */
const otherWords = ["dist/sdk"];

/** `folder/file`, `file.ts` */
const pathPattern = /^\.?\w[\w.-]*(\/[\w.-]*)+$|^[\w.-]+\.ts$/;
/** `functionName`, `area.function`, `call(` */
const namePattern = /^(?:[a-z]\w*\.)*([a-z]+[A-Z]\w*|(?<=\.)\w+$|\w+(?=\())/;

/** The name after the keywords at the start of a line of code, also of a field. */
const declaration = /^\s*(?:\w+\*? )*(\w+)\??\s*[(:=<{]/gm;
const declaredNames = new Set(
  listFiles("*.ts", "*.tsx", "*.qnt").flatMap((file) =>
    [...source(file).matchAll(declaration)].map(([, name]) => name),
  ),
);

describe.each(listFiles("*README.md", ".github/*.md"))("%s", (file) => {
  const text = source(file);
  const words = codeOf(text.replace(/^```[\s\S]*?^```/gm, "")).filter(
    (code) => !otherWords.includes(code),
  );
  const findFile = (path: string, folders: string[]) =>
    folders.find((folder) => existsSync(join(root, folder, path)));

  test("names only scripts and files that exist", () => {
    const { scripts } = JSON.parse(source("package.json"));
    for (const [, script] of text.matchAll(/npm run ([a-z][a-z\d:-]*)/g))
      expect(scripts).toHaveProperty(script!);
    for (const [, link, picture] of text.matchAll(/\]\((?!http)([^)#]+)|src(?:set)?="([^"]+)"/g))
      expect(findFile((link ?? picture)!, [dirname(file)]), link).toBeDefined();
    for (const word of words.filter((code) => pathPattern.test(code)))
      expect(findFile(word, [dirname(file), "shared/domain", "."]), word).toBeDefined();
  });

  test("names only functions and fields that exist", () => {
    for (const word of words.filter((code) => !pathPattern.test(code))) {
      const name = namePattern.exec(word)?.[1];
      if (name) expect(declaredNames, word).toContain(name);
    }
  });

  test("has sequence diagrams of at most 12 lines", () => {
    for (const [, diagram] of text.matchAll(/^```mermaid\n([\s\S]*?)\n```/gm)) {
      const [first, ...steps] = diagram!.split("\n");
      expect(first).toBe("sequenceDiagram");
      expect(steps.length).toBeLessThan(12);
      for (const step of steps) expect(step).toMatch(/^ {2}(\w+--?>>\w+|Note over \w+): [^;#]+$/);
    }
  });

  test("has decisions of at most 60 words", () => {
    const [, decisions = ""] = text.split("\n## Decisions\n");
    for (const [, decision] of decisions.matchAll(/^- (\*\*.*)/gm))
      expect(decision!.split(" ").length, decision).toBeLessThanOrEqual(60);
  });
});
