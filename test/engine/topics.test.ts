// Topics: their order and names, and who gets the mail of campaigns, sequences and holidays on one.
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { update, write } from "../../shared/adapters/dynamodb/table.ts";
import { now } from "../../shared/clock.ts";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { createTokenMaker } from "../../shared/domain/audience/contacts/link-tokens.ts";
import { SegmentRulesInput } from "../../shared/domain/audience/segments/segment-rules.ts";
import * as segments from "../../shared/domain/audience/segments/segments.ts";
import * as contactTopics from "../../shared/domain/audience/topics/contact-topics.ts";
import { NewTopic, type Topic } from "../../shared/domain/audience/topics/topic-schema.ts";
import * as topics from "../../shared/domain/audience/topics/topics.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import { NewSequence } from "../../shared/domain/automation/sequence-schema.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import { preview } from "../../shared/domain/campaigns/campaign-preview.ts";
import { runFanOut } from "../../shared/domain/campaigns/engine/fan-out.ts";
import { NewHoliday } from "../../shared/domain/campaigns/holiday-schema.ts";
import * as holidays from "../../shared/domain/campaigns/holidays.ts";
import { resend } from "../../shared/domain/campaigns/resends.ts";
import * as history from "../../shared/domain/delivery-events/send-history.ts";
import * as unsubscribes from "../../shared/domain/delivery-events/unsubscribes.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { emailShards, keys } from "../../shared/keys.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  expectNoDuplicates,
  readCampaign,
  readConsistentNumbers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { newContact } from "../support/contacts.ts";
import { deleteIfUnused } from "../support/delete-if-unused.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
import * as sequenceTest from "../support/sequences.ts";

beforeAll(useVirtualQueues);
afterEach(removePauses);

const createTopic = (
  { caller, siteId }: Pick<CampaignSender, "caller" | "siteId">,
  fields: Partial<NewTopic> = {},
): Promise<Topic> =>
  topics.create(
    caller,
    NewTopic.parse({ siteId, name: `Topic ${crypto.randomUUID().slice(0, 8)}`, ...fields }),
  );

const choose = (
  { caller }: Pick<CampaignSender, "caller">,
  { id }: Pick<ContactItem, "id">,
  ...choices: [topic: Topic, subscribed: boolean][]
): Promise<ContactItem> =>
  contactTopics.change(caller, id, {
    choices: choices.map(([topic, subscribed]) => ({ id: topic.id, subscribed })),
    consent: { source: "api" },
  });

async function createMembers(sender: CampaignSender, names: string[]): Promise<ContactItem[]> {
  const { caller, siteId, listId } = sender;
  return Promise.all(
    names.map(async (name) => {
      const fields = newContact(`${name}-${siteId}@example.com`, { lists: [listId] });
      const { id } = await contacts.create(caller, { siteId, ...fields });
      return contacts.findItem(caller, id);
    }),
  );
}

const namesMailed = (sender: CampaignSender): string[] =>
  expectNoDuplicates(sender)
    .map(({ to }) => to.split("-")[0]!)
    .sort();

describe("the topics of a site", () => {
  const list = async ({ caller, siteId }: CampaignSender) =>
    (await topics.list(caller, siteId)).map(({ name, position }) => `${position} ${name}`);

  test("have an order that changes with the position of one", async () => {
    const sender = await createCampaignSender();
    const [, news] = [
      await createTopic(sender, { name: "Offers" }),
      await createTopic(sender, { name: "News" }),
      await createTopic(sender, { name: "Tips" }),
    ];
    expect(await list(sender)).toEqual(["1 Offers", "2 News", "3 Tips"]);
    expect(await topics.change(sender.caller, news.id, { position: 1 })).toMatchObject({
      position: 1,
    });
    expect(await list(sender)).toEqual(["1 News", "2 Offers", "3 Tips"]);
    await topics.change(sender.caller, news.id, { position: 50, description: "Monthly" });
    expect(await list(sender)).toEqual(["1 Offers", "2 Tips", "3 News"]);
    await topics.remove(sender.caller, news.id);
    expect(await list(sender)).toEqual(["1 Offers", "2 Tips"]);
    await sender.provider.stop();
  });

  test("have different names, ignoring case, also if they are created at once", async () => {
    const sender = await createCampaignSender();
    const taken = { code: "topic_exists" };
    const results = await Promise.allSettled(
      ["News", "news", "NEWS"].map((name) => createTopic(sender, { name })),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect(createTopic(sender, { name: "nEws" })).rejects.toMatchObject(taken);
    const other = await createTopic(sender, { name: "Other" });
    await expect(topics.change(sender.caller, other.id, { name: "news" })).rejects.toMatchObject(
      taken,
    );
    await topics.change(sender.caller, other.id, { name: "OTHER" });
    await sender.provider.stop();
  });

  test("are at most 50", async () => {
    const sender = await createCampaignSender();
    for (let n = 1; n <= 50; n++) await createTopic(sender, { name: `Topic ${n}` });
    await expect(createTopic(sender)).rejects.toMatchObject({ code: "too_many" });
    expect(await list(sender)).toHaveLength(50);
    await sender.provider.stop();
  });
});

describe("the topics of a contact", () => {
  test("follow the default until the contact chooses, and log each change once", async () => {
    const sender = await createCampaignSender();
    const [news, extra] = [
      await createTopic(sender, { name: "News" }),
      await createTopic(sender, { name: "Extra", defaultSubscription: "unsubscribed" }),
    ];
    const [ann] = (await createMembers(sender, ["ann"])) as [ContactItem];
    const read = () => contactTopics.find(sender.caller, ann.id, { limit: 50 });
    const state = async () =>
      (await read()).topics.map(({ name, subscribed }) => `${name} ${subscribed}`);
    expect(await state()).toEqual(["News true", "Extra false"]);
    await choose(sender, ann, [news, false], [extra, true]);
    await choose(sender, ann, [news, false]);
    expect(await state()).toEqual(["News false", "Extra true"]);
    await choose(sender, ann, [news, true], [extra, false]);
    expect(await state()).toEqual(["News true", "Extra false"]);
    expect((await contacts.findItem(sender.caller, ann.id)).switchedTopics).toBeUndefined();
    const { log } = await read();
    const entry = (news: boolean) => ({
      source: "api",
      topics: [
        { name: "News", subscribed: news },
        { name: "Extra", subscribed: !news },
      ],
    });
    expect(log).toMatchObject([entry(true), entry(false)]);
    await sender.provider.stop();
  });

  test("are those of its site", async () => {
    const [sender, other] = [await createCampaignSender(), await createCampaignSender()];
    const topic = await createTopic(other);
    const [ann] = (await createMembers(sender, ["ann"])) as [ContactItem];
    await expect(choose(sender, ann, [topic, false])).rejects.toMatchObject({ kind: "invalid" });
    const own = await createTopic(sender);
    const twice = choose(sender, ann, [own, false], [own, true]);
    await expect(twice).rejects.toMatchObject({ kind: "invalid" });
    await expect(createDraft(sender, { topicId: topic.id })).rejects.toMatchObject({
      kind: "missing",
    });
    for (const { provider } of [sender, other]) await provider.stop();
  });

  test("survive a change of the address, and concurrent changes of different topics", async () => {
    const sender = await createCampaignSender();
    const some = await Promise.all([1, 2, 3, 4].map(() => createTopic(sender)));
    const [ann] = (await createMembers(sender, ["ann"])) as [ContactItem];
    await Promise.all(some.map((topic) => choose(sender, ann, [topic, false])));
    await contacts.change(sender.caller, ann.id, { email: `new-${ann.email}` });
    const { topics: found } = await contactTopics.find(sender.caller, ann.id, { limit: 50 });
    expect(found.map(({ subscribed }) => subscribed)).toEqual([false, false, false, false]);
    await sender.provider.stop();
  });
});

describe("a segment by topic", () => {
  test("has the contacts who are subscribed to it, or who are not", async () => {
    const sender = await createCampaignSender();
    const { caller, siteId } = sender;
    const [news, offers] = [
      await createTopic(sender),
      await createTopic(sender, { defaultSubscription: "unsubscribed" }),
    ];
    const [left, joined, both] = (await createMembers(sender, [
      "left",
      "joined",
      "both",
      "neither",
    ])) as [ContactItem, ContactItem, ContactItem];
    for (const one of [left, both]) await choose(sender, one, [news, false]);
    for (const one of [joined, both]) await choose(sender, one, [offers, true]);
    const matching = async (field: string, operator: string, value?: boolean) => {
      const rules = SegmentRulesInput.parse({
        match: "all",
        conditions: [{ field, operator, ...(value !== undefined && { value }) }],
      });
      const created = { siteId, name: `${field} ${operator} ${value}`, rules };
      const { id } = await segments.create(caller, segments.NewSegment.parse(created));
      const { items } = await segments.members(caller, id, { limit: 50 });
      // The test in code agrees with the filter of the table.
      for (const one of [left, joined, both]) {
        const { matched } = await segments.explain(caller, id, one.id);
        expect(matched).toBe(items.some((item) => item.id === one.id));
      }
      return items.map(({ email }) => email.split("-")[0]).sort();
    };
    expect(await matching(`topic.${news.id}`, "exists")).toEqual(["joined", "neither"]);
    expect(await matching(`topic.${news.id}`, "equals", false)).toEqual(["both", "left"]);
    expect(await matching(`topic.${offers.id}`, "equals", true)).toEqual(["both", "joined"]);
    expect(await matching(`topic.${offers.id}`, "notExists")).toEqual(["left", "neither"]);
    await expect(deleteIfUnused(caller, "TOPIC", offers.id)).rejects.toMatchObject({
      code: "in_use",
    });
    await topics.remove(caller, offers.id);
    expect(await matching(`topic.${offers.id}`, "exists")).toEqual([]);
    await sender.provider.stop();
  });
});

describe("a campaign on a topic", () => {
  test("leaves out contacts who left it before or after the fan-out", async () => {
    const sender = await createCampaignSender();
    const [topic, other] = [await createTopic(sender), await createTopic(sender)];
    const [before, after, stayer] = (await createMembers(sender, [
      "before",
      "after",
      "stayer",
    ])) as [ContactItem, ContactItem, ContactItem];
    await choose(sender, before, [topic, false]);
    const { id } = await createDraft(sender, { topicId: topic.id });
    expect(await preview(sender.caller, id)).toMatchObject({
      candidates: 3,
      wouldReceive: 2,
      notInTopic: 1,
    });
    await actions.sendNow(sender.caller, id);
    const key = { orgId: sender.caller.orgId, kind: "campaign" as const, id };
    for (const shard of emailShards) await runFanOut(key, shard);
    expect(await readConsistentNumbers(sender, id)).toMatchObject({ accepted: 2, notInTopic: 1 });
    await choose(sender, after, [topic, false]);
    await choose(sender, stayer, [other, false]);
    await runWorkers({ forSeconds: 600 });
    expect(namesMailed(sender)).toEqual(["stayer"]);
    expect(await readConsistentNumbers(sender, id)).toMatchObject({
      accepted: 1,
      sent: 1,
      notInTopic: 2,
    });
    await sender.provider.stop();
  });

  test("reaches only contacts who joined, if the topic is opt-in", async () => {
    const sender = await createCampaignSender();
    const topic = await createTopic(sender, { defaultSubscription: "unsubscribed" });
    const [joined, gone] = (await createMembers(sender, ["joined", "gone", "never"])) as [
      ContactItem,
      ContactItem,
    ];
    await choose(sender, joined, [topic, true]);
    await choose(sender, gone, [topic, true]);
    await contacts.change(sender.caller, gone.id, { status: "unsubscribed" });
    const { id } = await createDraft(sender, { topicId: topic.id });
    await actions.sendNow(sender.caller, id);
    await runWorkers({ forSeconds: 600 });
    expect(namesMailed(sender)).toEqual(["joined"]);
    expect(await readConsistentNumbers(sender, id)).toMatchObject({
      notInTopic: 1,
      unsubscribed: 1,
    });
    await sender.provider.stop();
  });

  test("asks contact by contact under a frequency cap", async () => {
    const sender = await createCampaignSender();
    await sites.change(sender.caller, sender.siteId, { sendFrequencyCapDays: 1 });
    const topic = await createTopic(sender);
    const [leaver] = (await createMembers(sender, ["leaver", "stayer"])) as [ContactItem];
    const { id } = await createDraft(sender, { topicId: topic.id });
    await actions.sendNow(sender.caller, id);
    const key = { orgId: sender.caller.orgId, kind: "campaign" as const, id };
    for (const shard of emailShards) await runFanOut(key, shard);
    await choose(sender, leaver, [topic, false]);
    await runWorkers({ forSeconds: 600 });
    expect(namesMailed(sender)).toEqual(["stayer"]);
    await sender.provider.stop();
  });

  test("keeps its topic when it is sent again", async () => {
    const sender = await createCampaignSender();
    const topic = await createTopic(sender);
    const [leaver] = (await createMembers(sender, ["leaver", "stayer"])) as [ContactItem];
    const { id } = await createDraft(sender, { topicId: topic.id });
    await actions.sendNow(sender.caller, id);
    await runWorkers({ forSeconds: 600 });
    await choose(sender, leaver, [topic, false]);
    sender.provider.mails.length = 0;
    const again = await resend(sender.caller, id, { to: "unopened", draft: false });
    await runWorkers({ forSeconds: 600 });
    expect(namesMailed(sender)).toEqual(["stayer"]);
    expect(await readConsistentNumbers(sender, again.id)).toMatchObject({ notInTopic: 1 });
    await sender.provider.stop();
  });

  test("does not reach a contact who leaves the topic while the call is claimed", async () => {
    const sender = await createCampaignSender();
    const topic = await createTopic(sender);
    const [leaver] = (await createMembers(sender, ["leaver"])) as [ContactItem];
    const { id } = await createDraft(sender, { topicId: topic.id });
    await actions.sendNow(sender.caller, id);
    const key = { orgId: sender.caller.orgId, kind: "campaign" as const, id };
    for (const shard of emailShards) await runFanOut(key, shard);
    const isClaim = (names: Record<string, string> | undefined) =>
      Object.values(names ?? {}).includes("c0");
    const claim = pauseCall("UpdateItem", (input) => isClaim(input.ExpressionAttributeNames));
    const claimTogether = pauseCall("TransactWriteItems", (input) =>
      (input.TransactItems ?? []).some(({ Update }) => isClaim(Update?.ExpressionAttributeNames)),
    );
    const running = runWorkers({ forSeconds: 600 });
    await Promise.race([claim.reached, claimTogether.reached]);
    await choose(sender, leaver, [topic, false]);
    claim.release();
    claimTogether.release();
    await running;
    expect(sender.provider.mails).toEqual([]);
    await sender.provider.stop();
  });
});

describe("a sequence or a holiday on a topic", () => {
  test("the sequence goes on without mail while its contact is not in the topic", async () => {
    const sender = await sequenceTest.createSequenceSender();
    const topic = await createTopic(sender);
    const sequence = await sequenceTest.createSequence(sender, ["One", 60, "Two", 60, "Three"], {
      topicId: topic.id,
    });
    const [id = 0] = await sequenceTest.createContacts(sender, 1);
    await enrollments.enroll(sender.caller, sequence.id, { contactIds: [id] });
    await sequenceTest.runFor(120);
    await choose(sender, { id }, [topic, false]);
    await sequenceTest.runFor(3700);
    await choose(sender, { id }, [topic, true]);
    await sequenceTest.runFor(3700);
    expect(await sequenceTest.listSubjectsTo(sender, id)).toEqual(["One", "Three"]);
    await sequenceTest.expectBalanced(sender, sequence.id, sequence.steps);
    await sender.provider.stop();
  });

  test("the holiday leaves out contacts who left the topic", async () => {
    const sender = await createCampaignSender();
    const { caller, siteId } = sender;
    const topic = await createTopic(sender);
    const { id: sequenceId } = await sequences.create(
      caller,
      NewSequence.parse({ siteId, name: "Any" }),
    );
    await write(
      update(keys.record(caller.orgId, "SEQUENCE", sequenceId), { set: { status: "active" } }),
    );
    const members = await createMembers(sender, ["stayer", "leaver"]);
    for (const member of members)
      await write(update(member, { set: { sequences: new Set([sequenceId]) } }));
    await choose(sender, members[1]!, [topic, false]);
    const { id } = await holidays.create(
      caller,
      NewHoliday.parse({
        siteId,
        name: "New year",
        date: now().toISOString().slice(0, 10),
        templateId: sender.templateId,
        sendingConfigId: sender.configId,
        topicId: topic.id,
      }),
    );
    await runWorkers({ forSeconds: 24 * 3600 });
    expect(namesMailed(sender)).toEqual(["stayer"]);
    expect(await readConsistentNumbers(sender, id, "holiday")).toMatchObject({ notInTopic: 1 });
    await sender.provider.stop();
  });
});

describe("a deleted topic", () => {
  test("stops its campaigns and sequences, and are named if it is deleted with ifUnused", async () => {
    const sender = await sequenceTest.createSequenceSender();
    const topic = await createTopic(sender);
    const sequence = await sequenceTest.createSequence(sender, ["One"], { topicId: topic.id });
    await expect(deleteIfUnused(sender.caller, "TOPIC", topic.id)).rejects.toMatchObject({
      code: "in_use",
      details: [{ path: `sequences.${sequence.id}` }],
    });
    await topics.remove(sender.caller, topic.id);
    const contactIds = await sequenceTest.createContacts(sender, 1);
    await enrollments.enroll(sender.caller, sequence.id, { contactIds });
    await sequenceTest.runFor(120);
    expect(sender.provider.mails).toEqual([]);
    expect(await sequences.find(sender.caller, sequence.id)).toMatchObject({
      status: "paused",
      statusReason: "The topic does not exist",
    });
    await sender.provider.stop();
  });

  test("makes a scheduled campaign fail with the reason", async () => {
    const sender = await createCampaignSender();
    const topic = await createTopic(sender);
    await createMembers(sender, ["ann"]);
    const { id } = await createDraft(sender, { topicId: topic.id });
    await expect(deleteIfUnused(sender.caller, "TOPIC", topic.id)).rejects.toMatchObject({
      code: "in_use",
    });
    const scheduledAt = new Date(now().getTime() + 3_600_000).toISOString();
    await actions.schedule(sender.caller, id, { scheduledAt, sendLate: false });
    await topics.remove(sender.caller, topic.id);
    await runWorkers({ forSeconds: 2 * 3600 });
    expect(await readCampaign(sender, id)).toMatchObject({
      status: "failed",
      statusReason: "topicId refers to something that no longer exists",
    });
    await sender.provider.stop();
  });

  test("still keeps mail on its way from contacts who left it", async () => {
    const sender = await createCampaignSender();
    const [topic, other] = [await createTopic(sender), await createTopic(sender)];
    const [leaver] = (await createMembers(sender, ["leaver", "stayer"])) as [ContactItem];
    const { id } = await createDraft(sender, { topicId: topic.id });
    await actions.sendNow(sender.caller, id);
    const key = { orgId: sender.caller.orgId, kind: "campaign" as const, id };
    for (const shard of emailShards) await runFanOut(key, shard);
    await choose(sender, leaver, [topic, false]);
    await topics.remove(sender.caller, topic.id);
    await choose(sender, leaver, [other, false]);
    await runWorkers({ forSeconds: 600 });
    expect(namesMailed(sender)).toEqual(["stayer"]);
    await sender.provider.stop();
  });
});

describe("the link of a mail on a topic", () => {
  async function sendOn(fields: Partial<NewTopic> = {}) {
    const sender = await createCampaignSender();
    const [topic, other] = [
      await createTopic(sender, { name: "News", ...fields }),
      await createTopic(sender, { name: "Offers" }),
    ];
    const [ann] = (await createMembers(sender, ["ann"])) as [ContactItem];
    const { id } = await createDraft(sender, { topicId: topic.id });
    await actions.sendNow(sender.caller, id);
    await runWorkers({ forSeconds: 600 });
    const [mail] = sender.provider.mails;
    const token = /Unsubscribe: \S+\/(\S+)/.exec(mail?.text ?? "")?.[1] ?? "";
    const read = () => contactTopics.find(sender.caller, ann.id, { limit: 50 });
    const chosen = async () =>
      Object.fromEntries((await read()).topics.map(({ name, subscribed }) => [name, subscribed]));
    const events = async () =>
      (await history.listEvents(sender.caller, { limit: 100 }, {})).events.map(({ data }) => data);
    return { sender, topic, other, ann, token, read, chosen, events, campaignId: id };
  }
  const oneClick = { source: "one_click" as const, ipAddress: "192.0.2.7" };

  test("leaves this topic only, records one event and the evidence", async () => {
    const { sender, token, read, chosen, events, topic, campaignId } = await sendOn();
    for (let n = 0; n < 2; n++) await unsubscribes.unsubscribe(token, oneClick);
    expect(await chosen()).toEqual({ News: false, Offers: true });
    const { status, log } = await read();
    expect(status).toBe("subscribed");
    expect(log).toMatchObject([
      { ...oneClick, sendId: expect.any(Number), topics: [{ id: topic.id, subscribed: false }] },
    ]);
    expect(await events()).toEqual([{ topicId: topic.id, topicName: "News" }]);
    expect((await readCampaign(sender, campaignId)).stats.unsubscribed).toBe(1);
    expect(await unsubscribes.findStatus(token)).toMatchObject({
      state: "subscribed",
      topicId: topic.id,
      topics: [{ name: "News", subscribed: false }, { name: "Offers" }],
    });
    await sender.provider.stop();
  });

  test("leaves the whole site on request, without the topic, and without a contact", async () => {
    const leave: ((one: Awaited<ReturnType<typeof sendOn>>) => Promise<void>)[] = [
      ({ token }) => unsubscribes.unsubscribeFromSite(token, oneClick),
      async ({ sender, topic, token }) => {
        await topics.remove(sender.caller, topic.id);
        await unsubscribes.unsubscribe(token, oneClick);
      },
      async ({ sender, ann, token }) => {
        await contacts.remove(sender.caller, ann.id);
        await unsubscribes.unsubscribe(token, oneClick);
      },
    ];
    for (const act of leave) {
      const one = await sendOn();
      await act(one);
      expect(await unsubscribes.findStatus(one.token)).toMatchObject({ state: "unsubscribed" });
      await one.sender.provider.stop();
    }
  });

  test("shows public topics and the private one of the mail, and changes only these", async () => {
    const { sender, token, chosen, topic, other, ann } = await sendOn({ visibility: "private" });
    const hidden = await createTopic(sender, { name: "Hidden", visibility: "private" });
    const { topics: shown } = await unsubscribes.findStatus(token);
    expect(shown.map(({ name }) => name)).toEqual(["News", "Offers"]);
    const use = { source: "preference_page" as const };
    const choices = (ids: number[]) => ids.map((id) => ({ id, subscribed: false }));
    const hiddenChoice = unsubscribes.chooseTopics(token, use, choices([other.id, hidden.id]));
    await expect(hiddenChoice).rejects.toMatchObject({ kind: "invalid" });
    expect(await chosen()).toEqual({ News: true, Offers: true, Hidden: true });
    await unsubscribes.chooseTopics(token, use, choices([topic.id, other.id]));
    expect(await chosen()).toEqual({ News: false, Offers: false, Hidden: true });
    const plain = (await createTokenMaker("unsubscribe"))({
      orgId: ann.orgId,
      siteId: ann.siteId,
      contactId: ann.id,
      email: ann.email,
    });
    const { topics: publicOnes, topicId } = await unsubscribes.findStatus(plain);
    expect([publicOnes.map(({ name }) => name), topicId]).toEqual([["Offers"], null]);
    await sender.provider.stop();
  });

  test("a return keeps the choices of topics and is evidence too", async () => {
    const { sender, token, read, chosen } = await sendOn();
    await unsubscribes.unsubscribe(token, oneClick);
    await unsubscribes.unsubscribeFromSite(token, oneClick);
    await unsubscribes.resubscribe(token, { source: "preference_page", ipAddress: "192.0.2.8" });
    expect(await chosen()).toEqual({ News: false, Offers: true });
    const { status, log } = await read();
    expect(status).toBe("subscribed");
    expect(log).toMatchObject([
      { source: "preference_page", ipAddress: "192.0.2.8", status: "subscribed" },
      { source: "one_click", status: "unsubscribed" },
      { source: "one_click", status: null },
    ]);
    await sender.provider.stop();
  });
});
