// `npm run demo` against the local service.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, inject, test } from "vitest";
import { request } from "../support/api-client.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "demo-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface DemoResult {
  code: number;
  output: string;
  errorOutput: string;
}

const demo = (...args: string[]): Promise<DemoResult> => runDemo(args);

const runDemo = (args: string[], env: NodeJS.ProcessEnv = {}): Promise<DemoResult> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      ["bin/demo.ts", ...args],
      { cwd: root, env: { ...process.env, ...env } },
      (error, output, errorOutput) =>
        resolve({ code: Number(error?.code ?? 0), output, errorOutput }),
    );
  });

function csv(text: string): string {
  const file = join(folder, "people.csv");
  writeFileSync(file, text);
  return file;
}

// A deployed service has no sandbox to send through.
describe.skipIf(new URL(inject("baseUrl")).hostname !== "127.0.0.1")("npm run demo", () => {
  test("sends the sample file, shows what arrived, and prints a working API key", async () => {
    const { code, output, errorOutput } = await demo("--url", inject("baseUrl"));
    expect({ code, errorOutput }).toEqual({ code: 0, errorOutput: "" });
    expect(output).toContain("12 mails arrived");
    expect(output).toContain("Welcome, Grace  grace@example.com");
    expect(output).toMatch(
      /1 refused by the provider\n\s+rejected\+nobody@simulator\.pennymail\.test/,
    );
    const [key] = /pm_live_[0-9A-Za-z]{40,}/.exec(output) ?? [];
    const as = { headers: { authorization: `Bearer ${key}` } };
    const sends = await request<{ pagination: { total: number } }>("GET", "/sends", undefined, as);
    expect(sends.body.data.pagination.total).toBe(13);
    // The demo sets a larger plan, because a file may have more rows than the free plan has mails.
    expect(JSON.stringify((await request("GET", "/plans/current", undefined, as)).body)).toContain(
      '"growth"',
    );
  });

  test("sends to each row of a CSV file, and reports rejected rows", async () => {
    const file = csv(
      "Email,Nick name\nann@example.net,Annie\nann@example.net,Annie\nsøren@example.com,S\n",
    );
    const { code, output } = await demo("--url", inject("baseUrl"), "--csv", file);
    expect(code).toBe(0);
    expect(output).toContain("email, nickName");
    expect(output).toContain("2 mails arrived");
    expect(output).toContain("2 rejected by the service");
    expect(output).toContain("Welcome, ann@example.net");
  });

  test("calls the service at HOST and PORT, like npm start", async () => {
    const { errorOutput } = await runDemo([], { HOST: "localhost", PORT: "1" });
    expect(errorOutput).toContain("No service responds at http://localhost:1 ");
  });

  test("reports an error in one line, with the usage for an unknown option, and creates nothing", async () => {
    const nothing = createServer((_, response) => response.writeHead(404).end("{}")).listen(
      0,
      "127.0.0.1",
    );
    await new Promise((resolve) => nothing.once("listening", resolve));
    const deployed = `http://127.0.0.1:${(nothing.address() as AddressInfo).port}`;
    const errors: [string[], string][] = [
      [["--url", "http://127.0.0.1:1"], "No service responds at http://127.0.0.1:1"],
      [["--url", deployed], "has no provider sandbox"],
      [["--url", "nonsense"], "--url must be an address"],
      [["--what"], "Unknown option '--what'"],
      [["--csv", join(folder, "none.csv")], "does not exist"],
      [["--csv", csv("name\nAda\n")], "has no column named email"],
    ];
    for (const [args, why] of errors) {
      const { code, output, errorOutput } = await demo("--url", inject("baseUrl"), ...args);
      expect(errorOutput).toContain(why);
      const [line, usage] = errorOutput.trimEnd().split(/\n(?=Usage: )/);
      expect(line!.split("\n")).toHaveLength(1);
      expect(usage !== undefined).toBe(why.startsWith("Unknown option"));
      expect({ code, output }).toEqual({ code: 1, output: "" });
    }
    nothing.close();
  });
});
