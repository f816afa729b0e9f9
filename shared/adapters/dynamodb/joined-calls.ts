// Joins calls that start at the same time: those of one request, or of one message of a queue. On
// one machine it joins those of all requests, because there a call takes the AWS SDK more CPU time
// than the engine. Two cores then handed over 118 single sends a second instead of 85.
import { addShareOfUnits, measureUnits, usageScope } from "./capacity.ts";

type JoinableCall<In, Out> = (inputs: In[]) => Promise<Out[]>;

let joinsRequests = false;

/** For a process that serves many requests at the same time, which a Lambda function does not. */
export function joinCallsOfRequests(): void {
  joinsRequests = true;
}

/**
 * Returns a function that hands its arguments to `call`, together with others of the same turn.
 * `call` returns the results in the order of its arguments, and is safe to repeat if it fails. A
 * request pays for its own units, or for its part of the units of all.
 */
export function joinCalls<In, Out>(call: JoinableCall<In, Out>): JoinableCall<In, Out> {
  const withinRequest = joinWithinRequests(call);
  const acrossRequests = joinAcrossRequests(call);
  return (inputs) => (joinsRequests ? acrossRequests : withinRequest)(inputs);
}

function joinWithinRequests<In, Out>(call: JoinableCall<In, Out>): JoinableCall<In, Out> {
  const open = new WeakMap<object, { inputs: In[]; outputs: Promise<Out[]> }>();
  const startJoined = (scope: object) => {
    const inputs: In[] = [];
    const afterTurn = new Promise<void>((resolve) => process.nextTick(resolve));
    const outputs = afterTurn.then(() => {
      open.delete(scope);
      return call(inputs);
    });
    const joined = { inputs, outputs };
    open.set(scope, joined);
    return joined;
  };
  return async (inputs) => {
    const scope = usageScope();
    if (!scope) return call(inputs);
    const joined = open.get(scope) ?? startJoined(scope);
    const first = joined.inputs.push(...inputs) - inputs.length;
    return (await joined.outputs).slice(first, first + inputs.length);
  };
}

/** While one call is under way, the next one collects arguments. */
function joinAcrossRequests<In, Out>(call: JoinableCall<In, Out>): JoinableCall<In, Out> {
  type Measured = Awaited<ReturnType<typeof measureUnits<Out[]>>>;
  let underWay: Promise<unknown> = Promise.resolve();
  let next: { inputs: In[]; outputs: Promise<Measured> } | undefined;
  const startJoined = () => {
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
