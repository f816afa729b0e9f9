// Whatever fails behind our doors and whoever dies: mail on its whole way, and books that balance.
import {
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  type AwsCommand,
  type FaultHandler,
  type FaultyAdapter,
  failSometimes,
  interceptProviderCalls,
  setFault,
  timeoutFault,
} from "../support/adapter-faults.ts";
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

let chance = seededRandom(seed);
afterEach(() => {
  for (const door of ["table", "queue", "blobs", "vault"] as const) setFault(door, undefined);
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
    "announced",
    "heard",
  ] as const;
  console.log(`SEED=${seed}\n${formatTable(columns, results)}`);
});

interface Fault {
  provider?: ProviderFault;
  call?: (go: () => Promise<Response>) => Promise<Response>;
  doors?: [FaultyAdapter, FaultHandler][];
  endpoint?: CustomerEndpoint["answer"];
  kill?: CrashHook;
}

const rounds = everything ? 2 : 1;

/** Mail goes its whole way while the fault lasts; then there is peace, and the books are closed. */
async function weather(name: string, key: EndToEndRun["key"], fault: Fault) {
  chance = seededRandom(seed);
  const way = await startRun(key);
  const { provider: trouble, call, doors = [], endpoint, kill } = fault;
  const dying = kill && { kill };
  if (trouble) way.provider.faultFor = () => (chance() < 0.4 ? trouble : undefined);
  way.provider.isRefused = () => chance() < 0.05;
  way.endpoint.answer = endpoint ?? 200;
  interceptProviderCalls(call);
  for (const [door, answer] of doors) setFault(door, answer);
  for (let round = 0; round < rounds; round++) {
    await sendRequests(way, { singles: 3, batch: 9, ...dying });
    await runWorkersFor({ forSeconds: 300, ...dying });
    const news = createPendingEvents(way);
    const shuffled = [...news, ...news.filter(() => chance() < 0.2)].toSorted(() => chance() - 0.5);
    await postEvents(way, shuffled, { ...dying });
    await runWorkersFor({ forSeconds: 300, ...dying });
  }
  peace(way);
  await runWorkersFor({ forSeconds: 4 * 24 * 3600 });
  await postEvents(way, createPendingEvents(way));
  await redrive();
  await runWorkersFor({ forSeconds: 2 * 24 * 3600 });
  results.push({ fault: `${name} (${key})`, ...(await expectBalanced(way)) });
  await stopRun(way);
}

function peace({ provider, endpoint }: EndToEndRun) {
  provider.faultFor = () => undefined;
  endpoint.answer = 200;
  interceptProviderCalls();
  for (const door of ["table", "queue", "blobs", "vault"] as const) setFault(door, undefined);
}

/** What was given up is made good by whoever looks after the dead-letter queues. */
async function redrive() {
  for (const message of virtual.deadLetters.splice(0))
    virtual.pendingMessages.push({ ...message, receives: 0 });
  await runWorkersFor();
}

test("in fair weather everything arrives, and is told and counted once", async () => {
  const way = await startRun("postmark");
  await sendRequests(way, { singles: 4, batch: 20 });
  await runWorkersFor();
  await postEvents(way, createPendingEvents(way));
  await runWorkersFor();
  const books = await expectBalanced(way);
  expect(books).toMatchObject({ accepted: 24, uncertain: 0, mailed: 24, heard: books.events });
  results.push({ fault: "none", ...books });
  await stopRun(way);
});

const timeout = () => new DOMException("The operation was aborted due to timeout", "TimeoutError");

describe.each(sampleOf(1, ["postmark", "resend"] as const, "provider"))("%s", (key) => {
  const troubles: [string, ProviderFault][] = [
    ["connections reset before the mail is taken", "reset"],
    ["answers lost", "lost"],
    ["half answers", "half"],
    ["answers cut short", "garbled"],
    ["429 with Retry-After", { status: 429, headers: { "retry-after": "20" } }],
    ["500", { status: 500 }],
    ["502", { status: 502 }],
    ["503 with Retry-After", { status: 503, headers: { "retry-after": "90" } }],
    ["400 to the whole call", { status: 400 }],
  ];
  test.each(troubles)("the provider: %s", (name, provider) =>
    weather(`provider: ${name}`, key, { provider }),
  );

  test("the provider: calls that time out, heard or not", () =>
    weather("provider: timeouts", key, {
      call: async (go) => {
        const drawn = chance();
        if (drawn < 0.2) throw timeout();
        const answer = await go();
        if (drawn < 0.4) throw timeout();
        return answer;
      },
    }));

  test("the provider: bodies that never end", () =>
    weather("provider: slow bodies", key, {
      call: async (go) => {
        const answer = await go();
        if (chance() < 0.6) return answer;
        return new Response(
          new ReadableStream({ pull: (body) => void setTimeout(() => body.error(timeout()), 5) }),
          {
            status: answer.status,
          },
        );
      },
    }));
});

const aws = { $metadata: {}, message: "" };
const throttled: FaultHandler = async () => {
  throw new ProvisionedThroughputExceededException(aws);
};
/** It took effect, and nobody knows. */
const unheard: FaultHandler = async (command, go) => {
  await go();
  return timeoutFault(command, go);
};
const only =
  (name: string, answer: FaultHandler): FaultHandler =>
  (command, go) =>
    command.constructor.name === name ? answer(command, go) : go();

type Requests = Record<string, unknown>;
const changed = (command: AwsCommand, input: Requests): AwsCommand =>
  Object.assign(Object.create(Object.getPrototypeOf(command)), command, {
    input: { ...command.input, ...input },
  });

/** The engine gets half of the keys, the other half comes back unprocessed. */
const halfOfReads = only("BatchGetCommand", async (command, go) => {
  const [[name, { Keys, ...rest }]] = Object.entries(
    command.input.RequestItems as Record<string, { Keys: object[] }>,
  ) as [[string, { Keys: object[] }]];
  if (Keys.length < 2) return go();
  const [now, later] = [Keys.filter((_, i) => i % 2), Keys.filter((_, i) => i % 2 === 0)];
  const answer = (await go(
    changed(command, { RequestItems: { [name]: { ...rest, Keys: now } } }),
  )) as Requests;
  return { ...answer, UnprocessedKeys: { [name]: { ...rest, Keys: later } } };
});
const halfOfWrites = only("BatchWriteCommand", async (command, go) => {
  const [[name, writes]] = Object.entries(
    command.input.RequestItems as Record<string, object[]>,
  ) as [[string, object[]]];
  if (writes.length < 2) return go();
  const [now, later] = [writes.filter((_, i) => i % 2), writes.filter((_, i) => i % 2 === 0)];
  const answer = (await go(changed(command, { RequestItems: { [name]: now } }))) as Requests;
  return { ...answer, UnprocessedItems: { [name]: later } };
});
const halfOfStatements = only("BatchExecuteStatementCommand", async (command, go) => {
  const statements = command.input.Statements as object[];
  const made = statements.filter((_, i) => i % 2);
  const refused = { Error: { Code: chance() < 0.5 ? "ThrottlingError" : "TransactionConflict" } };
  const { Responses = [] } = made.length
    ? ((await go(changed(command, { Statements: made }))) as { Responses?: object[] })
    : {};
  return { Responses: statements.map((_, i) => (i % 2 ? Responses[(i - 1) / 2] : refused)) };
});
const conflict = only("TransactWriteCommand", async ({ input }) => {
  const reasons = (input.TransactItems as object[]).map((_, i) => ({
    Code: i ? "None" : "TransactionConflict",
  }));
  throw new TransactionCanceledException({ ...aws, CancellationReasons: reasons });
});

const halfOfMessages: FaultHandler = async (command, go) => {
  const entries = command.input.Entries as { Id: string }[];
  const [taken, failed] = [entries.filter((_, i) => i % 2), entries.filter((_, i) => i % 2 === 0)];
  if (taken.length) await go(changed(command, { Entries: taken }));
  return { Failed: failed.map(({ Id }) => ({ Id })) };
};
const twiceAndInAnyOrder: FaultHandler = async (_, go) => {
  const answer = await go();
  if (chance() < 0.5) await go();
  virtual.pendingMessages.sort(() => chance() - 0.5);
  return answer;
};

const often = (share: number, answer: FaultHandler): FaultHandler =>
  failSometimes(share, answer, () => chance());

test.each<[string, Fault]>([
  ["table: throttled", { doors: [["table", often(0.05, throttled)]] }],
  ["table: calls that never arrive", { doors: [["table", often(0.05, timeoutFault)]] }],
  ["table: answers lost", { doors: [["table", often(0.05, unheard)]] }],
  ["table: half of a BatchGet unprocessed", { doors: [["table", often(0.5, halfOfReads)]] }],
  ["table: half of a BatchWrite unprocessed", { doors: [["table", often(0.5, halfOfWrites)]] }],
  [
    "table: half of the PartiQL statements refused",
    { doors: [["table", often(0.5, halfOfStatements)]] },
  ],
  ["table: transactions that conflict", { doors: [["table", often(0.4, conflict)]] }],
  ["queue: half of a call not taken", { doors: [["queue", often(0.5, halfOfMessages)]] }],
  ["queue: calls that never arrive", { doors: [["queue", often(0.3, timeoutFault)]] }],
  ["queue: answers lost", { doors: [["queue", often(0.3, unheard)]] }],
  ["queue: messages twice, and in any order", { doors: [["queue", twiceAndInAnyOrder]] }],
  ["vault: calls that never arrive", { doors: [["vault", often(0.5, timeoutFault)]] }],
  ["endpoint: 500 to a third", { endpoint: () => (chance() < 0.33 ? 500 : 200) }],
  ["endpoint: connections cut", { endpoint: () => (chance() < 0.33 ? "cut" : 200) }],
])("%s", (name, fault) => weather(name, "postmark", fault));

describe("workers that die", () => {
  const anywhere =
    (share: number, most: number): CrashHook =>
    (work) =>
      chance() < share
        ? runUntilCrash(1 + Math.floor(chance() * most), chance() < 0.5 ? "before" : "after", work)
        : work();

  test.each(sampleOf(1, ["postmark", "resend"] as const, "anywhere"))(
    "anywhere, any number of them, at %s",
    (key) => weather("workers: dead anywhere", key, { kill: anywhere(0.3, 25) }),
  );

  test.each(sampleOf(1, ["postmark", "resend"] as const, "while"))(
    "while everything else fails as well, at %s",
    (key) =>
      weather("everything at once", key, {
        kill: anywhere(0.2, 25),
        provider: "lost",
        endpoint: () => (chance() < 0.2 ? 500 : 200),
        doors: [
          ["table", often(0.03, throttled)],
          ["queue", often(0.5, twiceAndInAnyOrder)],
        ],
      }),
  );

  test.each(workers)(
    "$queue.name: one of them at each of its steps",
    { timeout: 60_000 },
    async (worker) => {
      const { handler, queue } = worker;
      const way = await startRun("resend");
      let deaths = 0;
      const stride = 8;
      for (const when of ["before", "after"] as const)
        for (
          let n = everything ? 1 : 1 + Math.floor((chance() * stride) / 2), died = true;
          died;
          n += everything ? 1 : stride
        ) {
          died = false;
          worker.handler = async (event) => {
            let answer = {
              batchItemFailures: event.Records.map(({ messageId }) => ({
                itemIdentifier: messageId,
              })),
            };
            const work = async () => {
              answer = (await handler(event)) as typeof answer;
            };
            // Whoever gets that far; the others, and those after, live.
            if (died) await work();
            else if ((await runUntilCrash(n, when, work)).crashed) died = true;
            return answer;
          };
          await sendRequests(way, { singles: 1, scheduled: 1, batch: 2 });
          await runWorkersFor({ forSeconds: 3600 });
          await postEvents(way, createPendingEvents(way));
          await runWorkersFor({ forSeconds: 3600 });
          deaths += Number(died);
        }
      worker.handler = handler;
      const books = await expectBalanced(way);
      expect(deaths).toBeGreaterThan(everything ? 5 : 0);
      results.push({ fault: `${queue.name} dead at each of ${deaths} steps (resend)`, ...books });
      await stopRun(way);
    },
  );
});
