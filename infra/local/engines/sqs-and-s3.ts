// SQS and S3 (fauxqs, in this process), with a view of the queues that AWS does not offer: when
// each message becomes visible.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import {
  ChangeMessageVisibilityCommand,
  type ChangeMessageVisibilityCommandInput,
  MessageNotInflight,
  SetQueueAttributesCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { type FauxqsServer, startFauxqs } from "fauxqs";
import * as clock from "../../../shared/clock.ts";
import { type EngineCredentials, findRefusal, refusalBody } from "./request-check.ts";

export const localRegion = "us-east-1";

/** The settings of a queue in shared/queues.ts. */
export interface LocalQueueSettings {
  name: string;
  attempts: number;
  timeoutSeconds: number;
}

/** A received message that was not deleted: a worker handles it, or failed. */
interface InFlightMessage {
  handle: string;
  visibleInMs: number;
}

interface QueueState {
  ready: number;
  /** Milliseconds until each delayed message can be received. */
  delayedMs: number[];
  received: InFlightMessage[];
}

export interface LocalQueues {
  endpoint: string;
  url(name: string): string;
  /** `<name>-dead` is the dead-letter queue. */
  readState(name: string): QueueState;
  /** Shortens the delay of delayed messages. */
  advanceDelayed(name: string, seconds: number): void;
  /** Shortens the visibility timeout of a received message. */
  makeVisibleSooner(name: string, message: InFlightMessage, seconds: number): Promise<void>;
  stop(): Promise<void>;
}

export const bucketName = "pennymail";

interface SqsAndS3Options {
  queues: LocalQueueSettings[];
  /** The path of a file. Undefined keeps data in memory. */
  path(name: string): string | undefined;
  /** Requests must be signed with these. */
  credentials: EngineCredentials;
}

export async function startSqsAndS3({
  queues,
  path,
  credentials,
}: SqsAndS3Options): Promise<LocalQueues> {
  const [dataDir, s3StorageDir] = [path("queues"), path("objects")];
  const server = await withFauxqsPatches(credentials, () =>
    startFauxqs({
      port: 0,
      logger: false,
      ...(dataDir && { dataDir }),
      ...(s3StorageDir && { s3StorageDir }),
    }),
  );
  const endpoint = `http://127.0.0.1:${server.port}`;
  const client = new SQSClient({
    endpoint,
    region: localRegion,
    credentials,
    useQueueUrlAsEndpoint: false,
  });
  const url = (name: string) => `${endpoint}/000000000000/${name}`;
  const localQueues: LocalQueues = {
    endpoint,
    url,
    readState: (name) => readQueueState(server, name),
    advanceDelayed: (name, seconds) => advanceDelayed(server, name, seconds),
    makeVisibleSooner: (name, { handle, visibleInMs }, seconds) =>
      changeVisibility(client, {
        QueueUrl: url(name),
        ReceiptHandle: handle,
        // Never 0, because fauxqs 2.4 then loses a message that it stores on disk.
        VisibilityTimeout: Math.max(0.001, visibleInMs / 1000 - seconds),
      }),
    stop: async () => {
      client.destroy();
      await server.stop();
    },
  };
  server.setup({ buckets: [bucketName] });
  for (const queue of queues) await createQueue({ server, client, url: url(queue.name) }, queue);
  for (const { name } of queues) await releaseAllInFlight(localQueues, name);
  return localQueues;
}

/** An existing queue keeps its messages and gets the current settings. */
async function createQueue(
  { server, client, url }: { server: FauxqsServer; client: SQSClient; url: string },
  { name, attempts, timeoutSeconds }: LocalQueueSettings,
) {
  const deadLetterName = `${name}-dead`;
  const redrive = {
    deadLetterTargetArn: `arn:aws:sqs:${localRegion}:000000000000:${deadLetterName}`,
    maxReceiveCount: attempts,
  };
  const Attributes = {
    VisibilityTimeout: String(6 * timeoutSeconds),
    RedrivePolicy: JSON.stringify(redrive),
  };
  server.setup({
    queues: [
      { name: deadLetterName, attributes: { MessageRetentionPeriod: "1209600" } },
      { name, attributes: Attributes },
    ],
  });
  await client.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes }));
}

/** The workers of the previous process are gone, so their messages become visible at once. */
async function releaseAllInFlight(queues: LocalQueues, name: string) {
  for (const message of queues.readState(name).received)
    await queues.makeVisibleSooner(name, message, message.visibleInMs / 1000);
}

function readQueueState(server: FauxqsServer, name: string): QueueState {
  const { ready, delayed, inflight } = server.inspectQueue(name)!.messages;
  const now = clock.systemTime().getTime(); // fauxqs uses the machine's clock
  return {
    ready: ready.length,
    delayedMs: delayed.map(({ delayUntil = now }) => delayUntil - now),
    received: inflight.map(({ receiptHandle, visibilityDeadline }) => ({
      handle: receiptHandle,
      visibleInMs: visibilityDeadline - now,
    })),
  };
}

// inspectQueue returns fauxqs' own message objects, so changing them takes effect.
function advanceDelayed(server: FauxqsServer, name: string, seconds: number) {
  for (const message of server.inspectQueue(name)!.messages.delayed)
    if (message.delayUntil) message.delayUntil -= seconds * 1000;
}

async function changeVisibility(
  client: SQSClient,
  change: ChangeMessageVisibilityCommandInput,
): Promise<void> {
  await client.send(new ChangeMessageVisibilityCommand(change)).catch((error: unknown) => {
    if (!(error instanceof MessageNotInflight)) throw error; // it became visible in the meantime
  });
}

/** The part of Fastify, on which fauxqs is built, that is patched below. */
interface FastifyApp {
  listen(options: { port: number; host: string }): Promise<string>;
  addHook(name: "onRoute", hook: (route: { bodyLimit?: number }) => void): unknown;
  addHook(name: "onRequest", hook: FastifyHook): unknown;
}
type FastifyHook = (request: FastifyRequest, reply: FastifyReply, next: () => void) => void;
interface FastifyRequest {
  raw: IncomingMessage;
  originalUrl: string;
}
interface FastifyReply {
  code(status: number): FastifyReply;
  send(body: string): void;
}

const maxObjectBytes = 1_100_000_000;

// fauxqs listens on all interfaces, accepts any signature and limits objects to 11 MB, and none of
// these can be configured. This patch binds it to loopback and checks the signatures, because it
// stores mail, and raises the limit, because an attachment can have 25 MB.
async function withFauxqsPatches<T>(
  { secretAccessKey }: EngineCredentials,
  start: () => Promise<T>,
): Promise<T> {
  const patchFastify = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyApp };
    const listen = fastify.listen.bind(fastify);
    fastify.listen = (options) => listen({ ...options, host: "127.0.0.1" });
    fastify.addHook("onRoute", (route) => {
      route.bodyLimit = maxObjectBytes;
    });
    fastify.addHook("onRequest", ({ raw, originalUrl: target }, reply, next) => {
      const { method = "", headers, socket } = raw;
      const host = `127.0.0.1:${socket.localPort}`;
      const refusal = findRefusal({ method, target, headers }, { host, secretAccessKey });
      if (refusal) reply.code(403).send(refusalBody(refusal));
      else next();
    });
  };
  subscribe("fastify.initialization", patchFastify);
  try {
    return await start();
  } finally {
    unsubscribe("fastify.initialization", patchFastify);
  }
}
