// Joins calls that start at the same time.
import { addShareOfUnits, measureUnits, usageScope } from "./capacity.ts";

interface JoinedCall<In, Outputs> {
  inputs: In[];
  outputs: Promise<Outputs>;
}

type JoinableCall<In, Out> = (inputs: In[]) => Promise<Out[]>;

let joinsRequests = false;
let keepsSettings = false;

/**
 * Joins the calls of different requests from now on. For a process that serves many requests at the
 * same time, which a Lambda function does not. `makesAllWrites`: no other process writes to the
 * table.
 */
export function joinCallsOfRequests({ makesAllWrites }: { makesAllWrites: boolean }): void {
  joinsRequests = true;
  keepsSettings = makesAllWrites;
}

export const areRequestsJoined = (): boolean => joinsRequests;

/** Whether this process may keep what it read, because no other process changes the table. */
export const areSettingsKept = (): boolean => keepsSettings;

/**
 * Returns a function that hands its arguments to `call`, together with others of the same turn.
 * `call` returns the results in the order of its arguments, and is safe to repeat if it fails. Only
 * the calls of one request or batch
 * of messages are joined, which then pays for its own units, or those of all requests: then each
 * pays for its part of the arguments.
 */
export function joinCalls<In, Out>(call: JoinableCall<In, Out>): JoinableCall<In, Out> {
  const withinRequest = joinWithinRequests(call);
  const acrossRequests = joinAcrossRequests(call);
  return (inputs) => (joinsRequests ? acrossRequests : withinRequest)(inputs);
}

function joinWithinRequests<In, Out>(call: JoinableCall<In, Out>): JoinableCall<In, Out> {
  const open = new WeakMap<object, JoinedCall<In, Out[]>>();
  const startJoined = (scope: object): JoinedCall<In, Out[]> => {
    const all: In[] = [];
    const afterTurn = new Promise<void>((resolve) => process.nextTick(resolve));
    const outputs = afterTurn.then(() => {
      open.delete(scope);
      return call(all);
    });
    const joined = { inputs: all, outputs };
    open.set(scope, joined);
    return joined;
  };
  return async (inputs) => {
    const scope = usageScope();
    if (!scope) return call(inputs);
    const { inputs: all, outputs } = open.get(scope) ?? startJoined(scope);
    const first = all.push(...inputs) - inputs.length;
    return (await outputs).slice(first, first + inputs.length);
  };
}

/** While one call is under way, the next one collects arguments. */
function joinAcrossRequests<In, Out>(call: JoinableCall<In, Out>): JoinableCall<In, Out> {
  type Measured = Awaited<ReturnType<typeof measureUnits<Out[]>>>;
  let underWay: Promise<unknown> = Promise.resolve();
  let next: JoinedCall<In, Measured> | undefined;
  const startJoined = (): JoinedCall<In, Measured> => {
    const inputs: In[] = [];
    const outputs = Promise.all([underWay, arrivalOfOthers()]).then(() => {
      next = undefined;
      return measureUnits(() => call(inputs));
    });
    underWay = outputs.catch(() => {});
    return { inputs, outputs };
  };
  return async (inputs) => {
    next ??= startJoined();
    const { inputs: all, outputs } = next;
    const first = all.push(...inputs) - inputs.length;
    try {
      const { result, usage } = await outputs;
      addShareOfUnits(usage, inputs.length / all.length);
      return result.slice(first, first + inputs.length);
    } catch (error) {
      // The fault may be in the arguments of another request.
      if (all.length > inputs.length) return call(inputs);
      throw error;
    }
  };
}

/** Requests that arrive at the same time are read one after the other. */
const arrivalOfOthers = () => new Promise<void>((resolve) => setImmediate(resolve));
