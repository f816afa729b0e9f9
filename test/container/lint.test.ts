// Linters read the files that describe the container, and those for GitHub.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { installLinters, lint } from "./tools.ts";

const root = join(import.meta.dirname, "../..");
const run = ([command, ...args]: string[]) => {
  const { stdout, status } = spawnSync(command!, args, { cwd: root, encoding: "utf8" });
  return { status, output: stdout };
};

describe.skipIf(installLinters())("the linter accepts", () => {
  test("the Dockerfile", () => {
    const { output, status } = run([...lint.dockerfile, "infra/local/Dockerfile"]);
    expect(output).toBe("");
    expect(status).toBe(0);
  });

  test.each([
    ["compose-spec", "infra/local/compose.yaml"],
    ["github-workflows", ".github/workflows/ci.yml"],
    ["github-issue-forms", ".github/ISSUE_TEMPLATE/bug.yml"],
    ["github-issue-forms", ".github/ISSUE_TEMPLATE/feature.yml"],
    ["github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"],
  ])("%s: %s", (schema, file) => {
    const { output, status } = run([...lint.schema, `--builtin-schema=vendor.${schema}`, file]);
    expect(output).toBe("ok -- validation done\n");
    expect(status).toBe(0);
  });
});

test("the workflow pins actions to a commit", () => {
  const workflow = readFileSync(join(root, ".github/workflows/ci.yml"), "utf8");
  const actions = [...workflow.matchAll(/uses: (.*)/g)].map(([, action]) => action);
  expect(actions).not.toEqual([]);
  for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+$/);
});

test("the service in compose.yaml trusts the network of Caddy", () => {
  const compose = readFileSync(join(root, "infra/local/compose.yaml"), "utf8");
  const [, subnet] = /subnet: (.*)/.exec(compose)!;
  expect(compose).toContain(`TRUSTED_PROXIES: ${subnet}\n`);
});
