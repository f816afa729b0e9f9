// Records the network calls of a request and how many of them run one after the other. Subscribes
// to Node's HTTP clients, so the measured code needs no changes.
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";

interface TracedCall {
  name: string;
  /** In milliseconds of `performance.now()`. */
  from: number;
  to: number;
}

/** The calls of one request or batch of messages. */
export interface CallTrace {
  what: string;
  milliseconds: number;
  calls: number;
  /**
   * The longest chain of calls in which each starts after the previous one ended. Each step also
   * names the calls that ran in parallel.
   */
  sequence: string[][];
}

const current = new AsyncLocalStorage<TracedCall[]>();
const open = new WeakMap<object, TracedCall>();
let finished: CallTrace[] | undefined;

/** Starts or stops the recording. Returns the traces recorded until now. */
export function setTracing(on: boolean): CallTrace[] {
  const traces = finished ?? [];
  finished = on ? [] : undefined;
  return traces;
}

/** Runs the work and records its calls. */
export async function traceWork<T>(what: string, work: () => Promise<T>): Promise<T> {
  if (!finished) return work();
  const calls: TracedCall[] = [];
  const from = performance.now();
  try {
    return await current.run(calls, work);
  } finally {
    // The result does not wait for calls that are still open, such as those of a hand-over.
    const awaited = calls.filter(({ to }) => to !== Number.POSITIVE_INFINITY);
    finished?.push({
      what,
      milliseconds: performance.now() - from,
      calls: awaited.length,
      sequence: longestSequence(awaited),
    });
  }
}

/** Call it once, before the first request. */
export function watchHttpClients(): void {
  subscribe("http.client.request.created", (message) =>
    startCall(
      (message as ClientRequestMessage).request,
      operationName((message as ClientRequestMessage).request),
    ),
  );
  for (const end of ["http.client.response.finish", "http.client.request.error"])
    subscribe(end, (message) => endCall((message as ClientRequestMessage).request));
}

interface ClientRequestMessage {
  request: ClientRequest;
}

function startCall(request: object, name: string) {
  const call = { name, from: performance.now(), to: Number.POSITIVE_INFINITY };
  current.getStore()?.push(call);
  open.set(request, call);
}

function endCall(request: object) {
  const call = open.get(request);
  if (call) call.to = performance.now();
}

/** Returns `GetItem` for `DynamoDB_20120810.GetItem`, and the HTTP method for S3. */
function operationName(request: ClientRequest): string {
  if (!request.hasHeader("x-amz-date")) return "provider";
  return String(request.getHeader("x-amz-target") ?? request.method).replace(/^.*\./, "");
}

// The chain is longest when each step takes the call that ends first among those that started after
// the previous step.
function longestSequence(calls: TracedCall[]): string[][] {
  const steps: string[][] = [];
  let remaining = calls.toSorted((a, b) => a.to - b.to);
  for (let [first] = remaining; first; [first] = remaining) {
    const { to } = first;
    steps.push(remaining.filter(({ from }) => from < to).map(({ name }) => name));
    remaining = remaining.filter(({ from }) => from >= to);
  }
  return steps;
}
