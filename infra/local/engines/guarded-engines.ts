// Starts DynamoDB engines behind a guard process, and starts it again when it ends.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as log from "../../../shared/kernel/log.ts";
import { childEnvironment } from "../child-environment.ts";
import { CliError } from "../cli-error.ts";
import type { EngineCommand, EngineOrder, GuardReport } from "./engine-order.ts";

export interface GuardedEngines {
  /** One for each command. */
  endpoints: string[];
  stop(): Promise<void>;
}

interface GuardSettings {
  /** Each contains `portPlaceholder`. */
  commands: EngineCommand[];
  secretAccessKey: string;
  /** The data is on disk, so what ends is started again. */
  persistent: boolean;
}

export async function startGuardedEngines(settings: GuardSettings): Promise<GuardedEngines> {
  const ports: number[] = [];
  for (const _ of settings.commands) ports.push(0);
  let guard = await launchGuard(settings, ports);
  let stopped = false;
  const restartOnExit = async () => {
    while (!stopped) {
      await guard.exited;
      if (stopped) return;
      log.error("the guard of the DynamoDB engine ended and restarts", new Error("exit"));
      await pause(restartMs);
      if (!stopped)
        guard = await launchGuard(settings, ports).catch((error: unknown) => {
          log.error("the guard of the DynamoDB engine did not start", error);
          return guard;
        });
    }
  };
  if (settings.persistent) void restartOnExit();
  const stop = async () => {
    stopped = true;
    guard.end();
    await guard.exited;
  };
  return { endpoints: ports.map((port) => `http://127.0.0.1:${port}`), stop };
}

const restartMs = 300;

interface Guard {
  exited: Promise<void>;
  end(): void;
}

/** Replaces ports that are 0 by those it listens on. */
async function launchGuard(settings: GuardSettings, ports: number[]): Promise<Guard> {
  const isolated = canIsolate();
  const child = spawnGuard(isolated);
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const end = () => {
    if (child.connected) child.disconnect();
  };
  try {
    for (const [i, command] of settings.commands.entries()) {
      const listener = await listen(ports[i]!);
      ports[i] = (listener.address() as AddressInfo).port;
      const { secretAccessKey, persistent } = settings;
      await startEngine(child, listener, {
        command,
        env: { ...childEnvironment(), ...engineEnv },
        accepted: { host: `127.0.0.1:${ports[i]}`, secretAccessKey },
        persistent,
        isolated,
      });
    }
  } catch (error) {
    end();
    await exited;
    throw error;
  }
  child.on("message", (message: GuardReport) => {
    if ("restarted" in message)
      log.error("DynamoDB engine ended and restarts", new Error(message.restarted));
  });
  return { exited, end };
}

// dynoxide serves one request at a time, and its threads compete for memory: with one thread it
// needs half the CPU time for parallel transactions.
const engineEnv = { TOKIO_WORKER_THREADS: "1" };

const guardFile = fileURLToPath(new URL("./guard-process.ts", import.meta.url));

/** A process group of its own keeps Ctrl-C from it, so that messages in progress can finish. */
function spawnGuard(isolated: boolean): ChildProcess {
  const guard = [process.execPath, "--disable-warning=ExperimentalWarning", guardFile];
  const [command, ...args] = isolated ? [...isolation, ...guard] : guard;
  return spawn(command!, args, {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    detached: true,
    windowsHide: true,
    env: childEnvironment(),
  });
}

/**
 * Runs a command in a network namespace of its own, as a user who is root there and this user
 * outside.
 */
const isolation = ["unshare", "--map-root-user", "--net"];

let isolates: boolean | undefined;

/**
 * Whether the engines' own ports can be hidden from other users of this machine and from browsers:
 * on Linux, unless it forbids namespaces to users.
 */
export function canIsolate(): boolean {
  const [command, ...args] = [...isolation, "ip", "link", "set", "lo", "up"];
  isolates ??=
    process.platform === "linux" &&
    spawnSync(command!, args, { env: childEnvironment() }).status === 0;
  return isolates;
}

async function listen(port: number): Promise<Server> {
  const listener = createServer().listen(port, "127.0.0.1");
  await once(listener, "listening");
  return listener;
}

/** Hands the listener to the guard, and waits until the engine responds. */
async function startEngine(
  child: ChildProcess,
  listener: Server,
  order: EngineOrder,
): Promise<void> {
  const reported = new Promise<GuardReport>((resolve) => {
    child.once("message", (message) => resolve(message as GuardReport));
    child.once("exit", () => resolve({ failed: "its guard ended" }));
    child.once("error", (error) => resolve({ failed: error.message }));
  });
  child.send(order, listener, () => listener.close());
  const report = await reported;
  if ("failed" in report) throw new CliError(`The DynamoDB engine did not start: ${report.failed}`);
}
