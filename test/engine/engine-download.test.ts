// The first start on a platform whose engine `npm ci` did not install. The packages of the other
// platforms hold the engine of this one here.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { startDynamoDb } from "../../infra/local/engines/dynamodb.ts";
import {
  enginePackage,
  fetchEngine,
  findFetched,
  findInstalled,
} from "../../infra/local/engines/dynoxide.ts";
import { type NpmRegistry, startNpmRegistry } from "../support/npm-registry.ts";

const here = enginePackage(process.platform, process.arch)!;
const installed = findInstalled(here)!;
const mac = enginePackage("darwin", "arm64")!;
const windows = enginePackage("win32", "x64")!;

let registry: NpmRegistry;
beforeAll(async () => {
  const { name, version } = mac;
  registry = await startNpmRegistry([
    { name, version, files: { "package/dynoxide": readFileSync(installed) } },
    { name: windows.name, version, files: { "package/dynoxide.exe": "a program for Windows" } },
  ]);
});
afterAll(() => registry.stop());

let folder: string;
const lines: string[] = [];
const print = (line: string) => void lines.push(line);
const download = (wanted = mac) => fetchEngine(folder, wanted, print);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pennymail-engine-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  lines.length = 0;
  registry.requests.length = 0;
  registry.setFault(undefined);
  useRegistry(registry.url);
  onTestFinished(() => void vi.unstubAllEnvs());
});

/** With an empty cache of npm. */
function useRegistry(url: string) {
  vi.stubEnv("npm_config_registry", url);
  vi.stubEnv("npm_config_cache", join(folder, "cache"));
}

const engineFolders = () => readdirSync(folder).filter((name) => name !== "cache");

test("the first start fetches the engine with npm, and later starts find it without network", async () => {
  const program = await download();
  expect(spawnSync(program, ["--version"], { encoding: "utf8" }).stdout).toContain("dynoxide");
  expect(lines[0]).toContain("Downloading the database engine @dynoxide/darwin-arm64 1.2.1");
  expect(lines.at(-1)).toMatch(/^Downloaded the database engine, [\d.]+ MB, sha256 [0-9a-f]{64}$/);
  expect(registry.requests).toContain("/@dynoxide/darwin-arm64");
  expect(engineFolders()).toEqual(["dynoxide-darwin-arm64-1.2.1"]);
  registry.requests.length = 0;
  expect(findFetched(folder, mac)).toBe(program);
  expect(registry.requests).toEqual([]);
});

test("the engine of Windows is dynoxide.exe", async () => {
  const program = await download(windows);
  expect(program).toMatch(/dynoxide-win32-x64-1\.2\.1.dynoxide\.exe$/);
  expect(readFileSync(program, "utf8")).toBe("a program for Windows");
});

test("an engine that changed since its download is not started", async () => {
  const program = await download(windows);
  await writeFile(program, "another program");
  expect(() => findFetched(folder, windows)).toThrow(/is not the file that npm downloaded/);
  await rm(program);
  expect(() => findFetched(folder, windows)).toThrow(/its sha256 is missing/);
});

test("a registry that is not reached, or lacks the package, is one sentence", async () => {
  await expect(download(enginePackage("darwin", "x64"))).rejects.toThrow(
    "npm could not download @dynoxide/darwin-x64@1.2.1: its registry has no such package",
  );
  const gone = await startNpmRegistry([]);
  await gone.stop();
  useRegistry(gone.url);
  await expect(download()).rejects.toThrow(
    "npm could not download @dynoxide/darwin-arm64@1.2.1, because it does not reach its registry",
  );
  expect(engineFolders()).toEqual([]);
});

test("a download that differs from the checksum of the registry is rejected", async () => {
  registry.setFault("altered");
  await expect(download(windows)).rejects.toThrow("does not match the checksum of its registry");
  expect(engineFolders()).toEqual([]);
});

test("after an interrupted download, the next start fetches the engine again", async () => {
  registry.setFault("cut");
  await expect(download()).rejects.toThrow("npm could not download @dynoxide/darwin-arm64@1.2.1");
  expect(engineFolders()).toEqual([]);
  registry.setFault(undefined);
  expect(findFetched(folder, mac)).toBeUndefined();
  await expect(download()).resolves.toContain("dynoxide");
});

test("what a killed start left is removed", async () => {
  await mkdtemp(join(folder, "unfinished-"));
  await download(windows);
  expect(engineFolders()).toEqual(["dynoxide-win32-x64-1.2.1"]);
});

test("a service starts with the fetched engine, and goes on with its data only with it", async () => {
  const path = (name: string) => join(folder, name);
  const engine = await startDynamoDb(undefined, path, { platform: "darwin", arch: "arm64" });
  const { endpoint, credentials } = engine;
  const client = new DynamoDBClient({ endpoint, credentials, region: "us-east-1" });
  expect((await client.send(new ListTablesCommand())).TableNames).toEqual([]);
  await engine.stop();
  const elsewhere = startDynamoDb(undefined, path, { platform: "darwin", arch: "x64" });
  await expect(elsewhere).rejects.toThrow(/Only that engine can read the data in DATA_DIR/);
});
