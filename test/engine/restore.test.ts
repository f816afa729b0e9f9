// A restore of the table, as infra/aws/README.md describes it, on the local engines.
import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BatchWriteCommand, DynamoDBDocumentClient, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { settleRestored } from "../../infra/aws/after-restore.ts";
import { createTable } from "../../infra/local/engines/table.ts";
import { get } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import * as state from "../../shared/domain/campaigns/campaign-actions.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import { splitIntoBatches } from "../../shared/kernel/parallel.ts";
import { keys } from "../../shared/keys.ts";
import { interceptCalls } from "../support/aws-calls.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  expectNoDuplicates,
  insertListMembers,
  readCampaign,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { everything } from "../support/extent.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";
import * as mailTest from "../support/sending.ts";
import { createSequence } from "../support/sequences.ts";

useDynamoDbEngine();

beforeAll(async () => {
  vi.stubEnv("DEFAULT_PLAN", "enterprise");
  await useVirtualQueues();
});

type Items = Record<string, unknown>[];

// A separate client, because the test blocks the client of the workers.
const documents = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const sendDirectly = <T>(command: unknown): Promise<T> =>
  documents.send(command as never) as Promise<T>;

async function allItems(): Promise<Items> {
  const items: Items = [];
  let after: Record<string, unknown> | undefined;
  do {
    const page: { Items?: Items; LastEvaluatedKey?: Record<string, unknown> } = await sendDirectly(
      new ScanCommand({
        TableName: process.env.TABLE_NAME,
        ConsistentRead: true,
        ExclusiveStartKey: after,
      }),
    );
    items.push(...(page.Items ?? []));
    after = page.LastEvaluatedKey;
  } while (after);
  return items;
}

/** Creates a table with these items. All workers use it from then on. */
async function restore(items: Items): Promise<string> {
  const table = `restored-${randomUUID()}`;
  await createTable(new DynamoDBClient({}), table);
  for (const some of splitIntoBatches(items, 25))
    await sendDirectly(
      new BatchWriteCommand({
        RequestItems: { [table]: some.map((Item) => ({ PutRequest: { Item } })) },
      }),
    );
  process.env.TABLE_NAME = table;
  return table;
}

/**
 * Copies the table at one moment, while the workers are busy. With `thenCrash`, no worker reaches
 * the table afterwards.
 */
function prepareBackup({ thenCrash = false } = {}) {
  const pendingCalls = new Set<Promise<unknown>>();
  let gate: Promise<unknown> = Promise.resolve();
  let isCrashed = false;
  let copied: Promise<Items> | undefined;
  const end = interceptCalls("dynamodb", async (_, passThrough) => {
    await gate;
    if (isCrashed) throw new Error("The table is gone");
    const call = passThrough();
    pendingCalls.add(call);
    return call.finally(() => pendingCalls.delete(call));
  });
  async function copy(): Promise<Items> {
    await Promise.allSettled(pendingCalls);
    const items = await allItems();
    isCrashed = thenCrash;
    return items;
  }
  return {
    take: () => {
      copied ??= copy();
      gate = copied;
    },
    taken: () => copied !== undefined,
    async end(): Promise<Items> {
      const items = await copied!;
      end();
      return items;
    },
  };
}

async function sendBatches(from: CampaignSender, n: number): Promise<number[]> {
  const ids: number[] = [];
  for (let i = 0; i < n; i++) {
    const { results } = await mailTest.sendBatch(from, mailTest.uniqueRecipients(1000));
    ids.push(...results.map(({ id }) => id!));
  }
  return ids;
}

describe("a table restored to a moment in the middle of 5,000 mails", () => {
  // 5,000 in `npm run test:all`.
  const mails = everything ? 5000 : 1000;

  test("sends the rest once if all workers crashed then; mail in flight is uncertain", async () => {
    const from = await createCampaignSender();
    const ids = await sendBatches(from, mails / 1000);
    const backup = prepareBackup({ thenCrash: true });
    from.provider.faultFor = () => {
      if (from.provider.mails.length >= 0.4 * mails) backup.take();
      return undefined;
    };
    await runWorkers().catch(() => undefined);
    expect(backup.taken()).toBe(true);
    const sentBefore = from.provider.mails.length;
    expect(sentBefore).toBeLessThan(mails);
    await restore(await backup.end());
    await runWorkers({ forSeconds: 24 * 3600 });
    const { sent = 0, uncertain = 0, ...otherStatuses } = await mailTest.expectBalanced(from, ids);
    expect(otherStatuses).toEqual({});
    expect([sent + uncertain, uncertain > 0]).toEqual([mails, true]);
    expect(from.provider.mails).toHaveLength(mails);
    await from.provider.stop();
  });

  test("sends no mail twice if workers went on; mail that it does not know of is uncertain", async () => {
    const from = await createCampaignSender();
    const ids = await sendBatches(from, mails / 1000);
    const backup = prepareBackup();
    from.provider.faultFor = () => {
      if (from.provider.mails.length >= 0.4 * mails) backup.take();
      return undefined;
    };
    await runWorkers();
    expect(from.provider.mails).toHaveLength(mails);
    const table = await restore(await backup.end());
    const { uncertain: marked } = await settleRestored(table, clock.now().toISOString());
    expect(marked).toBeGreaterThan(0);
    await runWorkers({ forSeconds: 24 * 3600 });
    expect(from.provider.mails).toHaveLength(mails);
    const { sent = 0, uncertain = 0, ...otherStatuses } = await mailTest.expectBalanced(from, ids);
    expect(otherStatuses).toEqual({});
    expect(sent + uncertain).toBe(mails);
    expect(Math.min(sent, uncertain)).toBeGreaterThan(0);
    await from.provider.stop();
  });
});

test("after a restore, due single sends are uncertain, and campaigns and sequences are paused", async () => {
  const from = await createCampaignSender();
  const { orgId } = from.caller;
  await insertListMembers(from, 40);
  const campaign = await createDraft(from);
  const later = await createDraft(from, { name: "Later" });
  await state.schedule(from.caller, later.id, {
    scheduledAt: clock.addSeconds(600).toISOString(),
    sendLate: false,
  });
  const { id: sequenceId } = await createSequence({ ...from, orgId }, [5]);
  const [queued, due, ahead] = await Promise.all(
    [undefined, 300, 7200].map(async (seconds) => {
      const [{ to }] = mailTest.uniqueRecipients(1) as [{ to: string }];
      const scheduledAt = seconds && clock.addSeconds(seconds).toISOString();
      return (await mailTest.send(from, { to, ...(scheduledAt && { scheduledAt }) })).id;
    }),
  );
  await state.sendNow(from.caller, campaign.id);
  const items = await allItems();
  await runWorkers({ forSeconds: 1800 });
  const sent = from.provider.mails.length;
  expect(sent).toBe(40 + 40 + 2);
  const counter = async () => (await get<{ last: number }>(keys.idCounter("SENDBLOCK")))!.last;
  const lastBlock = await counter();

  const table = await restore(items);
  const { uncertain, paused } = await settleRestored(table, clock.now().toISOString());
  expect(uncertain).toBe(2);
  expect(paused.toSorted()).toEqual(
    [
      `campaign ${campaign.id} "News"`,
      `campaign ${later.id} "Later"`,
      `sequence ${sequenceId} "Way"`,
    ].toSorted(),
  );
  expect(await counter()).toBeGreaterThan(lastBlock);
  await runWorkers({ forSeconds: 600 });
  expect(from.provider.mails).toHaveLength(sent);
  await runWorkers({ forSeconds: 7200 });
  const status = async (id: number | undefined) => (await findDetail(from.caller, id!)).status;
  expect(await Promise.all([queued, due, ahead].map(status))).toEqual([
    "uncertain",
    "uncertain",
    "sent",
  ]);
  expect(from.provider.mails).toHaveLength(sent + 1);
  expect(await readCampaign(from, campaign.id)).toMatchObject({
    status: "paused",
    statusReason: expect.stringContaining("restored"),
  });
  expect((await readCampaign(from, later.id)).status).toBe("held");
  expect((await sequences.find(from.caller, sequenceId)).status).toBe("paused");
  expectNoDuplicates({
    ...from,
    provider: {
      ...from.provider,
      mails: from.provider.mails.filter(({ subject }) => subject === "Hello"),
    },
  });
  await from.provider.stop();
});
