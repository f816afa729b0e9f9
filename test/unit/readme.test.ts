import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseSettings } from "../../infra/aws/settings.ts";
import { queues } from "../../shared/queues.ts";

const source = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const readme = source("README.md");
const codeOf = (text: string) => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
const readmeCode = codeOf(readme);
const awsReadmeCode = codeOf(source("infra/aws/README.md"));

describe("README", () => {
  test("lists every setting that the service reads", () => {
    const names = [...source("shared/config.ts").matchAll(/(?:optional|need)\("(\w+)"\)/g)].map(
      ([, name]) => name,
    );
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) expect(readmeCode).toContain(name);
  });

  test("lists every setting of the local runner", () => {
    const service = source("infra/local/service.ts");
    const read = [
      ...service.matchAll(/\bsettings\.([A-Z_]+)/g),
      ...service.matchAll(/{ ([A-Z_, ]+)[^}]*}: Settings/g),
    ];
    const names = read.flatMap(([, some]) => some!.split(",").map((name) => name.trim()));
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) expect(readmeCode.join(", ").split(", ")).toContain(name);
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

  test("has fewer than 200 lines", () => {
    expect(readme.split("\n").length).toBeLessThan(200);
  });

  test("names only scripts and files that exist", () => {
    const { scripts } = JSON.parse(source("package.json"));
    const run = [...readme.matchAll(/npm run ([a-z][a-z:-]*)/g)].map(([, name]) => name);
    expect(run.length).toBeGreaterThan(5);
    for (const name of run) expect(scripts).toHaveProperty(name!);
    for (const path of readmeCode.filter((code) =>
      /^(bin|functions|infra|shared|test)\/[\w./-]*$/.test(code),
    ))
      expect(existsSync(new URL(`../../${path}`, import.meta.url)), path).toBe(true);
  });
});
