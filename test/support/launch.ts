// The service as a process of its own, started as `npm start` starts it.
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface Launched {
  /** The code it ended with. */
  ended: Promise<number | null>;
  /** All that it printed so far. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
}

const root = fileURLToPath(new URL("../../", import.meta.url));
const direct = [process.execPath, "bin/local.ts"];

/** In memory and on a free port unless `settings` say otherwise. */
export function launch(settings: Record<string, string> = {}, [command, ...args] = direct): Launched {
  const { PATH, HOME, AWS_ENDPOINT_URL_DYNAMODB } = process.env;
  const env = { PATH, HOME, AWS_ENDPOINT_URL_DYNAMODB, PORT: "0", DATA_DIR: ":memory:", LOG_LEVEL: "ERROR", ...settings };
  const child: ChildProcess = spawn(command!, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { ended, output: () => output, kill: (signal) => void child.kill(signal) };
}

export interface Running extends Launched {
  /** http://127.0.0.1:port */
  url: string;
  /** As one stops it by hand. */
  stop(): Promise<void>;
}

const quickPasswords = "--import=./test/support/quick-passwords.ts";

/** `launch` that has said it is ready. */
export async function started(settings: Record<string, string> = {}): Promise<Running> {
  const launched = launch({ NODE_OPTIONS: quickPasswords, ...settings });
  let over = false;
  void launched.ended.then(() => {
    over = true;
  });
  while (true) {
    const [, url] = /^ready (http:\S+)\/api\/v1$/m.exec(launched.output()) ?? [];
    const stop = async () => {
      launched.kill("SIGTERM");
      await launched.ended;
    };
    if (url) return { ...launched, url, stop };
    if (over) throw new Error(`The service did not start:\n${launched.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
