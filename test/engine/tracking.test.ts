import { describe, expect, test } from "vitest";
import { tracking as group } from "../../functions/http/tracking.ts";
import * as clock from "../../shared/clock.ts";
import type { ContactItem } from "../../shared/domain/contacts/contact.ts";
import * as scores from "../../shared/domain/contacts/scores.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import * as custom from "../../shared/domain/custom-events.ts";
import * as rules from "../../shared/domain/scoring-rules.ts";
import * as sites from "../../shared/domain/sites.ts";
import { tokens } from "../../shared/domain/tracking/visitor-tokens.ts";
import { mostKept } from "../../shared/domain/tracking/visitors.ts";
import * as tracking from "../../shared/domain/tracking.ts";
import * as unsubscribeTokens from "../../shared/domain/unsubscribe-tokens.ts";
import { queryAll, remove, update, write } from "../../shared/doors/table.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { audience, create } from "../support/audience.ts";
import { ask } from "../support/events.ts";
import { armed, atSomeSteps } from "../support/killer.ts";

armed();

let people = 0;
async function shop() {
  const who = await audience();
  const made = (given: object) => rules.create(who.caller, rules.NewScoringRule.parse({ siteId: who.siteId, ...given }));
  await made({ name: "Looked at prices", trigger: "page_view", match: { url: "/Pricing" }, points: 5 });
  await made({ name: "Tried", trigger: "custom_event", match: { eventName: "try" }, points: 20 });
  const newcomer = async () => {
    const contact = await create(who, `p${++people}@example.com`);
    const visitorId = `visitor-${people}`;
    const view = (path = "/pricing") =>
      tracking.track(tracking.TrackedEvent.parse({ siteId: who.siteId, visitorId, type: "page_view", url: `https://shop.example${path}` }));
    const act = (name = "try") =>
      tracking.track(tracking.TrackedEvent.parse({ siteId: who.siteId, visitorId, type: "custom", name, properties: { plan: "pro" } }));
    const identify = (given: object = { email: contact.email }) =>
      tracking.identify(tracking.Identification.parse({ siteId: who.siteId, visitorId, ...given }));
    const item = (): Promise<ContactItem> => contacts.item(who.caller, contact.id);
    const events = async () => (await custom.list(who.caller, { contactId: contact.id, limit: 100 })).items;
    const waiting = () => queryAll(ranges.visits(who.orgId, who.siteId, visitorId), { consistent: true });
    return { contact, visitorId, view, act, identify, item, events, waiting };
  };
  return { ...who, newcomer };
}

test("what a visitor did before it was known becomes the contact's, and what comes then is the contact's at once", async () => {
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
  const { log } = await scores.log(caller, ann.contact.id, { limit: 10 });
  expect(log.map(({ rule }) => rule?.name).sort()).toEqual(["Looked at prices", "Looked at prices", "Tried", "Tried"]);
});

test("identification dead at any step and made again moves everything once", async () => {
  const { newcomer } = await shop();
  const steps = await atSomeSteps(3, async (kill) => {
    const ann = await newcomer();
    for (let n = 0; n < 3; n++) await ann.act();
    await ann.view();
    await kill(ann.identify);
    await ann.identify();
    expect(await ann.item()).toMatchObject({ "event.try": 3, "event.page_view": 1, score: 65 });
    expect(await ann.events()).toHaveLength(3);
    expect(await ann.waiting()).toEqual([]);
  });
  expect(steps.length).toBeGreaterThan(8);
});

test("the next event finishes an identification that died on its way", async () => {
  const { newcomer } = await shop();
  await atSomeSteps(3, async (kill) => {
    const ann = await newcomer();
    await ann.act();
    await kill(ann.identify);
    await ann.act();
    await ann.identify();
    expect(await ann.item()).toMatchObject({ "event.try": 2, score: 40 });
  });
});

test("an event dead at any step is there once or not at all, whole each time", async () => {
  const { newcomer } = await shop();
  await atSomeSteps(3, async (kill) => {
    const ann = await newcomer();
    await ann.identify();
    await kill(() => ann.act());
    const { score = 0, "event.try": times = 0 } = (await ann.item()) as ContactItem & Record<"event.try", number>;
    expect([times, score]).toEqual([(await ann.events()).length, times * 20]);
    expect(times).toBeLessThan(2);
  });
});

test("events and identifications that race lose nothing and count nothing twice", async () => {
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

test("two people who claim a visitor at once share what it did: nothing is counted for both", async () => {
  const { newcomer } = await shop();
  const [ann, bob] = [await newcomer(), await newcomer()];
  for (let n = 0; n < 10; n++) await ann.act();
  await Promise.all([ann.identify(), ann.identify({ email: bob.contact.email })]);
  await ann.identify();
  expect((await ann.events()).length + (await bob.events()).length).toBe(10);
});

test("more is moved than a transaction holds", async () => {
  const { newcomer } = await shop();
  const ann = await newcomer();
  for (let n = 0; n < 60; n++) await ann.act(`step ${n % 40}`);
  await ann.identify();
  expect(await ann.events()).toHaveLength(60);
  expect((await ann.item()).eventNames!.size).toBe(40);
});

test("of an unknown visitor 100 things are kept", async () => {
  const { newcomer, orgId, siteId } = await shop();
  const ann = await newcomer();
  await ann.act();
  await write(update(keys.visitor(orgId, siteId, ann.visitorId), { set: { kept: mostKept - 1 } }));
  for (let n = 0; n < 3; n++) await ann.act();
  expect(await ann.waiting()).toHaveLength(2);
  await ann.identify();
  await ann.act();
  expect(await ann.item()).toMatchObject({ "event.try": 3 });
});

test("after 30 days an unknown visitor is forgotten, though TTL has not come by", async () => {
  const { newcomer } = await shop();
  const ann = await newcomer();
  await ann.act();
  clock.advance(31 * 24 * 3600);
  try {
    await ann.identify();
    expect(await ann.events()).toEqual([]);
    await ann.act();
    expect(await ann.events()).toHaveLength(1);
  } finally {
    clock.advance(-31 * 24 * 3600);
  }
});

test("an address nobody has links the visitor to nobody", async () => {
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
  test("links the reader of a mail, under whatever address by now", async () => {
    const { newcomer, caller, orgId, siteId } = await shop();
    const ann = await newcomer();
    const { id: contactId, email } = ann.contact;
    const contactToken = (await tokens())({ orgId, siteId, contactId, email });
    await contacts.change(caller, contactId, { email: `new-${email}` });
    await ann.act();
    await ann.identify({ contactToken });
    expect(await ann.events()).toHaveLength(1);
  });

  test("of another site, of an unsubscribe link, or made up, links nobody", async () => {
    const { newcomer, orgId, siteId } = await shop();
    const ann = await newcomer();
    const { id: contactId, email } = ann.contact;
    const seal = await tokens();
    await ann.act();
    for (const contactToken of [
      seal({ orgId, siteId: siteId + 1, contactId, email }),
      seal({ orgId: orgId + 1, siteId, contactId, email }),
      (await unsubscribeTokens.tokens())({ orgId, siteId, contactId, email }),
      "x".repeat(80),
    ])
      await ann.identify({ contactToken });
    expect(await ann.events()).toEqual([]);
  });
});

test("a visitor whose contact was deleted is unknown again", async () => {
  const { newcomer, caller } = await shop();
  const ann = await newcomer();
  await ann.identify();
  await contacts.remove(caller, ann.contact.id);
  await ann.act();
  expect(await ann.waiting()).toHaveLength(1);
});

test("a site is found from outside as long as it is there, also one made before there was tracking", async () => {
  const { caller, siteId, orgId } = await shop();
  expect(await tracking.organizationOf(siteId)).toBe(orgId);
  await write(remove(keys.trackingSite(siteId)));
  await write(update(keys.record(orgId, "SITE", siteId), { remove: ["tracked"] }));
  await expect(tracking.organizationOf(siteId)).rejects.toMatchObject({ kind: "missing" });
  await sites.find(caller, siteId);
  expect(await tracking.organizationOf(siteId)).toBe(orgId);
  await sites.remove(caller, siteId);
  await expect(tracking.organizationOf(siteId)).rejects.toMatchObject({ kind: "missing" });
});

test("one client address may tell 60 things a minute, and a page can read why no more is taken", async () => {
  const { siteId } = await shop();
  const tell = (address: string) =>
    ask(group, "POST /tracking/event", {
      address,
      body: { siteId, visitorId: "visitor-of-limits", type: "page_view", url: "https://shop.example/" },
    });
  const statuses: number[] = [];
  for (let n = 0; n < 60; n++) statuses.push((await tell("198.51.100.7")).status);
  expect(new Set(statuses)).toEqual(new Set([202]));
  const refused = await tell("198.51.100.7");
  expect(refused).toMatchObject({ status: 429, body: { code: "rate_limited" } });
  expect(refused.headers).toMatchObject({ "access-control-allow-origin": "*", "retry-after": expect.any(String) });
  expect((await tell("198.51.100.8")).status).toBe(202);
});
