import { describe, expect, test } from "vitest";
import { tracking as group } from "../../functions/http/tracking.ts";
import { queryAll, update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { createTokenMaker } from "../../shared/domain/audience/contacts/link-tokens.ts";
import { maxEventNamesPerContact } from "../../shared/domain/audience/contacts/segment-attributes.ts";
import * as scores from "../../shared/domain/audience/scoring/lead-scores.ts";
import * as rules from "../../shared/domain/audience/scoring/scoring-rules.ts";
import * as customEventListing from "../../shared/domain/audience/tracking/custom-event-listing.ts";
import * as eventNames from "../../shared/domain/audience/tracking/custom-event-names.ts";
import * as tracking from "../../shared/domain/audience/tracking/tracking.ts";
import { maxBufferedVisits } from "../../shared/domain/audience/tracking/visitors.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import { NewSequence } from "../../shared/domain/automation/sequence-schema.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import { AddStepsRequest } from "../../shared/domain/automation/step-schema.ts";
import * as steps from "../../shared/domain/automation/steps.ts";
import * as triggers from "../../shared/domain/automation/trigger-registrations.ts";
import { removeSite } from "../../shared/domain/identity/remove-site.ts";
import { undefinedIfMissing } from "../../shared/errors.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { createContact, createTestSite } from "../support/contacts.ts";
import { crashAtSomeSteps, interceptClients } from "../support/crash-injection.ts";
import { invokeRoute, nextMinute } from "../support/lambda-requests.ts";

interceptClients();

let visitorCount = 0;
async function shop() {
  const site = await createTestSite();
  const made = (given: object) =>
    rules.create(site.caller, rules.NewScoringRule.parse({ siteId: site.siteId, ...given }));
  await made({
    name: "Looked at prices",
    trigger: "page_view",
    match: { url: "/Pricing" },
    points: 5,
  });
  await made({ name: "Tried", trigger: "custom_event", match: { eventName: "try" }, points: 20 });
  const newcomer = async () => {
    const contact = await createContact(site, `p${++visitorCount}@example.com`);
    const visitorId = `visitor-${visitorCount}`;
    const view = (path = "/pricing") =>
      tracking.track(
        tracking.TrackedEvent.parse({
          siteId: site.siteId,
          visitorId,
          type: "page_view",
          url: `https://shop.example${path}`,
        }),
      );
    const act = (name = "try") =>
      tracking.track(
        tracking.TrackedEvent.parse({
          siteId: site.siteId,
          visitorId,
          type: "custom",
          name,
          properties: { plan: "pro" },
        }),
      );
    const { id: contactId, email } = contact;
    const token = async () =>
      (await createTokenMaker("visitor"))({
        orgId: site.orgId,
        siteId: site.siteId,
        contactId,
        email,
      });
    const identify = async (given?: object) =>
      tracking.identify(
        tracking.Identification.parse({
          siteId: site.siteId,
          visitorId,
          ...(given ?? { contactToken: await token() }),
        }),
      );
    const item = (): Promise<ContactItem> => contacts.findItem(site.caller, contact.id);
    const events = async () =>
      (await customEventListing.list(site.caller, { contactId: contact.id, limit: 100 })).items;
    const waiting = () =>
      queryAll(ranges.visits(site.orgId, site.siteId, visitorId), { consistent: true });
    return { contact, token, visitorId, view, act, identify, item, events, waiting };
  };
  /** Creates an active sequence whose first step is a delay of a day. */
  const sequence = async (more: object): Promise<number> => {
    const { id } = await sequences.create(
      site.caller,
      NewSequence.parse({ siteId: site.siteId, name: "Welcome", ...more }),
    );
    await steps.add(site.caller, id, AddStepsRequest.parse({ type: "delay", delayMinutes: 1440 }));
    await sequences.change(site.caller, id, { status: "active" });
    triggers.clearTriggerCache(site.orgId, site.siteId);
    return id;
  };
  return { ...site, newcomer, sequence };
}

test("identifying a visitor moves its events to the contact, and later events go there directly", async () => {
  const { newcomer, caller } = await shop();
  const ann = await newcomer();
  await ann.view();
  await ann.view("/about");
  await ann.act();
  expect(await ann.item()).not.toHaveProperty("score");
  await ann.identify();
  expect(await ann.item()).toMatchObject({ "event.page_view": 2, "event.try": 1, score: 25 });
  expect(await ann.waiting()).toEqual([]);
  await ann.act();
  await ann.view();
  expect(await ann.item()).toMatchObject({ "event.page_view": 3, "event.try": 2, score: 50 });
  expect(await ann.events()).toMatchObject([
    { eventName: "try", source: "tracking", properties: { plan: "pro" } },
    { eventName: "try", source: "tracking" },
  ]);
  const { log } = await scores.listLog(caller, ann.contact.id, { limit: 10 });
  expect(log.map(({ rule }) => rule?.name).sort()).toEqual([
    "Looked at prices",
    "Looked at prices",
    "Tried",
    "Tried",
  ]);
});

test("an identification repeated after a crash at any point moves each event once", async () => {
  const { newcomer } = await shop();
  const steps = await crashAtSomeSteps(async (crash) => {
    const ann = await newcomer();
    for (let n = 0; n < 3; n++) await ann.act();
    await ann.view();
    await crash(ann.identify);
    await ann.identify();
    expect(await ann.item()).toMatchObject({ "event.try": 3, "event.page_view": 1, score: 65 });
    expect(await ann.events()).toHaveLength(3);
    expect(await ann.waiting()).toEqual([]);
  });
  expect(steps.length).toBeGreaterThan(8);
});

test("the next event completes an identification that crashed", async () => {
  const { newcomer } = await shop();
  await crashAtSomeSteps(async (crash) => {
    const ann = await newcomer();
    await ann.act();
    await crash(ann.identify);
    await ann.act();
    await ann.identify();
    expect(await ann.item()).toMatchObject({ "event.try": 2, score: 40 });
  });
});

test("after a crash at any point, an event is stored once and completely, or not at all", async () => {
  const { newcomer } = await shop();
  await crashAtSomeSteps(async (crash) => {
    const ann = await newcomer();
    await ann.identify();
    await crash(() => ann.act());
    const { score = 0, "event.try": times = 0 } = (await ann.item()) as ContactItem &
      Record<"event.try", number>;
    expect([times, score]).toEqual([(await ann.events()).length, times * 20]);
    expect(times).toBeLessThan(2);
  });
});

test("concurrent events and identifications lose nothing and count nothing twice", async () => {
  const { newcomer } = await shop();
  for (let round = 0; round < 5; round++) {
    const ann = await newcomer();
    const acts = Array.from({ length: 8 }, () => ann.act());
    await Promise.all([...acts, ann.identify(), ann.identify(), ann.identify()]);
    await ann.identify();
    expect(await ann.item()).toMatchObject({ "event.try": 8, score: 160 });
    expect(await ann.events()).toHaveLength(8);
  }
});

test("two contacts that claim a visitor concurrently share its events; none is counted twice", async () => {
  const { newcomer } = await shop();
  const [ann, bob] = [await newcomer(), await newcomer()];
  for (let n = 0; n < 10; n++) await ann.act();
  const contactToken = await bob.token();
  await Promise.all([ann.identify(), ann.identify({ contactToken })]);
  await ann.identify();
  expect((await ann.events()).length + (await bob.events()).length).toBe(10);
});

test("an identification moves more events than fit into one transaction", async () => {
  const { newcomer } = await shop();
  const ann = await newcomer();
  for (let n = 0; n < 60; n++) await ann.act(`step ${n % 40}`);
  await ann.identify();
  expect(await ann.events()).toHaveLength(60);
  expect((await ann.item()).eventNames!.size).toBe(40);
});

test("an anonymous visitor has at most 100 stored events", async () => {
  const { newcomer, orgId, siteId } = await shop();
  const ann = await newcomer();
  await ann.act();
  await write(
    update(keys.visitor(orgId, siteId, ann.visitorId), { set: { kept: maxBufferedVisits - 1 } }),
  );
  for (let n = 0; n < 3; n++) await ann.act();
  expect(await ann.waiting()).toHaveLength(2);
  await ann.identify();
  await ann.act();
  expect(await ann.item()).toMatchObject({ "event.try": 3 });
});

test("an anonymous visitor expires after 30 days, even if TTL has not deleted it yet", async () => {
  const { newcomer } = await shop();
  const ann = await newcomer();
  await ann.act();
  clock.advanceClock(31 * 24 * 3600);
  try {
    await ann.identify();
    expect(await ann.events()).toEqual([]);
    await ann.act();
    expect(await ann.events()).toHaveLength(1);
  } finally {
    clock.advanceClock(-31 * 24 * 3600);
  }
});

describe("a visitor identified by a typed address", () => {
  test("gets no points and starts no sequences, but its events are logged and counted", async () => {
    const { newcomer, sequence } = await shop();
    const started = await sequence({
      triggerType: "custom_event",
      triggerConfig: { eventName: "try" },
    });
    const reached = await sequence({ triggerType: "score_reached", triggerConfig: { score: 20 } });
    const ann = await newcomer();
    await ann.act();
    await ann.identify({ email: ann.contact.email });
    await ann.act();
    await ann.view();
    const item = await ann.item();
    expect(item).toMatchObject({ "event.try": 2, "event.page_view": 1 });
    expect([item.score, item.sequences]).toEqual([undefined, undefined]);
    expect(await ann.events()).toHaveLength(2);
    await ann.identify();
    await ann.act();
    expect(await ann.item()).toMatchObject({
      "event.try": 3,
      score: 20,
      sequences: new Set([started, reached]),
    });
  });

  test("stays proven when it types the address of its own contact, but not of another", async () => {
    const { newcomer } = await shop();
    const [ann, bob] = [await newcomer(), await newcomer()];
    await ann.identify();
    await ann.identify({ email: ann.contact.email });
    await ann.act();
    expect(await ann.item()).toMatchObject({ score: 20 });
    await ann.identify({ email: bob.contact.email });
    await ann.act();
    expect(await bob.item()).toMatchObject({ "event.try": 1 });
    expect((await bob.item()).score).toBeUndefined();
  });

  test("can use at most half of the event names of a contact and of a site", async () => {
    const { newcomer, orgId, siteId, caller } = await shop();
    const ann = await newcomer();
    await write(
      update(keys.eventNameCount(orgId, siteId), { set: { count: eventNames.maxUnproven - 1 } }),
    );
    await ann.identify({ email: ann.contact.email });
    await ann.act("one");
    await ann.act("two");
    expect((await eventNames.listNames(caller, siteId)).names).toEqual(["one"]);
    expect((await ann.item()).eventNames).toEqual(new Set(["one"]));
    expect(await ann.events()).toHaveLength(2);
    await ann.identify();
    await ann.act("two");
    expect((await eventNames.listNames(caller, siteId)).names).toEqual(["one", "two"]);
    const names = new Set(Array.from({ length: maxEventNamesPerContact / 2 }, (_, i) => `e${i}`));
    const bob = await newcomer();
    await write(update(await bob.item(), { add: { eventNames: names } }));
    await bob.identify({ email: bob.contact.email });
    await bob.act("two");
    expect((await bob.item()).eventNames).toEqual(names);
    await bob.identify();
    await bob.act("two");
    expect((await bob.item()).eventNames!.has("two")).toBe(true);
  });
});

test("an event of a proven visitor starts a sequence at most once a day", async () => {
  const { newcomer, sequence, caller } = await shop();
  const id = await sequence({ triggerType: "custom_event", triggerConfig: { eventName: "try" } });
  const ann = await newcomer();
  await ann.identify();
  const actAndLeave = async () => {
    await ann.act();
    return enrollments
      .cancel(caller, id, { contactId: ann.contact.id })
      .then(() => true, undefinedIfMissing);
  };
  expect([await actAndLeave(), await actAndLeave(), await actAndLeave()]).toEqual([
    true,
    undefined,
    undefined,
  ]);
  const day = 24 * 3600 + 1;
  clock.advanceClock(day);
  try {
    expect(await actAndLeave()).toBe(true);
  } finally {
    clock.advanceClock(-day);
  }
});

test("event names of anonymous visitors are not registered", async () => {
  const { newcomer, caller, siteId } = await shop();
  const ann = await newcomer();
  for (const name of ["a", "b", "c"]) await ann.act(name);
  expect((await eventNames.listNames(caller, siteId)).names).toEqual([]);
  await ann.identify();
  expect((await eventNames.listNames(caller, siteId)).names).toEqual(["a", "b", "c"]);
});

test("an address without a contact does not link the visitor", async () => {
  const { newcomer } = await shop();
  const ann = await newcomer();
  await ann.act();
  await ann.identify({ email: "stranger@example.com" });
  await ann.act();
  expect(await ann.waiting()).toHaveLength(2);
  await ann.identify();
  expect(await ann.events()).toHaveLength(2);
  await ann.identify({ email: "stranger@example.com" });
  await ann.act();
  expect(await ann.events()).toHaveLength(3);
});

describe("a contact token", () => {
  test("links the reader of a mail, even after the contact's address has changed", async () => {
    const { newcomer, caller, orgId, siteId } = await shop();
    const ann = await newcomer();
    const { id: contactId, email } = ann.contact;
    const contactToken = (await createTokenMaker("visitor"))({ orgId, siteId, contactId, email });
    await contacts.change(caller, contactId, { email: `new-${email}` });
    await ann.act();
    await ann.identify({ contactToken });
    expect(await ann.events()).toHaveLength(1);
  });

  test("of another site, from an unsubscribe link, or forged does not link the visitor", async () => {
    const { newcomer, orgId, siteId } = await shop();
    const ann = await newcomer();
    const { id: contactId, email } = ann.contact;
    const seal = await createTokenMaker("visitor");
    await ann.act();
    for (const contactToken of [
      seal({ orgId, siteId: siteId + 1, contactId, email }),
      seal({ orgId: orgId + 1, siteId, contactId, email }),
      (await createTokenMaker("unsubscribe"))({ orgId, siteId, contactId, email }),
      "x".repeat(80),
    ])
      await ann.identify({ contactToken });
    expect(await ann.events()).toEqual([]);
  });
});

test("a visitor whose contact was deleted is anonymous again", async () => {
  const { newcomer, caller } = await shop();
  const ann = await newcomer();
  await ann.identify();
  await contacts.remove(caller, ann.contact.id);
  await ann.act();
  expect(await ann.waiting()).toHaveLength(1);
});

test("tracking finds each existing site", async () => {
  const { caller, siteId, orgId } = await shop();
  expect(await tracking.findOrganizationId(siteId)).toBe(orgId);
  await removeSite(caller, siteId);
  await expect(tracking.findOrganizationId(siteId)).rejects.toMatchObject({ kind: "missing" });
});

test("one client address can send 60 events a minute; the 429 response is readable across origins", async () => {
  const { siteId } = await shop();
  const track = (address: string) =>
    invokeRoute(group, "POST /tracking/event", {
      address,
      body: {
        siteId,
        visitorId: "visitor-of-limits",
        type: "page_view",
        url: "https://shop.example/",
      },
    });
  const statuses: number[] = [];
  nextMinute();
  for (let n = 0; n < 60; n++) statuses.push((await track("198.51.100.7")).status);
  expect(new Set(statuses)).toEqual(new Set([202]));
  const refused = await track("198.51.100.7");
  expect(refused).toMatchObject({ status: 429, body: { code: "rate_limited" } });
  expect(refused.headers).toMatchObject({
    "access-control-allow-origin": "*",
    "retry-after": expect.any(String),
  });
  expect((await track("198.51.100.8")).status).toBe(202);
});
