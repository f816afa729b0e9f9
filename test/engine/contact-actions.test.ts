// Actions on many contacts: what they select and change. A crash repeats and loses nothing.
import { beforeAll, describe, expect, test } from "vitest";
import { get } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as contactTopics from "../../shared/domain/audience/topics/contact-topics.ts";
import { NewTopic } from "../../shared/domain/audience/topics/topic-schema.ts";
import * as topics from "../../shared/domain/audience/topics/topics.ts";
import { NewContactAction } from "../../shared/domain/automation/contact-actions/action-schema.ts";
import * as actions from "../../shared/domain/automation/contact-actions/contact-actions.ts";
import { runAction } from "../../shared/domain/automation/contact-actions/run-action.ts";
import { NewSequence } from "../../shared/domain/automation/sequence-schema.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import { inParallel } from "../../shared/kernel/parallel.ts";
import { keys } from "../../shared/keys.ts";
import {
  createContact,
  createTestSite,
  readGroupMembers,
  type TestSite,
} from "../support/contacts.ts";
import { runUntilCrash } from "../support/crash-injection.ts";
import {
  createContacts,
  createSequence,
  createSequenceSender,
  listSubjectsTo,
  runFor,
  useVirtualQueues,
} from "../support/sequences.ts";

beforeAll(useVirtualQueues);

const start = ({ caller }: { caller: Caller }, request: object) =>
  actions.start(caller, NewContactAction.parse(request));
const preview = ({ caller }: { caller: Caller }, request: object) =>
  actions.preview(caller, NewContactAction.parse(request));

async function run(shop: { caller: Caller; orgId: number }, request: object) {
  const { id } = await start(shop, request);
  await runAction(shop.orgId, id);
  return actions.find(shop.caller, id);
}

const makeContacts = async (shop: TestSite, n: number, more: object = {}): Promise<number[]> => {
  const made = await inParallel(8, Array.from({ length: n }), (_, i) =>
    createContact(shop, `${crypto.randomUUID().slice(0, 8)}-${i}@x.example`, more),
  );
  return made.map(({ id }) => id);
};

describe("an action", () => {
  test("on a filter adds a tag to the contacts that match, and says so before", async () => {
    const shop = await createTestSite();
    const list = await groups.create("LIST", shop.caller, { siteId: shop.siteId, name: "News" });
    const chosen = await makeContacts(shop, 3, { lists: [list.id] });
    await makeContacts(shop, 2);
    const request = { filter: { listId: list.id }, action: "add_tag", tag: "vip" };
    expect(await preview(shop, request)).toEqual({
      siteId: shop.siteId,
      count: 3,
      summary: "Adds the tag “vip” to 3 contacts",
      startsSequences: [],
    });
    expect((await groups.knownTags(shop.orgId, shop.siteId, ["vip"])).size).toBe(0);
    const done = await run(shop, request);
    expect(done).toMatchObject({
      status: "completed",
      target: { name: "vip" },
      summary: "Adds the tag “vip” to 3 contacts",
      ...{ progress: 100, total: 3, processed: 3, succeeded: 3, failed: 0, errors: [] },
    });
    const { ids } = await readGroupMembers(shop, "TAG", done.target!.id);
    expect(ids).toEqual(chosen.toSorted((a, b) => a - b));
  });

  test("removes contacts from the list by which it selects them", async () => {
    const shop = await createTestSite();
    const list = await groups.create("LIST", shop.caller, { siteId: shop.siteId, name: "Old" });
    await makeContacts(shop, 5, { lists: [list.id] });
    const filter = { listId: list.id };
    const done = await run(shop, { filter, action: "remove_from_list", targetId: list.id });
    expect(done).toMatchObject({ status: "completed", total: 5, succeeded: 5 });
    expect(await groups.count("LIST", shop.orgId, list.id)).toBe(0);
    expect(await preview(shop, { filter: {}, action: "unsubscribe" })).toMatchObject({
      count: 5,
      summary: "Unsubscribes 5 contacts",
    });
  });

  test("on ids unsubscribes, leaves a topic, suppresses and deletes", async () => {
    const shop = await createTestSite();
    const { caller, siteId, orgId } = shop;
    const topic = await topics.create(caller, NewTopic.parse({ siteId, name: "Offers" }));
    const [left, out, blocked, gone] = (await makeContacts(shop, 4)) as [
      number,
      number,
      number,
      number,
    ];
    await run(shop, { contactIds: [left], action: "leave_topic", targetId: topic.id });
    await run(shop, { contactIds: [out], action: "unsubscribe" });
    await run(shop, { contactIds: [blocked], action: "suppress" });
    const deleted = await run(shop, { contactIds: [gone], action: "delete" });
    const { topics: states } = await contactTopics.find(caller, left, { limit: 1 });
    expect(states).toMatchObject([{ id: topic.id, subscribed: false }]);
    expect(await contacts.find(caller, out)).toMatchObject({ status: "unsubscribed" });
    const suppressed = await contacts.find(caller, blocked);
    expect(suppressed.status).toBe("suppressed");
    expect(await suppressions.find(orgId, suppressed.email)).toMatchObject({ reason: "manual" });
    await expect(contacts.find(caller, gone)).rejects.toThrow("does not exist");
    expect(deleted).toMatchObject({ total: 1, succeeded: 1, failed: 0 });
  });

  test("names the contacts that do not exist or are of another site", async () => {
    const shop = await createTestSite();
    const other = await createTestSite();
    const [ann] = await makeContacts(shop, 1);
    const [foreign] = await makeContacts(other, 1);
    const contactIds = [ann!, foreign!, 99_999_999];
    const done = await run(shop, { siteId: shop.siteId, contactIds, action: "add_tag", tag: "a" });
    expect(done).toMatchObject({ total: 3, processed: 3, succeeded: 1, failed: 2 });
    expect(done.errors.map(({ contactId }) => contactId)).toEqual([foreign, 99_999_999]);
    expect(await contacts.find(other.caller, foreign!)).toMatchObject({ tags: [] });
  });

  test("fails when its list is deleted before it runs", async () => {
    const shop = await createTestSite();
    const list = await groups.create("LIST", shop.caller, { siteId: shop.siteId, name: "Gone" });
    const contactIds = await makeContacts(shop, 1);
    const { id } = await start(shop, { contactIds, action: "add_to_list", targetId: list.id });
    await groups.removeGroup("LIST", shop.caller, list.id);
    await runAction(shop.orgId, id);
    expect(await actions.find(shop.caller, id)).toMatchObject({
      status: "failed",
      error: "The list does not exist",
      processed: 0,
    });
  });

  test("is refused without its target, with a foreign one, and without the rights", async () => {
    const shop = await createTestSite();
    const other = await createTestSite();
    const list = await groups.create("LIST", other.caller, { siteId: other.siteId, name: "Mine" });
    const refuse = (request: object, message: string, caller = shop.caller) =>
      expect(start({ caller }, { filter: {}, ...request })).rejects.toThrow(message);
    await refuse({ action: "add_to_list" }, "targetId is required");
    await refuse({ action: "delete", targetId: 1 }, "targetId is not for delete");
    await refuse({ action: "add_to_list", tag: "a" }, "tag is only for add_tag");
    await refuse({ action: "add_to_list", targetId: list.id }, "The list does not exist");
    const tag = await groups.create("TAG", other.caller, { siteId: other.siteId, name: "Mine" });
    const topic = await topics.create(
      other.caller,
      NewTopic.parse({ siteId: other.siteId, name: "Mine" }),
    );
    await refuse({ action: "add_tag", targetId: tag.id }, "The tag does not exist");
    await refuse({ action: "join_topic", targetId: topic.id }, "The topic does not exist");
    const sequence = await sequences.create(
      other.caller,
      NewSequence.parse({ siteId: other.siteId, name: "Mine" }),
    );
    await refuse({ action: "enroll", targetId: sequence.id }, "The sequence does not exist");
    await refuse({ action: "delete", contactIds: [1] }, "Exactly one of filter and contactIds");
    const scoped = { ...shop.caller, scopes: ["audience:write"] };
    await refuse({ action: "enroll", targetId: 1 }, "marketing:write", scoped);
    const bound = { ...shop.caller, siteIds: [shop.siteId] };
    await refuse({ action: "suppress" }, "limited to sites", bound);
    const elsewhere = { ...shop.caller, siteIds: [shop.siteId + 1_000_000] };
    const { id } = await start(shop, { filter: {}, action: "unsubscribe" });
    await expect(actions.find(elsewhere, id)).rejects.toThrow("no access to this site");
    await expect(actions.find(other.caller, id)).rejects.toThrow("does not exist");
  });

  test("is cancelled between two steps, and not after its end", async () => {
    const shop = await createTestSite();
    const contactIds = await makeContacts(shop, 2);
    const { id } = await start(shop, { contactIds, action: "add_tag", tag: "late" });
    expect(await actions.cancel(shop.caller, id)).toMatchObject({ status: "cancelling" });
    await runAction(shop.orgId, id);
    const cancelled = { status: "cancelled", processed: 0 };
    expect(await actions.find(shop.caller, id)).toMatchObject(cancelled);
    expect(await actions.cancel(shop.caller, id)).toMatchObject(cancelled);
    const done = await run(shop, { contactIds, action: "add_tag", tag: "done" });
    expect(await actions.cancel(shop.caller, done.id)).toEqual(done);
    const { items } = await actions.list(shop.caller, { limit: 1 }, undefined);
    expect(items.map((one) => one.id)).toEqual([done.id]);
    const { items: older } = await actions.list(shop.caller, { limit: 1, page: 2 }, undefined);
    expect(older.map((one) => one.id)).toEqual([id]);
  });
});

describe("after a crash at any step", () => {
  test("each contact is changed and counted once", async () => {
    const shop = await createTestSite();
    await makeContacts(shop, 130);
    const { id, target } = await start(shop, { filter: {}, action: "add_tag", tag: "all" });
    let crashes = 0;
    for (let n = 2; n < 60; n += 3) {
      const when = n % 2 ? "after" : "before";
      const { crashed } = await runUntilCrash(n, when, () => runAction(shop.orgId, id));
      if (!crashed) break;
      crashes++;
      clock.advanceClock(200);
    }
    expect(crashes).toBeGreaterThan(5);
    await runAction(shop.orgId, id);
    expect(await actions.find(shop.caller, id)).toMatchObject({
      status: "completed",
      ...{ total: 130, processed: 130, succeeded: 130, failed: 0 },
    });
    expect((await readGroupMembers(shop, "TAG", target!.id)).count).toBe(130);
  });

  test("a contact that has gone through the sequence does not enter it again", async () => {
    const sender = await createSequenceSender();
    const sequence = await createSequence(sender, ["Welcome"]);
    const contactIds = await createContacts(sender, 3);
    const request = { contactIds, action: "enroll", targetId: sequence.id };
    const { id } = await start(sender, request);
    for (let n = 1; n < 40; n++) {
      const { crashed } = await runUntilCrash(n, "after", () => runAction(sender.orgId, id));
      await runFor();
      if (!crashed) break;
      clock.advanceClock(200);
    }
    await runAction(sender.orgId, id);
    expect(await actions.find(sender.caller, id)).toMatchObject({
      status: "completed",
      ...{ processed: 3, succeeded: 3 },
    });
    await runFor();
    for (const contactId of contactIds)
      expect(await listSubjectsTo(sender, contactId)).toEqual(["Welcome"]);
    await sender.provider.stop();
  });

  test("the schedule finds an action whose message was lost", async () => {
    const shop = await createTestSite();
    await makeContacts(shop, 1);
    for (let n = 1; n < 20; n++) {
      const request = { filter: {}, action: "unsubscribe" };
      const { crashed } = await runUntilCrash(n, "after", () => start(shop, request));
      const { items } = await actions.list(shop.caller, { limit: 1 }, undefined);
      for (const { id } of items)
        expect(await get(keys.contactAction(shop.orgId, id))).toMatchObject({
          status: "queued",
          duesk: expect.any(String),
        });
      if (!crashed) break;
    }
  });
});
