// Whatever fails behind our doors and whoever dies: mail on its whole way, and books that balance.
import { ProvisionedThroughputExceededException, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chances } from "../support/chances.ts";
import type { Endpoint } from "../support/endpoint.ts";
import type { Trouble } from "../support/fake-provider.ts";
import { killed } from "../support/killer.ts";
import { type Answer, answering, type Command, calling, type Door, down, unsteady } from "../support/outages.ts";
import { table } from "../support/table.ts";
import * as virtual from "../support/virtual-queues.ts";
import {
  accept,
  type Books,
  balanced,
  begun,
  ended,
  happened,
  type Kill,
  opened,
  tell,
  type Way,
  work,
  workers,
} from "../support/whole-way.ts";

beforeAll(opened);

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e6));
let chance = chances(seed);
afterEach(() => {
  for (const door of ["table", "queue", "blobs", "vault"] as const) answering(door, undefined);
  calling();
});

const results: (Books & { fault: string })[] = [];
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
  console.log(`SEED=${seed}\n${table(columns, results)}`);
});

interface Fault {
  provider?: Trouble;
  call?: (go: () => Promise<Response>) => Promise<Response>;
  doors?: [Door, Answer][];
  endpoint?: Endpoint["answer"];
  kill?: Kill;
}

/** Mail goes its whole way while the fault lasts; then there is peace, and the books are closed. */
async function weather(name: string, key: Way["key"], fault: Fault) {
  chance = chances(seed);
  const way = await begun(key);
  const { provider: trouble, call, doors = [], endpoint, kill } = fault;
  const dying = kill && { kill };
  if (trouble) way.provider.trouble = () => (chance() < 0.4 ? trouble : undefined);
  way.provider.refuses = () => chance() < 0.05;
  way.there.answer = endpoint ?? 200;
  calling(call);
  for (const [door, answer] of doors) answering(door, answer);
  for (let round = 0; round < 2; round++) {
    await accept(way, { singles: 3, batch: 9, ...dying });
    await work({ forSeconds: 300, ...dying });
    const news = happened(way);
    const shuffled = [...news, ...news.filter(() => chance() < 0.2)].toSorted(() => chance() - 0.5);
    await tell(way, shuffled, { ...dying });
    await work({ forSeconds: 300, ...dying });
  }
  peace(way);
  await work({ forSeconds: 4 * 24 * 3600 });
  await tell(way, happened(way));
  await redrive();
  await work({ forSeconds: 2 * 24 * 3600 });
  results.push({ fault: `${name} (${key})`, ...(await balanced(way)) });
  await ended(way);
}

function peace({ provider, there }: Way) {
  provider.trouble = () => undefined;
  there.answer = 200;
  calling();
  for (const door of ["table", "queue", "blobs", "vault"] as const) answering(door, undefined);
}

/** What was given up is made good by whoever looks after the dead-letter queues. */
async function redrive() {
  for (const message of virtual.dead.splice(0)) virtual.waiting.push({ ...message, receives: 0 });
  await work();
}

test("in fair weather everything arrives, and is told and counted once", async () => {
  const way = await begun("postmark");
  await accept(way, { singles: 4, batch: 20 });
  await work();
  await tell(way, happened(way));
  await work();
  const books = await balanced(way);
  expect(books).toMatchObject({ accepted: 24, uncertain: 0, mailed: 24, heard: books.events });
  results.push({ fault: "none", ...books });
  await ended(way);
});

const timeout = () => new DOMException("The operation was aborted due to timeout", "TimeoutError");

describe.each(["postmark", "resend"] as const)("%s", (key) => {
  const troubles: [string, Trouble][] = [
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
  test.each(troubles)("the provider: %s", (name, provider) => weather(`provider: ${name}`, key, { provider }));

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
        return new Response(new ReadableStream({ pull: (body) => void setTimeout(() => body.error(timeout()), 5) }), {
          status: answer.status,
        });
      },
    }));
});

const aws = { $metadata: {}, message: "" };
const throttled: Answer = async () => {
  throw new ProvisionedThroughputExceededException(aws);
};
/** It took effect, and nobody knows. */
const unheard: Answer = async (command, go) => {
  await go();
  return down(command, go);
};
const only =
  (name: string, answer: Answer): Answer =>
  (command, go) =>
    command.constructor.name === name ? answer(command, go) : go();

type Requests = Record<string, unknown>;
const changed = (command: Command, input: Requests): Command =>
  Object.assign(Object.create(Object.getPrototypeOf(command)), command, { input: { ...command.input, ...input } });

/** The engine gets half of the keys, the other half comes back unprocessed. */
const halfOfReads = only("BatchGetCommand", async (command, go) => {
  const [[name, { Keys, ...rest }]] = Object.entries(command.input.RequestItems as Record<string, { Keys: object[] }>) as [
    [string, { Keys: object[] }],
  ];
  if (Keys.length < 2) return go();
  const [now, later] = [Keys.filter((_, i) => i % 2), Keys.filter((_, i) => i % 2 === 0)];
  const answer = (await go(changed(command, { RequestItems: { [name]: { ...rest, Keys: now } } }))) as Requests;
  return { ...answer, UnprocessedKeys: { [name]: { ...rest, Keys: later } } };
});
const halfOfWrites = only("BatchWriteCommand", async (command, go) => {
  const [[name, writes]] = Object.entries(command.input.RequestItems as Record<string, object[]>) as [[string, object[]]];
  if (writes.length < 2) return go();
  const [now, later] = [writes.filter((_, i) => i % 2), writes.filter((_, i) => i % 2 === 0)];
  const answer = (await go(changed(command, { RequestItems: { [name]: now } }))) as Requests;
  return { ...answer, UnprocessedItems: { [name]: later } };
});
const halfOfStatements = only("BatchExecuteStatementCommand", async (command, go) => {
  const statements = command.input.Statements as object[];
  const made = statements.filter((_, i) => i % 2);
  const refused = { Error: { Code: chance() < 0.5 ? "ThrottlingError" : "TransactionConflict" } };
  const { Responses = [] } = made.length ? ((await go(changed(command, { Statements: made }))) as { Responses?: object[] }) : {};
  return { Responses: statements.map((_, i) => (i % 2 ? Responses[(i - 1) / 2] : refused)) };
});
const conflict = only("TransactWriteCommand", async ({ input }) => {
  const reasons = (input.TransactItems as object[]).map((_, i) => ({ Code: i ? "None" : "TransactionConflict" }));
  throw new TransactionCanceledException({ ...aws, CancellationReasons: reasons });
});

const halfOfMessages: Answer = async (command, go) => {
  const entries = command.input.Entries as { Id: string }[];
  const [taken, failed] = [entries.filter((_, i) => i % 2), entries.filter((_, i) => i % 2 === 0)];
  if (taken.length) await go(changed(command, { Entries: taken }));
  return { Failed: failed.map(({ Id }) => ({ Id })) };
};
const twiceAndInAnyOrder: Answer = async (_, go) => {
  const answer = await go();
  if (chance() < 0.5) await go();
  virtual.waiting.sort(() => chance() - 0.5);
  return answer;
};

const often = (share: number, answer: Answer): Answer => unsteady(share, answer, () => chance());

test.each<[string, Fault]>([
  ["table: throttled", { doors: [["table", often(0.05, throttled)]] }],
  ["table: calls that never arrive", { doors: [["table", often(0.05, down)]] }],
  ["table: answers lost", { doors: [["table", often(0.05, unheard)]] }],
  ["table: half of a BatchGet unprocessed", { doors: [["table", often(0.5, halfOfReads)]] }],
  ["table: half of a BatchWrite unprocessed", { doors: [["table", often(0.5, halfOfWrites)]] }],
  ["table: half of the PartiQL statements refused", { doors: [["table", often(0.5, halfOfStatements)]] }],
  ["table: transactions that conflict", { doors: [["table", often(0.4, conflict)]] }],
  ["queue: half of a call not taken", { doors: [["queue", often(0.5, halfOfMessages)]] }],
  ["queue: calls that never arrive", { doors: [["queue", often(0.3, down)]] }],
  ["queue: answers lost", { doors: [["queue", often(0.3, unheard)]] }],
  ["queue: messages twice, and in any order", { doors: [["queue", twiceAndInAnyOrder]] }],
  ["vault: calls that never arrive", { doors: [["vault", often(0.5, down)]] }],
  ["endpoint: 500 to a third", { endpoint: () => (chance() < 0.33 ? 500 : 200) }],
  ["endpoint: connections cut", { endpoint: () => (chance() < 0.33 ? "cut" : 200) }],
])("%s", (name, fault) => weather(name, "postmark", fault));

describe("workers that die", () => {
  const anywhere =
    (share: number, most: number): Kill =>
    (work) =>
      chance() < share ? killed(1 + Math.floor(chance() * most), chance() < 0.5 ? "before" : "after", work) : work();

  test.each(["postmark", "resend"] as const)("anywhere, any number of them, at %s", (key) =>
    weather("workers: dead anywhere", key, { kill: anywhere(0.3, 25) }),
  );

  test.each(["postmark", "resend"] as const)("while everything else fails as well, at %s", (key) =>
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

  test.each(workers)("$queue.name: one of them at each of its steps", { timeout: 60_000 }, async (worker) => {
    const { handler, queue } = worker;
    const way = await begun("resend");
    let deaths = 0;
    for (const when of ["before", "after"] as const)
      for (let n = 1, died = true; died; n++) {
        died = false;
        worker.handler = async (event) => {
          let answer = { batchItemFailures: event.Records.map(({ messageId }) => ({ itemIdentifier: messageId })) };
          const work = async () => {
            answer = (await handler(event)) as typeof answer;
          };
          // Whoever gets that far; the others, and those after, live.
          if (died) await work();
          else if ((await killed(n, when, work)).died) died = true;
          return answer;
        };
        await accept(way, { singles: 1, later: 1, batch: 2 });
        await work({ forSeconds: 3600 });
        await tell(way, happened(way));
        await work({ forSeconds: 3600 });
        deaths += Number(died);
      }
    worker.handler = handler;
    const books = await balanced(way);
    expect(deaths).toBeGreaterThan(5);
    results.push({ fault: `${queue.name} dead at each of ${deaths} steps (resend)`, ...books });
    await ended(way);
  });
});
