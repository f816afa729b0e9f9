// Which calls a request makes over the network, and how many of them wait for each other. Seen from outside, at Node's own HTTP
// clients, so the code that is measured knows nothing of it.
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";

interface Call {
  name: string;
  /** On the clock of `performance.now()`. */
  from: number;
  to: number;
}

/** One request or batch of messages. */
export interface Trip {
  what: string;
  milliseconds: number;
  calls: number;
  /** The longest row of calls of which each began after the one before had ended; beside each those that went along. */
  rounds: string[][];
}

const current = new AsyncLocalStorage<Call[]>();
const open = new WeakMap<object, Call>();
let finished: Trip[] | undefined;

/** Notes every trip from now on, or stops doing so; answers with those noted until now. */
export function trace(on: boolean): Trip[] {
  const noted = finished ?? [];
  finished = on ? [] : undefined;
  return noted;
}

/** `work`, whose calls are noted. */
export async function traced<T>(what: string, work: () => Promise<T>): Promise<T> {
  if (!finished) return work();
  const calls: Call[] = [];
  const from = performance.now();
  try {
    return await current.run(calls, work);
  } finally {
    finished?.push({ what, milliseconds: performance.now() - from, calls: calls.length, rounds: roundsOf(calls) });
  }
}

/** Must be called once, before the first request. */
export function watchCalls(): void {
  subscribe("http.client.request.created", (said) => begin((said as Told).request, operationOf((said as Told).request)));
  subscribe("undici:request:create", (said) => begin((said as Told).request, "provider"));
  for (const end of ["http.client.response.finish", "http.client.request.error", "undici:request:trailers", "undici:request:error"])
    subscribe(end, (said) => close((said as Told).request));
}

interface Told {
  request: ClientRequest;
}

function begin(request: object, name: string) {
  const call = { name, from: performance.now(), to: Number.POSITIVE_INFINITY };
  current.getStore()?.push(call);
  open.set(request, call);
}

function close(request: object) {
  const call = open.get(request);
  if (call) call.to = performance.now();
}

/** `DynamoDB_20120810.GetItem` is GetItem; S3 names its operation by method. */
const operationOf = (request: ClientRequest): string => String(request.getHeader("x-amz-target") ?? request.method).replace(/^.*\./, "");

// Taking, again and again, the call that ends first of all that began after the last one taken makes the longest possible row.
function roundsOf(calls: Call[]): string[][] {
  const rounds: string[][] = [];
  let left = calls.toSorted((a, b) => a.to - b.to);
  for (let [first] = left; first; [first] = left) {
    const { to } = first;
    rounds.push(left.filter(({ from }) => from < to).map(({ name }) => name));
    left = left.filter(({ from }) => from >= to);
  }
  return rounds;
}
