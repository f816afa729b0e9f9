import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, inject, test } from "vitest";
import { entries, maxBundleBytes } from "../../build.ts";
import { document } from "../../functions/http/interface.ts";
import { lateFile, lateModules } from "../../infra/aws/bundling.ts";
import type {} from "../support/built.ts";
import { tables } from "../support/template.ts";

const dist = inject("dist");
const all = await entries();
const fileOf = ({ kind, name }: { kind: string; name: string }) => join(dist, kind, name, "index.cjs");

/** Runs code in a process that has nothing in its environment; answers what it prints. */
async function inEmptyEnvironment(code: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { env: {}, timeout: 20_000 });
  expect(stderr).toBe("");
  return stdout;
}

describe("bundles", () => {
  test("there is one for every group with routes, queue and tick, and the fallback", () => {
    const wanted = [
      "http/fallback",
      ...tables.groups.map(({ name }) => `http/${name}`),
      ...tables.workers.map(({ queue }) => `queue/${queue.name}`),
      ...tables.ticks.map(({ name }) => `schedule/${name}`),
    ];
    expect(all.map(({ kind, name }) => `${kind}/${name}`).toSorted()).toEqual(wanted.toSorted());
  });

  test("none is over 600 kB", async () => {
    for (const entry of all)
      expect((await readFile(fileOf(entry))).length, `${entry.kind}/${entry.name}`).toBeLessThanOrEqual(maxBundleBytes);
  });

  test("what is loaded late lies beside those that may load it, and nowhere else", async () => {
    const late = lateModules.map(lateFile);
    for (const entry of all) {
      const code = await readFile(fileOf(entry), "utf8");
      const wanted = late.filter((file) => code.includes(`require("./${file}")`));
      const files = await readdir(join(dist, entry.kind, entry.name));
      expect(files.toSorted(), `${entry.kind}/${entry.name}`).toEqual([...wanted, "index.cjs", "index.cjs.map"].toSorted());
    }
  });

  test("every bundle loads with an empty environment and exports its handler", async () => {
    const files = JSON.stringify(all.map(fileOf));
    const code = `const handlers = []; for (const file of ${files}) handlers.push(typeof (await import(file)).handler); console.log(JSON.stringify(handlers));`;
    expect(JSON.parse(await inEmptyEnvironment(code))).toEqual(all.map(() => "function"));
  });

  test("every entry point loads from its source with an empty environment", async () => {
    const files = all.map(({ kind, name }) => join(import.meta.dirname, "../../functions", kind, `${name}.ts`));
    const code = `for (const file of ${JSON.stringify(files)}) await import(file); console.log("loaded");`;
    expect(await inEmptyEnvironment(code)).toBe("loaded\n");
  });

  test("the fallback answers from the finished document, without the code of any group", async () => {
    const [path, operations] = Object.entries((await document()).paths).find(([path]) => !path.includes("{"))!;
    const event = { rawPath: path, headers: {}, requestContext: { requestId: "r", http: { method: "OPTIONS" } } };
    const code = `const { handler } = await import(${JSON.stringify(fileOf({ kind: "http", name: "fallback" }))}); console.log(JSON.stringify(await handler(${JSON.stringify(event)})));`;
    const { statusCode, headers } = JSON.parse(await inEmptyEnvironment(code));
    expect(statusCode).toBe(204);
    expect(headers.allow.split(", ").toSorted()).toEqual(
      [...Object.keys(operations).map((name) => name.toUpperCase()), "OPTIONS"].toSorted(),
    );
    expect((await readFile(fileOf({ kind: "http", name: "fallback" }))).length).toBeLessThan(100_000);
  });

  test("a stack in the logs names our file and line", async () => {
    const code = `const { handler } = await import(${JSON.stringify(fileOf({ kind: "http", name: "fallback" }))}); await handler({}).catch((error) => console.log(error.stack));`;
    const stack = await inEmptyEnvironment(code);
    const [, file = "", line = ""] = /at \S*?(shared\/http\/fallback\.ts):(\d+):\d+/.exec(stack) ?? [];
    const source = (await readFile(join(import.meta.dirname, "../..", file), "utf8")).split("\n");
    expect(source[Number(line) - 1], stack).toMatch(/event|requestContext|rawPath/);
  });
});
