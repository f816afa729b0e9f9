import { describe, expect, test } from "vitest";
import { put, update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { maxEventNamesPerContact } from "../../shared/domain/audience/contacts/segment-attributes.ts";
import * as scores from "../../shared/domain/audience/scoring/lead-scores.ts";
import * as rules from "../../shared/domain/audience/scoring/scoring-rules.ts";
import * as eventNames from "../../shared/domain/audience/tracking/custom-event-names.ts";
import * as custom from "../../shared/domain/audience/tracking/custom-events.ts";
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
  (await custom.list(site.caller, page(more))).items;

async function buyer() {
  const site = await createTestSite();
  const contact = await createContact(site, "ann@example.com");
  const item = (): Promise<ContactItem> => contacts.findItem(site.caller, contact.id);
  return { ...site, contact, item };
}

test("an event is counted on its contact, scored and listed", async () => {
  const site = await buyer();
  await rule(site);
  const made = await custom.create(
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
        custom.create(site.caller, event({ contactId: site.contact.id })),
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
      custom.create(site.caller, event({ contactId: site.contact.id })),
    ),
  );
  expect(await site.item()).toMatchObject({ "event.order_placed": 12, score: 120 });
});

test("a contact counts 200 event names; events with further names are stored but not counted", async () => {
  const site = await buyer();
  const names = new Set(Array.from({ length: maxEventNamesPerContact - 1 }, (_, i) => `e${i}`));
  await write(update(await site.item(), { add: { eventNames: names } }));
  for (const eventName of ["last", "one too many", "e5"])
    await custom.create(site.caller, event({ contactId: site.contact.id, eventName }));
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
    custom.create(site.caller, event({ contactId: site.contact.id, eventName }));
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
    custom.create(site.caller, event({ contactId: site.contact.id, eventName }));
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
    custom.create(site.caller, event({ contactId: site.contact.id, eventName }));
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
    custom.create(site.caller, event({ email: "bob@example.com" })),
  ).rejects.toMatchObject({ kind: "missing" });
  await expect(custom.create(site.caller, event({ contactId: 1 }))).rejects.toMatchObject({
    kind: "missing",
  });
  expect((await eventNames.listNames(site.caller, undefined)).names).toEqual([]);
});

test("the events of a deleted contact are deleted", async () => {
  const site = await buyer();
  await custom.create(site.caller, event({ contactId: site.contact.id }));
  await contacts.remove(site.caller, site.contact.id);
  expect(await listed(site)).toEqual([]);
});

describe("the list of events", () => {
  async function busy() {
    const site = await buyer();
    const other = await createContact(site, "bob@example.com");
    for (let n = 0; n < 9; n++)
      await custom.create(
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
        const { items, pagination } = await custom.list(site.caller, {
          ...filter,
          limit: 2,
          cursor,
        });
        byCursor.push(...numbers(items));
        cursor = pagination.nextCursor ?? undefined;
      } while (cursor);
      for (let number = 1; number <= 5; number++)
        byPage.push(
          ...numbers((await custom.list(site.caller, { ...filter, limit: 2, page: number })).items),
        );
      expect(byCursor).toEqual(all);
      expect(byPage).toEqual(all);
    },
  );

  const totalOf = async (site: TestSite, filter: object = {}) =>
    (await custom.list(site.caller, page({ limit: 2, ...filter }))).pagination.total;

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

  test("counts the events of a contact stored by an earlier version once, while more events arrive", async () => {
    const site = await busy();
    const filter = { contactId: site.other.id };
    const readStored = () => contacts.findItem(site.caller, site.other.id);
    const record = () => custom.create(site.caller, event(filter));
    await write(update(await readStored(), { remove: ["customEvents"] }));
    await record();
    expect(await readStored()).not.toHaveProperty("customEvents");
    await Promise.all([record(), totalOf(site, filter), record(), totalOf(site, filter), record()]);
    expect(await totalOf(site, filter)).toBe(10);
    expect(await readStored()).toMatchObject({ customEvents: 10 });
    await record();
    expect(await totalOf(site, filter)).toBe(11);
    // A changed counter shows that the events are not counted again.
    await write(update(await readStored(), { set: { customEvents: 50 } }));
    expect(await totalOf(site, filter)).toBe(50);
  });

  test("a bound key reads and records events of its own site only", async () => {
    const site = await buyer();
    const blog = await sites.create(site.caller, sites.NewSite.parse({ name: "Blog" }));
    await custom.create(site.caller, event({ contactId: site.contact.id }));
    const bound = { ...site.caller, siteIds: [blog.id] };
    expect((await custom.list(bound, page())).items).toEqual([]);
    expect(await eventNames.listNames(bound, undefined)).toEqual({ names: [], uses: [] });
    await expect(custom.create(bound, event({ contactId: site.contact.id }))).rejects.toMatchObject(
      {
        code: "site_forbidden",
      },
    );
    await expect(custom.list(bound, page({ contactId: site.contact.id }))).rejects.toMatchObject({
      code: "site_forbidden",
    });
  });

  test("a cursor of another list is rejected", async () => {
    const site = await busy();
    const { pagination } = await custom.list(site.caller, page({ limit: 1 }));
    const rejected = custom.list(
      site.caller,
      page({ contactId: site.contact.id, cursor: pagination.nextCursor }),
    );
    await expect(rejected).rejects.toMatchObject({ kind: "invalid" });
  });
});
