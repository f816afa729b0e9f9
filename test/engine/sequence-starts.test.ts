// Filters and reentry of triggers.
import { beforeAll, describe, expect, test } from "vitest";
import { get } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as members from "../../shared/domain/audience/groups/group-members.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { applyTag, removeTag } from "../../shared/domain/audience/groups/tags.ts";
import * as customEvents from "../../shared/domain/audience/tracking/custom-events.ts";
import * as recordCustomEvents from "../../shared/domain/audience/tracking/record-custom-events.ts";
import type { EnrollmentItem } from "../../shared/domain/automation/enrollment-schema.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import { NewSequence } from "../../shared/domain/automation/sequence-schema.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import type { SequenceTriggerConfig } from "../../shared/domain/automation/trigger-schema.ts";
import { undefinedIfMissing } from "../../shared/errors.ts";
import { emailShardOf, keys } from "../../shared/keys.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import {
  createContacts,
  createSequence,
  createSequenceSender,
  expectBalanced,
  type SequenceSender,
  useVirtualQueues,
} from "../support/sequences.ts";

beforeAll(useVirtualQueues);

const day = 24 * 3600;
const rules = (field: string, operator: string, value?: unknown) =>
  ({ match: "all", conditions: [{ field, operator, value }] }) as SequenceTriggerConfig["filter"];

async function createTag({ caller, siteId }: SequenceSender, name: string) {
  const ids = await groups.getOrCreateTags(caller, siteId, [name]);
  return groups.findOfSite("TAG", caller, { id: ids.get(name)!, siteId });
}

/** A tag starts a sequence that waits. `enter` tells whether the tag started it, and ends it. */
async function createTagged(config: SequenceTriggerConfig) {
  const sender = await createSequenceSender();
  const tag = await createTag(sender, "Buyer");
  const { id } = await createSequence(sender, [60], {
    triggerType: "tag_add",
    triggerConfig: { tagName: "Buyer", ...config },
  });
  const enter = async (contactId: number): Promise<boolean> => {
    await removeTag(sender.caller, contactId, tag.id);
    await applyTag(sender.caller, contactId, await createTag(sender, "Buyer"));
    const left = await enrollments
      .cancel(sender.caller, id, { contactId })
      .catch(undefinedIfMissing);
    return left !== undefined;
  };
  return { sender, id, enter };
}

async function later<T>(days: number, work: () => Promise<T>): Promise<T> {
  clock.advanceClock(days * day);
  try {
    return await work();
  } finally {
    clock.advanceClock(-days * day);
  }
}

describe("reentry", () => {
  test("always: the trigger starts the sequence again after each end", async () => {
    const { sender, enter } = await createTagged({});
    const [ann = 0] = await createContacts(sender, 1);
    expect([await enter(ann), await enter(ann)]).toEqual([true, true]);
    await sender.provider.stop();
  });

  test("once: a contact that comes back stays out, https://github.com/mautic/mautic/issues/7881", async () => {
    const { sender, id, enter } = await createTagged({ reentry: "once" });
    const [ann = 0, bob = 0] = await createContacts(sender, 2);
    expect([await enter(ann), await enter(ann)]).toEqual([true, false]);
    expect(await later(4000, () => enter(ann))).toBe(false);
    // An enrollment by a request counts, and requests still enroll.
    await enrollments.enroll(sender.caller, id, { contactIds: [ann, bob] });
    await enrollments.cancel(sender.caller, id, { contactId: bob });
    expect(await enter(bob)).toBe(false);
    await sender.provider.stop();
  });

  test("afterDays counts from the last start", async () => {
    const { sender, enter } = await createTagged({ reentry: { afterDays: 30 } });
    const [ann = 0] = await createContacts(sender, 1);
    expect([await enter(ann), await enter(ann)]).toEqual([true, false]);
    expect(await later(29.9, () => enter(ann))).toBe(false);
    expect(await later(30.1, () => enter(ann))).toBe(true);
    await sender.provider.stop();
  });

  test("a change of reentry applies to contacts that were in the sequence before", async () => {
    const { sender, id, enter } = await createTagged({});
    const [ann = 0] = await createContacts(sender, 1);
    expect(await enter(ann)).toBe(true);
    const triggerConfig = { tagName: "Buyer", reentry: "once" as const };
    await sequences.change(sender.caller, id, { triggerConfig });
    expect(await enter(ann)).toBe(false);
    await sender.provider.stop();
  });

  test("concurrent starts enroll once each, also after crashes, https://github.com/mautic/mautic/issues/9797", async () => {
    const sender = await createSequenceSender();
    const list = await groups.create("LIST", sender.caller, {
      siteId: sender.siteId,
      name: "News",
    });
    const triggerConfig = { listId: list.id, reentry: "once" as const };
    const ways = [1, 2, 3].map(() =>
      createSequence(sender, [60], { triggerType: "list_join", triggerConfig }),
    );
    const created = await Promise.all(ways);
    const group = { kind: "LIST", id: list.id } as const;
    await crashAtSomeSteps(async (crash) => {
      const all = await createContacts(sender, 3);
      await crash(() => members.addMembers(sender.caller, group, all));
      await members.addMembers(sender.caller, group, all);
      await members.removeMembers(sender.caller, group, all);
      await members.addMembers(sender.caller, group, all);
      for (const { id } of created) {
        const { active } = await expectBalanced(sender, id, []);
        const entered = active.filter(({ contactId }) => all.includes(contactId));
        expect(entered.map(({ contactId }) => contactId).toSorted()).toEqual(all.toSorted());
      }
    });
    await sender.provider.stop();
  });
});

describe("filter", () => {
  test("the contact must match as the change leaves it", async () => {
    const { sender, enter } = await createTagged({ filter: rules("tag", "equals", "Buyer") });
    const [ann = 0] = await createContacts(sender, 1);
    expect(await enter(ann)).toBe(true);
    await sender.provider.stop();
  });

  test("other contacts are not started, until they match", async () => {
    const { sender, enter } = await createTagged({ filter: rules("company", "equals", "Acme") });
    const [ann = 0] = await createContacts(sender, 1);
    expect(await enter(ann)).toBe(false);
    await contacts.change(sender.caller, ann, { company: "Acme" });
    expect(await enter(ann)).toBe(true);
    await sender.provider.stop();
  });

  test("properties of the event decide, and the enrollment keeps the event", async () => {
    const sender = await createSequenceSender();
    const { id } = await createSequence(sender, [60], {
      triggerType: "custom_event",
      triggerConfig: { eventName: "bought", filter: rules("properties.total", "greaterThan", 50) },
    });
    const [ann = 0] = await createContacts(sender, 1);
    const { email } = await contacts.find(sender.caller, ann);
    const buy = (total: number) =>
      recordCustomEvents.create(
        sender.caller,
        customEvents.NewCustomEvent.parse({
          contactId: ann,
          eventName: "bought",
          properties: { total },
        }),
      );
    const key = keys.enrollment(sender.orgId, id, { shard: emailShardOf(email), contactId: ann });
    await buy(20);
    expect(await get(key)).toBeUndefined();
    const event = await buy(80);
    const enrollment = await get<EnrollmentItem>(key);
    expect(enrollment?.startedBy).toContain(`EVENT|${event.createdAt}|`);
    const stored = await get<{ properties: string }>(
      keys.contactLog(sender.orgId, ann, enrollment!.startedBy!),
    );
    expect(JSON.parse(stored!.properties)).toEqual({ total: 80 });
    await sender.provider.stop();
  });

  test("the event that starts it counts among the events of the contact", async () => {
    const sender = await createSequenceSender();
    const where = [{ field: "properties.total", operator: "greaterThan", value: 50 }];
    const twice = { field: "event.bought", operator: "greaterThan", value: 1, where };
    const filter = { match: "all", conditions: [twice] } as SequenceTriggerConfig["filter"];
    const { id } = await createSequence(sender, [60], {
      triggerType: "custom_event",
      triggerConfig: { eventName: "bought", filter },
    });
    const [ann = 0] = await createContacts(sender, 1);
    const { email } = await contacts.find(sender.caller, ann);
    const key = keys.enrollment(sender.orgId, id, { shard: emailShardOf(email), contactId: ann });
    const isEnrolledAfter = async (total: number) => {
      const event = { contactId: ann, eventName: "bought", properties: { total } };
      await recordCustomEvents.create(sender.caller, customEvents.NewCustomEvent.parse(event));
      return (await get(key)) !== undefined;
    };
    expect(await isEnrolledAfter(60)).toBe(false);
    expect(await isEnrolledAfter(20)).toBe(false);
    expect(await isEnrolledAfter(80)).toBe(true);
    await sender.provider.stop();
  });

  test("refuses properties without an event, unknown lists and foreign fields", async () => {
    const sender = await createSequenceSender();
    const create = (triggerType: string, triggerConfig: object) =>
      Promise.resolve(
        NewSequence.safeParse({ siteId: sender.siteId, name: "Way", triggerType, triggerConfig }),
      ).then(({ data, error }) => {
        if (error) throw error;
        return sequences.create(sender.caller, data);
      });
    const ofProperty = { tagName: "a", filter: rules("properties.total", "greaterThan", 5) };
    await expect(create("tag_add", ofProperty)).rejects.toThrow(/properties of an event/);
    const ofList = { tagName: "a", filter: rules("list", "equals", "Unknown") };
    await expect(create("tag_add", ofList)).rejects.toThrow(/there is no list/);
    await expect(create("tag_add", { reentry: { afterDays: 0 } })).rejects.toThrow();
    await expect(create("tag_add", { reentry: "never" })).rejects.toThrow();
    await expect(create("manual", { reentry: "once" })).resolves.toMatchObject({
      triggerConfig: { reentry: "once" },
    });
    await sender.provider.stop();
  });
});
