// SQS and S3 for one machine (fauxqs, in this process), and a view into the queues that AWS does not give: what waits until when.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ChangeMessageVisibilityCommand, MessageNotInflight, SetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { type FauxqsServer, startFauxqs } from "fauxqs";

export const region = "us-east-1";
export const credentials = { accessKeyId: "local", secretAccessKey: "local" };

/** What a queue needs to exist; shared/queues.ts says it for each. */
export interface QueueSettings {
  name: string;
  attempts: number;
  timeoutSeconds: number;
}

/** A message that has been received and not been deleted: it is in work, or its worker failed. */
interface Received {
  handle: string;
  visibleInMs: number;
}

interface QueueState {
  ready: number;
  /** Milliseconds until each delayed message can be received. */
  delayedMs: number[];
  received: Received[];
}

export interface Queues {
  endpoint: string;
  url(name: string): string;
  /** `<name>-dead` holds what the queue gave up on. */
  state(name: string): QueueState;
  /** Lets time pass for delayed messages. */
  hasten(name: string, seconds: number): void;
  /** Lets time pass for a received message: its worker is given up `seconds` earlier. */
  release(name: string, message: Received, seconds: number): Promise<void>;
  stop(): Promise<void>;
}

export const bucket = "pennymail";

interface Start {
  queues: QueueSettings[];
  /** Where files of a name are kept; undefined keeps all in memory. */
  path(name: string): string | undefined;
}

export async function startQueues({ queues, path }: Start): Promise<Queues> {
  const [dataDir, s3StorageDir] = [path("queues"), path("objects")];
  const server = await adjusted(() =>
    startFauxqs({ port: 0, logger: false, ...(dataDir && { dataDir }), ...(s3StorageDir && { s3StorageDir }) }),
  );
  const endpoint = `http://127.0.0.1:${server.port}`;
  const client = new SQSClient({ endpoint, region, credentials, useQueueUrlAsEndpoint: false });
  const url = (name: string) => `${endpoint}/000000000000/${name}`;
  const all: Queues = {
    endpoint,
    url,
    state: (name) => stateOf(server, name),
    hasten: (name, seconds) => hasten(server, name, seconds),
    release: (name, message, seconds) => release(client, url(name), message, seconds),
    stop: async () => {
      client.destroy();
      await server.stop();
    },
  };
  server.setup({ buckets: [bucket] });
  for (const queue of queues) await ensure(server, client, url(queue.name), queue);
  for (const { name } of queues) await releaseAll(all, name);
  return all;
}

/** Its messages stay when the queue is there already; settings follow shared/queues.ts. */
async function ensure(server: FauxqsServer, client: SQSClient, url: string, { name, attempts, timeoutSeconds }: QueueSettings) {
  const dead = `${name}-dead`;
  const redrive = { deadLetterTargetArn: `arn:aws:sqs:${region}:000000000000:${dead}`, maxReceiveCount: attempts };
  const Attributes = { VisibilityTimeout: String(6 * timeoutSeconds), RedrivePolicy: JSON.stringify(redrive) };
  server.setup({
    queues: [
      { name: dead, attributes: { MessageRetentionPeriod: "1209600" } },
      { name, attributes: Attributes },
    ],
  });
  await client.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes }));
}

/** Whoever had received a message went with the last process, and is not waited for. */
async function releaseAll(queues: Queues, name: string) {
  for (const message of queues.state(name).received) await queues.release(name, message, message.visibleInMs / 1000);
}

function stateOf(server: FauxqsServer, name: string): QueueState {
  const { ready, delayed, inflight } = server.inspectQueue(name)!.messages;
  const now = Date.now(); // fauxqs goes by the machine's clock
  return {
    ready: ready.length,
    delayedMs: delayed.map(({ delayUntil = now }) => delayUntil - now),
    received: inflight.map(({ receiptHandle, visibilityDeadline }) => ({ handle: receiptHandle, visibleInMs: visibilityDeadline - now })),
  };
}

// fauxqs hands out its own messages here, so moving their time moves them.
function hasten(server: FauxqsServer, name: string, seconds: number) {
  for (const message of server.inspectQueue(name)!.messages.delayed) if (message.delayUntil) message.delayUntil -= seconds * 1000;
}

async function release(client: SQSClient, QueueUrl: string, { handle, visibleInMs }: Received, seconds: number) {
  // Never 0: fauxqs 2.4 then loses a message that it keeps on disk.
  const VisibilityTimeout = Math.max(0.001, visibleInMs / 1000 - seconds);
  const change = new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: handle, VisibilityTimeout });
  await client.send(change).catch((error: unknown) => {
    if (!(error instanceof MessageNotInflight)) throw error; // it came up by itself in between
  });
}

/** The part of Fastify, on which fauxqs is built, that is adjusted below. */
interface App {
  listen(options: { port: number; host: string }): Promise<string>;
  addHook(name: "onRoute", hook: (route: { bodyLimit?: number }) => void): unknown;
}

const maxObjectBytes = 1_100_000_000;

// fauxqs listens on every address of the machine and takes objects of 11 MB; neither can be set. What it stores is nobody's
// business outside this machine, and an attachment may have 25 MB.
async function adjusted<T>(start: () => Promise<T>): Promise<T> {
  const adjust = (message: unknown) => {
    const { fastify } = message as { fastify: App };
    const listen = fastify.listen.bind(fastify);
    fastify.listen = (options) => listen({ ...options, host: "127.0.0.1" });
    fastify.addHook("onRoute", (route) => {
      route.bodyLimit = maxObjectBytes;
    });
  };
  subscribe("fastify.initialization", adjust);
  try {
    return await start();
  } finally {
    unsubscribe("fastify.initialization", adjust);
  }
}
