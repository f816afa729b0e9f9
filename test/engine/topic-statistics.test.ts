// Statistics of topics: their counters always agree with the contacts.
import { expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import * as clock from "../../shared/clock.ts";
import { getTopicStatistics } from "../../shared/domain/analytics/topic-statistics.ts";
import * as bulk from "../../shared/domain/audience/contacts/bulk-upsert.ts";
import * as pages from "../../shared/domain/audience/contacts/contact-listing.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as contactTopics from "../../shared/domain/audience/topics/contact-topics.ts";
import { NewTopic } from "../../shared/domain/audience/topics/topic-schema.ts";
import * as topics from "../../shared/domain/audience/topics/topics.ts";
import { createContact, createTestSite } from "../support/contacts.ts";

/** A site with an opt-out topic, News, and an opt-in topic, Offers. */
async function createShop() {
  const shop = await createTestSite();
  const { caller, siteId } = shop;
  const create = (name: string, defaultSubscription: NewTopic["defaultSubscription"]) =>
    topics.create(caller, NewTopic.parse({ siteId, name, defaultSubscription }));
  const news = await create("News", "subscribed");
  const offers = await create("Offers", "unsubscribed");
  const join = [news, offers].map(({ id }) => ({ id, subscribed: true }));
  const leave = join.map(({ id }) => ({ id, subscribed: false }));
  const choose = (id: number, choices: typeof join) =>
    contactTopics.change(caller, id, { choices, consent: { source: "api" } });
  const read = (interval: "day" | "week" = "day") =>
    getTopicStatistics(caller, { siteId, period: "7d", interval });
  /** The subscribers of each topic, after they were compared with the contacts. */
  const subscribers = async () => {
    const { topics: found } = await read();
    const { items } = await pages.list(caller, { limit: 100 }, { siteId });
    for (const { id, subscribers: counted } of found) {
      const isIn = ({ topics: states }: (typeof items)[number]) =>
        states.some((state) => state.id === id && state.subscribed);
      expect(counted).toBe(items.filter(isIn).length);
    }
    return found.map((topic) => topic.subscribers);
  };
  const left = async () => (await read()).topics.map((topic) => topic.left);
  return { shop, caller, siteId, join, leave, choose, read, subscribers, left };
}

test("subscribers follow every way to join and leave, and the end of a contact", async () => {
  const { shop, caller, join, leave, choose, subscribers, left } = await createShop();
  const ann = await createContact(shop, "ann@example.com");
  const bob = await createContact(shop, "bob@example.com", { topics: [leave[0]!, join[1]!] });
  expect(await subscribers()).toEqual([1, 1]);
  await contacts.change(caller, ann.id, { topics: join });
  expect(await subscribers()).toEqual([2 - 1, 2]);
  await contacts.change(caller, ann.id, { email: "ann.new@example.com", topics: leave });
  expect(await subscribers()).toEqual([0, 1]);
  for (let run = 0; run < 2; run++) await choose(ann.id, join);
  expect(await subscribers()).toEqual([1, 2]);
  const rows = Array.from({ length: 40 }, (_, i) => ({
    email: `p${i}@example.com`,
    topics: i % 2 ? leave : join,
  }));
  await bulk.save(shop, rows, {});
  await bulk.save(shop, [{ email: "bob@example.com", topics: leave }], {});
  expect(await subscribers()).toEqual([21, 21]);
  await contacts.remove(caller, ann.id);
  await contacts.remove(caller, bob.id);
  expect(await subscribers()).toEqual([20, 20]);
  expect(await left()).toEqual([1 + 1 + 20, 1 + 1]);
});

test("contacts who leave are counted on the day, by day and by week", async () => {
  const { shop, join, leave, choose, read } = await createShop();
  const { id } = await createContact(shop, "ann@example.com");
  await choose(id, leave);
  clock.advanceClock(24 * 3600);
  await choose(id, join);
  await choose(id, leave);
  const { topics: found, from, to } = await read();
  const [news, offers] = found;
  expect(news!.series).toHaveLength(7);
  expect([news!.series[0]!.from, news!.series.at(-1)!.to]).toEqual([from, to]);
  expect(news!.series.slice(-2).map((point) => point.left)).toEqual([1, 1]);
  expect([news!.left, offers!.left]).toEqual([2, 1]);
  const weeks = (await read("week")).topics[0]!.series;
  expect(weeks.length).toBeLessThanOrEqual(2);
  expect(weeks.reduce((sum, point) => sum + point.left, 0)).toBe(2);
  clock.advanceClock(8 * 24 * 3600);
  expect((await read()).topics[0]!.left).toBe(0);
});

test("statistics count without reading contacts, and a choice costs one more write", async () => {
  const { shop, leave, choose, read } = await createShop();
  const rows = Array.from({ length: 100 }, (_, i) => ({ email: `p${i}@example.com` }));
  const { results } = await bulk.save(shop, rows, {});
  const { usage } = await measureUnits(() => choose(results[0]!.id!, leave));
  // The contact, the log of consent, the departures and the counters, in one transaction.
  expect(usage.writeUnits).toBeLessThanOrEqual(4 * 2);
  const { usage: reading } = await measureUnits(() => read());
  expect(reading.readUnits).toBeLessThan(10);
});
