import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { settingsFrom } from "../../infra/aws/settings.ts";
import { queues } from "../../shared/queues.ts";

const source = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const readme = source("README.md");
const told = [...readme.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);

describe("README", () => {
  test("tells every setting that the service reads", () => {
    const names = [...source("shared/config.ts").matchAll(/(?:optional|need)\("(\w+)"\)/g)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) expect(told).toContain(name);
  });

  test("tells every setting of the local runner", () => {
    const service = source("infra/local/service.ts");
    const read = [...service.matchAll(/\bsettings\.([A-Z_]+)/g), ...service.matchAll(/{ ([A-Z_, ]+)[^}]*}: Settings/g)];
    const names = read.flatMap(([, some]) => some!.split(",").map((name) => name.trim()));
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) expect(told.join(", ").split(", ")).toContain(name);
  });

  test("tells every option of a deployment", () => {
    const asked: string[] = [];
    settingsFrom((name) => void asked.push(name));
    expect(asked).toContain("stage");
    for (const name of asked) expect(told).toContain(name);
  });

  test("tells every queue", () => {
    for (const { name } of Object.values(queues)) expect(told).toContain(name);
  });

  test("names scripts and files that are there", () => {
    const { scripts } = JSON.parse(source("package.json"));
    const run = [...readme.matchAll(/npm run ([a-z]+)/g)].map(([, name]) => name);
    expect(run.length).toBeGreaterThan(5);
    for (const name of run) expect(scripts).toHaveProperty(name!);
    for (const path of told.filter((code) => /^(bin|functions|infra|shared|test)\/[\w./-]*$/.test(code)))
      expect(existsSync(new URL(`../../${path}`, import.meta.url)), path).toBe(true);
  });
});
