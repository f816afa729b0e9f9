// A proxy in front of a local DynamoDB that fails as AWS does under load. It adds latency, holds
// the items of a transaction for a while and refuses other writes of them meanwhile, throttles
// calls and parts of calls, and loses answers after the write was made.
import { createHash } from "node:crypto";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import * as clock from "../../../shared/clock.ts";

export interface ConflictProxySettings {
  /** Endpoint of the DynamoDB behind the proxy. */
  endpoint: string;
  /** The same seed draws the same chances. */
  seed: number;
  /** Added to each call. */
  latencyMs?: number;
  /** How long the items of a transaction are held. */
  holdMs?: number;
  /** Share of calls that are throttled, as a whole or in one of their parts. */
  throttled?: number;
  /** Share of writes whose answer is lost. */
  lost?: number;
}

/** How many calls there were, and what the proxy did to them. */
export interface Tally {
  calls: number;
  conflicts: number;
  throttled: number;
  lost: number;
}

export interface ConflictProxy {
  url: string;
  tally: Tally;
  /** Items that were refused because a transaction held them, and how often. */
  contendedItems: Map<string, number>;
  /** Changes the shares and times from now on. */
  set(settings: Partial<ConflictProxySettings>): void;
  close(): Promise<void>;
}

interface Answer {
  status: number;
  body: Buffer;
}

type Key = Record<"pk" | "sk", { S: string }>;
type Request = Partial<{ Key: Key; Item: Key }>;
type TransactItem = Record<string, Request>;
interface Call {
  TransactItems?: TransactItem[];
  ClientRequestToken?: string;
  RequestItems?: Record<string, unknown[]>;
  Statements?: { Statement: string; Parameters: { S?: string }[] }[];
  Key?: Key;
  Item?: Key;
}

export async function openConflictProxy(given: ConflictProxySettings): Promise<ConflictProxy> {
  const settings = { latencyMs: 1, holdMs: 12, throttled: 0, lost: 0, ...given };
  const tally: Tally = { calls: 0, conflicts: 0, throttled: 0, lost: 0 };
  const contendedItems = new Map<string, number>();
  const held = new Set<string>();
  const transactions = new Map<string, Promise<Answer>>();
  const chance = chances(settings.seed);

  const refuseHeld = (keys: string[]): string[] => {
    const taken = keys.filter((key) => held.has(key));
    for (const key of taken) contendedItems.set(key, (contendedItems.get(key) ?? 0) + 1);
    if (taken.length) tally.conflicts++;
    return taken;
  };

  const throttles = (): boolean => {
    const throttled = chance() < settings.throttled;
    if (throttled) tally.throttled++;
    return throttled;
  };

  async function transact(call: Call, forward: () => Promise<Answer>): Promise<Answer> {
    const keys = call.TransactItems!.map(keyOfItem);
    const taken = refuseHeld(keys);
    if (taken.length)
      return cancelled(keys.map((key) => (taken.includes(key) ? "TransactionConflict" : "None")));
    if (throttles()) {
      const one = Math.floor(chance() * keys.length);
      return cancelled(keys.map((_, i) => (i === one ? "ProvisionedThroughputExceeded" : "None")));
    }
    for (const key of keys) held.add(key);
    try {
      const [answer] = await Promise.all([forward(), clock.sleep(settings.holdMs)]);
      return answer;
    } finally {
      for (const key of keys) held.delete(key);
    }
  }

  /** A transaction that is repeated under its token is made once. */
  function once(call: Call, forward: () => Promise<Answer>): Promise<Answer> {
    const token = call.ClientRequestToken;
    const earlier = token ? transactions.get(token) : undefined;
    if (earlier) return earlier;
    const made = transact(call, forward);
    if (!token) return made;
    transactions.set(token, made);
    return made.then((answer) => {
      if (answer.status !== 200) transactions.delete(token);
      return answer;
    });
  }

  async function single(call: Call, forward: () => Promise<Answer>): Promise<Answer> {
    if (refuseHeld([nameOf((call.Key ?? call.Item)!)]).length)
      return refusal("TransactionConflictException", "The item is in a transaction");
    return forward();
  }

  /** Statements of items that are held fail, each for itself. */
  async function statements(
    call: Call,
    forward: (body: Buffer) => Promise<Answer>,
  ): Promise<Answer> {
    const all = call.Statements!;
    const codes = all.map((statement) => {
      if (refuseHeld([keyOfStatement(statement)]).length) return "TransactionConflict";
      return throttles() ? "ThrottlingError" : undefined;
    });
    const open = all.filter((_, i) => !codes[i]);
    const answer = open.length
      ? await forward(Buffer.from(JSON.stringify({ ...call, Statements: open })))
      : undefined;
    if (answer && answer.status !== 200) return answer;
    const made = answer
      ? (JSON.parse(String(answer.body)) as { Responses: object[] })
      : { Responses: [] };
    const rest = [...made.Responses];
    const Responses = codes.map((code) =>
      code ? { Error: { Code: code, Message: "Refused by the proxy" } } : rest.shift(),
    );
    return { status: 200, body: Buffer.from(JSON.stringify({ ...made, Responses })) };
  }

  /** The last item of a batch is left over. */
  async function batch(
    operation: string,
    call: Call,
    forward: (body: Buffer) => Promise<Answer>,
    body: Buffer,
  ): Promise<Answer> {
    const [table, requests] = Object.entries(call.RequestItems!)[0]!;
    const isRead = operation === "BatchGetItem";
    const entries = isRead ? (requests as unknown as { Keys: unknown[] }).Keys : requests;
    if (entries.length < 2 || !throttles()) return forward(body);
    const [kept, left] = [entries.slice(0, -1), entries.slice(-1)];
    const asked = (some: unknown[]) => ({ [table]: isRead ? { ...requests, Keys: some } : some });
    const answer = await forward(
      Buffer.from(JSON.stringify({ ...call, RequestItems: asked(kept) })),
    );
    if (answer.status !== 200) return answer;
    const said = {
      ...JSON.parse(String(answer.body)),
      [isRead ? "UnprocessedKeys" : "UnprocessedItems"]: asked(left),
    };
    return { status: 200, body: Buffer.from(JSON.stringify(said)) };
  }

  async function answerTo(
    operation: string,
    request: IncomingMessage,
    body: Buffer,
  ): Promise<Answer> {
    const call = JSON.parse(String(body)) as Call;
    const forward = (given = body) => forwarded(settings.endpoint, request, given);
    if (operation === "TransactWriteItems") return once(call, forward);
    if (operation === "BatchExecuteStatement") return statements(call, forward);
    if (operation.startsWith("Batch")) return batch(operation, call, forward, body);
    if (throttles())
      return chance() < 0.5
        ? refusal("ProvisionedThroughputExceededException", "Too much for the table")
        : refusal("ThrottlingException", "Too much for the account");
    return singleWrites.has(operation) ? single(call, forward) : forward();
  }

  async function serve(request: IncomingMessage, response: ServerResponse) {
    const operation = String(request.headers["x-amz-target"]).replace(/^.*\./, "");
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    tally.calls++;
    await clock.sleep(settings.latencyMs);
    const { status, body } = await answerTo(operation, request, Buffer.concat(parts));
    if (status === 200 && writes.has(operation) && chance() < settings.lost) {
      tally.lost++;
      return response.destroy();
    }
    response
      .writeHead(status, {
        "content-type": "application/x-amz-json-1.0",
        "content-length": body.length,
      })
      .end(body);
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tally,
    contendedItems,
    set: (changes) => Object.assign(settings, changes),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const singleWrites = new Set(["PutItem", "UpdateItem", "DeleteItem"]);
const writes = new Set([
  ...singleWrites,
  "TransactWriteItems",
  "BatchWriteItem",
  "BatchExecuteStatement",
]);

/** Numbers from 0 to 1 that look random and follow from the seed alone. */
function chances(seed: number): () => number {
  let drawn = 0;
  return () => createHash("sha256").update(`${seed} ${drawn++}`).digest().readUInt32BE(0) / 2 ** 32;
}

const nameOf = ({ pk, sk }: Key): string => `${pk.S} ${sk.S}`;

function keyOfItem(item: TransactItem): string {
  const [{ Key, Item }] = Object.values(item) as [Request];
  return nameOf((Key ?? Item)!);
}

/** An INSERT names attributes in order, an UPDATE ends in `WHERE pk=? AND sk=? AND ...=?`. */
function keyOfStatement({
  Statement,
  Parameters,
}: NonNullable<Call["Statements"]>[number]): string {
  if (!Statement.startsWith("INSERT"))
    return Parameters.slice(-3, -1)
      .map(({ S }) => S)
      .join(" ");
  const names = [...Statement.matchAll(/'([^']*)': \?/g)].map(([, name]) => name);
  return ["pk", "sk"].map((name) => Parameters[names.indexOf(name)]?.S).join(" ");
}

const refusal = (type: string, message: string, more: object = {}): Answer => ({
  status: 400,
  body: Buffer.from(
    JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message, ...more }),
  ),
});

const cancelled = (codes: string[]): Answer =>
  refusal(
    "TransactionCanceledException",
    "Transaction cancelled, please refer cancellation reasons for specific reasons " +
      `[${codes.join(", ")}]`,
    {
      CancellationReasons: codes.map((Code) => ({ Code })),
    },
  );

function forwarded(
  endpoint: string,
  { method, headers }: IncomingMessage,
  body: Buffer,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { host: _, ...kept } = headers;
    const call = httpRequest(
      endpoint,
      { method, headers: { ...kept, "content-length": body.length } },
      async (response) => {
        const parts: Buffer[] = [];
        for await (const part of response) parts.push(part as Buffer);
        resolve({ status: response.statusCode!, body: Buffer.concat(parts) });
      },
    );
    call.once("error", reject).end(body);
  });
}
