// One process of the service: its code with memory of its own, on the simulated clock and network.
// It can die at any call. Then it makes no further call, and nothing answers for it.
import * as nodeCrypto from "node:crypto";
import { deliver } from "./network.ts";
import type { Surroundings } from "./service-code.ts";
import type { SimulatedTime } from "./simulated-time.ts";

export interface Process {
  name: string;
  isAlive: boolean;
  /** The process stands still until this time, in milliseconds since 1970. */
  stoppedUntil: number;
  /** Called once, when the process dies. */
  onDeath: (() => void)[];
}

export function createProcess(name: string): Process {
  return { name, isAlive: true, stoppedUntil: 0, onDeath: [] };
}

export function kill(process: Process): void {
  if (!process.isAlive) return;
  process.isAlive = false;
  for (const tell of process.onDeath) tell();
}

interface SurroundingsOptions {
  time: SimulatedTime;
  random: () => number;
  process: Process;
  /** Receives each line that the process logs. */
  log(line: string): void;
  packages: Surroundings["packages"];
}

/** The clock, timers and random numbers of a process. Its timers end when it dies. */
export function createSurroundings({
  time,
  random,
  process: owner,
  log,
  packages,
}: SurroundingsOptions): Surroundings {
  const timers = createTimers(time, owner);
  const randomness = createRandomness(random);
  const stream = { write: log };
  const replacedProcess = Object.create(process, {
    // Reading the real one takes a microsecond, and the service reads its settings all the time.
    env: { value: { ...process.env } },
    stdout: { value: stream },
    stderr: { value: stream },
  });
  class SimulatedDate extends Date {
    constructor(...given: unknown[]) {
      super(...((given.length ? given : [Math.floor(time.now())]) as [number]));
    }
    static override now = () => Math.floor(time.now());
  }
  const pause = (ms = 1, value?: unknown) =>
    new Promise((resolve) => timers.setTimeout(() => resolve(value), ms));
  const cryptography = { ...nodeCrypto, ...randomness };
  return {
    globals: {
      Date: SimulatedDate,
      crypto: randomness,
      performance: { now: () => time.now() },
      process: replacedProcess,
      ...timers,
    },
    packages: {
      "node:crypto": { ...cryptography, default: cryptography },
      "node:timers/promises": { setTimeout: pause },
      "node:zlib": uncompressed,
      ...packages,
    },
  };
}

function createTimers(time: SimulatedTime, owner: Process) {
  const start = (ms: number, work: () => void) => deliver(time, { to: owner, after: ms, work });
  const toTimer = (cancel: () => void) => {
    const timer = { cancel, ref: () => timer, unref: () => timer, hasRef: () => true };
    return timer;
  };
  const stop = (timer?: { cancel?: () => void }) => timer?.cancel?.();
  const setTimeout = (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    toTimer(start(Math.max(1, ms), () => work(...args)));
  return {
    setTimeout,
    clearTimeout: stop,
    setInterval(work: () => void, ms = 1) {
      let cancel = () => {};
      const arm = () => {
        cancel = start(Math.max(1, ms), () => {
          arm();
          work();
        });
      };
      arm();
      return toTimer(() => cancel());
    },
    clearInterval: stop,
    setImmediate: (work: (...args: unknown[]) => void, ...args: unknown[]) =>
      toTimer(start(0, () => work(...args))),
    clearImmediate: stop,
  };
}

function createRandomness(random: () => number) {
  const fill = <T extends ArrayBufferView>(view: T): T => {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(random() * 256);
    return view;
  };
  const randomBytes = (n: number) => fill(Buffer.alloc(n));
  const randomUUID = () => {
    const hex = randomBytes(16).toString("hex");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  return {
    getRandomValues: fill,
    randomBytes,
    randomUUID,
    randomInt(a: number, b?: number) {
      const [from, to] = b === undefined ? [0, a] : [a, b];
      return from + Math.floor(random() * (to - from));
    },
    // The real cost would take a tenth of a second for each password.
    scrypt(...given: unknown[]) {
      const [password, salt, bytes, options, done] = given as Parameters<typeof nodeCrypto.scrypt>;
      const quick = { ...options, N: 2, p: 1 };
      done(null, nodeCrypto.scryptSync(password, salt, bytes, quick));
    },
  };
}

type Callback = (error: unknown, result?: unknown) => void;

/** Returns the bytes as they are. Compressing them would take a twentieth of the CPU time. */
const copyBytes = (input: string | Uint8Array): Buffer => Buffer.from(input as Uint8Array);

const uncompressed = {
  gzipSync: copyBytes,
  gunzipSync: copyBytes,
  gzip: (input: string, done: Callback) => done(null, copyBytes(input)),
  gunzip: (input: Uint8Array, done: Callback) => done(null, copyBytes(input)),
};
