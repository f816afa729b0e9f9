// The network between the processes of the service and everything else. Each call takes time to
// arrive and to be answered, and a fault can strike it.
import {
  type createFaultPlan,
  describeFault,
  type Fault,
  type SpecialFaultKind,
  type Target,
} from "./faults.ts";
import { kill, type Process } from "./machine.ts";
import type { SimulatedTime } from "./simulated-time.ts";

export interface NetworkCall<T> {
  /** Undefined for callers and providers, which do not die. */
  from?: Process;
  to: Target;
  /** What is called, for the story: `UpdateItem`. */
  name: string;
  /** Everything that the call says, for the trace. */
  text: string;
  /** How long the caller waits for the answer. */
  timeoutSeconds: number;
  /** The kind of fault that only some calls can have, if this one can. */
  special?: SpecialFaultKind | undefined;
  /** Runs when the call arrives. `fault` strikes the call. */
  effect(fault?: Fault): T | Promise<T>;
}

/** A call got no answer. It may have taken effect. */
export class ConnectionLost extends Error {
  readonly timedOut: boolean;
  constructor(timedOut: boolean) {
    super(timedOut ? "No answer in time" : "The connection was lost");
    this.timedOut = timedOut;
  }
}

/** The other side refuses the call because of a fault. */
export class CallRefused extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(`The call is ${fault.kind}`);
    this.fault = fault;
  }
}

export interface Network {
  call<T>(call: NetworkCall<T>): Promise<T>;
}

interface NetworkOptions {
  time: SimulatedTime;
  start: number;
  random: () => number;
  faults: ReturnType<typeof createFaultPlan>;
  trace(line: string): void;
  tell(sentence: string): void;
}

/** The usual milliseconds to the target and back. */
const latencies: Record<Target, number> = {
  table: 3,
  queue: 8,
  vault: 5,
  provider: 60,
  receiver: 40,
  service: 10,
};

export function createNetwork({
  time,
  start,
  random,
  faults,
  trace,
  tell,
}: NetworkOptions): Network {
  const latency = (target: Target) => latencies[target] * (0.2 + 2 * random() ** 4 + random());
  return {
    call<T>({ from, to, name, text, timeoutSeconds, special, effect }: NetworkCall<T>): Promise<T> {
      if (from && !from.isAlive) return new Promise(() => {});
      trace(`${from?.name ?? "outside"} calls ${to} ${name} ${text}`);
      const fault = faults.strike(to, time.now() - start, special);
      // An outage strikes too many calls for the story.
      if (fault && fault.kind !== "away")
        tell(`${from?.name ?? "Somebody"} calls ${name}, ${describeFault[fault.kind](fault)}`);
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const back = (answer: () => void, ms = latency(to)) =>
        deliver(time, { to: from, after: ms, work: answer });
      const is = (kind: Fault["kind"]) => fault?.kind === kind;
      if (is("dies before")) {
        kill(from!);
        return promise;
      }
      if (is("stops") && from) from.stoppedUntil = time.now() + fault!.amount * 1000;
      if (is("request lost")) {
        back(() => reject(new ConnectionLost(false)));
        return promise;
      }
      if (is("away")) {
        back(() => reject(new CallRefused(fault!)));
        return promise;
      }
      const timeout = is("slow") || is("stops") ? timeoutSeconds * 1000 : undefined;
      if (timeout !== undefined) back(() => reject(new ConnectionLost(true)), timeout);
      const arrive = async () => {
        if (is("throttled") || is("conflict") || is("refused"))
          return back(() => reject(new CallRefused(fault!)));
        if (is("repeated")) {
          // The caller gave up on the first call, and waits for the answer of the second.
          void (async () => effect())().catch(() => {});
          await new Promise<void>((resolve) => time.after(latency(to), resolve));
        }
        try {
          const answer = await effect(fault);
          if (is("dies after")) return kill(from!);
          back(() => (is("answer lost") ? reject(new ConnectionLost(false)) : resolve(answer)));
        } catch (error) {
          back(() => reject(error));
        }
      };
      const there = latency(to) + (is("slow") ? fault!.amount * 1000 : 0);
      // A process that stops makes the call when it continues.
      if (is("stops")) deliver(time, { to: from, after: there, work: arrive });
      else time.after(there, () => void arrive());
      return promise;
    },
  };
}

interface Delivery {
  to: Process | undefined;
  /** Milliseconds. */
  after: number;
  work(): void;
}

/** Runs work in a process: not when it is dead, and later when it is stopped. */
export function deliver(time: SimulatedTime, { to, after, work }: Delivery): () => void {
  let cancel = time.after(after, function run() {
    if (to && !to.isAlive) return;
    const wait = (to?.stoppedUntil ?? 0) - time.now();
    if (wait > 0) cancel = time.after(wait, run);
    else work();
  });
  return () => cancel();
}
