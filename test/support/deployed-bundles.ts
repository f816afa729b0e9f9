// The bundles as they are deployed: each function has only the settings of the template, and its
// calls to AWS are recorded.
import { createServer, type IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { signForHost } from "../../infra/local/aws-signature.ts";
import { openDataFolder } from "../../infra/local/data-folder.ts";
import { startEngines } from "../../infra/local/engines/engines.ts";
import { localRegion } from "../../infra/local/engines/sqs-and-s3.ts";
import { createGateway, type GatewayHandler } from "../../infra/local/gateway.ts";
import { startHttpServer } from "../../infra/local/http-server.ts";
import { openSandbox, type Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import { type SynthesizedStack, serviceTables } from "./synthesized-stack.ts";

/** A call to AWS, as the action and resource that the role must allow. */
export interface AwsCall {
  bundle: string;
  action: string;
  /** `index/due` or the name of a queue. Empty for services with one resource. */
  resource: string;
}

export interface DeployedBundles {
  url: string;
  calls: AwsCall[];
  sandbox: Sandbox;
  /** Runs a schedule once. */
  runSchedule(name: string): Promise<void>;
  /** Runs workers until no message is left. */
  work(): Promise<void>;
  stop(): Promise<void>;
}

export async function startDeployedBundles(
  dist: string,
  service: SynthesizedStack,
): Promise<DeployedBundles> {
  const load = createRequire(import.meta.url);
  const engines = await startEngines({
    folder: openDataFolder(":memory:"),
    queues: Object.values(serviceTables.queues),
  });
  const front = await startHttpServer({ host: "127.0.0.1", port: 0, reportError: console.error });
  const sandbox = await openSandbox({ dataDir: ":memory:", publicUrl: () => front.url });
  const calls: AwsCall[] = [];
  let currentBundle = "nobody";
  const proxies = await Promise.all(
    Object.entries(engines.env)
      .filter(([name]) => name.startsWith("AWS_ENDPOINT_URL"))
      .map(async ([name, target]) => ({
        name,
        ...(await startRecordingProxy(target, engines.credentials.secretAccessKey, (call) =>
          calls.push({ bundle: currentBundle, ...call }),
        )),
      })),
  );
  const common = {
    ...Object.fromEntries(Object.entries(engines.env).filter(([name]) => name.startsWith("AWS_"))),
    ...Object.fromEntries(proxies.map(({ name, url }) => [name, url])),
    ...Object.fromEntries(
      Object.entries(sandbox.originByProvider).map(([key, url]) => [
        `PROVIDER_URL_${key.toUpperCase()}`,
        url,
      ]),
    ),
    ALLOW_LOOPBACK_WEBHOOKS: "on",
    // The embedded engine needs this setting.
    ...(engines.env.PARTIQL_COMMAS && { PARTIQL_COMMAS: engines.env.PARTIQL_COMMAS }),
    LOG_LEVEL: "SILENT",
  };
  const settingsOf = (bundle: string) => {
    const named = Object.keys(service.functions().get(bundle)!.Properties.Environment.Variables);
    const known: Record<string, string> = {
      ...engines.env,
      PUBLIC_URL: front.url,
      SIGNUP: "open",
      DEFAULT_PLAN: "free",
    };
    return {
      ...common,
      ...Object.fromEntries(named.flatMap((name) => (known[name] ? [[name, known[name]]] : []))),
    };
  };
  // Functions run one at a time, because they share the environment of this process. The MCP server
  // waits while it calls another function.
  const running: string[] = [];
  const run = async <T>(bundle: string, event?: unknown): Promise<T> => {
    const { handler } = load(join(dist, bundle, "index.cjs")) as {
      handler(event: unknown): Promise<T>;
    };
    const before = process.env;
    running.push(bundle);
    currentBundle = bundle;
    process.env = settingsOf(bundle);
    try {
      return await handler(event);
    } finally {
      process.env = before;
      running.pop();
      // Calls that are still in flight, because a concurrent one failed, belong to the bundle.
      currentBundle = running.at(-1) ?? bundle;
    }
  };
  const http =
    (name: string): GatewayHandler =>
    (event) =>
      run(`http/${name}`, event);
  front.setHandler(
    createGateway(
      serviceTables.groups.map(({ name, routes }) => ({ name, routes, handler: http(name) })),
      http("fallback"),
      async () => true,
    ),
  );
  const client = new SQSClient({
    endpoint: engines.queues.endpoint,
    region: localRegion,
    credentials: engines.credentials,
    useQueueUrlAsEndpoint: false,
  });
  const invokeWorker = async (name: string): Promise<boolean> => {
    const QueueUrl = engines.queues.url(name);
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    if (!Messages.length) return false;
    const Records = Messages.map(({ MessageId, Body }) => ({
      messageId: MessageId!,
      body: Body!,
      attributes: { ApproximateReceiveCount: "1" },
    }));
    const { batchItemFailures } = await run<SQSBatchResponse>(`queue/${name}`, {
      Records,
    } as unknown as SQSEvent);
    if (batchItemFailures.length)
      throw new Error(`${name} failed at ${batchItemFailures.length} messages`);
    for (const { ReceiptHandle } of Messages)
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    return true;
  };
  const work = async () => {
    for (let busy = true; busy; ) {
      busy = false;
      for (const { queue } of serviceTables.workers)
        busy = (await invokeWorker(queue.name)) || busy;
    }
  };
  const stop = async () => {
    await front.stop(0);
    client.destroy();
    await Promise.all([...proxies.map((each) => each.stop()), sandbox.stop(), engines.stop()]);
  };
  return {
    url: front.url,
    calls,
    sandbox,
    runSchedule: (name) => run(`schedule/${name}`),
    work,
    stop,
  };
}

/** Starts a proxy that signs all requests for `target`, forwards them and reports each call. */
async function startRecordingProxy(
  target: string,
  secretAccessKey: string,
  report: (call: Omit<AwsCall, "bundle">) => void,
) {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    for (const call of readAwsCalls(request, body)) report(call);
    const { method = "GET", url = "/", headers: given } = request;
    const [path = "", query = ""] = url.split("?");
    const signed = signForHost(
      { method, path, query, headers: given },
      new URL(target).host,
      secretAccessKey,
    );
    const {
      host,
      connection,
      "transfer-encoding": chunked,
      expect,
      ...headers
    } = signed.headers as Record<string, string>;
    const answer = await fetch(`${target}${path}${query && `?${signed.query}`}`, {
      method,
      headers,
      ...(body.length && { body }),
    });
    const {
      "transfer-encoding": _,
      "content-encoding": __,
      ...sent
    } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, sent).end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const stop = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

function readAwsCalls(
  { method = "", headers }: IncomingMessage,
  body: Buffer,
): Omit<AwsCall, "bundle">[] {
  const [service = "", operation = ""] =
    (headers["x-amz-target"] as string | undefined)?.split(".") ?? [];
  if (!operation)
    return s3Actions[method]!(Boolean(headers["x-amz-copy-source"])).map((action) => ({
      action: `s3:${action}`,
      resource: "",
    }));
  const input = JSON.parse(body.toString());
  if (service.startsWith("DynamoDB"))
    return dynamoDbActions(operation, input).map((action) => ({
      action: `dynamodb:${action}`,
      resource: input.IndexName ? `index/${input.IndexName}` : "",
    }));
  if (service === "AmazonSQS")
    return [
      {
        action: `sqs:${operation.replace(/Batch$/, "")}`,
        resource: input.QueueUrl.split("/").at(-1),
      },
    ];
  return [
    {
      action: `${service === "TrentService" ? "kms" : "secretsmanager"}:${operation}`,
      resource: "",
    },
  ];
}

const s3Actions: Record<string, (copied: boolean) => string[]> = {
  GET: () => ["GetObject"],
  HEAD: () => ["GetObject"],
  PUT: (copied) => (copied ? ["GetObject", "PutObject"] : ["PutObject"]),
  DELETE: () => ["DeleteObject"],
};

interface DynamoDbInput {
  TransactItems?: Record<string, unknown>[];
  Statements?: { Statement: string }[];
}

/** For a transaction or a batch of statements, AWS checks the permissions of its parts. */
function dynamoDbActions(
  operation: string,
  { TransactItems = [], Statements = [] }: DynamoDbInput,
): string[] {
  if (operation === "TransactWriteItems")
    return TransactItems.flatMap((item) => Object.keys(item)).map((kind) =>
      kind === "ConditionCheck" ? "ConditionCheckItem" : `${kind}Item`,
    );
  const verbs: Record<string, string> = {
    INSERT: "PartiQLInsert",
    UPDATE: "PartiQLUpdate",
    DELETE: "PartiQLDelete",
    SELECT: "PartiQLSelect",
  };
  if (operation === "BatchExecuteStatement")
    return Statements.map(({ Statement }) => verbs[Statement.split(" ")[0]!]!);
  return [operation];
}
