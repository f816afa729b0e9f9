import { afterEach, describe, expect, test } from "vitest";
import { put, queryAll, write, writeMany } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { listTimeline } from "../../shared/domain/analytics/contact-timeline.ts";
import * as contactStatus from "../../shared/domain/audience/contacts/contact-status.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { createTokenMaker } from "../../shared/domain/audience/contacts/link-tokens.ts";
import * as memberships from "../../shared/domain/audience/groups/group-members.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import * as tags from "../../shared/domain/audience/groups/tags.ts";
import { foldMailLog } from "../../shared/domain/audience/mail-counts/fold-mail-log.ts";
import * as mailLog from "../../shared/domain/audience/mail-counts/mail-log.ts";
import * as scores from "../../shared/domain/audience/scoring/lead-scores.ts";
import * as rules from "../../shared/domain/audience/scoring/scoring-rules.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as contactTopics from "../../shared/domain/audience/topics/contact-topics.ts";
import { readTopicTotals } from "../../shared/domain/audience/topics/topic-counts.ts";
import { NewTopic } from "../../shared/domain/audience/topics/topic-schema.ts";
import * as topics from "../../shared/domain/audience/topics/topics.ts";
import * as customEventListing from "../../shared/domain/audience/tracking/custom-event-listing.ts";
import * as custom from "../../shared/domain/audience/tracking/custom-events.ts";
import * as recordCustomEvents from "../../shared/domain/audience/tracking/record-custom-events.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import * as unsubscribes from "../../shared/domain/delivery-events/unsubscribes.ts";
import * as doubleOptIn from "../../shared/domain/forms/double-opt-in.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { erase } from "../../shared/domain/privacy/erasure.ts";
import { mergeContacts } from "../../shared/domain/privacy/merge-contacts.ts";
import { moveHistory } from "../../shared/domain/privacy/move-history.ts";
import { getPersonalData, getSendIds } from "../../shared/domain/privacy/personal-data.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { listSingleWrite } from "../../shared/domain/sending/send-feed.ts";
import { undefinedIfMissing } from "../../shared/errors.ts";
import { keys, ranges } from "../../shared/keys.ts";
import {
  createContact,
  createTestSite,
  readAllContacts,
  readContactCount,
  readGroupMembers,
  recordHandOver,
  type TestSite,
} from "../support/contacts.ts";
import {
  crashAtSomeSteps,
  interceptClients,
  interruptedAtSomeSteps,
} from "../support/crash-injection.ts";
import {
  applyMessages,
  createEvent,
  createEventMessage,
  createSentMails,
  sentItem,
} from "../support/delivery-events.ts";
import {
  createForm,
  createSiteWithSender,
  listSubmissions,
  processSubmissions,
  submitForm,
} from "../support/forms.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
import {
  createContacts,
  createSequence,
  createSequenceSender,
  expectBalanced,
  listSubjectsTo,
  minutes,
  runFor,
  useVirtualQueues,
} from "../support/sequences.ts";

interceptClients();
afterEach(removePauses);

const old = "old@example.com";
const ann = "ann@example.com";

const recordEvent = (site: TestSite, given: object) =>
  recordCustomEvents.create(
    site.caller,
    custom.NewCustomEvent.parse({ siteId: site.siteId, eventName: "bought", ...given }),
  );

/** Two contacts of one person, who each have something of every kind. */
async function createPair(site: TestSite) {
  const { caller, siteId } = site;
  const source = await createContact(site, old, {
    firstName: "Anna",
    company: "Shop",
    externalId: "17",
    tags: ["gold", "both"],
    customFields: { plan: "free", size: 7 },
  });
  const target = await createContact(site, ann, {
    firstName: "Ann",
    tags: ["both"],
    customFields: { Plan: "pro" },
  });
  const list = await groups.create("LIST", caller, { siteId, name: `News ${source.id}` });
  await memberships.addMembers(caller, { kind: "LIST", id: list.id }, [source.id]);
  for (const { id } of [source, target])
    await scores.changeByHand(caller, id, { delta: 5, reason: "fair" });
  for (const [email, id] of [
    [old, "first"],
    [old, "second"],
    [ann, "third"],
  ])
    await recordEvent(site, { email, id: `${id} ${source.id}`, properties: { total: 1 } });
  await recordHandOver(site.orgId, [
    { id: source.id * 1000, siteId, toEmail: old, sentAt: "2026-11-01T08:00:00.000Z" },
    { id: target.id * 1000, siteId, toEmail: ann, sentAt: "2026-10-01T08:00:00.000Z" },
  ]);
  return { source, target, list };
}
type Pair = Awaited<ReturnType<typeof createPair>>;

async function finish(site: TestSite, { source, target }: Pair): Promise<void> {
  // The lease of a crashed worker ends.
  clock.advanceClock(400);
  await mergeContacts(site.caller, source.id, target.id);
  await moveHistory(site.orgId, source.id);
}

async function expectMerged(site: TestSite, { source, target, list }: Pair): Promise<void> {
  const { caller, orgId } = site;
  const merged = await contacts.find(caller, target.id);
  expect(merged).toMatchObject({
    ...{ email: ann, firstName: "Ann", company: "Shop", externalId: "17" },
    customFields: { plan: "pro", size: 7 },
    ...{ score: 10, sendCount: 2, lastSentAt: "2026-11-01T08:00:00.000Z" },
    lists: [{ id: list.id }],
  });
  expect(merged.tags.map(({ name }) => name).toSorted()).toEqual(["both", "gold"]);
  const item = await contacts.findItem(caller, target.id);
  expect(item).toMatchObject({ "event.bought": 3, customEvents: 3 });
  expect(item.merging).toBeUndefined();
  expect(item.merged).toMatchObject([{ id: source.id, email: old }]);
  for (const { id } of merged.tags)
    expect(await readGroupMembers(site, "TAG", id)).toEqual({ ids: [target.id], count: 1 });
  const members = await readGroupMembers(site, "LIST", list.id);
  expect(members).toEqual({ ids: [target.id], count: 1 });
  expect((await readAllContacts(site)).length).toBe(await readContactCount(site));
  expect(await queryAll(ranges.contactLog(orgId, source.id))).toEqual([]);
  expect((await scores.listLog(caller, target.id, { limit: 50 })).log).toMatchObject([
    { delta: 5 },
    { delta: 5 },
  ]);
  const page = { limit: 50, contactId: target.id };
  const events = await customEventListing.list(caller, page);
  expect(events.items.map(({ contactId }) => contactId)).toEqual([target.id, target.id, target.id]);
  expect(await contactStatus.getContactsByEmail(orgId, [old])).toEqual([]);
  // The ids of the events count once, whichever contact they are given for.
  for (const [email, id] of [
    [ann, "first"],
    [ann, "third"],
  ])
    await recordEvent(site, { email, id: `${id} ${source.id}` });
  await recordEvent(site, { contactId: source.id, id: `second ${source.id}` });
  expect(await contacts.findItem(caller, target.id)).toMatchObject({ "event.bought": 3 });
}

test("the contact that stays has the history of both, each part once", async () => {
  const site = await createTestSite();
  const pair = await createPair(site);
  const { id } = await mergeContacts(site.caller, pair.source.id, pair.target.id);
  expect(id).toBe(pair.target.id);
  await finish(site, pair);
  await expectMerged(site, pair);
  const timeline = await listTimeline(site.caller, pair.target.id, { limit: 50 });
  expect(timeline.entries).toContainEqual(
    expect.objectContaining({
      type: "contact_merged",
      summary: `The contact ${old} was merged into this one`,
    }),
  );
});

test("after a crash of the request at any step, a repetition merges everything once", async () => {
  await crashAtSomeSteps(async (crash) => {
    const site = await createTestSite();
    const pair = await createPair(site);
    await crash(() => mergeContacts(site.caller, pair.source.id, pair.target.id));
    await finish(site, pair);
    await expectMerged(site, pair);
  });
});

describe.each(["crashes", "is paused"] as const)("a worker that %s", (how) => {
  test("leaves the rest of the history to the next one, which moves each part once", async () => {
    await interruptedAtSomeSteps(how, async (interrupt) => {
      const site = await createTestSite();
      const pair = await createPair(site);
      await mergeContacts(site.caller, pair.source.id, pair.target.id);
      const work = () => moveHistory(site.orgId, pair.source.id);
      await interrupt(work, () => finish(site, pair));
      await expectMerged(site, pair);
    });
  });

  test("does not bring back the history of a contact that is deleted meanwhile", async () => {
    await interruptedAtSomeSteps(how, async (interrupt) => {
      const site = await createTestSite();
      const pair = await createPair(site);
      const { source, target } = pair;
      await mergeContacts(site.caller, source.id, target.id);
      const rest = async () => {
        await finish(site, pair).catch(undefinedIfMissing);
        await contacts.remove(site.caller, target.id).catch(undefinedIfMissing);
      };
      await interrupt(() => moveHistory(site.orgId, source.id), rest);
      for (const { id } of [source, target])
        expect(await queryAll(ranges.contactLog(site.orgId, id))).toEqual([]);
    });
  });
});

test("requests with the id of a merged contact get 404 with the id of the other one", async () => {
  const site = await createTestSite();
  const { source, target } = await createPair(site);
  await mergeContacts(site.caller, source.id, target.id);
  const merged = { kind: "missing", code: "contact_merged", bodyFields: { mergedInto: target.id } };
  for (const request of [
    () => contacts.find(site.caller, source.id),
    () => contacts.change(site.caller, source.id, { firstName: "Eve" }),
    () => contacts.remove(site.caller, source.id),
    () => mergeContacts(site.caller, target.id, source.id),
  ])
    await expect(request()).rejects.toMatchObject(merged);
});

test("a contact cannot be merged into itself, or into one of another site or organization", async () => {
  const site = await createTestSite();
  const { source } = await createPair(site);
  const other = await sites.create(site.caller, sites.NewSite.parse({ name: "Other" }));
  const stranger = await createContact(await createTestSite(), ann);
  const elsewhere = await createContact({ ...site, siteId: other.id }, ann);
  const into = (id: number) => mergeContacts(site.caller, source.id, id);
  const invalid = { kind: "invalid", details: [{ path: "into" }] };
  await expect(into(source.id)).rejects.toMatchObject(invalid);
  await expect(into(elsewhere.id)).rejects.toMatchObject(invalid);
  await expect(into(stranger.id)).rejects.toMatchObject({
    kind: "missing",
    details: [{ path: "into" }],
  });
  await expect(mergeContacts(site.caller, stranger.id, source.id)).rejects.toMatchObject({
    kind: "missing",
  });
  expect(await contacts.find(site.caller, source.id)).toMatchObject({ email: old });
});

test("while the history moves, the contact cannot be deleted, erased or merged", async () => {
  const site = await createTestSite();
  const pair = await createPair(site);
  const third = await createContact(site, "third@example.com");
  const { caller } = site;
  await mergeContacts(caller, pair.source.id, pair.target.id);
  for (const request of [
    () => contacts.remove(caller, pair.target.id),
    () => erase(caller, pair.target.id),
    () => mergeContacts(caller, pair.target.id, third.id),
    () => mergeContacts(caller, third.id, pair.target.id),
  ])
    await expect(request()).rejects.toMatchObject({ code: "merge_in_progress" });
  await finish(site, pair);
  await contacts.remove(caller, pair.target.id);
  expect(await queryAll(ranges.contactLog(site.orgId, pair.target.id))).toEqual([]);
  await expect(contacts.find(caller, pair.source.id)).rejects.toMatchObject({ code: "not_found" });
  expect(await readContactCount(site)).toBe(1);
});

test("of two merges of one contact at once, one wins and the other gets 404", async () => {
  const site = await createTestSite();
  const pair = await createPair(site);
  const third = await createContact(site, "third@example.com");
  const results = await Promise.allSettled(
    [pair.target.id, third.id].map((into) => mergeContacts(site.caller, pair.source.id, into)),
  );
  expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const lost = results.find((one) => one.status === "rejected");
  expect(lost?.reason).toMatchObject({ code: "contact_merged" });
  expect(await readContactCount(site)).toBe(2);
});

test("a chain of merges ends in the last contact, with every id", async () => {
  const site = await createTestSite();
  const pair = await createPair(site);
  const last = await createContact(site, "last@example.com");
  const { caller, orgId } = site;
  await mergeContacts(caller, pair.source.id, pair.target.id);
  await moveHistory(orgId, pair.source.id);
  await mergeContacts(caller, pair.target.id, last.id);
  await moveHistory(orgId, pair.target.id);
  await recordEvent(site, { contactId: pair.source.id });
  await recordEvent(site, { contactId: pair.target.id });
  const item = await contacts.findItem(caller, last.id);
  expect(item).toMatchObject({
    ...{ customEvents: 5, "event.bought": 5, score: 10, externalId: "17" },
    merged: [{ id: pair.source.id }, { id: pair.target.id }],
  });
  await expect(contacts.find(caller, pair.source.id)).rejects.toMatchObject({
    bodyFields: { mergedInto: last.id },
  });
  expect(await customEventListing.list(caller, { limit: 50, contactId: last.id })).toMatchObject({
    items: { length: 5 },
  });
});

test("an event, an open and a change during the merge end at one of both, once", async () => {
  const site = await createTestSite();
  const pair = await createPair(site);
  const { caller, orgId, siteId } = site;
  const scoring = rules.NewScoringRule.parse({
    ...{ siteId, name: "Bought", trigger: "custom_event", points: 3 },
  });
  await rules.create(caller, scoring);
  const paused = pauseCall("TransactWriteItems");
  const recording = recordEvent(site, { contactId: pair.source.id, id: "late" });
  await paused.reached;
  removePauses();
  await mergeContacts(caller, pair.source.id, pair.target.id);
  paused.release();
  expect(await recording).toMatchObject({ contactId: pair.target.id });
  // Both logs hold parts of the history: the event is found in either.
  await recordEvent(site, { contactId: pair.source.id, id: "late" });
  await recordEvent(site, { contactId: pair.source.id, id: `first ${pair.source.id}` });
  await moveHistory(orgId, pair.source.id);
  await recordEvent(site, { contactId: pair.target.id, id: "late" });
  expect(await contacts.findItem(caller, pair.target.id)).toMatchObject({
    ...{ customEvents: 4, "event.bought": 4, score: 13 },
  });
});

test("points for one cause count once, before and after its log has moved", async () => {
  const site = await createTestSite();
  const { source, target } = await createPair(site);
  const cause = { key: "open 1", at: "2026-11-01T08:00:00.000Z" };
  const add = () => scores.addPoints(site.orgId, source.id, { delta: 4, cause });
  expect(await add()).toBe(true);
  await mergeContacts(site.caller, source.id, target.id);
  expect(await add()).toBe(false);
  await moveHistory(site.orgId, source.id);
  expect(await add()).toBe(false);
  expect(await contacts.find(site.caller, target.id)).toMatchObject({ score: 14 });
});

describe("consent", () => {
  const statusAfter = async (
    prepare: (site: TestSite, pair: Pair) => Promise<unknown>,
  ): Promise<string> => {
    const site = await createTestSite();
    const pair = await createPair(site);
    await prepare(site, pair);
    const { status } = await mergeContacts(site.caller, pair.source.id, pair.target.id);
    await moveHistory(site.orgId, pair.source.id);
    return status;
  };

  test("one that unsubscribed or complained unsubscribes both, and a bounce does not", async () => {
    const unsubscribed = await statusAfter(({ caller }, { source }) =>
      contacts.change(caller, source.id, { status: "unsubscribed" }),
    );
    expect(unsubscribed).toBe("unsubscribed");
    const suppress = (reason: "spam_report" | "bounce") =>
      statusAfter(({ orgId }) =>
        suppressions.suppress(orgId, { email: old, reason, detail: null, source: "test" }),
      );
    expect(await suppress("spam_report")).toBe("unsubscribed");
    expect(await suppress("bounce")).toBe("subscribed");
    const targetLeft = await statusAfter(({ caller }, { target }) =>
      contacts.change(caller, target.id, { status: "unsubscribed" }),
    );
    expect(targetLeft).toBe("unsubscribed");
  });

  test("topics that one left stay left, with the evidence of both", async () => {
    const site = await createTestSite();
    const { caller, siteId } = site;
    const pair = await createPair(site);
    const [news, offers] = await Promise.all(
      ["subscribed", "unsubscribed"].map((defaultSubscription) =>
        topics.create(
          caller,
          NewTopic.parse({ siteId, name: defaultSubscription, defaultSubscription }),
        ),
      ),
    );
    const choose = (id: number, topicId: number, subscribed: boolean) =>
      contactTopics.change(caller, id, {
        choices: [{ id: topicId, subscribed }],
        consent: { source: "api" },
      });
    await choose(pair.source.id, news!.id, false);
    await choose(pair.source.id, offers!.id, true);
    await finish(site, pair);
    const after = await contactTopics.find(caller, pair.target.id, { limit: 50 });
    expect(after.topics).toMatchObject([
      { id: news!.id, subscribed: false },
      { id: offers!.id, subscribed: true },
    ]);
    expect(after.log.map(({ source }) => source).toSorted()).toEqual(["api", "api", "merge"]);
    const totals = await readTopicTotals(site.orgId, siteId);
    expect([news!, offers!].map(({ id }) => totals.switched(id))).toEqual([1, 1]);
  });

  test("the unsubscribe link of an earlier email unsubscribes the contact that stays", async () => {
    const site = await createTestSite();
    const { source, target } = await createPair(site);
    const { orgId, siteId } = site;
    const toToken = await createTokenMaker("unsubscribe");
    const token = toToken({ orgId, siteId, contactId: source.id, email: old });
    await mergeContacts(site.caller, source.id, target.id);
    await unsubscribes.unsubscribe(token);
    expect(await contacts.find(site.caller, target.id)).toMatchObject({ status: "unsubscribed" });
    expect(await contactStatus.getContactsByEmail(orgId, [old])).toEqual([]);
  });
});

describe("email of the merged contact", () => {
  test("that is handed over or opened later counts for the contact that stays", async () => {
    const { caller, orgId, siteId, sendIds } = await createSentMails(2);
    const site = { caller, orgId, siteId };
    const source = await createContact(site, old);
    const target = await createContact(site, ann);
    const item = (id: number) => ({ ...sentItem(id, siteId, old), contactId: source.id });
    await writeMany([
      ...sendIds.map((id) => put(keys.send(orgId, id), item(id))),
      ...sendIds.map((id) =>
        listSingleWrite(orgId, { siteId, at: item(id).createdAt, firstId: id }),
      ),
    ]);
    await mergeContacts(caller, source.id, target.id);
    for (let i = 0; i < 2; i++) await recordHandOver(orgId, sendIds.map(item));
    const [opened, complained] = sendIds;
    const events = [createEvent(opened!, "open", 60), createEvent(complained!, "spam_report", 90)];
    await applyMessages(await createEventMessage(orgId, events));
    expect(await contacts.find(caller, target.id)).toMatchObject({
      ...{ sendCount: 2, openCount: 1, status: "unsubscribed" },
    });
    const page = { limit: 50 };
    const { sends } = await listSends(caller, page, { contactId: target.id });
    expect(sends.map(({ id }) => id).toSorted()).toEqual(sendIds);
  });

  test("of campaigns counts for the contact that stays, and is part of its data", async () => {
    const site = await createTestSite();
    const { source, target } = await createPair(site);
    const call: mailLog.LoggedCall = {
      source: { kind: "campaign", id: 7 },
      at: "2026-11-03T08:00:00.000Z",
      mails: [source.id, target.id].map((contactId) => ({ contactId, sendId: 9000 + contactId })),
    };
    await mailLog.announceMails(site, 2);
    await write(await mailLog.logCallWrite(site, { block: 9, chunk: 0, call: 0 }, call));
    const { sendCount, lastSentAt } = await mergeContacts(site.caller, source.id, target.id);
    expect({ sendCount, lastSentAt }).toEqual({ sendCount: 4, lastSentAt: call.at });
    await foldMailLog(site);
    expect(await contacts.find(site.caller, target.id)).toMatchObject({ sendCount: 4 });
    const sendIds = await getSendIds(site.orgId, await contacts.findItem(site.caller, target.id));
    expect(sendIds).toEqual(expect.arrayContaining(call.mails.map(({ sendId }) => sendId)));
  });
});

test("form submissions, personal data and an erasure follow", async () => {
  const site = await createTestSite();
  const form = await createForm(site);
  await submitForm(form.id, { email: old });
  await processSubmissions(site, form.id);
  const [source] = await contactStatus.getContactsByEmail(site.orgId, [old]);
  const target = await createContact(site, ann);
  await mergeContacts(site.caller, source!.id, target.id);
  await moveHistory(site.orgId, source!.id);
  expect(await listSubmissions(site, form.id)).toMatchObject([{ contactId: target.id }]);
  expect(await getPersonalData(site.caller, target.id)).toMatchObject({
    submissions: [{ email: old, contactId: target.id }],
    mergedContacts: [{ id: source!.id, email: old }],
  });
  await erase(site.caller, target.id);
  expect(await listSubmissions(site, form.id)).toEqual([]);
  for (const email of [old, ann])
    expect(await suppressions.find(site.orgId, email)).toMatchObject({ source: "erasure" });
});

test("a form that is confirmed later subscribes the contact that stays", async () => {
  const site = await createSiteWithSender();
  const form = await createForm(site, { doubleOptIn: true });
  await submitForm(form.id, { email: old });
  await processSubmissions(site, form.id);
  const [source] = await contactStatus.getContactsByEmail(site.orgId, [old]);
  const target = await createContact(site, ann, { status: "pending" });
  await mergeContacts(site.caller, source!.id, target.id);
  await moveHistory(site.orgId, source!.id);
  const [submission] = await listSubmissions(site, form.id);
  const evidence = { ip: "192.0.2.9", userAgent: "Safari" };
  await doubleOptIn.confirm(await doubleOptIn.createToken(submission!), evidence);
  await processSubmissions(site, form.id);
  expect(await contacts.find(site.caller, target.id)).toMatchObject({ status: "subscribed" });
  expect(await contactStatus.getContactsByEmail(site.orgId, [old])).toEqual([]);
  expect(await readContactCount(site)).toBe(1);
});

test("enrollments move, and the one of a sequence that both are in is cancelled", async () => {
  const sender = await createSequenceSender();
  const { caller, orgId } = sender;
  const both = await createSequence(sender, [60, "Hi"]);
  const one = await createSequence(sender, [60, "Hello"]);
  const source = await createContact(sender, old);
  const target = await createContact(sender, ann);
  for (const [sequence, contact] of [
    [both, source],
    [both, target],
    [one, source],
  ] as const)
    await enrollments.enroll(caller, sequence.id, { contactIds: [contact.id] });
  await mergeContacts(caller, source.id, target.id);
  await moveHistory(orgId, source.id);
  const ofBoth = await expectBalanced(sender, both.id, both.steps);
  expect(ofBoth.active).toMatchObject([{ contactId: target.id }]);
  expect(ofBoth.finished).toMatchObject([
    { contactId: target.id, status: "cancelled", reason: "contact_merged" },
  ]);
  const ofOne = await expectBalanced(sender, one.id, one.steps);
  expect(ofOne.active).toMatchObject([{ contactId: target.id, email: ann }]);
  await enrollments.cancel(caller, one.id, { enrollmentId: ofOne.active[0]!.id });
  expect((await contacts.findItem(caller, target.id)).sequences).toEqual(new Set([both.id]));
});

test("after a crash at any step, each enrollment goes on once, and mails the contact that stays", async () => {
  await useVirtualQueues();
  const sender = await createSequenceSender();
  const { caller, orgId } = sender;
  const { id, steps } = await createSequence(sender, [60, "Hello"]);
  await crashAtSomeSteps(async (crash) => {
    const [source = 0, target = 0] = await createContacts(sender, 2);
    await enrollments.enroll(caller, id, { contactIds: [source] });
    await runFor(minutes(2));
    await crash(() => mergeContacts(caller, source, target));
    await mergeContacts(caller, source, target);
    await moveHistory(orgId, source);
    const { active } = await expectBalanced(sender, id, steps);
    expect(active.map(({ contactId }) => contactId)).toEqual([target]);
    await runFor(minutes(70));
    expect((await expectBalanced(sender, id, steps)).active).toEqual([]);
    expect(await listSubjectsTo(sender, target)).toEqual(["Hello"]);
  });
  await sender.provider.stop();
});

test("a contact in many groups moves them all", async () => {
  const site = await createTestSite();
  const { source, target } = await createPair(site);
  const names = Array.from({ length: 40 }, (_, i) => `tag ${i}`);
  const created = await groups.getOrCreateTags(site.caller, site.siteId, names);
  for (const [name, id] of created)
    await tags.applyTag(site.caller, source.id, { id, name, starts: new Set() });
  const merged = await mergeContacts(site.caller, source.id, target.id);
  expect(merged.tags.length).toBe(42);
  for (const id of created.values())
    expect(await readGroupMembers(site, "TAG", id)).toEqual({ ids: [target.id], count: 1 });
});
