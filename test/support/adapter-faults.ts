// Faults of AWS and of the providers: calls that fail, time out or succeed in part.
import { type OpenResponse, WebClient } from "../../shared/adapters/http/client.ts";
import { type AwsServiceName, type CallInterceptor, interceptCalls } from "./aws-calls.ts";

const services = ["dynamodb", "kms", "s3", "sqs"] as const satisfies AwsServiceName[];
export type FaultyService = (typeof services)[number];

const faults = new Map<FaultyService, CallInterceptor>();

/** For `beforeAll`, after everything else that intercepts calls. */
export function installFaultHooks(): void {
  for (const service of services)
    interceptCalls(service, (call, passThrough) => {
      const fault = faults.get(service);
      return fault ? fault(call, passThrough) : passThrough();
    });
  const { open } = WebClient.prototype;
  WebClient.prototype.open = (request) => provider(() => open(request));
}

let provider = (passThrough: () => Promise<OpenResponse>): Promise<OpenResponse> => passThrough();

/** Intercepts all calls of providers, until it is called with undefined. */
export const interceptProviderCalls = (
  interceptor: typeof provider = (passThrough) => passThrough(),
): void => {
  provider = interceptor;
};

/** Sets the fault of a service, until it is called with undefined. */
export const setFault = (service: FaultyService, fault: CallInterceptor | undefined): void => {
  if (fault) faults.set(service, fault);
  else faults.delete(service);
};

/** Applies the fault to this share of all calls. */
export const failSometimes =
  (share: number, fault: CallInterceptor, chance: () => number): CallInterceptor =>
  (call, passThrough) =>
    chance() < share ? fault(call, passThrough) : passThrough();

export const timeoutFault: CallInterceptor = async ({ operation }) => {
  throw Object.assign(new Error(`${operation} could not be sent`), {
    name: "TimeoutError",
    $retryable: {},
  });
};
