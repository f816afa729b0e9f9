import { describe, expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { put, update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { maxEventNamesPerContact } from "../../shared/domain/audience/contacts/segment-attributes.ts";
import * as scores from "../../shared/domain/audience/scoring/lead-scores.ts";
import * as rules from "../../shared/domain/audience/scoring/scoring-rules.ts";
import * as customEventListing from "../../shared/domain/audience/tracking/custom-event-listing.ts";
import * as eventNames from "../../shared/domain/audience/tracking/custom-event-names.ts";
import * as custom from "../../shared/domain/audience/tracking/custom-events.ts";
import * as recordCustomEvents from "../../shared/domain/audience/tracking/record-custom-events.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { type ReservedIds, withReservedIds } from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import { createContact, createTestSite, type TestSite } from "../support/contacts.ts";
import { crashAtSomeSteps, interceptClients } from "../support/crash-injection.ts";

interceptClients();

const event = (given: object) =>
  custom.NewCustomEvent.parse({ eventName: "order_placed", ...given });
const rule = (site: TestSite, given: object = {}) =>
  rules.create(
    site.caller,
    rules.NewScoringRule.parse({
      siteId: site.siteId,
      name: "Ordered",
      trigger: "custom_event",
      points: 10,
      ...given,
    }),
  );
const page = (more: object = {}) => ({ limit: 50, ...more });
const listed = async (site: TestSite, more: object = {}) =>
  (await customEventListing.list(site.caller, page(more))).items;

async function buyer() {
  const site = await createTestSite();
  const contact = await createContact(site, "ann@example.com");
  const item = (): Promise<ContactItem> => contacts.findItem(site.caller, contact.id);
  return { ...site, contact, item };
}

test("an event that starts nothing costs 5 write units, and 6 with an id", async () => {
  const site = await buyer();
  const record = (more: object = {}) =>
    recordCustomEvents.create(site.caller, event({ email: "ann@example.com", ...more }));
  await record();
  const plain = await measureUnits(() => record({ properties: { total: 49.9 } }));
  expect(plain.usage.writeUnits).toBe(5);
  const withId = await measureUnits(() => record({ id: "order-1041" }));
  expect(withId.usage.writeUnits).toBe(6);
});

test("an event is counted on its contact, scored and listed", async () => {
  const site = await buyer();
  await rule(site);
  const made = await recordCustomEvents.create(
    site.caller,
    event({ email: "ANN@example.com", properties: { total: 49.9, items: [{ id: 1 }] } }),
  );
  expect(made).toMatchObject({
    contactId: site.contact.id,
    siteId: site.siteId,
    properties: { total: 49.9, items: [{ id: 1 }] },
    source: "api",
  });
  expect(await site.item()).toMatchObject({
    "event.order_placed": 1,
    eventNames: new Set(["order_placed"]),
    score: 10,
  });
  expect(await listed(site)).toEqual([made]);
  expect((await eventNames.listNames(site.caller, undefined)).names).toEqual(["order_placed"]);
});

test("a request repeated after a crash at any point stores, counts and scores one event", async () => {
  const site = await buyer();
  await Promise.all([rule(site), rule(site, { name: "Ordered again", points: -3 })]);
  let runs = 0;
  const steps = await crashAtSomeSteps(async (crash) => {
    const memory: ReservedIds = { key: keys.idempotency(site.orgId, `key ${++runs}`), taken: {} };
    await write(put(memory.key, {}));
    const request = () =>
      withReservedIds(memory, () =>
        recordCustomEvents.create(site.caller, event({ contactId: site.contact.id })),
      );
    await crash(request);
    await request();
    await request();
    expect(await site.item()).toMatchObject({
      "event.order_placed": runs,
      customEvents: runs,
      score: 7 * runs,
    });
    expect(await listed(site)).toHaveLength(runs);
  });
  expect(steps.length).toBeGreaterThan(8);
  expect((await scores.listLog(site.caller, site.contact.id, { limit: 100 })).log).toHaveLength(
    2 * runs,
  );
});

test("concurrent events of one contact are all counted", async () => {
  const site = await buyer();
  await rule(site);
  await Promise.all(
    Array.from({ length: 12 }, () =>
      recordCustomEvents.create(site.caller, event({ contactId: site.contact.id })),
    ),
  );
  expect(await site.item()).toMatchObject({ "event.order_placed": 12, score: 120 });
});

test("a contact counts 200 event names; events with further names are stored but not counted", async () => {
  const site = await buyer();
  const names = new Set(Array.from({ length: maxEventNamesPerContact - 1 }, (_, i) => `e${i}`));
  await write(update(await site.item(), { add: { eventNames: names } }));
  for (const eventName of ["last", "one too many", "e5"])
    await recordCustomEvents.create(site.caller, event({ contactId: site.contact.id, eventName }));
  const item = await site.item();
  expect(item.eventNames!.size).toBe(maxEventNamesPerContact);
  expect(item).toMatchObject({ "event.last": 1, "event.e5": 1 });
  expect(item).not.toHaveProperty(["event.one too many"]);
  expect(await listed(site, { eventName: "one too many" })).toHaveLength(1);
});

test("a site has at most 1,000 event names", async () => {
  const site = await buyer();
  await write(
    update(keys.eventNameCount(site.orgId, site.siteId), {
      set: { count: eventNames.maxEventNamesPerSite - 1 },
    }),
  );
  const record = (eventName: string) =>
    recordCustomEvents.create(site.caller, event({ contactId: site.contact.id, eventName }));
  await record("last");
  await expect(record("one more")).rejects.toMatchObject({
    kind: "invalid",
    details: [{ path: "eventName" }],
  });
  await record("last");
  expect(await listed(site)).toHaveLength(2);
});

test("a deleted name makes room for another, and the next event registers it again", async () => {
  const site = await buyer();
  const record = (eventName: string) =>
    recordCustomEvents.create(site.caller, event({ contactId: site.contact.id, eventName }));
  for (const name of ["kept", "gone"]) await record(name);
  await write(
    update(keys.eventNameCount(site.orgId, site.siteId), {
      set: { count: eventNames.maxEventNamesPerSite },
    }),
  );
  await expect(record("more")).rejects.toMatchObject({ kind: "invalid" });
  await eventNames.remove(site.caller, undefined, "gone");
  await expect(eventNames.remove(site.caller, undefined, "gone")).rejects.toMatchObject({
    kind: "missing",
  });
  expect((await eventNames.listNames(site.caller, undefined)).names).toEqual(["kept"]);
  expect(await site.item()).toMatchObject({ "event.gone": 1 });
  await record("gone");
  expect((await eventNames.listNames(site.caller, undefined)).names).toEqual(["gone", "kept"]);
  await expect(record("more")).rejects.toMatchObject({ kind: "invalid" });
});

test("names are listed with their last use", async () => {
  const site = await buyer();
  const record = (eventName: string) =>
    recordCustomEvents.create(site.caller, event({ contactId: site.contact.id, eventName }));
  for (const name of ["often", "once"]) await record(name);
  const usesOf = async () => (await eventNames.listNames(site.caller, undefined)).uses;
  const before = await usesOf();
  expect(before).toMatchObject([
    { name: "often", siteId: site.siteId, lastUsedAt: expect.stringMatching(/Z$/) },
    { name: "once" },
  ]);
  clock.advanceClock(3600);
  try {
    await record("often");
    const [often, once] = await usesOf();
    expect(often!.lastUsedAt! > before[0]!.lastUsedAt!).toBe(true);
    expect(once).toEqual(before[1]);
  } finally {
    clock.advanceClock(-3600);
  }
});

test("an event creates no contact", async () => {
  const site = await buyer();
  await expect(
    recordCustomEvents.create(site.caller, event({ email: "bob@example.com" })),
  ).rejects.toMatchObject({ kind: "missing" });
  await expect(
    recordCustomEvents.create(site.caller, event({ contactId: 1 })),
  ).rejects.toMatchObject({
    kind: "missing",
  });
  expect((await eventNames.listNames(site.caller, undefined)).names).toEqual([]);
});

test("the events of a deleted contact are deleted", async () => {
  const site = await buyer();
  await recordCustomEvents.create(site.caller, event({ contactId: site.contact.id }));
  await contacts.remove(site.caller, site.contact.id);
  expect(await listed(site)).toEqual([]);
});

describe("the list of events", () => {
  async function busy() {
    const site = await buyer();
    const other = await createContact(site, "bob@example.com");
    for (let n = 0; n < 9; n++)
      await recordCustomEvents.create(
        site.caller,
        event({
          contactId: n % 3 ? other.id : site.contact.id,
          eventName: n % 2 ? "odd" : "even",
          properties: { n },
        }),
      );
    return { ...site, other };
  }
  const numbers = (items: custom.CustomEvent[]) => items.map(({ properties }) => properties.n);

  test("is newest first and can be limited to a contact, a name or both", async () => {
    const site = await busy();
    expect(numbers(await listed(site))).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0]);
    expect(numbers(await listed(site, { contactId: site.contact.id }))).toEqual([6, 3, 0]);
    expect(numbers(await listed(site, { eventName: "odd" }))).toEqual([7, 5, 3, 1]);
    expect(numbers(await listed(site, { eventName: "odd", contactId: site.other.id }))).toEqual([
      7, 5, 1,
    ]);
  });

  test.each(["everyone", "one contact"])(
    "shows every event once, by cursor and by page: %s",
    async (of) => {
      const site = await busy();
      const filter = of === "everyone" ? {} : { contactId: site.other.id };
      const all = numbers(await listed(site, filter));
      const byCursor: unknown[] = [];
      const byPage: unknown[] = [];
      let cursor: string | undefined;
      do {
        const { items, pagination } = await customEventListing.list(site.caller, {
          ...filter,
          limit: 2,
          cursor,
        });
        byCursor.push(...numbers(items));
        cursor = pagination.nextCursor ?? undefined;
      } while (cursor);
      for (let number = 1; number <= 5; number++)
        byPage.push(
          ...numbers(
            (await customEventListing.list(site.caller, { ...filter, limit: 2, page: number }))
              .items,
          ),
        );
      expect(byCursor).toEqual(all);
      expect(byPage).toEqual(all);
    },
  );

  const totalOf = async (site: TestSite, filter: object = {}) =>
    (await customEventListing.list(site.caller, page({ limit: 2, ...filter }))).pagination.total;

  test("has an exact total for a contact, and no total for a site or a name", async () => {
    const site = await busy();
    const blog = await sites.create(site.caller, sites.NewSite.parse({ name: "Blog" }));
    expect(await totalOf(site, { contactId: site.contact.id })).toBe(3);
    expect(await totalOf(site, { contactId: site.other.id, siteId: site.siteId })).toBe(6);
    expect(await totalOf(site, { contactId: site.other.id, siteId: blog.id })).toBe(0);
    expect(await totalOf(site, { contactId: site.other.id, eventName: "odd" })).toBeNull();
    expect(await totalOf(site)).toBeNull();
    const silent = await createContact(site, "silent@example.com");
    expect(await totalOf(site, { contactId: silent.id })).toBe(0);
  });

  test("a bound key reads and records events of its own site only", async () => {
    const site = await buyer();
    const blog = await sites.create(site.caller, sites.NewSite.parse({ name: "Blog" }));
    await recordCustomEvents.create(site.caller, event({ contactId: site.contact.id }));
    const bound = { ...site.caller, siteIds: [blog.id] };
    expect((await customEventListing.list(bound, page())).items).toEqual([]);
    expect(await eventNames.listNames(bound, undefined)).toEqual({ names: [], uses: [] });
    await expect(
      recordCustomEvents.create(bound, event({ contactId: site.contact.id })),
    ).rejects.toMatchObject({
      code: "site_forbidden",
    });
    await expect(
      customEventListing.list(bound, page({ contactId: site.contact.id })),
    ).rejects.toMatchObject({
      code: "site_forbidden",
    });
  });

  test("a cursor of another list is rejected", async () => {
    const site = await busy();
    const { pagination } = await customEventListing.list(site.caller, page({ limit: 1 }));
    const rejected = customEventListing.list(
      site.caller,
      page({ contactId: site.contact.id, cursor: pagination.nextCursor }),
    );
    await expect(rejected).rejects.toMatchObject({ kind: "invalid" });
  });
});

describe("events with an own id, a time and an address", () => {
  const record = (site: TestSite, given: object) =>
    recordCustomEvents.create(site.caller, event(given));
  const daysAgo = (days: number) =>
    new Date(clock.now().getTime() - days * 86_400_000).toISOString();

  test("an id counts once, whatever the repetition says, and gets the same answer", async () => {
    const site = await buyer();
    await rule(site);
    const bob = await createContact(site, "bob@example.com");
    const first = await record(site, { contactId: site.contact.id, id: "order-1" });
    const again = await record(site, {
      contactId: bob.id,
      id: "order-1",
      occurredAt: daysAgo(2),
      properties: { other: true },
    });
    expect(again).toEqual(first);
    expect(await site.item()).toMatchObject({ "event.order_placed": 1, score: 10 });
    expect(await listed(site)).toEqual([first]);
    const other = await record(site, { contactId: site.contact.id, id: "order-2" });
    expect(other.id).not.toBe(first.id);
  });

  test("concurrent requests with one id record one event", async () => {
    const site = await buyer();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => record(site, { email: "ann@example.com", id: "order-1" })),
    );
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(await site.item()).toMatchObject({ "event.order_placed": 1, customEvents: 1 });
  });

  test("a request repeated after a crash at any point records its id once", async () => {
    const site = await buyer();
    await rule(site);
    let runs = 0;
    const steps = await crashAtSomeSteps(async (crash) => {
      const given = {
        email: `new${++runs}@example.com`,
        createContact: true,
        id: `order ${runs}`,
      };
      await crash(() => record(site, given));
      const answer = await record(site, given);
      expect(await record(site, given)).toEqual(answer);
      expect(await contacts.findItem(site.caller, answer.contactId)).toMatchObject({
        email: given.email,
        status: "pending",
        "event.order_placed": 1,
        customEvents: 1,
        score: 10,
      });
      expect(await listed(site)).toHaveLength(runs);
    });
    expect(steps.length).toBeGreaterThan(8);
  });

  test("an id is free again after 30 days, and when its contact was deleted", async () => {
    const site = await buyer();
    const first = await record(site, { contactId: site.contact.id, id: "order-1" });
    await contacts.remove(site.caller, site.contact.id);
    const ann = await createContact(site, "ann@example.com");
    const second = await record(site, { contactId: ann.id, id: "order-1" });
    expect(second.id).not.toBe(first.id);
    clock.advanceClock(31 * 86_400);
    try {
      const third = await record(site, { contactId: ann.id, id: "order-1" });
      expect(third.id).not.toBe(second.id);
    } finally {
      clock.advanceClock(-31 * 86_400);
    }
  });

  test("events in any order keep the first and the last time", async () => {
    const site = await buyer();
    const [old, older, recent] = [daysAgo(3), daysAgo(29), daysAgo(1)];
    for (const occurredAt of [old, recent, older, daysAgo(2)])
      await record(site, { contactId: site.contact.id, occurredAt });
    expect(await site.item()).toMatchObject({
      "event.order_placed": 4,
      "firstEventAt.order_placed": older,
      "lastEventAt.order_placed": recent,
    });
    const times = (await listed(site, { contactId: site.contact.id })).map(
      ({ occurredAt }) => occurredAt,
    );
    expect(times).toEqual(times.toSorted().reverse());
  });

  test("concurrent events of different times keep the first and the last time", async () => {
    const site = await buyer();
    const times = Array.from({ length: 12 }, (_, i) => daysAgo(((i * 7) % 12) + 1));
    await Promise.all(
      times.map((occurredAt) => record(site, { contactId: site.contact.id, occurredAt })),
    );
    const sorted = times.toSorted();
    expect(await site.item()).toMatchObject({
      "event.order_placed": 12,
      "firstEventAt.order_placed": sorted[0],
      "lastEventAt.order_placed": sorted.at(-1),
    });
  });

  test("createContact subscribes the new contact only if the call says so", async () => {
    const site = await buyer();
    const statusOf = async (given: object) => {
      const { contactId } = await record(site, { createContact: true, ...given });
      return (await contacts.findItem(site.caller, contactId)).status;
    };
    expect(await statusOf({ email: "one@example.com" })).toBe("pending");
    expect(await statusOf({ email: "two@example.com", status: "subscribed" })).toBe("subscribed");
    // The contact exists, so its status stays.
    expect(await statusOf({ email: "two@example.com" })).toBe("subscribed");
    expect(await statusOf({ email: "ann@example.com" })).toBe("subscribed");
  });

  test("each of many events has its own result", async () => {
    const site = await buyer();
    const answer = await recordCustomEvents.createMany(site.caller, {
      events: [
        { contactId: site.contact.id, eventName: "a", id: "1" },
        { contactId: 1, eventName: "a" },
        { email: "new@example.com", eventName: "a", createContact: true },
        { email: "NEW@example.com", eventName: "a", createContact: true, status: "subscribed" },
        { email: "ann@example.com", eventName: "a", id: "1" },
        { email: "ann@example.com", eventName: "a", occurredAt: daysAgo(31) },
        "event",
      ],
    });
    expect(answer).toMatchObject({ created: 4, failed: 3 });
    expect(answer.results.map(({ error }) => error)).toEqual([
      null,
      "The contact does not exist",
      null,
      null,
      null,
      "occurredAt: must be at most 30 days ago",
      "must be an object",
    ]);
    const [first, , third, fourth, fifth] = answer.results.map((result) => result.event);
    expect(fifth).toEqual(first);
    expect(fourth!.contactId).toBe(third!.contactId);
    expect(await site.item()).toMatchObject({ "event.a": 1 });
    expect(await contacts.findItem(site.caller, third!.contactId)).toMatchObject({
      "event.a": 2,
      status: "pending",
    });
  });

  test("a request for many events that is repeated after a crash records each once", async () => {
    const site = await buyer();
    let runs = 0;
    await crashAtSomeSteps(async (crash) => {
      const memory: ReservedIds = {
        key: keys.idempotency(site.orgId, `many ${++runs}`),
        taken: {},
      };
      await write(put(memory.key, {}));
      const events = [
        { contactId: site.contact.id, eventName: "a" },
        { email: `one${runs}@example.com`, eventName: "a", createContact: true },
        { email: `two${runs}@example.com`, eventName: "a", createContact: true },
        { contactId: site.contact.id, eventName: "a" },
      ];
      const request = () =>
        withReservedIds(memory, () => recordCustomEvents.createMany(site.caller, { events }));
      await crash(request);
      const { results } = await request();
      expect((await request()).results).toEqual(results);
      expect(await site.item()).toMatchObject({ "event.a": 2 * runs });
      expect(await listed(site, { limit: 500 })).toHaveLength(4 * runs);
    });
  });
});
