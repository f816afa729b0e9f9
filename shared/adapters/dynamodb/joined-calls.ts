// Joins calls that a request, or a batch of messages, starts in the same turn.
import { usageScope } from "./capacity.ts";

interface JoinedCall<In, Out> {
  inputs: In[];
  outputs: Promise<Out[]>;
}

/**
 * Returns a function that hands its arguments to `call`, together with the arguments of the same
 * turn and the same request or batch of messages, so that each pays for its own units. `call`
 * returns the results in the order of its arguments.
 */
export function joinCalls<In, Out>(
  call: (inputs: In[]) => Promise<Out[]>,
): (inputs: In[]) => Promise<Out[]> {
  const open = new WeakMap<object, JoinedCall<In, Out>>();
  const startJoined = (scope: object): JoinedCall<In, Out> => {
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
    const joined = open.get(scope) ?? startJoined(scope);
    const first = joined.inputs.length;
    joined.inputs.push(...inputs);
    return (await joined.outputs).slice(first, first + inputs.length);
  };
}
