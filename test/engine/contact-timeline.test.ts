// The timeline of a contact: everything that is stored about it, newest first.
import { beforeAll, expect, test } from "vitest";
import { put, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import {
  listTimeline,
  type TimelineEntry,
} from "../../shared/domain/analytics/contact-timeline.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { applyTag } from "../../shared/domain/audience/groups/tags.ts";
import * as scores from "../../shared/domain/audience/scoring/lead-scores.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as contactTopics from "../../shared/domain/audience/topics/contact-topics.ts";
import { NewTopic } from "../../shared/domain/audience/topics/topic-schema.ts";
import * as topics from "../../shared/domain/audience/topics/topics.ts";
import * as customEvents from "../../shared/domain/audience/tracking/custom-events.ts";
import * as recordCustomEvents from "../../shared/domain/audience/tracking/record-custom-events.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import { keys } from "../../shared/keys.ts";
import { createContact } from "../support/contacts.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";
import { send, uniqueRecipients } from "../support/sending.ts";
import {
  createSequence,
  createSequenceSender,
  type SequenceSender,
  useVirtualQueues,
} from "../support/sequences.ts";

beforeAll(useVirtualQueues);

async function createPerson() {
  const sender = await createSequenceSender();
  const email = uniqueRecipients(1)[0]!.to;
  const { id } = await createContact(sender, email, { source: "fair" });
  return { sender, email, id };
}

async function readAll(
  { caller }: SequenceSender,
  id: number,
  limit: number,
): Promise<TimelineEntry[]> {
  const all: TimelineEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await listTimeline(caller, id, { limit, cursor });
    all.push(...page.entries);
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return all;
}

/** Each step happens a minute after the one before. */
async function doInTurn(steps: (() => Promise<unknown>)[]): Promise<void> {
  for (const step of steps) {
    clock.advanceClock(60);
    await step();
  }
}

async function liveThroughEverything() {
  const { sender, email, id } = await createPerson();
  const { caller, siteId, orgId } = sender;
  const topic = await topics.create(caller, NewTopic.parse({ siteId, name: "Offers" }));
  const tags = await groups.getOrCreateTags(caller, siteId, ["vip"]);
  const tag = await groups.find("TAG", caller, tags.get("vip")!);
  const sequence = await createSequence(sender, [60]);
  let sendId = 0;
  await doInTurn([
    () => applyTag(caller, id, tag),
    () => scores.changeByHand(caller, id, { delta: 5, reason: "Came to our stand" }),
    () =>
      contactTopics.change(caller, id, {
        choices: [{ id: topic.id, subscribed: false }],
        consent: { source: "api" },
      }),
    () =>
      recordCustomEvents.create(
        caller,
        customEvents.NewCustomEvent.parse({
          contactId: id,
          eventName: "order_placed",
          properties: { total: 5 },
        }),
      ),
    () => enrollments.enroll(caller, sequence.id, { contactIds: [id] }),
    async () => {
      sendId = (await send(sender, { to: email, subject: "Hello" })).id;
    },
    () => enrollments.cancel(caller, sequence.id, { contactId: id }),
    async () => {
      const timestamp = clock.now().toISOString();
      const open = createEvent(sendId, "open", 0, { email, timestamp });
      await applyMessages(await createEventMessage(orgId, [open]));
    },
    () => contacts.change(caller, id, { status: "unsubscribed" }),
    () =>
      suppressions.suppress(orgId, {
        email,
        reason: "manual",
        detail: "asked by phone",
        source: "api",
      }),
  ]);
  return { sender, id, sendId, tag, topic, sequence };
}

test("the timeline tells what happened, newest first, with names", async () => {
  const { sender, id, sendId, tag, topic, sequence } = await liveThroughEverything();
  const entries = await readAll(sender, id, 100);
  expect(entries.map(({ type }) => type)).toEqual([
    "suppressed",
    "consent_changed",
    "email_open",
    "sequence_left",
    "email_accepted",
    "sequence_entered",
    "custom_event",
    "consent_changed",
    "score_changed",
    "tag_added",
    "created",
  ]);
  expect(entries[1]).toMatchObject({
    summary: "Unsubscribed by your organization",
    details: { status: "unsubscribed", source: "api" },
  });
  const byType = new Map(entries.map((entry) => [entry.type, entry]));
  expect(byType.get("created")).toMatchObject({ summary: "Created from “fair”" });
  expect(byType.get("tag_added")).toMatchObject({
    summary: "Got the tag “vip”",
    record: { type: "tag", id: tag.id, name: "vip" },
  });
  expect(byType.get("score_changed")).toMatchObject({
    summary: "Score +5: Came to our stand",
    details: { points: 5 },
  });
  expect(byType.get("consent_changed")).toMatchObject({
    summary: "Left the topic “Offers” by your organization",
    details: { topics: [{ id: topic.id, name: "Offers", subscribed: false }] },
  });
  expect(byType.get("custom_event")).toMatchObject({
    summary: "Event “order_placed”",
    details: { name: "order_placed", properties: { total: 5 } },
  });
  expect(byType.get("sequence_left")).toMatchObject({
    summary: "Left the sequence “Way”: cancelled",
    record: { type: "sequence", id: sequence.id },
    details: { status: "cancelled" },
  });
  expect(byType.get("email_open")).toMatchObject({
    summary: "The contact opened the email “Hello”",
    send: { id: sendId, subject: "Hello" },
  });
  expect(byType.get("suppressed")).toMatchObject({
    summary: "The address was suppressed: asked by phone",
  });
  await sender.provider.stop();
});

test("pages of any size give each entry once, in the same order", async () => {
  const { sender, id } = await liveThroughEverything();
  // Entries of the same millisecond are on both sides of a page's end.
  const at = clock.now().toISOString();
  await write(
    ...Array.from({ length: 7 }, (_, i) =>
      put(keys.contactLog(sender.orgId, id, `${scores.logPrefix}${at}|${i}`.padEnd(47, "0")), {
        delta: i,
        at,
      }),
    ),
  );
  const whole = await readAll(sender, id, 100);
  expect(whole).toHaveLength(18);
  for (const limit of [1, 3]) expect(await readAll(sender, id, limit)).toEqual(whole);
  await sender.provider.stop();
});

test("a caller who may not read sends gets the timeline without emails", async () => {
  const { sender, email, id } = await createPerson();
  await send(sender, { to: email, subject: "Your code is 123456" });
  const caller = { ...sender.caller, scopes: ["contacts:read"] };
  const { entries } = await listTimeline(caller, id, { limit: 50 });
  expect(entries.map(({ type }) => type)).toEqual(["created"]);
  await sender.provider.stop();
});

test("a deleted record has no name, and a cursor of another form is refused", async () => {
  const { sender, id } = await createPerson();
  const sequence = await createSequence(sender, [60]);
  const { caller, orgId } = sender;
  const item = { id: 16, sequenceId: sequence.id + 1_000_000, contactId: id, order: 0 };
  const times = { createdAt: "2026-01-01T00:00:00.000Z", finishedAt: "2026-01-02T00:00:00.000Z" };
  await write(
    put(keys.contactLog(orgId, id, `SEQUENCE|${times.finishedAt}#16`), {
      ...item,
      ...times,
      status: "completed",
    }),
  );
  const { entries } = await listTimeline(caller, id, { limit: 50 });
  expect(entries.slice(1)).toMatchObject([
    { type: "sequence_left", summary: "Completed the sequence that was deleted" },
    { type: "sequence_entered", at: times.createdAt, record: { name: null } },
  ]);
  await expect(listTimeline(caller, id, { limit: 50, cursor: "x" })).rejects.toThrow(
    "cursor is not valid",
  );
  await sender.provider.stop();
});
