// The sending path without its Lambdas: queues that a test runs dry itself, on a table of its own, so that the clock may be moved
// as far as it likes; and the books that must balance whatever happened.
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import type { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient, ScanCommand as ScanCommandOfDocuments } from "@aws-sdk/lib-dynamodb";
import { expect } from "vitest";
import type * as z from "zod";
import { createTable } from "../../infra/local/table.ts";
import type { Caller } from "../../shared/caller.ts";
import * as clock from "../../shared/clock.ts";
import { secured } from "../../shared/domain/secure-messages/acceptance.ts";
import { gather } from "../../shared/domain/sending/accept.ts";
import * as batches from "../../shared/domain/sending/accept-batch.ts";
import { single } from "../../shared/domain/sending/accept-single.ts";
import * as due from "../../shared/domain/sending/due.ts";
import * as feed from "../../shared/domain/sending/feed.ts";
import * as handOver from "../../shared/domain/sending/hand-over.ts";
import * as laneRunner from "../../shared/domain/sending/lane-runner.ts";
import { BatchMessage, SingleMessage } from "../../shared/domain/sending/message.ts";
import * as singles from "../../shared/domain/sending/singles.ts";
import * as sendingConfigs from "../../shared/domain/sending-configs.ts";
import * as sends from "../../shared/domain/sends.ts";
import * as sites from "../../shared/domain/sites.ts";
import { get, query } from "../../shared/doors/table.ts";
import { type DueWork, keys, ranges } from "../../shared/keys.ts";
import { queues } from "../../shared/queues.ts";
import { account } from "./callers.ts";
import { type FakeProvider, fakeProvider } from "./fake-provider.ts";
import { armed, type Fate } from "./killer.ts";

interface Body {
  orgId: number;
  sendId: number;
  configId: number;
  what: DueWork;
  shard: number;
}

interface Message {
  queue: string;
  body: Body;
  /** ms since 1970 */
  visibleAt: number;
  receives: number;
}
export const messages: Message[] = [];

async function take(command: unknown): Promise<object> {
  const { QueueUrl = "", Entries = [] } = (command as SendMessageBatchCommand).input;
  for (const { MessageBody = "{}", DelaySeconds = 0 } of Entries)
    messages.push({
      queue: QueueUrl.split("/").at(-1)!,
      body: JSON.parse(MessageBody),
      visibleAt: clock.now().getTime() + DelaySeconds * 1000,
      receives: 0,
    });
  return {};
}

/** For `beforeAll`: a table for this file alone, and queues of its own. */
export async function opened(): Promise<void> {
  process.env.TABLE_NAME = `mailroom-${crypto.randomUUID()}`;
  await createTable(new DynamoDBClient({}), process.env.TABLE_NAME);
  armed(take as never);
}

export interface Sender {
  caller: Caller;
  /** Of the session cookie. */
  token: string;
  siteId: number;
  configId: number;
  provider: FakeProvider;
}

const credentials = {
  postmark: { apiKey: "postmark-token" },
  resend: { apiKey: "re_token" },
  ses: { accessKeyId: "AKIA", secretAccessKey: "secret", region: "us-east-1" },
};

/** An organization with one site and one sending config at a provider of its own. */
export async function sender(key: keyof typeof credentials, more: { ratePerSecond?: number } = {}): Promise<Sender> {
  const provider = await fakeProvider(key);
  const { caller, token } = await account();
  const { id: siteId } = await sites.create(caller, sites.NewSite.parse({ name: "Shop" }));
  const config = { provider: key, credentials: credentials[key], fromEmail: "shop@example.com", fromName: "Shop", ...more };
  const { id: configId } = await sendingConfigs.create(caller, sendingConfigs.NewSendingConfig.parse(config));
  return { caller, token, siteId, configId, provider };
}

/** POST /send without HTTP. */
export async function send({ caller, configId }: Sender, fields: Partial<SingleInput> & { to: string }) {
  const message = SingleMessage.parse({ sendingConfigId: configId, subject: "Hello", html: "<p>Hello</p>", ...fields });
  return single(caller, message, await gather(caller, message, [message.to]), secured);
}

/** POST /send/batch without HTTP. */
export async function sendBatch({ caller, configId }: Sender, recipients: BatchInput["recipients"], fields: Partial<BatchInput> = {}) {
  const message = BatchMessage.parse({ sendingConfigId: configId, subject: "Hello", html: "<p>Hello</p>", recipients, ...fields });
  const rows = batches.sorted(message);
  const emails = rows.flatMap(({ recipient }) => recipient?.to ?? []);
  return batches.accept(caller, message, rows, await gather(caller, message, emails));
}

type SingleInput = z.input<typeof SingleMessage>;
type BatchInput = z.input<typeof BatchMessage>;

/** `n` recipients of whom no other batch knows. */
export const recipients = (n: number): { to: string }[] => {
  const word = crypto.randomUUID().slice(0, 8);
  return Array.from({ length: n }, (_, i) => ({ to: `${word}-${i}@example.com` }));
};

const workers: Record<string, (body: Body) => Promise<void>> = {
  send: ({ orgId, sendId }) => singles.deliver(orgId, sendId),
  lane: ({ orgId, configId }) => runLane(orgId, configId),
  drain: ({ what, shard }) => due.drain(what, shard),
};

export const runLane = (orgId: number, configId: number): Promise<void> =>
  laneRunner.run(orgId, configId, (...chunk) => handOver.chunk(orgId, configId, ...chunk));

interface Settling {
  /** So long, and no longer than there is work unless it is given. */
  forSeconds?: number;
  /** Does the work of one message, or dies over it. */
  kill?(work: () => Promise<unknown>): Promise<unknown>;
}

/** Works until no message is left and nothing is due, moving the clock to whatever comes next. */
export async function settle({ forSeconds, kill = (work) => work() }: Settling = {}): Promise<void> {
  const until = forSeconds === undefined ? Number.POSITIVE_INFINITY : clock.after(forSeconds).getTime();
  for (let rounds = 0; rounds < 2000; rounds++) {
    const now = clock.now().getTime();
    const visible = messages.filter(({ visibleAt }) => visibleAt <= now);
    for (const message of visible) await handle(message, kill);
    if (visible.length) continue;
    const next = Math.min(...messages.map(({ visibleAt }) => visibleAt), await firstDue());
    if (next > until) clock.advance((until - now) / 1000);
    if (next > until || next === Number.POSITIVE_INFINITY) return;
    if (next > now) clock.advance((next - now) / 1000 + 0.001);
    if ((await firstDue()) <= clock.now().getTime()) await due.drainAll();
  }
  throw new Error("The mailroom does not come to rest");
}

async function handle(message: Message, kill: NonNullable<Settling["kill"]>): Promise<void> {
  messages.splice(messages.indexOf(message), 1);
  const { attempts, timeoutSeconds } = Object.values(queues).find(({ name }) => name === message.queue)!;
  try {
    const fate = await kill(() => workers[message.queue]!(message.body));
    if ((fate as Partial<Fate> | undefined)?.died) throw new Error("The worker died");
  } catch {
    const again = { ...message, receives: message.receives + 1, visibleAt: clock.now().getTime() + 6000 * timeoutSeconds };
    if (again.receives < attempts) messages.push(again);
  }
}

async function firstDue(): Promise<number> {
  const { Items = [] } = await new DynamoDBClient({}).send(new ScanCommand({ TableName: process.env.TABLE_NAME, IndexName: "due" }));
  // A day that is over can wait, and so can what expires: nobody moves the clock for it.
  const pressing = Items.filter(({ duepk }) => !/^DUE#(DAY|SECURE)#/.test(duepk!.S!));
  return Math.min(...pressing.map(({ duesk }) => Date.parse(duesk!.S!.slice(0, 24))));
}

/** Does something at the moment when a lane has been looked into, once, and before whoever looked acts on it. */
export async function whenLookedInto(found: (items: unknown[]) => boolean, work: () => Promise<unknown>, run: () => Promise<unknown>) {
  const { prototype } = DynamoDBDocumentClient;
  const { send } = prototype;
  let done = false;
  prototype.send = async function (this: unknown, ...args: never[]) {
    const answer = (await Reflect.apply(send, this, args)) as { Items?: unknown[] };
    const [{ input }] = args as unknown as [{ input: { ExpressionAttributeValues?: Record<string, unknown> } }];
    const isLane = Object.values(input.ExpressionAttributeValues ?? {}).includes("W#");
    if (isLane && !done && found(answer.Items ?? [])) {
      done = true;
      await work();
    }
    return answer;
  } as typeof send;
  await run().finally(() => {
    prototype.send = send;
  });
  expect(done).toBe(true);
}

/** Every send that the organization lists, page by page. */
export async function listed({ caller }: Pick<Sender, "caller">, limit = 100): Promise<sends.Send[]> {
  const all: sends.Send[] = [];
  let cursor: string | undefined;
  do {
    const page = await sends.list(caller, { limit, cursor }, {});
    all.push(...page.sends);
    cursor = page.pagination.nextCursor ?? undefined;
  } while (cursor);
  return all;
}

/**
 * Everything that was accepted has come to an end and is listed and counted once; nobody got a mail twice; whoever is `sent` got
 * one, whoever `failed` did not; nothing waits and the lane is at rest.
 */
export async function balanced({ caller, siteId, configId, provider }: Sender, accepted: number[]): Promise<Record<string, number>> {
  const all = await listed({ caller });
  const ids = all.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(accepted));
  expect(await feed.total(caller.orgId, [siteId])).toBe(ids.length);
  const mailed = provider.mails.map(({ sendId }) => sendId);
  expect(new Set(mailed).size).toBe(mailed.length);
  for (const { id, status } of all) {
    expect(["sent", "failed", "uncertain", "cancelled"]).toContain(status);
    if (status === "sent") expect(mailed).toContain(id);
    if (status === "failed" || status === "cancelled") expect(mailed).not.toContain(id);
  }
  expect(ids).toEqual(expect.arrayContaining(mailed));
  const { items } = await query(ranges.waiting(caller.orgId, configId), { consistent: true });
  expect(items).toEqual([]);
  const lane = (await get<Record<string, unknown>>(keys.lane(caller.orgId, configId))) ?? {};
  expect(Object.keys(lane)).not.toEqual(expect.arrayContaining(["duepk"]));
  expect(Object.keys(lane)).not.toEqual(expect.arrayContaining(["owner"]));
  const byStatus = Object.fromEntries(
    Map.groupBy(all, ({ status }) => status)
      .entries()
      .map(([status, some]) => [status, some.length]),
  );
  const { sent = 0, failed = 0, uncertain = 0 } = byStatus;
  expect(await countedByDay(caller.orgId, siteId)).toMatchObject({ sent, failed, uncertain });
  return byStatus;
}

/** All days together. */
async function countedByDay(orgId: number, siteId: number): Promise<Record<string, number>> {
  const sum: Record<string, number> = { sent: 0, failed: 0, uncertain: 0 };
  const { pk } = ranges.days(orgId, siteId);
  const { Items = [] } = await DynamoDBDocumentClient.from(new DynamoDBClient({})).send(
    new ScanCommandOfDocuments({
      TableName: process.env.TABLE_NAME,
      FilterExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": pk },
    }),
  );
  for (const [name, n] of Items.flatMap((item) => Object.entries(item))) if (typeof n === "number") sum[name] = (sum[name] ?? 0) + n;
  return sum;
}
