// How the AWS SDK connects to the services with short answers: DynamoDB, SQS, KMS and Secrets
// Manager.
import type { NodeHttpHandlerOptions, RequestSigner } from "@smithy/types";

/**
 * Without a limit, a dead connection would block a function until Lambda ends it. A busy process
 * may take seconds to notice that it is connected.
 */
const requestHandler: NodeHttpHandlerOptions = {
  connectionTimeout: 5_000,
  requestTimeout: 8_000,
  throwOnRequestTimeout: true,
  httpAgent: { keepAlive: true, maxSockets: 500 },
  httpsAgent: { keepAlive: true, maxSockets: 500 },
};

/** Attempts of one call, with the first. */
const maxAttempts = 4;

let ownSigner: RequestSigner | undefined;

/** Replaces the signatures of AWS. For the engines of one machine, before their first request. */
export function signRequestsWith(signer: RequestSigner | undefined): void {
  ownSigner = signer;
}

/** The options of the clients of these services. */
export const clientOptions = () => ({
  requestHandler,
  maxAttempts,
  ...(ownSigner && { signer: ownSigner }),
});
