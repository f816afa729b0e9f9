// The service in a separate process, like `npm start`.
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface TestServiceProcess {
  pid: number;
  /** The exit code. */
  exitCode: Promise<number | null>;
  /** The output so far. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
}

const root = fileURLToPath(new URL("../../", import.meta.url));
const startCommand = [process.execPath, "bin/start.ts"];

/** Starts a process. By default the service has its data in memory and listens on a free port. */
export function launchProcess(
  settings: Record<string, string> = {},
  [command, ...args] = startCommand,
): TestServiceProcess {
  const { PATH, HOME, NODE_COMPILE_CACHE, AWS_ENDPOINT_URL_DYNAMODB } = process.env;
  const env = {
    PATH,
    HOME,
    NODE_COMPILE_CACHE,
    AWS_ENDPOINT_URL_DYNAMODB,
    PORT: "0",
    DATA_DIR: ":memory:",
    LOG_LEVEL: "ERROR",
    ...settings,
  };
  const child: ChildProcess = spawn(command!, args, {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
    });
  }
  const exitCode = new Promise<number | null>((resolve) => child.once("close", resolve));
  return {
    pid: child.pid!,
    exitCode,
    output: () => output,
    kill: (signal) => void child.kill(signal),
  };
}

export interface RunningTestService extends TestServiceProcess {
  /** http://127.0.0.1:port */
  url: string;
  /** Stops the service like Ctrl-C. */
  stop(): Promise<void>;
}

const quickPasswords = "--import=./test/support/quick-passwords.ts";
/**
 * For tests of windows of time: the clock of the service moves only where a test moves it, so that a
 * busy machine does not reach the end of a window.
 */
export const stillClock = {
  NODE_OPTIONS: `${quickPasswords} --import=./test/support/still-clock.ts`,
};

/** Starts the service and waits until it is ready. */
export async function startServiceProcess(
  settings: Record<string, string> = {},
): Promise<RunningTestService> {
  const launched = launchProcess({ NODE_OPTIONS: quickPasswords, ...settings });
  let exited = false;
  void launched.exitCode.then(() => {
    exited = true;
  });
  while (true) {
    const [, url] = /^ready (http:\S+)\/api\/v1$/m.exec(launched.output()) ?? [];
    const stop = async () => {
      launched.kill("SIGTERM");
      await launched.exitCode;
    };
    if (url) return { ...launched, url, stop };
    if (exited) throw new Error(`The service did not start:\n${launched.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
