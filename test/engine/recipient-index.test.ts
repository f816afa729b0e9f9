// Sends are found by address: of contacts and others, before and after the fold, and no more after
// the erasure of a person.
import { afterEach, beforeAll, expect, test } from "vitest";
import { insertMany, queryAll } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { grantPlan } from "../../shared/domain/billing/operator-grants.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import { type EventFilter, listEvents } from "../../shared/domain/delivery-events/send-history.ts";
import { erase } from "../../shared/domain/privacy/erasure.ts";
import * as chunks from "../../shared/domain/sending/bulk/chunks.ts";
import { listSends, type SendFilter } from "../../shared/domain/sending/list-sends.ts";
import { findSend } from "../../shared/domain/sending/read-sends.ts";
import { eraseRecipient } from "../../shared/domain/sending/recipient-index/erase-recipient.ts";
import { foldRecipientLog } from "../../shared/domain/sending/recipient-index/fold-log.ts";
import {
  bucketOf,
  hashRecipient,
  mixedLog,
  unpackMails,
} from "../../shared/domain/sending/recipient-index/indexed-mails.ts";
import {
  buildIndexItems,
  listMails,
  readLog,
} from "../../shared/domain/sending/recipient-index/recipient-log.ts";
import * as ids from "../../shared/ids.ts";
import { ranges } from "../../shared/keys.ts";
import {
  createCampaignSender,
  createDraft,
  insertListMembers,
  runWorkers,
  sendingWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { createContact } from "../support/contacts.ts";
import { crashAtSomeSteps, pausedAtSomeSteps } from "../support/crash-injection.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
import { measureUnits } from "../support/request-units.ts";
import {
  createSender,
  send,
  sendBatch,
  type TestSender,
  uniqueRecipients,
} from "../support/sending.ts";

beforeAll(useVirtualQueues);
afterEach(removePauses);

const find = async ({ caller }: TestSender, email: string, filter: SendFilter = {}) =>
  (await listSends(caller, { limit: 50 }, { ...filter, email })).sends;

const findIds = async (from: TestSender, email: string, filter: SendFilter = {}) =>
  (await find(from, email, filter)).map(({ id }) => id);

const uniqueAddress = () => uniqueRecipients(1)[0]!.to;

test("single sends and batches to an address are found at once, newest first", async () => {
  const from = await createSender("postmark");
  const bob = uniqueAddress();
  const first = await send(from, { to: bob });
  await send(from, { to: uniqueAddress() });
  clock.advanceClock(2);
  const batch = await sendBatch(from, [...uniqueRecipients(20), { to: bob.toUpperCase() }]);
  clock.advanceClock(2);
  const last = await send(from, { to: bob });
  const expected = [last.id, batch.results.at(-1)!.id, first.id];
  expect(await findIds(from, bob)).toEqual(expected);
  await runWorkers({ forSeconds: 5 });
  expect(await findIds(from, bob.toUpperCase())).toEqual(expected);
  expect((await find(from, bob)).map(({ status }) => status)).toEqual(["sent", "sent", "sent"]);
  expect(await findIds(from, uniqueAddress())).toEqual([]);
  await from.provider.stop();
});

test("a send is found by the addresses of its copies", async () => {
  const from = await createSender("postmark");
  const [to, also, cc, bcc] = uniqueRecipients(4).map((recipient) => recipient.to) as string[];
  const more = { to: [to, also], cc: [cc], bcc: [bcc, cc] } as never;
  const { id } = await send(from, more);
  for (const address of [to, also, cc, bcc]) expect(await findIds(from, address!)).toEqual([id]);
  await from.provider.stop();
});

test("a page of 10 sends to an address costs less than 10 read units", async () => {
  const from = await createSender("postmark");
  const bob = uniqueAddress();
  for (let i = 0; i < 10; i++) await send(from, { to: bob });
  await runWorkers({ forSeconds: 5 });
  const { result, usage } = await measureUnits(() =>
    listSends(from.caller, { limit: 10 }, { email: bob }),
  );
  expect(result.sends.length).toBe(10);
  console.info(`10 sends to an address: ${usage.readUnits} R`);
  expect(usage.readUnits).toBeLessThan(10);
  await from.provider.stop();
});

/** The sends to an address, read in pages of two. */
async function findInPages({ caller }: TestSender, email: string): Promise<number[]> {
  const found: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await listSends(caller, { limit: 2, cursor }, { email });
    found.push(...page.sends.map(({ id }) => id));
    cursor = page.pagination.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

/** The mails of the address in the log and in the buckets of folds. */
async function readIndex({ caller: { orgId } }: TestSender, email: string) {
  const { tag } = hashRecipient(email);
  const hasTag = (mail: { tag: number }) => mail.tag === tag;
  const log = (await readLog({ orgId, log: mixedLog })).flatMap(listMails).filter(hasTag);
  const buckets = await queryAll<{ mails: Uint8Array }>(
    ranges.recipientBuckets(orgId, { log: mixedLog, bucket: bucketOf(tag) }),
  );
  const folded = buckets.flatMap(({ mails }) => unpackMails(mails)).filter(hasTag);
  const singles = await queryAll(ranges.recipientSends(orgId, email));
  return { logged: log.length, folded: folded.length, singles: singles.length };
}

/** Five batches of 900 recipients and two single sends; Bob gets all of them. */
async function sendOften() {
  const from = await createSender("postmark");
  await grantPlan({ organizationId: from.caller.orgId, plan: "enterprise", credits: 0 });
  const bob = uniqueAddress();
  const expected: number[] = [];
  for (let i = 0; i < 5; i++) {
    clock.advanceClock(2);
    const { results } = await sendBatch(from, [{ to: bob }, ...uniqueRecipients(899)]);
    expected.unshift(results[0]!.id!);
    clock.advanceClock(2);
    if (i % 2) expected.unshift((await send(from, { to: bob })).id);
  }
  return { from, bob, expected, log: { orgId: from.caller.orgId, log: mixedLog } };
}

test("a fold whose worker crashes changes no answer", async () => {
  await crashAtSomeSteps(async (crash) => {
    const { from, bob, expected, log } = await sendOften();
    await crash(() => foldRecipientLog(log));
    expect(await findInPages(from, bob)).toEqual(expected);
    await foldRecipientLog(log);
    expect(await findInPages(from, bob)).toEqual(expected);
    expect(await readIndex(from, bob)).toMatchObject({ singles: 2 });
    await from.provider.stop();
  });
});

test("answers are complete while a fold is paused and another one runs", async () => {
  const state: { world?: Awaited<ReturnType<typeof sendOften>> } = {};
  const meanwhile = async () => {
    const { from, bob, expected, log } = state.world!;
    expect(await findInPages(from, bob)).toEqual(expected);
    await foldRecipientLog(log);
    expect(await findInPages(from, bob)).toEqual(expected);
  };
  await pausedAtSomeSteps(meanwhile, async (pause) => {
    state.world = await sendOften();
    const { from, bob, expected, log } = state.world;
    await pause(() => foldRecipientLog(log));
    expect(await findInPages(from, bob)).toEqual(expected);
    expect(await readIndex(from, bob)).toMatchObject({ logged: 0 });
    await from.provider.stop();
  });
});

test("a fold writes 64 buckets, and a log of fewer mails stays", async () => {
  const { from, log } = await sendOften();
  const { usage } = await measureUnits(() => foldRecipientLog(log));
  console.info(`fold of 4,500 mails: ${usage.writeUnits} W, ${usage.readUnits} R`);
  expect(usage.writeUnits).toBeLessThan(0.05 * 4500);
  await sendBatch(from, uniqueRecipients(20));
  await foldRecipientLog(log);
  expect((await readLog(log)).flatMap(listMails).length).toBe(20);
  await from.provider.stop();
});

test("a batch that was stored and never accepted is not found", async () => {
  const from = await createSender("postmark");
  const { orgId } = from.caller;
  const bob = uniqueAddress();
  const head: chunks.ChunkHead = {
    siteId: from.siteId,
    sendingConfigId: from.configId,
    provider: "postmark",
    batchId: 1,
    fromEmail: "shop@example.com",
    subject: "Hello",
    variables: {},
    createdAt: clock.now().toISOString(),
  };
  for (const size of [1, 10]) {
    const block = await ids.nextSendBlock();
    const lines = [bob, ...uniqueRecipients(size - 1).map(({ to }) => to)].map((to, i) => ({
      i,
      to,
    }));
    await insertMany([
      ...(await chunks.buildChunkItems({ orgId, block }, head, lines)),
      ...buildIndexItems({ orgId, block }, head, lines),
    ]);
    expect(await findSend(from.caller, block * 1000)).toMatchObject({ toEmail: bob });
  }
  expect(await findIds(from, bob)).toEqual([]);
  await from.provider.stop();
});

test("sends are filtered by time, status, subject, tag and template", async () => {
  const from = await createSender("postmark");
  const bob = uniqueAddress();
  const first = await send(from, { to: bob, subject: "Your Invoice", tags: ["billing"] });
  clock.advanceClock(10);
  const between = clock.now().toISOString();
  const second = await send(from, { to: bob, subject: "Welcome" });
  clock.advanceClock(10);
  const batch = await sendBatch(from, [{ to: bob }], { subject: "Hello", tags: ["billing"] });
  const third = batch.results[0]!.id!;
  for (const email of [bob, undefined]) {
    const find = async (filter: SendFilter) =>
      (await listSends(from.caller, { limit: 50 }, { ...filter, email })).sends.map(({ id }) => id);
    expect(await find({})).toEqual([third, second.id, first.id]);
    expect(await find({ from: between })).toEqual([third, second.id]);
    expect(await find({ to: between })).toEqual([first.id]);
    expect(await find({ subject: "invoice" })).toEqual([first.id]);
    expect(await find({ tag: "billing" })).toEqual([third, first.id]);
    expect(await find({ status: "sent" })).toEqual([]);
    expect(await find({ templateId: 1 })).toEqual([]);
  }
  await from.provider.stop();
});

test("the mails of a campaign are found from acceptance on, also by a former address", async () => {
  const from = await createCampaignSender();
  await insertListMembers(from, 30);
  const bob = uniqueAddress();
  const { caller, siteId, listId } = from;
  const contact = await createContact({ caller, orgId: caller.orgId, siteId }, bob, {
    lists: [listId],
  });
  const { id: campaignId } = await createDraft(from);
  await actions.sendNow(caller, campaignId);
  await runWorkers(
    {},
    sendingWorkers.filter(({ queue }) => queue.name !== "lane"),
  );
  expect(await find(from, bob)).toMatchObject([{ campaignId, toEmail: bob, status: "queued" }]);
  await runWorkers({ forSeconds: 60 });
  expect(await find(from, bob)).toMatchObject([{ campaignId, toEmail: bob, status: "sent" }]);
  const current = uniqueAddress();
  await contacts.change(caller, contact.id, { email: current });
  expect(await find(from, bob)).toMatchObject([{ campaignId, contactId: contact.id }]);
  expect(await find(from, current)).toEqual([]);
  await contacts.remove(caller, contact.id);
  expect(await find(from, bob)).toMatchObject([{ campaignId }]);
  await from.provider.stop();
});

test("the erasure of a person removes all of its mails from the index", async () => {
  const { from, bob } = await sendOften();
  const { caller, siteId } = from;
  const log = { orgId: caller.orgId, log: mixedLog };
  const contact = await createContact({ caller, orgId: caller.orgId, siteId }, bob);
  await foldRecipientLog(log);
  const [other] = uniqueRecipients(1);
  await sendBatch(from, [{ to: bob }, ...uniqueRecipients(10), other!]);
  await runWorkers({ forSeconds: 600 });
  expect(await readIndex(from, bob)).toEqual({ logged: 1, folded: 5, singles: 2 });
  await erase(caller, contact.id);
  expect(await readIndex(from, bob)).toEqual({ logged: 0, folded: 0, singles: 0 });
  expect(await findIds(from, bob)).toEqual([]);
  expect((await findIds(from, other!.to)).length).toBe(1);
  await from.provider.stop();
});

test("an erasure during a fold leaves nothing of the person in the buckets", async () => {
  const { from, bob, log } = await sendOften();
  const { tag } = hashRecipient(bob);
  const { reached, release } = pauseCall("BatchWriteItem");
  const folding = foldRecipientLog(log);
  await reached;
  await eraseRecipient({ orgId: log.orgId, email: bob, isErased: () => true });
  release();
  await folding;
  expect(await readIndex(from, bob)).toEqual({ logged: 0, folded: 0, singles: 0 });
  const buckets = await queryAll<{ mails: Uint8Array }>(
    ranges.recipientBuckets(log.orgId, { log: mixedLog, bucket: bucketOf(tag) }),
  );
  expect(buckets.flatMap(({ mails }) => unpackMails(mails)).length).toBeGreaterThan(20);
  await from.provider.stop();
});

test("the events of the sends to an address are listed, the newest send first", async () => {
  const from = await createSender("postmark");
  const { orgId } = from.caller;
  const bob = uniqueAddress();
  const first = await send(from, { to: bob });
  clock.advanceClock(2);
  const second = await send(from, { to: bob });
  const other = await send(from, { to: [uniqueAddress(), bob] as never });
  await runWorkers({ forSeconds: 5 });
  const events = [
    createEvent(first.id, "delivered", 1),
    createEvent(second.id, "delivered", 2),
    createEvent(first.id, "open", 3),
    createEvent(second.id, "open", 4),
    createEvent(other.id, "delivered", 5),
  ];
  await applyMessages(await createEventMessage(orgId, events));
  const list = async (filter: EventFilter) => {
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await listEvents(from.caller, { limit: 1, cursor }, { ...filter, email: bob });
      found.push(...page.events.map(({ sendId, type }) => `${type} ${sendId}`));
      cursor = page.pagination.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return found;
  };
  expect(await list({})).toEqual([
    `open ${second.id}`,
    `delivered ${second.id}`,
    `open ${first.id}`,
    `delivered ${first.id}`,
  ]);
  expect(await list({ type: "open" })).toEqual([`open ${second.id}`, `open ${first.id}`]);
  await from.provider.stop();
});

test("small chunks need no log, and many entries of few mails are folded", async () => {
  const from = await createSender("postmark");
  const { orgId } = from.caller;
  const bob = uniqueAddress();
  const small = await sendBatch(from, [{ to: bob }, ...uniqueRecipients(3)]);
  expect(await readIndex(from, bob)).toEqual({ logged: 0, folded: 0, singles: 1 });
  expect(await findIds(from, bob)).toEqual([small.results[0]!.id]);
  const head = { createdAt: clock.now().toISOString() };
  const entries = Array.from({ length: 400 }, (_, i) =>
    buildIndexItems(
      { orgId, block: 1_000_000 + i },
      head,
      uniqueRecipients(8).map(({ to }, n) => ({ i: n, to })),
    ),
  );
  const log = { orgId, log: mixedLog };
  await insertMany(entries.slice(1).flat());
  const logged = (await readLog(log)).length;
  await foldRecipientLog(log);
  expect((await readLog(log)).length).toBe(logged);
  await insertMany(entries[0]!);
  await foldRecipientLog(log);
  expect(await readLog(log)).toEqual([]);
  expect(await findIds(from, bob)).toEqual([small.results[0]!.id]);
  await from.provider.stop();
});
