// The sending path without Lambda: each test file has its own table and queues, so that it can run
// the workers itself and move the clock, and a check that all counts agree.
import type { SendMessageBatchCommandInput } from "@aws-sdk/client-sqs";
import { expect } from "vitest";
import type * as z from "zod";
import { get, getMany, query, queryAll } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import * as clock from "../../shared/clock.ts";
import { foldMailLog } from "../../shared/domain/audience/mail-counts/fold-mail-log.ts";
import * as due from "../../shared/domain/due-work.ts";
import { countSends } from "../../shared/domain/identity/site-send-counts.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { NewSendingConfig } from "../../shared/domain/senders/sending-config-schema.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import type { TrackingMode } from "../../shared/domain/senders/tracking-modes.ts";
import * as batches from "../../shared/domain/sending/accept/accept-batch.ts";
import { acceptSingle } from "../../shared/domain/sending/accept/accept-single.ts";
import { BatchMessage } from "../../shared/domain/sending/accept/batch-message.ts";
import { loadIntake } from "../../shared/domain/sending/accept/intake.ts";
import { SingleMessage } from "../../shared/domain/sending/accept/single-message.ts";
import * as laneRunner from "../../shared/domain/sending/bulk/lane-runner.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { lookUpSends } from "../../shared/domain/sending/look-up-sends.ts";
import { foldRecipientLog } from "../../shared/domain/sending/recipient-index/fold-log.ts";
import { encryptMessages } from "../../shared/domain/sending/secure-messages/encrypt-messages.ts";
import { readSinglesBetween } from "../../shared/domain/sending/send-feed.ts";
import type { Send } from "../../shared/domain/sending/send-schema.ts";
import { handOverSingle } from "../../shared/domain/sending/single/hand-over.ts";
import {
  isBulk,
  isSettled,
  type SingleSendItem,
} from "../../shared/domain/sending/single/single-send-item.ts";
import type { SweptWindow } from "../../shared/domain/sending/single/sweep-windows.ts";
import { inParallel } from "../../shared/kernel/parallel.ts";
import { type DueWorkKind, type Key, keys, ranges } from "../../shared/keys.ts";
import { queues } from "../../shared/queues.ts";
import { createAccount } from "./accounts.ts";
import { type AwsCall, interceptCalls } from "./aws-calls.ts";
import { type CrashResult, interceptClients } from "./crash-injection.ts";
import { enqueueDueWork, firstDueTime, readDueIndex } from "./due-index.ts";
import { type FakeProvider, startFakeProvider } from "./fake-provider.ts";
import { useOwnTable } from "./memory-dynamodb.ts";

interface QueueBody {
  orgId: number;
  sendId: number;
  configId: number;
  what: DueWorkKind;
  shard: number;
  job: string;
  siteId: number;
  lookUp?: number[];
  log: string;
}

interface Message {
  queue: string;
  body: QueueBody;
  /** ms since 1970 */
  visibleAt: number;
  receives: number;
}
export const pendingMessages: Message[] = [];

async function enqueueMessages({ input }: AwsCall): Promise<object> {
  const { QueueUrl = "", Entries = [] } = input as unknown as SendMessageBatchCommandInput;
  for (const { MessageBody = "{}", DelaySeconds = 0 } of Entries)
    pendingMessages.push({
      queue: QueueUrl.split("/").at(-1)!,
      body: JSON.parse(MessageBody),
      visibleAt: clock.now().getTime() + DelaySeconds * 1000,
      receives: 0,
    });
  return {};
}

/** For `beforeAll`: creates a table and queues that only this test file uses. */
export async function useOwnTableAndQueues(): Promise<void> {
  await useOwnTable();
  interceptClients(enqueueMessages);
}

export interface TestSender {
  caller: Caller;
  /** The value of the session cookie. */
  token: string;
  siteId: number;
  configId: number;
  provider: FakeProvider;
}

const credentials = {
  postmark: { apiKey: "postmark-token" },
  sparkpost: { apiKey: "sparkpost-key" },
  resend: { apiKey: "re_token" },
  ses: { accessKeyId: "AKIA", secretAccessKey: "secret", region: "us-east-1" },
};

/** Creates an organization with a site and a sending config at its own fake provider. */
export async function createSender(
  key: keyof typeof credentials,
  more: { ratePerSecond?: number; tracking?: TrackingMode } = {},
): Promise<TestSender> {
  const provider = await startFakeProvider(key);
  const { caller, token } = await createAccount();
  const { id: siteId } = await sites.create(caller, sites.NewSite.parse({ name: "Shop" }));
  const config = {
    provider: key,
    credentials: credentials[key],
    fromEmail: "shop@example.com",
    fromName: "Shop",
    ...more,
  };
  const { id: configId } = await sendingConfigs.create(caller, NewSendingConfig.parse(config));
  // The owner is told about the new sender, by the same provider.
  pendingMessages.splice(0, Infinity, ...pendingMessages.filter(isNoNotice));
  return { caller, token, siteId, configId, provider };
}

const isNoNotice = ({ queue }: (typeof pendingMessages)[number]): boolean =>
  queue !== queues.systemMail.name;

/** POST /send without HTTP. */
export async function send(
  { caller, configId }: TestSender,
  { system, id, ...fields }: Partial<SingleInput> & { to: string; system?: true; id?: number },
) {
  const parsed = SingleMessage.parse({
    sendingConfigId: configId,
    subject: "Hello",
    html: "<p>Hello</p>",
    ...fields,
  });
  const message = { ...parsed, ...(system && { system }) };
  return acceptSingle(caller, message, {
    context: await loadIntake(caller, message, { emails: [message.to], canFailOver: true }),
    encrypt: encryptMessages,
    ...(id !== undefined && { id }),
  });
}

/** POST /send/batch without HTTP. */
export async function sendBatch(
  { caller, configId }: TestSender,
  recipients: BatchInput["recipients"],
  fields: Partial<BatchInput> = {},
) {
  const message = BatchMessage.parse({
    sendingConfigId: configId,
    subject: "Hello",
    html: "<p>Hello</p>",
    recipients,
    ...fields,
  });
  const rows = batches.validateRecipients(message);
  const emails = rows.flatMap(({ recipient }) => recipient?.to ?? []);
  return batches.acceptBatch(
    caller,
    { message, checked: rows },
    await loadIntake(caller, message, { emails, canFailOver: true }),
  );
}

type SingleInput = z.input<typeof SingleMessage>;
type BatchInput = z.input<typeof BatchMessage>;

/** Returns `n` recipients that no other batch has. */
export const uniqueRecipients = (n: number): { to: string }[] => {
  const prefix = crypto.randomUUID().slice(0, 8);
  return Array.from({ length: n }, (_, i) => ({ to: `${prefix}-${i}@example.com` }));
};

const workers: Record<string, (body: QueueBody) => Promise<void>> = {
  send: ({ orgId, sendId, configId, lookUp }) =>
    lookUp ? lookUpSends(orgId, configId, lookUp) : handOverSingle(orgId, sendId),
  lane: ({ orgId, configId }) => runLane(orgId, configId),
  drain: ({ what, shard }) => due.drain(what, shard),
  jobs: async ({ job, orgId, siteId, log }) => {
    if (job === "fold-mail-log") await foldMailLog({ orgId, siteId });
    if (job === "fold-recipient-log") await foldRecipientLog({ orgId, log });
  },
};

export const runLane = (orgId: number, configId: number): Promise<void> =>
  laneRunner.runLane(orgId, configId);

/** Runs `work` while `handOver` waits for the response of the provider. */
export async function whileProviderWaits(
  { provider }: TestSender,
  handOver: () => Promise<unknown>,
  work: () => Promise<unknown>,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const calls = provider.calls.length;
  provider.gate = promise;
  const running = handOver();
  while (provider.calls.length === calls) await clock.sleep(5);
  await work();
  provider.gate = undefined;
  resolve();
  await running;
}

interface Settling {
  /** How far the clock is moved. By default, until no work is left. */
  forSeconds?: number;
  /** Moves the clock for look-ups of uncertain mails, too. */
  lookUps?: boolean;
  /** Runs the work of one message, and may crash it. */
  crash?(work: () => Promise<unknown>): Promise<unknown>;
}

/** Runs workers until no message is left and nothing is due. Moves the clock to the next work. */
export async function runWorkers({
  forSeconds,
  lookUps = false,
  crash: crashHook = (work) => work(),
}: Settling = {}): Promise<void> {
  const until =
    forSeconds === undefined ? Number.POSITIVE_INFINITY : clock.addSeconds(forSeconds).getTime();
  for (let rounds = 0; rounds < 2000; rounds++) {
    const now = clock.now().getTime();
    const visible = pendingMessages.filter(({ visibleAt }) => visibleAt <= now);
    for (const message of visible) await handleMessage(message, crashHook);
    if (visible.length) continue;
    const dueEntries = await readDueIndex();
    // The clock is not moved for rollups of days, the expiry of messages and the audit log.
    const awaited = dueEntries.filter(
      ({ duepk }) =>
        !/^DUE#(DAY|SECURE|AUDIT|SWEEP)#/.test(duepk) &&
        (lookUps || !duepk.startsWith("DUE#UNCERTAIN#")),
    );
    const sweeps = dueEntries.filter(({ duepk }) => duepk.startsWith("DUE#SWEEP#"));
    const needed = await inParallel(8, sweeps, hasLostSends);
    const nextDueAt = firstDueTime([...awaited, ...sweeps.filter((_, i) => needed[i])]);
    const next = Math.min(...pendingMessages.map(({ visibleAt }) => visibleAt), nextDueAt);
    if (next > until) clock.advanceClock((until - now) / 1000);
    if (next > until || next === Number.POSITIVE_INFINITY) return;
    if (next > now) clock.advanceClock((next - now) / 1000 + 0.001);
    if (nextDueAt <= clock.now().getTime()) await enqueueDueWork(dueEntries);
  }
  throw new Error("The workers do not come to rest");
}

/** Whether the sweep of a window has something to find: a send without a message in a queue. */
async function hasLostSends(window: Key): Promise<boolean> {
  const { orgId, siteId, start, end } = (await get<SweptWindow>({ pk: window.pk, sk: window.sk }))!;
  const queued = new Set(pendingMessages.map(({ body }) => body.sendId));
  for await (const ids of readSinglesBetween(orgId, { siteId, from: start, to: end })) {
    const sends = await getMany<SingleSendItem>(
      ids.map((id) => keys.send(orgId, id)),
      { consistent: true },
    );
    const isLost = (send: SingleSendItem) =>
      !isSettled(send) && !isBulk(send) && !send.duesk && !queued.has(send.id);
    if (sends.some((send) => send && isLost(send))) return true;
  }
  return false;
}

async function handleMessage(
  message: Message,
  crashHook: NonNullable<Settling["crash"]>,
): Promise<void> {
  pendingMessages.splice(pendingMessages.indexOf(message), 1);
  const { attempts, timeoutSeconds } = Object.values(queues).find(
    ({ name }) => name === message.queue,
  )!;
  try {
    const result = await crashHook(() => workers[message.queue]!(message.body));
    if ((result as Partial<CrashResult> | undefined)?.crashed) throw new Error("The worker died");
  } catch {
    const again = {
      ...message,
      receives: message.receives + 1,
      visibleAt: clock.now().getTime() + 6000 * timeoutSeconds,
    };
    if (again.receives < attempts) pendingMessages.push(again);
  }
}

/**
 * Runs `work` once, directly after a lane was read with a result for which `found` is true, and
 * before the reader continues.
 */
export async function whenLaneIsRead(
  found: (items: unknown[]) => boolean,
  work: () => Promise<unknown>,
  run: () => Promise<unknown>,
) {
  let done = false;
  const end = interceptCalls("dynamodb", async ({ input }, passThrough) => {
    const answer = (await passThrough()) as { Items?: unknown[] };
    const isLane = Object.values(input.ExpressionAttributeValues ?? {}).includes("W#");
    if (isLane && !done && found(answer.Items ?? [])) {
      done = true;
      await work();
    }
    return answer;
  });
  await run().finally(end);
  expect(done).toBe(true);
}

/** Lists all sends of the organization, page by page. */
export async function listAllSends(
  { caller }: Pick<TestSender, "caller">,
  limit = 100,
): Promise<Send[]> {
  const all: Send[] = [];
  let cursor: string | undefined;
  do {
    const page = await listSends(caller, { limit, cursor }, {});
    all.push(...page.sends);
    cursor = page.pagination.nextCursor ?? undefined;
  } while (cursor);
  return all;
}

/**
 * Checks that every accepted send has a final status and is listed and counted once, that no mail
 * went out twice, that sent mails arrived and failed ones did not, and that the lane is empty and
 * free. Returns the number of sends by status.
 */
export async function expectBalanced(
  { caller, siteId, configId, provider }: TestSender,
  accepted: number[],
): Promise<Record<string, number>> {
  const all = await listAllSends({ caller });
  const ids = all.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(accepted));
  expect(await countSends(caller.orgId, [siteId])).toBe(ids.length);
  const mailedIds = provider.mails.map(({ sendId }) => sendId);
  expect(new Set(mailedIds).size).toBe(mailedIds.length);
  for (const { id, status } of all) {
    expect(["sent", "failed", "uncertain", "cancelled"]).toContain(status);
    if (status === "sent") expect(mailedIds).toContain(id);
    if (status === "failed" || status === "cancelled") expect(mailedIds).not.toContain(id);
  }
  expect(ids).toEqual(expect.arrayContaining(mailedIds));
  const { items } = await query(ranges.queuedChunks(caller.orgId, configId), { consistent: true });
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
  const { recovered = 0, ...counted } = await sumDayCounters(caller.orgId, siteId);
  expect(counted.sent! + recovered).toBe(sent);
  expect(counted.failed).toBe(failed);
  expect(counted.uncertain! - recovered).toBe(uncertain);
  return byStatus;
}

/** Checks the balance, and the number of sends by status if it is given. */
export async function expectSettled(
  from: TestSender,
  accepted: number[],
  byStatus?: Record<string, number>,
): Promise<void> {
  const found = await expectBalanced(from, accepted);
  if (byStatus) expect(found).toEqual(byStatus);
}

/** Sums the counters of all days. */
export async function sumDayCounters(
  orgId: number,
  siteId: number,
): Promise<Record<string, number>> {
  const sum: Record<string, number> = { sent: 0, failed: 0, uncertain: 0 };
  const days = await queryAll<Record<string, unknown>>(ranges.days(orgId, siteId), {
    consistent: true,
  });
  for (const [name, n] of days.flatMap((item) => Object.entries(item)))
    if (typeof n === "number") sum[name] = (sum[name] ?? 0) + n;
  return sum;
}
