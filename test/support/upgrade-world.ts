// An installation in the middle of its work: what it has stored and queued is the fixture of a
// version. See test/engine/upgrade.test.ts.
import { ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { worker as campaigns } from "../../functions/queue/campaigns.ts";
import { worker as fanOut } from "../../functions/queue/fan-out.ts";
import { workers } from "../../functions/queue-workers.ts";
import * as blobs from "../../shared/adapters/s3/objects.ts";
import { enqueue } from "../../shared/adapters/sqs/enqueue.ts";
import type { Caller } from "../../shared/caller.ts";
import * as clock from "../../shared/clock.ts";
import { NewImport } from "../../shared/domain/audience/imports/import-record.ts";
import * as imports from "../../shared/domain/audience/imports/imports.ts";
import * as sequencesDue from "../../shared/domain/automation/due-enrollments.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import * as campaignActions from "../../shared/domain/campaigns/campaign-actions.ts";
import { CampaignSchedule } from "../../shared/domain/campaigns/campaign-schema.ts";
import * as due from "../../shared/domain/due-work.ts";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import * as webhooks from "../../shared/domain/webhooks/webhooks.ts";
import { queues } from "../../shared/queues.ts";
import type { WireItem } from "../simulation/expressions.ts";
import { createCampaignSender, createDraft, readCampaign } from "./campaigns.ts";
import { createContact } from "./contacts.ts";
import { createEvent, createEventMessage } from "./delivery-events.ts";
import type { FakeProviderMail } from "./fake-provider.ts";
import { currentMemoryTable } from "./memory-dynamodb.ts";
import { createSender, send, sendBatch } from "./sending.ts";
import { createSequence } from "./sequences.ts";
import { pendingMessages, runWorkers, type VirtualMessage } from "./virtual-queues.ts";

/**
 * The port of the customer's webhook endpoint, which is part of the stored data. It is below those
 * that the system gives to connections.
 */
export const customerPort = 19_417;

export interface UpgradeFixture {
  /** When the version stopped (ISO 8601). */
  until: string;
  apiKey: string;
  /** The fast and the slow organization. */
  callers: [shop: Caller, slow: Caller];
  campaigns: Record<"done" | "started" | "planned", number>;
  sends: Record<"queued" | "scheduled" | "secure", number>;
  /** The mails that the providers have. */
  mails: Pick<FakeProviderMail, "to" | "subject" | "sendId">[];
  messages: Omit<VirtualMessage, "id" | "receives">[];
  /** The stored objects in base64, by key. */
  objects: Record<string, string>;
  items: WireItem[];
}

export const runSchedules = async (): Promise<void> => {
  await Promise.all([due.drainAll(), sequencesDue.enqueueDueShards()]);
};

/** The worker that forwards events is left out: the customer has no endpoint yet. */
const workersBefore = workers.filter(({ queue }) => queue.name !== "forward");
const work = (forSeconds: number) => runWorkers(workersBefore, { forSeconds, runSchedules });

export async function createUpgradeFixture(): Promise<UpgradeFixture> {
  const shop = await createCampaignSender("postmark");
  const { caller, siteId, configId, listId, provider } = shop;
  await sendingConfigs.setVerified(caller, await sendingConfigs.find(caller, configId), true);
  const { key: apiKey } = await apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "Shop" }));
  const url = `http://127.0.0.1:${customerPort}/`;
  const events = ["delivered", "open", "click", "bounce"];
  await webhooks.create(caller, webhooks.NewWebhook.parse({ url, events }));
  const people = [];
  for (const name of ["ada", "bob", "cleo"])
    people.push(
      await createContact({ ...shop, orgId: caller.orgId }, `${name}@example.com`, {
        lists: [listId],
        tags: ["vip"],
      }),
    );

  const ids = people.map(({ id }) => id);

  // Two contacts got the first mail of a sequence and wait for the second.
  const sequence = await createSequence({ ...shop, orgId: caller.orgId }, ["Welcome", 90, "Later"]);
  await enrollments.enroll(caller, sequence.id, { contactIds: ids.slice(0, 2) });

  // A campaign is finished, and an event of it is applied.
  const done = await createDraft(shop);
  await campaignActions.sendNow(caller, done.id);
  await work(600);
  const { status } = await readCampaign(shop, done.id);
  if (status !== "sent") throw new Error(`The first campaign is ${status}`);
  await enqueueEvent(caller, provider.mails.at(-1)!, "delivered");
  await work(60);

  // A batch is half sent: the provider accepts two of its mails.
  const slow = await createSender("ses");
  slow.provider.faultFor = ({ n }) => (n > 2 ? { status: 429 } : undefined);
  await sendBatch(
    slow,
    [1, 2, 3, 4, 5].map((i) => ({ to: `batch-${i}@example.com` })),
  );
  await work(2);

  // An event is queued. The mails of a campaign and of a batch wait in a lane, and another campaign
  // waits for its time.
  await enqueueEvent(caller, provider.mails.at(-1)!, "open");
  const started = await createDraft(shop);
  await campaignActions.sendNow(caller, started.id);
  await runWorkers([campaigns, fanOut], { runSchedules: async () => {} });
  await sendBatch(
    shop,
    [1, 2, 3, 4, 5].map((i) => ({ to: `waiting-${i}@example.com` })),
  );
  const planned = await createDraft(shop);
  const scheduledAt = clock.addSeconds(3600).toISOString();
  await campaignActions.schedule(caller, planned.id, CampaignSchedule.parse({ scheduledAt }));

  const file = Buffer.from("email,firstName\ndora@example.com,Dora\n");
  await imports.start(caller, NewImport.parse({ siteId }), { bytes: file });
  const queued = await send(shop, { to: "queued@example.com" });
  const scheduled = await send(shop, { to: "scheduled@example.com", scheduledAt });
  const secure = await send(shop, { to: "secure@example.com", secure: true });
  await Promise.all([provider.stop(), slow.provider.stop()]);
  return {
    until: clock.now().toISOString(),
    apiKey,
    callers: [caller, slow.caller],
    campaigns: { done: done.id, started: started.id, planned: planned.id },
    sends: { queued: queued.id, scheduled: scheduled.id, secure: secure.id },
    mails: [...provider.mails, ...slow.provider.mails].map(({ to, subject, sendId }) => ({
      to,
      subject,
      sendId,
    })),
    messages: pendingMessages
      .filter(({ queue }) => queue !== queues.systemMail.name)
      .map(({ id: _, receives: __, ...message }) => message),
    objects: await readObjects(),
    items: currentMemoryTable()!.items(),
  };
}

async function enqueueEvent(
  { orgId }: Caller,
  { to: email, sendId }: FakeProviderMail,
  type: "delivered" | "open",
): Promise<void> {
  const event = createEvent(sendId, type, 0, { email, timestamp: clock.now().toISOString() });
  const { body } = await createEventMessage(orgId, [event]);
  await enqueue(queues.providerEvents, [body], { group: orgId });
}

/** All objects of the bucket: while a fixture is written, no other test runs. */
async function readObjects(): Promise<Record<string, string>> {
  const client = new S3Client({ forcePathStyle: true });
  const Bucket = process.env.BUCKET_NAME;
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
  const objects: Record<string, string> = {};
  for (const { Key = "" } of Contents)
    objects[Key] = Buffer.from((await blobs.get(Key))!).toString("base64");
  return objects;
}
