// Triggers that watch contacts: segments and dates.
import { beforeAll, describe, expect, test } from "vitest";
import { get } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { recordEngagement } from "../../shared/domain/audience/contacts/engagement.ts";
import * as members from "../../shared/domain/audience/groups/group-members.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { applyTag, removeTag } from "../../shared/domain/audience/groups/tags.ts";
import * as scores from "../../shared/domain/audience/scoring/lead-scores.ts";
import * as segments from "../../shared/domain/audience/segments/segments.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as customEvents from "../../shared/domain/audience/tracking/custom-events.ts";
import * as recordCustomEvents from "../../shared/domain/audience/tracking/record-custom-events.ts";
import type { ContactWatchItem } from "../../shared/domain/automation/contact-watches.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import type { SequenceChanges } from "../../shared/domain/automation/sequence-schema.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import { keys } from "../../shared/keys.ts";
import { interceptCalls } from "../support/aws-calls.ts";
import { createContact } from "../support/contacts.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import {
  createContacts,
  createSequence,
  createSequenceSender,
  days,
  expectBalanced,
  minutes,
  runFor,
  type SequenceSender,
  useVirtualQueues,
} from "../support/sequences.ts";

beforeAll(useVirtualQueues);

type Condition = { field: string; operator: string; value?: unknown };

const createSegment = ({ caller, siteId }: SequenceSender, ...conditions: Condition[]) =>
  segments.create(
    caller,
    segments.NewSegment.parse({ siteId, name: "Seg", rules: { match: "all", conditions } }),
  );

/** An active sequence without mails whose trigger has looked at every contact. */
async function createWatching(sender: SequenceSender, fields: SequenceChanges) {
  const { id } = await createSequence(sender, [5000], fields);
  await runFor(minutes(3));
  return id;
}

/** How often a contact was in the sequence. */
async function countEntries(sender: SequenceSender, id: number, contactId: number) {
  const { active, finished } = await expectBalanced(sender, id, []);
  return [...active, ...finished].filter((one) => one.contactId === contactId).length;
}

const leave = (sender: SequenceSender, id: number, contactId: number) =>
  enrollments.cancel(sender.caller, id, { contactId }).catch(() => undefined);

/** Moves the clock to the next time that is this hour in UTC. */
function moveToHour(hour: number): void {
  const { length } = "2026-11-29T";
  const today = `${clock.now().toISOString().slice(0, length)}${String(hour).padStart(2, "0")}:00Z`;
  const seconds = (Date.parse(today) - clock.now().getTime()) / 1000;
  clock.advanceClock(seconds > 0 ? seconds : seconds + days(1));
}

const dayIn = (n: number): string =>
  new Date(clock.now().getTime() + days(n) * 1000).toISOString().slice(0, 10);

describe("segments", () => {
  test("members at activation have not entered; each later entry and exit counts, https://github.com/mautic/mautic/issues/16026", async () => {
    const sender = await createSequenceSender();
    const { id: segmentId } = await createSegment(sender, {
      field: "company",
      operator: "equals",
      value: "Acme",
    });
    const [ann = 0, bob = 0] = await createContacts(sender, 2);
    await contacts.change(sender.caller, ann, { company: "Acme" });
    const entering = await createWatching(sender, {
      triggerType: "segment_enter",
      triggerConfig: { segmentId },
    });
    const leaving = await createWatching(sender, {
      triggerType: "segment_leave",
      triggerConfig: { segmentId },
    });
    const count = async (contactId: number) => {
      await runFor(minutes(1));
      const counts = [
        await countEntries(sender, entering, contactId),
        await countEntries(sender, leaving, contactId),
      ];
      await leave(sender, entering, contactId);
      await leave(sender, leaving, contactId);
      return counts;
    };
    expect(await count(ann)).toEqual([0, 0]);
    await contacts.change(sender.caller, ann, { company: "Other" });
    expect(await count(ann)).toEqual([0, 1]);
    await contacts.change(sender.caller, ann, { company: "acme" });
    expect(await count(ann)).toEqual([1, 1]);
    await contacts.change(sender.caller, ann, { firstName: "Ann" });
    expect(await count(ann)).toEqual([1, 1]);
    await contacts.change(sender.caller, ann, { company: null });
    await contacts.change(sender.caller, bob, { company: "Acme" });
    expect([await count(ann), await count(bob)]).toEqual([
      [1, 2],
      [1, 0],
    ]);
    const created = await createContact(sender, "new@example.com", { company: "Acme" });
    expect(await count(created.id)).toEqual([1, 0]);
    await sender.provider.stop();
  });

  test("every kind of change of a contact is seen", async () => {
    const sender = await createSequenceSender();
    const { caller, siteId, orgId } = sender;
    const list = await groups.create("LIST", caller, { siteId, name: "News" });
    const tagIds = await groups.getOrCreateTags(caller, siteId, ["Buyer"]);
    const tag = await groups.findOfSite("TAG", caller, { id: tagIds.get("Buyer")!, siteId });
    const changes: [Condition, (id: number, email: string) => Promise<unknown>][] = [
      [{ field: "tag", operator: "equals", value: tag.id }, (id) => applyTag(caller, id, tag)],
      [
        { field: "tag", operator: "notEquals", value: tag.id },
        (id) => removeTag(caller, id, tag.id),
      ],
      [
        { field: "list", operator: "equals", value: list.id },
        (id) => members.addMembers(caller, { kind: "LIST", id: list.id }, [id]),
      ],
      [
        { field: "score", operator: "greaterThan", value: 5 },
        (id) => scores.changeByHand(caller, id, { delta: 10 }),
      ],
      [
        { field: "event.bought", operator: "greaterThan", value: 0 },
        (contactId) =>
          recordCustomEvents.create(
            caller,
            customEvents.NewCustomEvent.parse({ contactId, eventName: "bought" }),
          ),
      ],
      [
        { field: "openCount", operator: "greaterThan", value: 0 },
        (contactId, toEmail) => {
          const at = clock.now().toISOString();
          return recordEngagement(orgId, [
            { siteId, contactId, toEmail, type: "open", key: contactId, at },
          ]);
        },
      ],
      [
        { field: "status", operator: "equals", value: "subscribed" },
        async (_, email) => {
          await suppressions.suppress(orgId, { email, reason: "manual", source: "api" });
          await runFor(minutes(1));
          await suppressions.remove(orgId, email);
        },
      ],
    ];
    for (const [condition, change] of changes) {
      const [ann = 0] = await createContacts(sender, 1);
      if (condition.operator === "notEquals") await applyTag(caller, ann, tag);
      const { id: segmentId } = await createSegment(sender, condition);
      const id = await createWatching(sender, {
        triggerType: "segment_enter",
        triggerConfig: { segmentId },
      });
      expect(await countEntries(sender, id, ann), condition.field).toBe(0);
      await change(ann, (await contacts.find(caller, ann)).email);
      await runFor(minutes(1));
      expect(await countEntries(sender, id, ann), condition.field).toBe(1);
      await sequences.remove(caller, id);
    }
    await sender.provider.stop();
  });

  test("time alone moves contacts in and out of a segment", async () => {
    const sender = await createSequenceSender();
    const { id: segmentId } = await createSegment(sender, {
      field: "createdAt",
      operator: "notInLastDays",
      value: 3,
    });
    const [ann = 0] = await createContacts(sender, 1);
    const id = await createWatching(sender, {
      triggerType: "segment_enter",
      triggerConfig: { segmentId },
    });
    await runFor(days(2.9));
    expect(await countEntries(sender, id, ann)).toBe(0);
    await runFor(days(0.2));
    expect(await countEntries(sender, id, ann)).toBe(1);
    await sender.provider.stop();
  });

  test("new rules of the segment start none of the contacts that match them", async () => {
    const sender = await createSequenceSender();
    const rule = (value: string) => ({ field: "company", operator: "equals", value });
    const { id: segmentId } = await createSegment(sender, rule("Acme"));
    const [ann = 0, bob = 0] = await createContacts(sender, 2);
    await contacts.change(sender.caller, ann, { company: "Other" });
    const id = await createWatching(sender, {
      triggerType: "segment_enter",
      triggerConfig: { segmentId },
    });
    const rules = segments.SegmentChanges.parse({
      rules: { match: "all", conditions: [rule("Other")] },
    });
    await segments.change(sender.caller, segmentId, rules);
    await runFor(minutes(3));
    await contacts.change(sender.caller, bob, { company: "Other" });
    await runFor(minutes(1));
    expect(await countEntries(sender, id, ann)).toBe(0);
    expect(await countEntries(sender, id, bob)).toBe(1);
    await sender.provider.stop();
  });

  test("a crash at any step of the change or the look starts a contact once", async () => {
    const sender = await createSequenceSender();
    const { id: segmentId } = await createSegment(sender, {
      field: "company",
      operator: "equals",
      value: "Acme",
    });
    const id = await createWatching(sender, {
      triggerType: "segment_enter",
      triggerConfig: { segmentId },
    });
    await crashAtSomeSteps(async (crash) => {
      const [ann = 0] = await createContacts(sender, 1);
      let isFirst = true;
      await contacts.change(sender.caller, ann, { company: "Acme" });
      await runFor(minutes(10), (work) => {
        if (!isFirst) return work();
        isFirst = false;
        return crash(work);
      });
      expect(await countEntries(sender, id, ann)).toBe(1);
    });
    await sender.provider.stop();
  });
});

describe("dates", () => {
  const createDated = (sender: SequenceSender, config: SequenceChanges["triggerConfig"]) =>
    createWatching(sender, { triggerType: "date", triggerConfig: config });
  const setDate = (sender: SequenceSender, id: number, renewal: string | null, timezone?: string) =>
    contacts.change(sender.caller, id, {
      customFields: { renewal },
      ...(timezone && { timezone }),
    });

  test("days before and after a date, https://github.com/knadh/listmonk/issues/1783", async () => {
    const sender = await createSequenceSender();
    moveToHour(1);
    const [ann = 0, bob = 0] = await createContacts(sender, 2);
    await setDate(sender, ann, dayIn(7));
    const field = "customFields.renewal";
    const before = await createDated(sender, { field, offsetDays: -5, hour: 12 });
    const after = await createDated(sender, { field, offsetDays: 5, hour: 12 });
    await setDate(sender, bob, dayIn(-30));
    await runFor(days(2));
    expect(await countEntries(sender, before, ann)).toBe(0);
    await runFor(days(1));
    expect(await countEntries(sender, before, ann)).toBe(1);
    expect(await countEntries(sender, after, ann)).toBe(0);
    await runFor(days(10));
    expect(await countEntries(sender, after, ann)).toBe(1);
    // The date of Bob had passed.
    expect(await countEntries(sender, after, bob)).toBe(0);
    expect(await countEntries(sender, before, ann)).toBe(1);
    await sender.provider.stop();
  });

  test("the day is that of the contact's time zone, https://github.com/mautic/mautic/issues/17319", async () => {
    const sender = await createSequenceSender();
    moveToHour(1);
    const [ann = 0, bob = 0] = await createContacts(sender, 2);
    const date = dayIn(3);
    await setDate(sender, ann, date, "Pacific/Auckland");
    await setDate(sender, bob, date, "America/Los_Angeles");
    const id = await createDated(sender, { field: "customFields.renewal", hour: 1 });
    const startOf = async (contactId: number) => {
      const { active, finished } = await expectBalanced(sender, id, []);
      return [...active, ...finished].find((one) => one.contactId === contactId)?.createdAt;
    };
    await runFor(days(5));
    const dayFor = (timeZone: string, at = "") =>
      new Intl.DateTimeFormat("en-CA", { timeZone }).format(new Date(at));
    expect(dayFor("Pacific/Auckland", await startOf(ann))).toBe(date);
    expect(dayFor("America/Los_Angeles", await startOf(bob))).toBe(date);
    await sender.provider.stop();
  });

  test("birthdays come every year, https://github.com/mautic/mautic/issues/306", async () => {
    const sender = await createSequenceSender();
    const [ann = 0] = await createContacts(sender, 1);
    await setDate(sender, ann, `1990${dayIn(10).slice(4)}`);
    const id = await createDated(sender, { field: "customFields.renewal", yearly: true });
    const starts: number[] = [];
    for (let year = 0; year < 3; year++) {
      await runFor(days(year ? 365.3 : 12));
      starts.push(await countEntries(sender, id, ann));
    }
    expect(starts).toEqual([1, 2, 3]);
    await sender.provider.stop();
  });

  test("a change of the time zone on the day does not start it again", async () => {
    const sender = await createSequenceSender();
    moveToHour(1);
    const [ann = 0] = await createContacts(sender, 1);
    await setDate(sender, ann, `1990${dayIn(1).slice(4)}`, "Pacific/Auckland");
    const config = { field: "customFields.renewal", yearly: true, hour: 9 };
    const id = await createDated(sender, config);
    await runFor(days(1));
    expect(await countEntries(sender, id, ann)).toBe(1);
    await leave(sender, id, ann);
    await contacts.change(sender.caller, ann, { timezone: "America/Los_Angeles" });
    await runFor(days(3));
    expect(await countEntries(sender, id, ann)).toBe(1);
    await sender.provider.stop();
  });

  test("a date that moves is followed, and a deleted contact leaves no watch", async () => {
    const sender = await createSequenceSender();
    const [ann = 0, bob = 0] = await createContacts(sender, 2);
    await setDate(sender, ann, dayIn(2));
    await setDate(sender, bob, dayIn(2));
    const id = await createDated(sender, { field: "customFields.renewal" });
    await setDate(sender, ann, dayIn(6));
    await contacts.remove(sender.caller, bob);
    await runFor(days(4));
    expect(await countEntries(sender, id, ann)).toBe(0);
    expect(await get(keys.contactWatch(sender.orgId, bob))).toBeUndefined();
    await runFor(days(4));
    expect(await countEntries(sender, id, ann)).toBe(1);
    await sender.provider.stop();
  });

  test("an hour in which nothing is due reads no contact", async () => {
    const sender = await createSequenceSender();
    const people = await createContacts(sender, 60);
    for (const [i, id] of people.entries()) await setDate(sender, id, dayIn(20 + (i % 5)));
    for (const offsetDays of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
      await createDated(sender, { field: "customFields.renewal", offsetDays });
    const watch = await get<ContactWatchItem>(keys.contactWatch(sender.orgId, people[0]!));
    expect(Object.keys(watch!.states)).toHaveLength(10);
    // Until the activation of the sequences is done.
    await runFor(minutes(30));
    let calls = 0;
    const end = interceptCalls("dynamodb", ({ input }, passThrough) => {
      if (JSON.stringify(input).includes(`"${sender.orgId}#`)) calls++;
      return passThrough();
    });
    await runFor(minutes(60)).finally(end);
    expect(calls).toBe(0);
    await sender.provider.stop();
  });
});
