// The service in a simulation: processes with the real handlers and workers, the table, the queues
// and the vault that they call, and the schedules.
import type { APIGatewayProxyStructuredResultV2, SQSEvent } from "aws-lambda";
import type { FailedMessage, QueueWorker } from "../../shared/kernel/queue-worker.ts";
import {
  type AwsRequest,
  type AwsServiceName,
  type CallAws,
  createAwsPackages,
  toServiceError,
} from "./aws-sdk.ts";
import type { SimulatedRequest, SimulatedResponse } from "./fake-http.ts";
import { createHttpModule } from "./fake-http.ts";
import type { Fault, SpecialFaultKind } from "./faults.ts";
import { lazyZod } from "./lazy-schemas.ts";
import { createProcess, createSurroundings, kill, type Process } from "./machine.ts";
import { CallRefused, ConnectionLost, type Network } from "./network.ts";
import {
  type CreateInstance,
  listModules,
  loadServiceCode,
  type SourceChange,
} from "./service-code.ts";
import type { SimulatedTime } from "./simulated-time.ts";
import { callWithRest, type MemoryTable, TableError } from "./table.ts";

interface QueueSettings {
  name: string;
  batch: number;
  windowSeconds: number;
  attempts: number;
  timeoutSeconds: number;
  concurrency: number;
}

/** What one process of the service exports. */
interface ServiceInstance {
  workers: (Pick<QueueWorker, "run" | "handler"> & { queue: QueueSettings })[];
  schedules: { name: string; handler(): Promise<void> }[];
  httpFunctions: Record<string, () => Promise<{ handler: HttpFunction }>>;
}

export type HttpFunction = (event: object) => Promise<APIGatewayProxyStructuredResultV2>;
export type ServiceCode = CreateInstance<ServiceInstance>;

/** A run of the schedules reads every shard of the due index. Here it makes 22 calls, not 144. */
const fewerShards: SourceChange = {
  name: "The due index has fewer shards",
  file: "shared/keys.ts",
  code: "export const dueShards = 4;\nexport const enrollmentShards = 64;",
  replacement: "export const dueShards = 1; export const enrollmentShards = 2;",
};

/** The code of a process. Its HTTP functions are loaded with their first request, as on Lambda. */
export function loadService(planted?: SourceChange): Promise<ServiceCode> {
  const functions = listModules("functions/http").map(
    (path) => `${JSON.stringify(path)}: () => import(${JSON.stringify(path)}),`,
  );
  const entry = `
    export { workers } from "./functions/queue-workers.ts";
    export { schedules } from "./functions/schedules.ts";
    export const httpFunctions = { ${functions.join("\n")} };
  `;
  return loadServiceCode(entry, planted ? [fewerShards, planted] : [fewerShards]);
}

export interface Message {
  id: string;
  body: string;
  /** Milliseconds since 1970. */
  visibleAt: number;
  receives: number;
}

export interface Service {
  /** Calls the HTTP function of a module. Rejects with `ConnectionLost` when its process dies. */
  callFunction(module: string, event: object): Promise<APIGatewayProxyStructuredResultV2>;
  /** Messages by queue, also those in progress. */
  messages: Map<string, Message[]>;
  /** Messages whose workers failed each time, by queue. */
  deadLetters: Map<string, Message[]>;
  /** Sentences about messages that used up an attempt because the table was away. */
  lostAttempts: string[];
  /** Moves the dead letters back to their queues, as an operator does. Returns their number. */
  redrive(): number;
}

interface ServiceOptions {
  code: ServiceCode;
  time: SimulatedTime;
  random: () => number;
  network: Network;
  table: MemoryTable;
  /** KMS and Secrets Manager, by target. */
  vault: (target: string, input: object) => object;
  /** Answers requests to hosts outside of the service. */
  answerRequest(request: SimulatedRequest, from: Process): Promise<SimulatedResponse>;
  /** Deliveries of a message before it is a dead letter. Undefined: as the queue says. */
  attempts: number | undefined;
  /**
   * Undefined: workers run as on AWS. Otherwise they run as on one machine, where messages use up
   * no attempt while the table is away. Whether the table is away now, and nothing else disturbed
   * work since this time.
   */
  isOutageOnly: ((since: number) => boolean) | undefined;
  trace(line: string): void;
  tell(sentence: string): void;
}

/** On Lambda every invocation has a process. Here, two processes handle all of them. */
const processes = 2;

interface RunningProcess {
  process: Process;
  instance: ServiceInstance;
}

export function createService(options: ServiceOptions): Service {
  const { time, random, tell, table } = options;
  const messages = new Map<string, Message[]>();
  const deadLetters = new Map<string, Message[]>();
  const lostAttempts: string[] = [];
  let started = 0;
  const running = Array.from({ length: processes }, startProcess);

  function startProcess(): RunningProcess {
    const process = createProcess(`process ${++started}`);
    const instance = createInstance(process, options, { messages, onMessages: poll });
    process.onDeath.push(() => {
      tell(`${process.name} is dead`);
      running[running.findIndex((one) => one.process === process)] = startProcess();
    });
    return { process, instance };
  }

  /** Runs work in one of the processes. Rejects when it dies. */
  async function invoke<T>(
    work: (instance: ServiceInstance) => Promise<T>,
    timeoutSeconds?: number,
  ): Promise<T> {
    const { process, instance } = running[Math.floor(random() * running.length)]!;
    const died = Promise.withResolvers<never>();
    process.onDeath.push(() => died.reject(new ConnectionLost(false)));
    const stopTimer =
      timeoutSeconds === undefined
        ? () => {}
        : time.after(timeoutSeconds * 1000, () => {
            // A process that stands still does not run out of time.
            if (process.stoppedUntil < time.now() - timeoutSeconds * 1000) kill(process);
          });
    try {
      return await Promise.race([work(instance), died.promise]);
    } finally {
      stopTimer();
    }
  }

  const busy = new Map<string, number>();
  const queues = new Map(running[0]!.instance.workers.map(({ queue }) => [queue.name, queue]));

  /** Starts a worker on the visible messages, and looks again when the next becomes visible. */
  function poll(name: string): void {
    const queue = queues.get(name)!;
    const all = messages.get(name) ?? [];
    if ((busy.get(name) ?? 0) >= queue.concurrency) return;
    const batch = all.filter(({ visibleAt }) => visibleAt <= time.now()).slice(0, queue.batch);
    if (!batch.length) return;
    for (const message of batch) {
      message.receives++;
      message.visibleAt = time.now() + 6000 * queue.timeoutSeconds;
      if (message.receives <= (options.attempts ?? queue.attempts)) continue;
      all.splice(all.indexOf(message), 1);
      deadLetters.set(name, [...(deadLetters.get(name) ?? []), message]);
      tell(`A message of the queue ${name} is a dead letter`);
    }
    const received = batch.filter((message) => all.includes(message));
    busy.set(name, (busy.get(name) ?? 0) + 1);
    void runBatch(queue, received).finally(() => {
      busy.set(name, busy.get(name)! - 1);
      poll(name);
    });
    poll(name);
  }

  async function runBatch(queue: QueueSettings, batch: Message[]): Promise<void> {
    const all = messages.get(queue.name)!;
    const event = { Records: batch.map(toRecord) } as unknown as SQSEvent;
    const startedAt = time.now();
    const failed = await invoke(async ({ workers }): Promise<Failure[]> => {
      const worker = workers.find((one) => one.queue.name === queue.name)!;
      if (options.isOutageOnly) return worker.run(event);
      const { batchItemFailures } = await worker.handler(event);
      return batchItemFailures.map((one) => ({ messageId: one.itemIdentifier }));
    }, queue.timeoutSeconds).catch(() => batch.map(({ id }): Failure => ({ messageId: id })));
    const failures = new Map(failed.map((failure) => [failure.messageId, failure]));
    for (const message of batch) {
      const failure = failures.get(message.id);
      if (failure) {
        returnMessage(queue, message, { ...failure, startedAt });
        watch(queue.name, message);
      } else if (all.includes(message)) all.splice(all.indexOf(message), 1);
    }
  }

  /** As infra/local/queue-poller.ts. On AWS, the worker has changed the visibility. */
  function returnMessage(
    { name }: QueueSettings,
    message: Message,
    { seconds, isOutage, startedAt }: Failure & { startedAt: number },
  ): void {
    if (seconds === undefined) return;
    message.visibleAt = time.now() + (isOutage ? outagePauseMs : seconds * 1000);
    if (isOutage) message.receives--;
    else if (options.isOutageOnly?.(startedAt))
      lostAttempts.push(`A message of the queue ${name} used up an attempt in an outage`);
  }

  const watch = (name: string, { visibleAt }: Message) =>
    time.after(visibleAt - time.now() + 1, () => poll(name));

  async function runSchedules(): Promise<void> {
    const instance = running[0]!.instance;
    for (const { name } of instance.schedules)
      await invoke(
        ({ schedules }) => schedules.find((one) => one.name === name)!.handler(),
        60,
      ).catch((error: unknown) => options.trace(`${name} failed: ${error}`));
  }

  // Before the minute at which the first entry is due, the schedules would find nothing.
  let nextRun = Number.POSITIVE_INFINITY;
  let cancelRun = () => {};
  function awaitDue(at: number): void {
    const run = Math.floor(Math.max(at - 1, time.now()) / 60_000 + 1) * 60_000;
    if (run >= nextRun) return;
    cancelRun();
    nextRun = run;
    cancelRun = time.after(run - time.now(), () => {
      nextRun = Number.POSITIVE_INFINITY;
      const first = table.firstDueTime();
      if (first <= time.now()) void runSchedules();
      awaitDue(first);
    });
  }
  table.onDueEntry(awaitDue);
  awaitDue(table.firstDueTime());

  function redrive(): number {
    for (const [name, dead] of deadLetters) {
      tell(`An operator redrives the dead letters of the queue ${name}`);
      for (const message of dead)
        messages.get(name)!.push({
          ...message,
          // SQS gives a redriven message a new id.
          id: `${message.id} again`,
          visibleAt: time.now(),
          receives: 0,
        });
    }
    const names = [...deadLetters.keys()];
    const count = [...deadLetters.values()].flat().length;
    deadLetters.clear();
    for (const name of names) poll(name);
    return count;
  }

  return {
    messages,
    deadLetters,
    lostAttempts,
    redrive,
    callFunction: (module, event) =>
      invoke(async ({ httpFunctions }) => (await httpFunctions[module]!()).handler(event)),
  };
}

type Failure = Pick<FailedMessage, "messageId"> & Partial<FailedMessage>;

const outagePauseMs = 500;

const toRecord = ({ id, body, receives }: Message) => ({
  messageId: id,
  receiptHandle: id,
  body,
  attributes: { ApproximateReceiveCount: String(receives) },
});

interface QueueState {
  messages: Map<string, Message[]>;
  onMessages(queue: string): void;
}

function createInstance(
  process: Process,
  options: ServiceOptions,
  queueState: QueueState,
): ServiceInstance {
  const { code, time, random, network, trace } = options;
  const http = createHttpModule((request) => options.answerRequest(request, process));
  const answer = createAws(options, queueState);
  const callAws: CallAws = async (request) => {
    const { service, operation, text } = request;
    if (isIdleLook(request, options.table)) return { Count: 0, Items: [] };
    for (let attempt = 1; ; attempt++)
      try {
        return await network.call({
          from: process,
          to: targets[service],
          name: operation,
          text,
          timeoutSeconds: 8,
          special: specialOf(operation, text),
          effect: (fault) => answer(request, fault),
        });
      } catch (error) {
        if (error instanceof TableError) {
          const { message, reasons } = error;
          throw toServiceError(error.type, { message, reasons, attempts: attempt });
        }
        if (!(error instanceof CallRefused || error instanceof ConnectionLost)) throw error;
        if (error instanceof CallRefused && error.fault.kind === "conflict")
          throw conflictOf(operation, attempt);
        if (attempt === maxAttempts) throw lastError(error);
        await new Promise<void>((resolve) => time.after(30 * attempt * random(), resolve));
      }
  };
  return code(
    createSurroundings({
      time,
      random,
      process,
      log: (line) => trace(`${process.name} logs ${line}`),
      packages: {
        "node:http": http,
        "node:https": http,
        zod: lazyZod,
        ...createAwsPackages(callAws, () => String(random())),
      },
    }),
  );
}

/**
 * A look at a partition of the due index that is empty. Each run of a schedule has about 20 of
 * them, a fifth of all calls. They take no time, and no fault strikes them.
 */
function isIdleLook({ operation, input }: AwsRequest, table: MemoryTable): boolean {
  if (operation !== "Query") return false;
  const { IndexName, ExpressionAttributeValues: values } = input as LookInput;
  return IndexName === "due" && !Object.values(values).some((value) => table.hasDueEntries(value));
}

interface LookInput {
  IndexName?: string;
  ExpressionAttributeValues: Record<string, unknown>;
}

/** The fault of the table that only some operations can have. */
function specialOf(operation: string, text: string): SpecialFaultKind | undefined {
  if (operation === "BatchWriteItem" || operation === "BatchExecuteStatement") return "unprocessed";
  const isBatch = operation === "BatchGetItem";
  if (!isBatch && operation !== "GetItem" && operation !== "Query") return undefined;
  if (!text.includes('"ConsistentRead":true')) return "stale";
  return isBatch ? "unprocessed" : undefined;
}

/** As the clients of the service. */
const maxAttempts = 4;

function lastError(error: CallRefused | ConnectionLost): Error {
  const isAway = error instanceof CallRefused && error.fault.kind === "away";
  if (error instanceof CallRefused && !isAway)
    return toServiceError("ThrottlingException", { attempts: maxAttempts });
  return Object.assign(new Error(error.message), {
    code: isAway ? "ECONNREFUSED" : "ECONNRESET",
    $metadata: { attempts: maxAttempts },
  });
}

function conflictOf(operation: string, attempts: number): Error {
  if (operation === "TransactWriteItems")
    return toServiceError("TransactionCanceledException", {
      reasons: [{ Code: "TransactionConflict" }],
      attempts,
    });
  const isWrite = /^(Put|Update|Delete)/.test(operation);
  const name = isWrite ? "TransactionConflictException" : "ThrottlingException";
  return toServiceError(name, { attempts });
}

const targets: Record<AwsServiceName, "table" | "queue" | "vault"> = {
  dynamodb: "table",
  sqs: "queue",
  kms: "vault",
  secretsmanager: "vault",
};
/** The first part of the targets that the vault knows. */
const vaultTargets = { kms: "TrentService", secretsmanager: "secretsmanager" };

/** A queue delivers some messages twice, and some late. */
const repeatedMessages = 0.05;
const lateMessages = 0.03;

/** Answers the calls of AWS. */
function createAws(
  { time, random, table, vault }: ServiceOptions,
  { messages, onMessages }: QueueState,
): (request: AwsRequest, fault?: Fault) => object {
  const accept = ({ QueueUrl, Entries }: SendInput) => {
    const name = QueueUrl.split("/").at(-1)!;
    const all = messages.get(name) ?? [];
    messages.set(name, all);
    for (const { MessageBody: body, DelaySeconds = 0 } of Entries) {
      const copies = random() < repeatedMessages ? 2 : 1;
      for (let i = 0; i < copies; i++) {
        const lateMs = random() < lateMessages ? 60_000 * random() : 0;
        const delayMs = DelaySeconds * 1000 + 5 + 40 * random() + lateMs;
        const id = `m${Math.floor(random() * 1e12)}`;
        all.push({ id, body, visibleAt: time.now() + delayMs, receives: 0 });
        time.after(delayMs + 1, () => onMessages(name));
      }
    }
    return {};
  };
  const changeVisibility = ({ QueueUrl, Entries }: VisibilityInput) => {
    const name = QueueUrl.split("/").at(-1)!;
    for (const { ReceiptHandle, VisibilityTimeout } of Entries) {
      const message = messages.get(name)?.find(({ id }) => id === ReceiptHandle);
      if (message) message.visibleAt = time.now() + VisibilityTimeout * 1000;
    }
    return {};
  };
  return ({ service, operation, text }, fault) => {
    const input = JSON.parse(text) as never;
    if (service === "dynamodb") {
      if (fault?.kind === "stale")
        return table.readStale(operation, input, time.now() - fault.amount * 1000);
      return fault?.kind === "unprocessed"
        ? callWithRest(table, operation, input)
        : table.call(operation, input);
    }
    if (service !== "sqs") return vault(`${vaultTargets[service]}.${operation}`, input);
    if (operation === "SendMessageBatch") return accept(input);
    return operation === "ChangeMessageVisibilityBatch" ? changeVisibility(input) : {};
  };
}

interface SendInput {
  QueueUrl: string;
  Entries: { MessageBody: string; DelaySeconds?: number }[];
}
interface VisibilityInput {
  QueueUrl: string;
  Entries: { ReceiptHandle: string; VisibilityTimeout: number }[];
}
