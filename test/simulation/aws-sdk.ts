// The AWS SDK of a simulated process: clients whose calls go to the simulated network. Commands and
// errors have the names of the SDK. Signing, retries and connections are not simulated here.
import { DynamoDBServiceException, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import type { InitializeMiddleware } from "@smithy/types";
import { toPlainOutput, toRequestText } from "./dynamodb-json.ts";

export type AwsServiceName = "dynamodb" | "kms" | "secretsmanager" | "sqs";

export interface AwsRequest {
  service: AwsServiceName;
  /** The name in the API of AWS, such as `UpdateItem`. */
  operation: string;
  input: object;
  /** The JSON of the input. */
  text: string;
}

/** Returns the JSON object that the service answers. */
export type CallAws = (request: AwsRequest) => Promise<object>;

/** In place of the packages of the SDK, by name. */
export function createAwsPackages(
  callAws: CallAws,
  createToken: () => string,
): Record<string, Record<string, unknown>> {
  const dynamoDb = clientOf(async (operation, input) => {
    // The SDK adds the token, so that a repetition of the call changes nothing.
    const withToken =
      operation === "TransactWriteItems" ? { ClientRequestToken: createToken(), ...input } : input;
    const text = toRequestText(withToken);
    return toPlainOutput(await callAws({ service: "dynamodb", operation, input, text }));
  });
  const jsonClient = (service: AwsServiceName) =>
    clientOf(async (operation, input) => {
      const text = JSON.stringify(toBase64(input));
      return toBytes(await callAws({ service, operation, input, text }));
    });
  return {
    "@aws-sdk/client-dynamodb": { DynamoDBClient: class {} },
    "@aws-sdk/lib-dynamodb": {
      DynamoDBDocumentClient: { from: () => new dynamoDb() },
      ...documentCommands,
    },
    "@aws-sdk/client-sqs": { SQSClient: jsonClient("sqs"), ...sqsCommands },
    "@aws-sdk/client-kms": { KMSClient: jsonClient("kms"), ...kmsCommands },
    "@aws-sdk/client-secrets-manager": {
      SecretsManagerClient: jsonClient("secretsmanager"),
      ...secretsCommands,
    },
  };
}

interface SimulatedCommand {
  operation: string;
  input: object;
}

const commandOf = (operation: string) =>
  class implements SimulatedCommand {
    readonly operation = operation;
    readonly input: object;
    constructor(input: object) {
      this.input = input;
    }
  };

const commandsOf = (operations: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [name, commandOf(operation)]),
  );

const documentCommands = commandsOf({
  GetCommand: "GetItem",
  PutCommand: "PutItem",
  UpdateCommand: "UpdateItem",
  DeleteCommand: "DeleteItem",
  QueryCommand: "Query",
  BatchGetCommand: "BatchGetItem",
  BatchWriteCommand: "BatchWriteItem",
  BatchExecuteStatementCommand: "BatchExecuteStatement",
  TransactWriteCommand: "TransactWriteItems",
});
const sqsCommands = commandsOf({
  SendMessageBatchCommand: "SendMessageBatch",
  ChangeMessageVisibilityBatchCommand: "ChangeMessageVisibilityBatch",
  GetQueueAttributesCommand: "GetQueueAttributes",
});
const kmsCommands = commandsOf({
  EncryptCommand: "Encrypt",
  DecryptCommand: "Decrypt",
  GenerateDataKeyCommand: "GenerateDataKey",
});
const secretsCommands = commandsOf({ GetSecretValueCommand: "GetSecretValue" });

type Middleware = InitializeMiddleware<object, object>;

/** A client that runs the middleware of the service around a call, as the SDK does. */
const clientOf = (call: (operation: string, input: object) => Promise<object>) =>
  class {
    readonly #middleware: Middleware[] = [];
    readonly middlewareStack = {
      add: (middleware: Middleware, { step }: { step: string }) => {
        if (step === "initialize") this.#middleware.push(middleware);
      },
    };
    async send({ operation, input }: SimulatedCommand): Promise<object> {
      const context = { commandName: `${operation}Command` };
      let next: ReturnType<Middleware> = async (args) => ({
        output: await call(operation, args.input),
        response: {},
      });
      for (const middleware of this.#middleware) next = middleware(next, context);
      return (await next({ input })).output;
    }
  };

const byteFields = ["CiphertextBlob", "Plaintext"] as const;

/** JSON has bytes in base64. */
function toBase64(input: object): object {
  const sent: Record<string, unknown> = { ...input };
  for (const field of byteFields) {
    const bytes = sent[field];
    if (bytes instanceof Uint8Array) sent[field] = Buffer.from(bytes).toString("base64");
  }
  return sent;
}

function toBytes(answer: object): object {
  const output: Record<string, unknown> = { ...answer };
  for (const field of byteFields) {
    const text = output[field];
    if (typeof text === "string") output[field] = Buffer.from(text, "base64");
  }
  return output;
}

/** The error that the SDK throws when DynamoDB refuses a call. `reasons` are of a transaction. */
export function toServiceError(
  name: string,
  { message = name, reasons, attempts = 1 }: ServiceErrorDetails = {},
): DynamoDBServiceException {
  const $metadata = { httpStatusCode: 400, attempts };
  return name === "TransactionCanceledException"
    ? new TransactionCanceledException({ message, CancellationReasons: reasons, $metadata })
    : new DynamoDBServiceException({ name, message, $fault: "client", $metadata });
}

interface ServiceErrorDetails {
  message?: string;
  reasons?: { Code: string }[] | undefined;
  attempts?: number;
}
