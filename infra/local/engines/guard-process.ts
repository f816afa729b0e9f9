// The process between the service and its DynamoDB engines. It listens on the engines' ports and
// accepts only requests that the service signs. It starts the engines, restarts them when they end,
// and ends them with the service, even after SIGKILL: its channel to the service closes then.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { connect, createServer, type Server } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { guardConnection } from "./connection-guard.ts";
import { type EngineOrder, type GuardReport, portPlaceholder } from "./engine-order.ts";

const restartMs = 300;
const startSeconds = 20;
const stopSeconds = 5;

const engines = new Set<ChildProcess>();
let stopping = false;

process.on("message", (order: EngineOrder, listener: Server) => {
  startEngine(order, listener).catch((error: Error) => report({ failed: error.message }));
});
process.on("disconnect", stop);
// The service ends this process. Signals to a group of processes are for the service.
process.on("SIGINT", () => {}).on("SIGTERM", () => {});

const report = (message: GuardReport) => process.connected && process.send!(message);

async function startEngine(order: EngineOrder, listener: Server) {
  const port = freePort(order.isolated);
  let running = port.then((known) => launch(order, known));
  // A connection waits until the engine is ready, also while it starts again.
  listener.on("connection", async (socket) => {
    socket.on("error", () => socket.destroy());
    try {
      await (await running).ready;
      guardConnection(socket, await port, order.accepted);
    } catch {
      socket.destroy();
    }
  });
  await (await running).ready;
  report({ ready: true });
  while (order.persistent) {
    const { exited, lastOutput } = await running;
    await exited;
    if (stopping) return;
    report({ restarted: lastOutput() || "no output" });
    running = pause(restartMs).then(async () => launch(order, await port));
    await running;
  }
}

interface RunningEngine {
  child: ChildProcess;
  /** Rejects if the engine does not start. */
  ready: Promise<void>;
  exited: Promise<void>;
  lastOutput(): string;
}

function launch({ command, env, isolated }: EngineOrder, port: number): RunningEngine {
  const [program, ...args] = [...(isolated ? endsWithGuard : []), ...command];
  const withPort = args.map((arg) => (arg === portPlaceholder ? String(port) : arg));
  const child = spawn(program!, withPort, {
    stdio: ["ignore", "ignore", "pipe"],
    env,
    windowsHide: true,
  });
  engines.add(child);
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-500);
  });
  const exited = new Promise<void>((resolve) => {
    const end = () => {
      engines.delete(child);
      resolve();
    };
    child.once("exit", end);
    child.once("error", (error) => {
      output += error.message;
      end();
    });
  });
  const lastOutput = () => output.trim().split("\n").at(-1) ?? "";
  const ready = waitUntilReady(child, port, lastOutput);
  ready.catch(() => {});
  return { child, ready, exited, lastOutput };
}

/** On Linux, the engine ends with this process, even after SIGKILL. */
const endsWithGuard = ["setpriv", "--pdeathsig", "KILL"];

/** A network namespace begins without a loopback device. */
function freePort(isolated: boolean): Promise<number> {
  if (isolated) spawnSync("ip", ["link", "set", "lo", "up"]);
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

async function waitUntilReady(child: ChildProcess, port: number, lastOutput: () => string) {
  for (let waited = 0; waited < startSeconds * 1000; waited += 10) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    if (await responds(port)) return;
    await pause(10);
  }
  child.kill();
  throw new Error(lastOutput() || "it does not respond");
}

/** Whether the engine answers an HTTP request. node:net needs less time to load than node:http. */
const responds = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const end = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(2000, () => end(false));
    socket.once("error", () => end(false)).once("close", () => end(false));
    socket.once("data", () => end(true));
    socket.end(
      "POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}",
    );
  });

function stop() {
  stopping = true;
  const running = [...engines];
  for (const child of running) child.kill();
  const exits = running.map((child) => new Promise((resolve) => child.once("exit", resolve)));
  setTimeout(() => running.map((child) => child.kill("SIGKILL")), stopSeconds * 1000).unref();
  void Promise.all(exits).then(() => process.exit());
}
