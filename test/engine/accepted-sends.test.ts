// Accepted sends of a chunk have no items before their first event. If the chunk is in S3, its
// sends get items at the hand-over: such a chunk is the reference for all responses.
import { beforeAll, expect, test } from "vitest";
import {
  get,
  put,
  queryAll,
  remove,
  write,
  writeMany,
} from "../../shared/adapters/dynamodb/table.ts";
import * as blobs from "../../shared/adapters/s3/objects.ts";
import { now } from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as history from "../../shared/domain/delivery-events/send-history.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { erase } from "../../shared/domain/privacy/erasure.ts";
import { getPersonalData, PersonalData } from "../../shared/domain/privacy/personal-data.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import * as chunks from "../../shared/domain/sending/bulk/chunks.ts";
import * as lanes from "../../shared/domain/sending/bulk/lanes.ts";
import * as suspended from "../../shared/domain/sending/bulk/suspended-chunks.ts";
import { listSends, type SendFilter } from "../../shared/domain/sending/list-sends.ts";
import * as sources from "../../shared/domain/sending/mail-sources.ts";
import { Send, type SendItem, sendStatuses } from "../../shared/domain/sending/send-schema.ts";
import { erasedEmail } from "../../shared/kernel/email-fields.ts";
import { blockOf, keys, ranges } from "../../shared/keys.ts";
import { createContact, recordHandOver } from "../support/contacts.ts";
import { crashAtSomeSteps, pausedAtSomeSteps } from "../support/crash-injection.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";
import { seed } from "../support/extent.ts";
import { sampleOf, seededRandom } from "../support/seeded-random.ts";
import * as mailTest from "../support/sending.ts";
import { skippingPauses } from "../support/skipped-pauses.ts";
import { stageMail } from "../support/staged.ts";

beforeAll(mailTest.useOwnTableAndQueues);

type Sender = mailTest.TestSender;

/** The stored items of the sends, without their overflow events. */
const itemsOf = async ({ caller: { orgId } }: Sender, ids: number[]) => {
  const found = await Promise.all(ids.map((id) => get<SendItem>(keys.send(orgId, id))));
  return found.flatMap((item) => item ?? []);
};

let campaigns = 0;

/** Stages a campaign to contacts. Returns the ids of its sends, in the order of the contacts. */
async function stageCampaign({ caller, siteId, configId }: Sender, contactIds: number[]) {
  const source: sources.MailSource = { kind: "campaign", id: ++campaigns, part: 7 };
  const [site, config, ...recipients] = await Promise.all([
    sites.find(caller, siteId),
    sendingConfigs.find(caller, configId),
    ...contactIds.map((id) => contacts.findItem(caller, id)),
  ]);
  const message = {
    orgId: caller.orgId,
    site,
    config,
    source,
    subject: "News for {{ firstName }}",
    html: "<p>Hello</p>",
    startedAt: now(),
  };
  const { sendIds, writes } = await stageMail(message, recipients, {
    tallies: { candidates: recipients.length },
  });
  await write(...writes);
  await lanes.announceArrival(caller.orgId, configId);
  return { source, ids: contactIds.map((id) => sendIds.get(id)!) };
}

/** Moves the chunk of the sends to S3, as if it were over 200 KB. */
async function moveToS3({ caller: { orgId } }: Sender, ids: number[]): Promise<void> {
  const key = keys.chunk(orgId, blockOf(ids[0]!), 0);
  const { gz, ...rest } = (await get<chunks.ChunkItem>(key))!;
  const blob = `bodies/${orgId}/${blockOf(ids[0]!)}.json.gz`;
  await blobs.put(blob, gz!, "application/gzip");
  await write(put(key, { ...rest, blob }));
}

interface RandomHistory {
  from: Sender;
  chance: () => number;
  /** The sends get items at the hand-over. */
  isReference: boolean;
}

/** Runs a batch and a campaign with faults and events. Returns all responses about them. */
async function runHistory({ from, chance, isReference }: RandomHistory): Promise<unknown> {
  const { caller, siteId, provider } = from;
  const { orgId } = caller;
  const shop = { caller, orgId, siteId };
  const addresses = Array.from({ length: 12 }, (_, i) => `p${i}@d${i % 3}.example`);
  const contactIds: number[] = [];
  for (const [i, email] of addresses.entries())
    if (i % 2) contactIds.push((await createContact(shop, email, { firstName: `P${i}` })).id);
  const recipients = addresses.map((to, i) => ({
    to,
    metadata: { i },
    trackOpens: chance() < 0.3,
  }));
  const { results, batchId } = await mailTest.sendBatch(from, recipients, {
    subject: "Hello {{ toName }}",
  });
  const campaign = await stageCampaign(from, contactIds);
  const ids = [...results.map(({ id }) => id!), ...campaign.ids];
  if (isReference) for (const some of [ids, campaign.ids]) await moveToS3(from, some);
  const fates = Array.from({ length: 40 }, () => chance());
  provider.faultFor = ({ n }) => ((fates[n] ?? 1) < 0.2 ? "lost" : undefined);
  const refused = new Set(addresses.filter(() => chance() < 0.15));
  provider.isRefused = (to) => refused.has(to);
  const types = ["delivered", "open", "click", "bounce", "deferred", "unsubscribe"] as const;
  const events = ids.flatMap((id) =>
    types
      .filter(() => chance() < 0.15)
      .map((type) => ({ at: chance(), event: createEvent(id, type, Math.floor(chance() * 900)) })),
  );
  const applyThose = async (isDue: (at: number) => boolean) => {
    const due = events.filter(({ at }) => isDue(at)).map(({ event }) => event);
    if (due.length) await applyMessages(await createEventMessage(orgId, due));
  };
  await applyThose((at) => at < 0.1);
  await mailTest.runWorkers();
  await applyThose((at) => at >= 0.1 && at < 0.6);
  const early = await readAnswers(from, { ids, contactIds, batchId, campaign: campaign.source });
  await applyThose((at) => at >= 0.6);
  const late = await readAnswers(from, { ids, contactIds, batchId, campaign: campaign.source });
  const items = await itemsOf(from, ids);
  if (isReference) expect(items).toHaveLength(ids.length);
  return withoutIds({ early, late }, { ids, contactIds });
}

interface Subject {
  ids: number[];
  contactIds: number[];
  batchId: number;
  campaign: sources.MailSource;
}

async function readAnswers(
  { caller, siteId }: Sender,
  { ids, contactIds, batchId, campaign }: Subject,
): Promise<unknown> {
  const list = async (filter: SendFilter) =>
    (await listSends(caller, { limit: 100 }, filter)).sends.map((send) => Send.parse(send));
  const personalData = await Promise.all(contactIds.map((id) => getPersonalData(caller, id)));
  const newestFirst = (a: { id: number }, b: { id: number }) => b.id - a.id;
  return {
    details: await Promise.all(
      ids.map(async (id) => history.SendDetail.parse(await history.findDetail(caller, id))),
    ),
    all: await list({ siteId }),
    batch: await list({ batchId }),
    campaign: await list({ campaignId: campaign.id }),
    byStatus: await Promise.all(sendStatuses.map((status) => list({ status }))),
    byContact: await Promise.all(contactIds.map((contactId) => list({ contactId }))),
    people: personalData.map((person) => ({
      ...PersonalData.parse(person),
      sends: person.sends.toSorted(newestFirst).map((send) => history.SendDetail.parse(send)),
    })),
    counted: await sources.getSourceTotals(caller.orgId, campaign),
    events: (await history.listEvents(caller, { limit: 100 }, { siteId })).events.length,
  };
}

/** Replaces ids and times that differ between two runs of one history. */
function withoutIds(
  answers: unknown,
  { ids, contactIds }: Pick<Subject, "ids" | "contactIds">,
): unknown {
  const names = new Map([
    ...ids.map((id, i): [string, string] => [String(id), `s${i}`]),
    ...contactIds.map((id, i): [string, string] => [String(id), `c${i}`]),
  ]);
  const text = JSON.stringify(answers)
    .replace(/"id":\d+,"sendId"/g, '"id":"event","sendId"')
    .replace(/"(m-|\w+-)?(\d+)(-\d+)?"/g, (_, prefix = "", id: string, rest = "") =>
      JSON.stringify(`${prefix}${names.get(id) ?? "n"}${rest}`),
    )
    .replace(/(?<="(?:id|sendId|contactId)":)\d+/g, (id) => `"${names.get(id) ?? "n"}"`)
    .replace(/"(siteId|sendingConfigId|campaignId|batchId)":\d+/g, '"$1":0')
    // Times of events are the same in both runs.
    .replace(/"(?!2026-11-21T08)\d{4}-\d\d-\d\dT[^"]+Z"/g, '"time"');
  return JSON.parse(text);
}

test.each(sampleOf(2, [0, 1, 2, 3], "accepted sends"))(
  "every response is the same with and without items of accepted sends (%i)",
  async (n) => {
    const answers = [];
    for (const isReference of [true, false]) {
      // With calls of four mails, one after the other, the same calls fail in both runs.
      const from = await mailTest.createSender("postmark", { ratePerSecond: 4 });
      const chance = seededRandom(seed * 10 + n);
      const run = () => runHistory({ from, chance, isReference });
      answers.push(await skippingPauses(run));
      await from.provider.stop();
    }
    expect(answers[1]).toEqual(answers[0]);
  },
);

async function handOverToContacts(from: Sender, n: number) {
  const { caller, siteId } = from;
  const shop = { caller, orgId: caller.orgId, siteId };
  const recipients = await Promise.all(
    mailTest.uniqueRecipients(n).map(({ to }) => createContact(shop, to, { firstName: "Ann" })),
  );
  const staged = await stageCampaign(
    from,
    recipients.map(({ id }) => id),
  );
  await mailTest.runLane(caller.orgId, from.configId);
  return { ...staged, recipients };
}

test("an accepted send gets an item at its first event, and its chunk does not expire", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  const recipients = mailTest.uniqueRecipients(5);
  from.provider.isRefused = (to) => to === recipients[2]!.to;
  const { results } = await mailTest.sendBatch(from, recipients);
  const ids = results.map(({ id }) => id!);
  const chunkOf = () => get<chunks.ChunkItem>(keys.chunk(orgId, blockOf(ids[0]!), 0));
  expect((await chunkOf())!.expires).toBeGreaterThan(now().getTime() / 1000);
  await mailTest.runLane(orgId, from.configId);
  expect((await chunkOf())!.expires).toBeUndefined();
  expect((await itemsOf(from, ids)).map(({ id }) => id)).toEqual([ids[2]]);
  await applyMessages(await createEventMessage(orgId, [createEvent(ids[1]!, "delivered", 1)]));
  expect(await itemsOf(from, ids)).toMatchObject([
    {
      id: ids[1],
      status: "delivered",
      providerMessageId: `m-${ids[1]}`,
      sentAt: expect.any(String),
    },
    { id: ids[2], status: "failed" },
  ]);
  await from.provider.stop();
});

test("events of accepted sends are counted once after a crash at any step", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  const steps = await crashAtSomeSteps(async (crash) => {
    const { ids, source } = await handOverToContacts(from, 5);
    const message = await createEventMessage(orgId, [
      createEvent(ids[0]!, "delivered", 1),
      createEvent(ids[0]!, "open", 60),
      createEvent(ids[1]!, "bounce", 2),
    ]);
    await crash(() => applyMessages(message));
    await applyMessages(message);
    const { all } = await sources.getSourceTotals(orgId, source);
    expect(all).toMatchObject({ accepted: 5, queued: 0, sending: 0, sent: 3 });
    expect(all).toMatchObject({ delivered: 1, failed: 1, uncertain: 0 });
    expect(all.events).toMatchObject({ uniqueOpened: 1, bouncedHard: 1 });
    const statuses = await Promise.all(ids.map((id) => history.findDetail(from.caller, id)));
    expect(statuses.map(({ status }) => status)).toEqual([
      "delivered",
      "failed",
      "sent",
      "sent",
      "sent",
    ]);
  });
  expect(steps.length).toBeGreaterThan(10);
  await from.provider.stop();
});

test("an erased contact stays erased, whenever an event of its mail arrives", async () => {
  const from = await mailTest.createSender("postmark");
  const { caller } = from;
  let erasing = async () => {};
  await pausedAtSomeSteps(
    () => erasing(),
    async (pause) => {
      const { ids, recipients } = await handOverToContacts(from, 5);
      erasing = () => erase(caller, recipients[0]!.id);
      const message = await createEventMessage(caller.orgId, [
        createEvent(ids[0]!, "delivered", 1),
        createEvent(ids[1]!, "delivered", 1),
      ]);
      await pause(() => applyMessages(message));
      await erasing().catch((error) => expect(error.kind).toBe("missing"));
      expect(await history.findDetail(caller, ids[0]!)).toMatchObject({
        toEmail: erasedEmail,
        contactId: null,
        status: "delivered",
        sentAt: expect.any(String),
      });
      expect(await history.findDetail(caller, ids[1]!)).toMatchObject({
        toEmail: recipients[1]!.email,
      });
      const chunk = await chunks.getChunk(caller.orgId, blockOf(ids[0]!), 0);
      expect(JSON.stringify(chunk)).not.toContain(recipients[0]!.email);
    },
  );
  await from.provider.stop();
});

test("an erasure that is repeated after a crash at any step leaves no address in accepted sends", async () => {
  const from = await mailTest.createSender("postmark");
  const { caller } = from;
  await crashAtSomeSteps(async (crash) => {
    const { ids, recipients } = await handOverToContacts(from, 5);
    const { id, email } = recipients[0]!;
    await crash(() => erase(caller, id));
    await erase(caller, id).catch((error) => expect(error.kind).toBe("missing"));
    const erasedSend = await history.findDetail(caller, ids[0]!);
    expect(erasedSend).toMatchObject({ toEmail: erasedEmail, contactId: null, status: "sent" });
    const block = await queryAll(ranges.blockItems(caller.orgId, blockOf(ids[0]!)));
    const chunk = await chunks.getChunk(caller.orgId, blockOf(ids[0]!), 0);
    for (const item of [erasedSend, block, chunk])
      expect(JSON.stringify(item)).not.toContain(email);
    expect(await history.findDetail(caller, ids[1]!)).toMatchObject({
      status: "sent",
      error: null,
    });
  });
  await from.provider.stop();
});

test("a chunk that is erased while its hand-over begins does not expire", async () => {
  const from = await mailTest.createSender("postmark");
  const { caller, siteId, configId } = from;
  const { orgId } = caller;
  await pausedAtSomeSteps(
    () => mailTest.runLane(orgId, configId),
    async (pause) => {
      const recipients = await Promise.all(
        mailTest.uniqueRecipients(5).map(({ to }) => createContact({ caller, orgId, siteId }, to)),
      );
      const { ids } = await stageCampaign(
        from,
        recipients.map(({ id }) => id),
      );
      await recordHandOver(orgId, [
        { id: ids[0]!, siteId, toEmail: recipients[0]!.email, contactId: recipients[0]!.id },
      ]);
      await pause(() => erase(caller, recipients[0]!.id));
      await mailTest.runWorkers();
      const key = keys.chunk(orgId, blockOf(ids[0]!), 0);
      expect((await get<chunks.ChunkItem>(key))!.expires).toBeUndefined();
      const chunk = await chunks.getChunk(orgId, blockOf(ids[0]!), 0);
      const [, ...otherEmails] = recipients.map(({ email }) => email);
      expect(chunk!.lines.map(({ to }) => to)).toEqual([erasedEmail, ...otherEmails]);
      expect(await history.findDetail(caller, ids[1]!)).toMatchObject({ status: "sent" });
    },
  );
  await from.provider.stop();
});

test("mail whose content expired while its campaign was paused is cancelled", async () => {
  const from = await mailTest.createSender("postmark", { ratePerSecond: 3 });
  const { caller, siteId, configId, provider } = from;
  const { orgId } = caller;
  const recipients = await Promise.all(
    mailTest.uniqueRecipients(6).map(({ to }) => createContact({ caller, orgId, siteId }, to)),
  );
  const { ids, source } = await stageCampaign(
    from,
    recipients.map(({ id }) => id),
  );
  await mailTest.whileProviderWaits(
    from,
    () => mailTest.runLane(orgId, configId),
    () => write(sources.setSourceStateWrite(orgId, source, "paused")),
  );
  await mailTest.runWorkers();
  await writeMany([remove(keys.bulkContent(orgId, blockOf(ids[0]!)))]);
  await write(sources.setSourceStateWrite(orgId, source, "going"));
  await suspended.releaseChunks(orgId, { source, configId });
  await mailTest.runWorkers();
  const { all } = await sources.getSourceTotals(orgId, source);
  expect(all).toMatchObject({ accepted: 6, sent: 3, cancelled: 3, queued: 0, sending: 0 });
  const found = await Promise.all(ids.map((id) => history.findDetail(caller, id)));
  const [sent, cancelled] = [Array(3).fill("sent"), Array(3).fill("cancelled")];
  expect(found.map(({ status }) => status)).toEqual([...sent, ...cancelled]);
  await provider.stop();
});
