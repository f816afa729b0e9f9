// Mail from the request to the customer's webhook, while AWS, the provider or workers fail. After
// the fault, all counts agree.
import { randomUUID } from "node:crypto";
import {
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type OpenResponse, readBytes } from "../../shared/adapters/http/client.ts";
import { NoResponse } from "../../shared/adapters/http/no-response.ts";
import {
  type FaultyService,
  failSometimes,
  interceptProviderCalls,
  setFault,
  timeoutFault,
} from "../support/adapter-faults.ts";
import type { CallInterceptor } from "../support/aws-calls.ts";
import { runUntilCrash } from "../support/crash-injection.ts";
import type { CustomerEndpoint } from "../support/customer-endpoint.ts";
import {
  type CrashHook,
  createPendingEvents,
  type EndToEndBalance,
  type EndToEndRun,
  expectBalanced,
  postEvents,
  prepareEndToEnd,
  runWorkersFor,
  sendRequests,
  startRun,
  stopRun,
  workers,
} from "../support/end-to-end.ts";
import { everything, seed } from "../support/extent.ts";
import type { ProviderFault } from "../support/fake-provider.ts";
import { sampleOf, seededRandom } from "../support/seeded-random.ts";
import { formatTable } from "../support/table.ts";
import * as virtual from "../support/virtual-queues.ts";

beforeAll(prepareEndToEnd);

let random = seededRandom(seed);
afterEach(() => {
  for (const service of ["dynamodb", "sqs", "s3", "kms"] as const) setFault(service, undefined);
  interceptProviderCalls();
});

const results: (EndToEndBalance & { fault: string })[] = [];
afterAll(() => {
  const columns = [
    "fault",
    "accepted",
    "delivered",
    "failed",
    "uncertain",
    "queued",
    "mailed",
    "events",
    "counted",
    "webhookIds",
    "received",
  ] as const;
  console.log(`SEED=${seed}\n${formatTable(columns, results)}`);
});

interface Fault {
  provider?: ProviderFault;
  call?: (go: () => Promise<OpenResponse>) => Promise<OpenResponse>;
  doors?: [FaultyService, CallInterceptor][];
  endpoint?: CustomerEndpoint["answer"];
  crash?: CrashHook;
}

const rounds = everything ? 2 : 1;

/** Sends mail during a fault, ends the fault, and checks that all counts agree. */
async function checkCountsAfterFault(name: string, key: EndToEndRun["key"], fault: Fault) {
  random = seededRandom(seed);
  const run = await startRun(key);
  const { provider: providerFault, call, doors = [], endpoint, crash } = fault;
  const crashOption = crash && { crash };
  if (providerFault) run.provider.faultFor = () => (random() < 0.4 ? providerFault : undefined);
  run.provider.isRefused = () => random() < 0.05;
  run.endpoint.answer = endpoint ?? 200;
  interceptProviderCalls(call);
  for (const [service, answer] of doors) setFault(service, answer);
  for (let round = 0; round < rounds; round++) {
    await sendRequests(run, { singles: 3, batch: 9, ...crashOption });
    await runWorkersFor({ forSeconds: 300, ...crashOption });
    const events = createPendingEvents(run);
    const shuffled = [...events, ...events.filter(() => random() < 0.2)].toSorted(
      () => random() - 0.5,
    );
    await postEvents(run, shuffled, { ...crashOption });
    await runWorkersFor({ forSeconds: 300, ...crashOption });
  }
  endFaults(run);
  await runWorkersFor({ forSeconds: 4 * 24 * 3600 });
  await postEvents(run, createPendingEvents(run));
  await redrive();
  await runWorkersFor({ forSeconds: 2 * 24 * 3600 });
  results.push({ fault: `${name} (${key})`, ...(await expectBalanced(run)) });
  await stopRun(run);
}

function endFaults({ provider, endpoint }: EndToEndRun) {
  provider.faultFor = () => undefined;
  endpoint.answer = 200;
  interceptProviderCalls();
  for (const service of ["dynamodb", "sqs", "s3", "kms"] as const) setFault(service, undefined);
}

/** Moves dead letters back to their queues, like an operator, and processes them. */
async function redrive() {
  for (const message of virtual.deadLetters.splice(0))
    virtual.pendingMessages.push({ ...message, id: randomUUID(), receives: 0 });
  await runWorkersFor();
}

test("without faults, each mail is delivered and each event is counted and forwarded once", async () => {
  const run = await startRun("postmark");
  await sendRequests(run, { singles: 4, batch: 20 });
  await runWorkersFor();
  await postEvents(run, createPendingEvents(run));
  await runWorkersFor();
  const balance = await expectBalanced(run);
  expect(balance).toMatchObject({
    accepted: 24,
    uncertain: 0,
    mailed: 24,
    received: balance.events,
  });
  results.push({ fault: "none", ...balance });
  await stopRun(run);
});

const timeout = () => new DOMException("The operation was aborted due to timeout", "TimeoutError");

describe.each(sampleOf(1, ["postmark", "resend"] as const, "provider"))("%s", (key) => {
  const faults: [string, ProviderFault][] = [
    ["resets connections before it accepts the mail", "reset"],
    ["accepts mail, but its responses are lost", "lost"],
    ["sends half of its responses", "half"],
    ["sends truncated JSON", "garbled"],
    ["responds 429 with Retry-After", { status: 429, headers: { "retry-after": "20" } }],
    ["responds 500", { status: 500 }],
    ["responds 502", { status: 502 }],
    ["responds 503 with Retry-After", { status: 503, headers: { "retry-after": "90" } }],
    ["responds 400 to the whole call", { status: 400 }],
  ];
  test.each(faults)("all counts agree after the provider %s", (name, provider) =>
    checkCountsAfterFault(`provider: ${name}`, key, { provider }),
  );

  test("all counts agree after calls that time out, whether they arrived or not", () =>
    checkCountsAfterFault("provider: timeouts", key, {
      call: async (go) => {
        const drawn = random();
        if (drawn < 0.2) throw new NoResponse(true, timeout());
        const answer = await go();
        if (drawn >= 0.4) return answer;
        await readBytes(answer.body, 1_000_000);
        throw new NoResponse(true, timeout());
      },
    }));

  test("all counts agree after response bodies that never end", () =>
    checkCountsAfterFault("provider: endless bodies", key, {
      call: async (go) => {
        const answer = await go();
        if (random() < 0.6) return answer;
        await readBytes(answer.body, 1_000_000);
        const endlessBody = new ReadableStream({
          pull: (body) => void setTimeout(() => body.error(timeout()), 5),
        });
        return { ...answer, body: endlessBody };
      },
    }));
});

const aws = { $metadata: {}, message: "" };
const throttle: CallInterceptor = async () => {
  throw new ProvisionedThroughputExceededException(aws);
};
/** The call takes effect, but its response is lost. */
const loseResponse: CallInterceptor = async (command, go) => {
  await go();
  return timeoutFault(command, go);
};
const onlyFor =
  (operation: string, answer: CallInterceptor): CallInterceptor =>
  (call, go) =>
    call.operation === operation ? answer(call, go) : go();

type Requests = Record<string, unknown>;
/** DynamoDB reads half of the keys and returns the other half as unprocessed. */
const halveReads = onlyFor("BatchGetItem", async ({ input }, go) => {
  const [[name, { Keys, ...rest }]] = Object.entries(
    input.RequestItems as Record<string, { Keys: object[] }>,
  ) as [[string, { Keys: object[] }]];
  if (Keys.length < 2) return go();
  const [now, later] = [Keys.filter((_, i) => i % 2), Keys.filter((_, i) => i % 2 === 0)];
  const answer = (await go({
    ...input,
    ...{ RequestItems: { [name]: { ...rest, Keys: now } } },
  })) as Requests;
  return { ...answer, UnprocessedKeys: { [name]: { ...rest, Keys: later } } };
});
const halveWrites = onlyFor("BatchWriteItem", async ({ input }, go) => {
  const [[name, writes]] = Object.entries(input.RequestItems as Record<string, object[]>) as [
    [string, object[]],
  ];
  if (writes.length < 2) return go();
  const [now, later] = [writes.filter((_, i) => i % 2), writes.filter((_, i) => i % 2 === 0)];
  const answer = (await go({ ...input, ...{ RequestItems: { [name]: now } } })) as Requests;
  return { ...answer, UnprocessedItems: { [name]: later } };
});
const halveStatements = onlyFor("BatchExecuteStatement", async ({ input }, go) => {
  const statements = input.Statements as object[];
  const made = statements.filter((_, i) => i % 2);
  const refused = { Error: { Code: random() < 0.5 ? "ThrottlingError" : "TransactionConflict" } };
  const { Responses = [] } = made.length
    ? ((await go({ ...input, ...{ Statements: made } })) as { Responses?: object[] })
    : {};
  return { Responses: statements.map((_, i) => (i % 2 ? Responses[(i - 1) / 2] : refused)) };
});
const conflict = onlyFor("TransactWriteItems", async ({ input }) => {
  const reasons = (input.TransactItems as object[]).map((_, i) => ({
    Code: i ? "None" : "TransactionConflict",
  }));
  throw new TransactionCanceledException({ ...aws, CancellationReasons: reasons });
});

const halveMessages: CallInterceptor = async ({ input }, go) => {
  const entries = input.Entries as { Id: string }[];
  const [taken, failed] = [entries.filter((_, i) => i % 2), entries.filter((_, i) => i % 2 === 0)];
  if (taken.length) await go({ ...input, ...{ Entries: taken } });
  return { Failed: failed.map(({ Id }) => ({ Id })) };
};
const repeatAndReorder: CallInterceptor = async (_, go) => {
  const answer = await go();
  if (random() < 0.5) await go();
  virtual.pendingMessages.sort(() => random() - 0.5);
  return answer;
};

const sometimes = (share: number, answer: CallInterceptor): CallInterceptor =>
  failSometimes(share, answer, () => random());

test.each<[string, Fault]>([
  ["DynamoDB throttles", { doors: [["dynamodb", sometimes(0.05, throttle)]] }],
  ["DynamoDB requests time out", { doors: [["dynamodb", sometimes(0.05, timeoutFault)]] }],
  ["DynamoDB responses are lost", { doors: [["dynamodb", sometimes(0.05, loseResponse)]] }],
  [
    "DynamoDB leaves half of a BatchGet unprocessed",
    { doors: [["dynamodb", sometimes(0.5, halveReads)]] },
  ],
  [
    "DynamoDB leaves half of a BatchWrite unprocessed",
    { doors: [["dynamodb", sometimes(0.5, halveWrites)]] },
  ],
  [
    "DynamoDB rejects half of the PartiQL statements",
    { doors: [["dynamodb", sometimes(0.5, halveStatements)]] },
  ],
  ["DynamoDB transactions conflict", { doors: [["dynamodb", sometimes(0.4, conflict)]] }],
  ["SQS rejects half of a batch", { doors: [["sqs", sometimes(0.5, halveMessages)]] }],
  ["SQS requests time out", { doors: [["sqs", sometimes(0.3, timeoutFault)]] }],
  ["SQS responses are lost", { doors: [["sqs", sometimes(0.3, loseResponse)]] }],
  ["SQS repeats and reorders messages", { doors: [["sqs", repeatAndReorder]] }],
  ["KMS requests time out", { doors: [["kms", sometimes(0.5, timeoutFault)]] }],
  [
    "the customer's endpoint responds 500 to a third",
    { endpoint: () => (random() < 0.33 ? 500 : 200) },
  ],
  ["the customer's endpoint cuts connections", { endpoint: () => (random() < 0.33 ? "cut" : 200) }],
])("all counts agree after a fault: %s", (name, fault) =>
  checkCountsAfterFault(name, "postmark", fault),
);

describe("all counts agree after crashes of workers", () => {
  const crashAtRandomSteps =
    (share: number, most: number): CrashHook =>
    (work) =>
      random() < share
        ? runUntilCrash(1 + Math.floor(random() * most), random() < 0.5 ? "before" : "after", work)
        : work();

  test.each(sampleOf(1, ["postmark", "resend"] as const, "anywhere"))(
    "at random steps, at %s",
    (key) =>
      checkCountsAfterFault("workers: random crashes", key, { crash: crashAtRandomSteps(0.3, 25) }),
  );

  test.each(sampleOf(1, ["postmark", "resend"] as const, "while"))(
    "during other faults, at %s",
    (key) =>
      checkCountsAfterFault("everything at once", key, {
        crash: crashAtRandomSteps(0.2, 25),
        provider: "lost",
        endpoint: () => (random() < 0.2 ? 500 : 200),
        doors: [
          ["dynamodb", sometimes(0.03, throttle)],
          ["sqs", sometimes(0.5, repeatAndReorder)],
        ],
      }),
  );

  test.each(workers)("of the queue $queue.name at each step", async (worker) => {
    const { handler, queue } = worker;
    const run = await startRun("resend");
    let crashCount = 0;
    const stride = 8;
    for (const when of ["before", "after"] as const)
      for (
        let n = everything ? 1 : 1 + Math.floor((random() * stride) / 2), hasCrashed = true;
        hasCrashed;
        n += everything ? 1 : stride
      ) {
        hasCrashed = false;
        worker.handler = async (event) => {
          let answer = {
            batchItemFailures: event.Records.map(({ messageId }) => ({
              itemIdentifier: messageId,
            })),
          };
          const work = async () => {
            answer = (await handler(event)) as typeof answer;
          };
          // The first worker that reaches step n crashes; all others finish.
          if (hasCrashed) await work();
          else if ((await runUntilCrash(n, when, work)).crashed) hasCrashed = true;
          return answer;
        };
        await sendRequests(run, { singles: 1, scheduled: 1, batch: 2 });
        await runWorkersFor({ forSeconds: 3600 });
        await postEvents(run, createPendingEvents(run));
        await runWorkersFor({ forSeconds: 3600 });
        crashCount += Number(hasCrashed);
      }
    worker.handler = handler;
    const balance = await expectBalanced(run);
    expect(crashCount).toBeGreaterThan(everything ? 5 : 0);
    results.push({
      fault: `${queue.name} crashes at each of ${crashCount} steps (resend)`,
      ...balance,
    });
    await stopRun(run);
  });
});
