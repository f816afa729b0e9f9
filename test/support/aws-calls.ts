// Intercepts the calls that the service makes with the AWS SDK, by its middleware: a test lets a
// call fail, delays it, replaces it, or only looks at it.
import type { InitializeMiddleware } from "@smithy/types";
import { documentClient } from "../../shared/adapters/dynamodb/client.ts";
import { eventBridge } from "../../shared/adapters/eventbridge/put-events.ts";
import { kms, secretsManager } from "../../shared/adapters/kms/client.ts";
import { s3 } from "../../shared/adapters/s3/client.ts";
import { sqs } from "../../shared/adapters/sqs/client.ts";

export interface AwsCall {
  /** The name in the API of AWS, such as `UpdateItem`. */
  operation: string;
  /** For DynamoDB with plain values, as the document client takes them. */
  input: Record<string, unknown>;
}

/** `passThrough` makes the call, with another input if one is given, and returns its output. */
export type CallInterceptor = (
  call: AwsCall,
  passThrough: (input?: object) => Promise<unknown>,
) => Promise<unknown>;

const clients = { dynamodb: documentClient, eventBridge, kms, s3, secretsManager, sqs };
export type AwsServiceName = keyof typeof clients;

/** The last one is called first. */
const interceptors = new Map<AwsServiceName, CallInterceptor[]>();

/** Intercepts all calls of a service until the returned function is called. */
export function interceptCalls(service: AwsServiceName, interceptor: CallInterceptor): () => void {
  const all = interceptorsOf(service);
  all.push(interceptor);
  return () => {
    const at = all.lastIndexOf(interceptor);
    if (at >= 0) all.splice(at, 1);
  };
}

/** Adds the middleware to the client with the first interceptor of a service. */
function interceptorsOf(service: AwsServiceName): CallInterceptor[] {
  const known = interceptors.get(service);
  if (known) return known;
  const all: CallInterceptor[] = [];
  interceptors.set(service, all);
  const middleware: InitializeMiddleware<object, object> =
    (next, { commandName = "" }) =>
    async (args) => {
      const operation = commandName.replace(/Command$/, "");
      let response = {};
      const callFrom = async (i: number, input: object): Promise<unknown> => {
        if (i >= 0)
          return all[i]!({ operation, input: input as AwsCall["input"] }, (other = input) =>
            callFrom(i - 1, other),
          );
        const made = await next({ ...args, input });
        response = made.response as object;
        return made.output;
      };
      const output = (await callFrom(all.length - 1, args.input)) as object;
      return { output, response };
    };
  const { middlewareStack } = clients[service]() as {
    middlewareStack: { add(middleware: unknown, options: object): void };
  };
  middlewareStack.add(middleware, {
    step: "initialize",
    priority: "high",
    name: "intercept calls",
  });
  return all;
}
