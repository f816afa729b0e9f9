// The audit of CI with a registry that knows vulnerabilities, and with one that does not answer.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const audit = join(import.meta.dirname, "../../.ci/audit");
let advisories: object | undefined;
const registry = createServer((request, response) => {
  request.resume();
  const answer =
    request.method === "POST" ? advisories : packumentOf(decodeURIComponent(request.url!.slice(1)));
  if (!answer) response.writeHead(405).end();
  else response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
});

/** npm reads it to see whether another version mends the vulnerability. */
const packumentOf = (name: string) => ({ name, versions: { "0.0.1": { name, version: "0.0.1" } } });

const cache = mkdtempSync(join(tmpdir(), "audit-"));
beforeAll(() => new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  registry.close();
  rmSync(cache, { recursive: true });
});

const runAudit = () =>
  new Promise<{ code: number; output: string }>((resolve) => {
    const { port } = registry.address() as AddressInfo;
    const npm = { npm_config_registry: `http://127.0.0.1:${port}`, npm_config_cache: cache };
    const env = { ...process.env, ...npm };
    const child = execFile("bash", [audit], { env }, (_error, output) =>
      resolve({ code: child.exitCode!, output }),
    );
  });

let advisoryId = 0;
/** npm caches an advisory by its id. */
const advisoryOf = (name: string, severity: string) => {
  const text = { url: "https://example.com", title: "Bad", vulnerable_versions: "*" };
  return { [name]: [{ id: ++advisoryId, severity, ...text }] };
};

describe.skipIf(process.platform === "win32")("the audit", () => {
  test("is skipped when the registry does not answer", async () => {
    advisories = undefined;
    const { code, output } = await runAudit();
    expect(output).toMatch(/^npm audit was skipped: 405 /);
    expect(code).toBe(0);
  });

  test("fails for a package that the service runs with, and names it", async () => {
    advisories = advisoryOf("zod", "high");
    const { code, output } = await runAudit();
    expect(output).toMatch(/^zod /m);
    expect(code).toBe(1);
  });

  test.each([
    ["a moderate vulnerability", advisoryOf("zod", "moderate")],
    ["a package of the tests", advisoryOf("vitest", "critical")],
  ])("passes for %s", async (_, known) => {
    advisories = known;
    const { code, output } = await runAudit();
    expect(output).toBe("No known vulnerability of level high or critical\n");
    expect(code).toBe(0);
  });
});
