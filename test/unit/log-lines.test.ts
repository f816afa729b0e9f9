import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const file = join(import.meta.dirname, "../../shared/kernel/log.ts");

/** The lines that a process prints, first those of stdout. */
async function print(code: string, level: string): Promise<Record<string, unknown>[]> {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "-e", `import * as log from ${JSON.stringify(file)}; ${code}`],
    { env: { LOG_LEVEL: level } },
  );
  const lines = `${stdout}${stderr}`.trim().split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line));
}

const code = `
  log.info("request", { orgId: 1, route: undefined });
  log.warn("old version", {});
  log.error("request failed", new TypeError("bad", { cause: new Error("inner") }), { orgId: 2 });`;

test("a log entry is one line of JSON, and an error has its stack and cause", async () => {
  const [first, second, third] = await print(code, "INFO");
  expect(first).toMatchObject({ level: "INFO", message: "request", service: "pennymail" });
  expect(first?.facts).toEqual({ orgId: 1 });
  expect(Date.parse(String(first?.timestamp))).toBeGreaterThan(0);
  expect(second).toMatchObject({ level: "WARN", facts: {} });
  expect(third).toMatchObject({
    level: "ERROR",
    facts: { orgId: 2 },
    error: {
      name: "TypeError",
      message: "bad",
      stack: expect.stringContaining("TypeError: bad\n    at "),
      cause: { message: "inner" },
    },
  });
});

test("entries below LOG_LEVEL are not written", async () => {
  const levels = async (level: string) => (await print(code, level)).map((entry) => entry.level);
  expect(await levels("WARN")).toEqual(["WARN", "ERROR"]);
  expect(await levels("SILENT")).toEqual([]);
});
