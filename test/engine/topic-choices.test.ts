// Topics as a field of contacts: single requests choose for the contact, and bulk requests
// subscribe nobody again who left a topic.
import { expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import * as bulk from "../../shared/domain/audience/contacts/bulk-upsert.ts";
import * as pages from "../../shared/domain/audience/contacts/contact-listing.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import type { UpsertOptions } from "../../shared/domain/audience/contacts/upserts.ts";
import * as contactTopics from "../../shared/domain/audience/topics/contact-topics.ts";
import type { TopicChoice } from "../../shared/domain/audience/topics/topic-choice-schemas.ts";
import { NewTopic } from "../../shared/domain/audience/topics/topic-schema.ts";
import * as topics from "../../shared/domain/audience/topics/topics.ts";
import { createContact, createTestSite, type TestSite } from "../support/contacts.ts";

const email = "ann@example.com";

/** A site with an opt-out topic, News, and an opt-in topic, Offers. */
async function createShop() {
  const shop = await createTestSite();
  const create = (name: string, defaultSubscription: NewTopic["defaultSubscription"]) =>
    topics.create(shop.caller, NewTopic.parse({ siteId: shop.siteId, name, defaultSubscription }));
  const news = await create("News", "subscribed");
  const offers = await create("Offers", "unsubscribed");
  const join = [news, offers].map(({ id }) => ({ id, subscribed: true }));
  const leave = join.map(({ id }) => ({ id, subscribed: false }));
  const save = (choices: TopicChoice[], options: UpsertOptions = {}) =>
    bulk.save(shop, [{ email, topics: choices }], options);
  return { shop, news, offers, join, leave, save };
}

/** The topics of the contact, such as `News: left`. */
async function statesOf({ caller }: TestSite, id: number): Promise<string[]> {
  const { topics: states } = await contacts.find(caller, id);
  return states.map(({ name, subscribed, left }) => {
    if (subscribed) return `${name}: subscribed`;
    return `${name}: ${left ? "left" : "not chosen"}`;
  });
}

const readLog = async ({ caller }: TestSite, id: number) =>
  (await contactTopics.find(caller, id, { limit: 50 })).log.map(({ source, topics: entries }) => [
    source,
    ...entries.map(({ name, subscribed }) => `${subscribed ? "joins" : "leaves"} ${name}`),
  ]);

test("a contact is created with its choices, and the choices are logged", async () => {
  const { shop, join, leave } = await createShop();
  const { id } = await createContact(shop, email, { topics: [leave[0]!, join[1]!] });
  expect(await statesOf(shop, id)).toEqual(["News: left", "Offers: subscribed"]);
  expect(await readLog(shop, id)).toEqual([["api", "leaves News", "joins Offers"]]);
  const plain = await createContact(shop, "bob@example.com");
  expect(await statesOf(shop, plain.id)).toEqual(["News: subscribed", "Offers: not chosen"]);
  expect(await readLog(shop, plain.id)).toEqual([]);
});

test("a contact that declined an opt-in topic has left it", async () => {
  const { shop, leave, save } = await createShop();
  const { id } = await createContact(shop, email, { topics: [leave[1]!] });
  expect(await statesOf(shop, id)).toEqual(["News: subscribed", "Offers: left"]);
  await save([{ ...leave[1]!, subscribed: true }]);
  expect(await statesOf(shop, id)).toEqual(["News: subscribed", "Offers: left"]);
});

test("an unknown topic and a repeated one are refused, and create nothing", async () => {
  const { shop, join } = await createShop();
  const strange = [{ id: 999_999_999, subscribed: true }];
  const repeated = [join[0]!, join[0]!];
  for (const choices of [strange, repeated])
    await expect(createContact(shop, email, { topics: choices })).rejects.toMatchObject({
      kind: "invalid",
      details: [{ path: `topics.${choices.length - 1}.id` }],
    });
  const { results } = await bulk.save(
    shop,
    [
      { email, topics: strange },
      { email: "bob@example.com", topics: repeated },
      { email: "cleo@example.com", topics: join },
    ],
    {},
  );
  expect(results.map(({ outcome, error }) => [outcome, error])).toEqual([
    ["failed", "topics: Topic 999999999 is not a topic of the contact's site"],
    ["failed", `topics: Topic ${join[0]!.id} occurs twice`],
    ["created", null],
  ]);
});

test("an update joins and leaves topics, and logs only what changes", async () => {
  const { shop, join, leave } = await createShop();
  const { id } = await createContact(shop, email);
  await contacts.change(shop.caller, id, { firstName: "Ann", topics: leave });
  expect(await statesOf(shop, id)).toEqual(["News: left", "Offers: left"]);
  await contacts.change(shop.caller, id, { topics: leave });
  const changed = await contacts.change(shop.caller, id, { topics: [join[0]!] });
  expect(changed.firstName).toBe("Ann");
  expect(await statesOf(shop, id)).toEqual(["News: subscribed", "Offers: left"]);
  expect(await readLog(shop, id)).toEqual([
    ["api", "joins News"],
    ["api", "leaves News"],
  ]);
});

test("a bulk request subscribes nobody again who left a topic, without resubscribe", async () => {
  const { shop, join, leave, save } = await createShop();
  const { id } = await createContact(shop, email, { topics: join });
  await contacts.change(shop.caller, id, { topics: leave });
  expect(await save(join)).toMatchObject({ updated: 1 });
  expect(await statesOf(shop, id)).toEqual(["News: left", "Offers: left"]);
  await save(join, { resubscribe: true });
  expect(await statesOf(shop, id)).toEqual(["News: subscribed", "Offers: subscribed"]);
  await save(leave);
  expect(await statesOf(shop, id)).toEqual(["News: left", "Offers: left"]);
});

test("a bulk request joins a topic that the contact did not choose about", async () => {
  const { shop, join, save } = await createShop();
  const { id } = await createContact(shop, email);
  await save(join);
  expect(await statesOf(shop, id)).toEqual(["News: subscribed", "Offers: subscribed"]);
  await save(join);
  expect(await readLog(shop, id)).toEqual([["api", "joins Offers"]]);
});

test("rows of one address apply in order: a later row joins no topic that was left", async () => {
  const { shop, join, leave } = await createShop();
  const rows = [[join[1]!], leave, join].map((choices) => ({ email, topics: choices }));
  const { results } = await bulk.save(shop, rows, {});
  expect(await statesOf(shop, results[0]!.id!)).toEqual(["News: left", "Offers: left"]);
  await bulk.save(shop, rows, { resubscribe: true });
  expect(await statesOf(shop, results[0]!.id!)).toEqual(["News: subscribed", "Offers: subscribed"]);
});

test("100 rows with choices are stored in one request", async () => {
  const { shop, leave } = await createShop();
  const rows = Array.from({ length: 100 }, (_, i) => ({
    email: `p${i}@example.com`,
    tags: ["all"],
    topics: leave,
  }));
  expect(await bulk.save(shop, rows, {})).toMatchObject({ created: 100, failed: 0 });
  const { items } = await pages.list(shop.caller, { limit: 100 }, { siteId: shop.siteId });
  expect(items.filter(({ topics: states }) => states.every(({ left }) => left))).toHaveLength(100);
});

test("a list of 50 contacts of a site with 50 topics costs less than 40 read units", async () => {
  const { shop, leave } = await createShop();
  for (let i = 0; i < 48; i++)
    await topics.create(
      shop.caller,
      NewTopic.parse({ siteId: shop.siteId, name: `Topic ${i}`, description: "x".repeat(100) }),
    );
  const rows = Array.from({ length: 50 }, (_, i) => ({
    email: `p${i}@example.com`,
    topics: leave,
  }));
  await bulk.save(shop, rows, {});
  const { usage, result } = await measureUnits(() =>
    pages.list(shop.caller, { limit: 50 }, { siteId: shop.siteId }),
  );
  expect(result.items.map(({ topics: states }) => states.length)).toEqual(Array(50).fill(50));
  expect(usage.readUnits).toBeLessThan(40);
});
