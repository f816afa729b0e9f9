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
import { signForHost } from "../../infra/local/aws-signature.ts";
import * as clock from "../../shared/clock.ts";

export interface ConflictProxySettings {
  /** Endpoint of the DynamoDB behind the proxy. */
  endpoint: string;
  /** The key of its credentials. */
  secretAccessKey: string;
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

export interface ConflictProxy {
  url: string;
  countLost(): number;
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
  let lost = 0;
  const held = new Set<string>();
  const transactions = new Map<string, Promise<Answer>>();
  const chance = chances(settings.seed);

  const throttles = (): boolean => chance() < settings.throttled;

  async function transact(call: Call, forward: () => Promise<Answer>): Promise<Answer> {
    const keys = call.TransactItems!.map(keyOfItem);
    if (keys.some((key) => held.has(key)))
      return cancelled(keys.map((key) => (held.has(key) ? "TransactionConflict" : "None")));
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
    const forget = () => transactions.delete(token);
    made.then(({ status }) => status !== 200 && forget(), forget);
    return made;
  }

  async function single(call: Call, forward: () => Promise<Answer>): Promise<Answer> {
    if (held.has(nameOf((call.Key ?? call.Item)!)))
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
      if (held.has(keyOfStatement(statement))) return "TransactionConflict";
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
    const forward = (given = body) => forwarded(settings, request, given);
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
    await clock.sleep(settings.latencyMs);
    const { status, body } = await answerTo(operation, request, Buffer.concat(parts));
    if (status === 200 && writes.has(operation) && chance() < settings.lost) {
      lost++;
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
    countLost: () => lost,
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
  { endpoint, secretAccessKey }: Pick<ConflictProxySettings, "endpoint" | "secretAccessKey">,
  { method = "", headers: given }: IncomingMessage,
  body: Buffer,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { host } = new URL(endpoint);
    // The SDK signs the length too.
    const changed = { ...given, "content-length": String(body.length) };
    const request = { method, path: "/", query: "", headers: changed };
    const { headers } = signForHost(request, host, secretAccessKey);
    // A kept connection may be closed by the engine while the next call is on its way.
    const call = httpRequest(endpoint, { method, headers, agent: false }, async (response) => {
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part as Buffer);
      resolve({ status: response.statusCode!, body: Buffer.concat(parts) });
    });
    call.once("error", reject).end(body);
  });
}
