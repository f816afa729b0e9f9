// Decisions that depend on the platform, for platforms that no test runs on.
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { childEnvironment } from "../../infra/local/child-environment.ts";
import { enginePackage, explainFailure, readArchived } from "../../infra/local/engines/dynoxide.ts";
import { npmCommand } from "../../infra/local/npm-command.ts";
import { createTar } from "../support/npm-registry.ts";

test.each([
  ["linux", "x64", "@dynoxide/linux-x64", "dynoxide"],
  ["linux", "arm64", "@dynoxide/linux-arm64", "dynoxide"],
  ["darwin", "x64", "@dynoxide/darwin-x64", "dynoxide"],
  ["darwin", "arm64", "@dynoxide/darwin-arm64", "dynoxide"],
  ["win32", "x64", "@dynoxide/win32-x64", "dynoxide.exe"],
])("the engine of %s on %s is %s", (platform, arch, name, program) => {
  expect(enginePackage(platform, arch)).toEqual({ name, program, version: "1.2.1" });
});

test("other platforms have no engine", () => {
  expect(enginePackage("freebsd", "x64")).toBeUndefined();
  expect(enginePackage("linux", "s390x")).toBeUndefined();
});

const withFiles =
  (...files: string[]) =>
  (path: string) =>
    files.includes(path);

test("npm is the one that runs the script, and runs in this Node.js", () => {
  const env = { npm_execpath: "/opt/npm/bin/npm-cli.js", PATH: "/usr/bin" };
  const exists = withFiles("/usr/bin/npm");
  expect(npmCommand({ platform: "darwin", env, node: "/n/node", exists })).toEqual([
    "/n/node",
    "/opt/npm/bin/npm-cli.js",
  ]);
});

test("npm is found in PATH if another tool runs the script", () => {
  const env = { npm_execpath: "/opt/yarn/bin/yarn.js", PATH: "/nowhere::/usr/local/bin:/usr/bin" };
  const exists = withFiles("/usr/local/bin/npm", "/usr/bin/npm");
  expect(npmCommand({ platform: "darwin", env, node: "/n/node", exists })).toEqual([
    "/usr/local/bin/npm",
  ]);
  expect(npmCommand({ platform: "linux", env, node: "/n/node", exists: () => false })).toBe(
    undefined,
  );
});

test("on Windows, Node.js runs the script of npm, because npm.cmd needs a shell", () => {
  const script = "C:\\Program Files\\nodejs\\node_modules\\npm\\bin\\npm-cli.js";
  const env = { Path: "C:\\Windows;C:\\Program Files\\nodejs\\" };
  const machine = { platform: "win32" as const, env, node: "C:\\node.exe" };
  expect(npmCommand({ ...machine, exists: withFiles(script) })).toEqual(["C:\\node.exe", script]);
});

test("child processes get no secrets", () => {
  const env = { PATH: "/bin", HOME: "/root", STRIPE_SECRET_KEY: "sk", AWS_SECRET_ACCESS_KEY: "s" };
  expect(childEnvironment(env, "linux")).toEqual({ PATH: "/bin", HOME: "/root" });
});

test("on Windows, the case of names does not matter", () => {
  const env = { Path: "C:\\Windows", SystemRoot: "C:\\Windows", Stripe_Secret_Key: "sk" };
  expect(childEnvironment(env, "win32")).toEqual({
    Path: "C:\\Windows",
    SystemRoot: "C:\\Windows",
  });
  expect(childEnvironment(env, "linux")).toEqual({});
});

test("a file of a package is read from its archive", () => {
  const archive = gzipSync(
    createTar({ "package/package.json": "{}", "package/dynoxide": "x".repeat(1500) }),
  );
  expect(readArchived(archive, "package/dynoxide")?.toString()).toBe("x".repeat(1500));
  expect(readArchived(archive, "package/package.json")?.toString()).toBe("{}");
  expect(readArchived(archive, "package/other")).toBeUndefined();
});

test.each([
  ["npm error code ENOTFOUND\nnpm error syscall getaddrinfo", "does not reach its registry"],
  ["npm error code E404\nnpm error 404 Not Found", "its registry has no such package"],
  ["npm error code EINTEGRITY\nnpm error sha512-a", "does not match the checksum of its registry"],
  ["npm ERR! code E401\nnpm ERR! Unable to authenticate", "Unable to authenticate"],
  ["", "it does not say why"],
])("the failure of npm %j is one sentence", (output, expected) => {
  const sentence = explainFailure(output, "@dynoxide/darwin-arm64@1.2.1");
  expect(sentence).toContain("@dynoxide/darwin-arm64@1.2.1");
  expect(sentence).toContain(expected);
});
