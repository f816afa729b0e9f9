// ministack, an emulator of AWS that needs Python and no Docker. A patch makes it stricter: it
// checks API Gateway's Lambda permissions by route ARN, and permissions for PartiQL by verb.
import { spawn, spawnSync } from "node:child_process";
import { createHash, randomInt } from "node:crypto";
import { openSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { installPackages } from "../support/python-environment.ts";

const version = "1.5.33";
const patch = join(import.meta.dirname, `ministack-${version}.diff`);
/** The folder for all files of the deploy tests. */
export const cache: string = join(import.meta.dirname, "../../node_modules/.cache/test-deploy");

/** Installs the emulator if it is missing. Returns the reason if that is not possible. */
export const install = (): string | undefined =>
  installPackages({
    home: homeOfEmulator(),
    requirements: [`ministack==${version}`],
    patch: applyPatch,
  });

function applyPatch(python: string): void {
  const packages = packagesOf(python);
  // Otherwise git resolves the paths in the enclosing repository and changes nothing.
  const outside = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(packages) };
  const applied = spawnSync("git", ["apply", patch], {
    cwd: packages,
    env: outside,
    encoding: "utf8",
  });
  if (applied.status !== 0) throw new Error(`${patch} does not fit: ${applied.stderr}`);
}

/** The folder of the emulator. A changed patch leads to a new folder. */
function homeOfEmulator(): string {
  const hash = createHash("sha256").update(readFileSync(patch)).digest("hex").slice(0, 8);
  return join(cache, `ministack-${version}-${hash}`);
}

function packagesOf(python: string): string {
  const code = "import ministack, pathlib; print(pathlib.Path(ministack.__file__).parent.parent)";
  return spawnSync(python, ["-c", code], { encoding: "utf8" }).stdout.trim();
}

export interface Emulator {
  /** The URL of all AWS services. */
  endpoint: string;
  /** Endpoint, region and credentials of the account's root, for programs that use the emulator. */
  env: Record<string, string>;
  /** The path of the log file. */
  log: string;
  stop(): Promise<void>;
}

/** `functions` are environment variables of every Lambda function, besides those of the stack. */
export async function startEmulator(
  folder: string,
  functions: Record<string, string>,
): Promise<Emulator> {
  const port = String(await freePort());
  const endpoint = `http://127.0.0.1:${port}`;
  const account = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
  const region = { AWS_REGION: "us-east-1", AWS_DEFAULT_REGION: "us-east-1" };
  const settings = {
    GATEWAY_PORT: port,
    MINISTACK_HOST: "localhost",
    MINISTACK_REGION: "us-east-1",
    LAMBDA_ACCOUNT_CONCURRENCY: "1000",
    LOG_LEVEL: "INFO",
    // Roles, bucket and key policies, and Lambda permissions are enforced.
    AUTH: "true",
    AWS_ENDPOINT_URL: endpoint,
    ...account,
    ...Object.fromEntries(
      Object.entries(functions).map(([name, value]) => [`FUNCTIONS_${name}`, value]),
    ),
  };
  const { HOME = "" } = process.env;
  // Functions run on the `node` of this path.
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
  const log = join(folder, "emulator.log");
  const output = openSync(log, "w");
  const child = spawn(join(homeOfEmulator(), "bin/python"), ["-m", "ministack"], {
    cwd: folder,
    env: { PATH, HOME, ...settings },
    stdio: ["ignore", output, output],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const answers = async () => (await fetch(`${endpoint}/_ministack/health`)).ok;
  for (let waited = 0; !(await answers().catch(() => false)); waited += 100) {
    if (child.exitCode !== null || waited > 60_000)
      throw new Error(`The emulator did not start:\n${readFileSync(log, "utf8").slice(-2000)}`);
    await sleep(100);
  }
  return {
    endpoint,
    env: { AWS_ENDPOINT_URL: endpoint, AWS_ENDPOINT_URL_LAMBDA: endpoint, ...account, ...region },
    log,
    stop: async () => {
      child.kill("SIGTERM");
      const killing = setTimeout(() => child.kill("SIGKILL"), 5000);
      await ended;
      clearTimeout(killing);
    },
  };
}

/**
 * Returns a free port below those that the system gives to processes that take any, so that it is
 * still free when the emulator has started.
 */
async function freePort(): Promise<number> {
  const port = randomInt(20_000, 30_000);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => resolve(true));
  });
  if (!isFree) return freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
