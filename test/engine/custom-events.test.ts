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
const rule = (who: TestSite, given: object = {}) =>
  rules.create(
    who.caller,
    rules.NewScoringRule.parse({
      siteId: who.siteId,
      name: "Ordered",
      trigger: "custom_event",
      points: 10,
      ...given,
    }),
  );
const page = (more: object = {}) => ({ limit: 50, ...more });
const listed = async (who: TestSite, more: object = {}) =>
  (await custom.list(who.caller, page(more))).items;

async function buyer() {
  const who = await createTestSite();
  const contact = await createContact(who, "ann@example.com");
  const item = (): Promise<ContactItem> => contacts.findItem(who.caller, contact.id);
  return { ...who, contact, item };
}

test("an event is counted on its contact, scored and listed", async () => {
  const who = await buyer();
  await rule(who);
  const made = await custom.create(
    who.caller,
    event({ email: "ANN@example.com", properties: { total: 49.9, items: [{ id: 1 }] } }),
  );
  expect(made).toMatchObject({
    contactId: who.contact.id,
    siteId: who.siteId,
    properties: { total: 49.9, items: [{ id: 1 }] },
    source: "api",
  });
  expect(await who.item()).toMatchObject({
    "event.order_placed": 1,
    eventNames: new Set(["order_placed"]),
    score: 10,
  });
  expect(await listed(who)).toEqual([made]);
  expect((await eventNames.listNames(who.caller, undefined)).names).toEqual(["order_placed"]);
});

test("a request repeated after a crash at any point stores, counts and scores one event", async () => {
  const who = await buyer();
  await Promise.all([rule(who), rule(who, { name: "Ordered again", points: -3 })]);
  let told = 0;
  const steps = await crashAtSomeSteps(async (kill) => {
    const memory: ReservedIds = { key: keys.idempotency(who.orgId, `key ${++told}`), taken: {} };
    await write(put(memory.key, {}));
    const request = () =>
      withReservedIds(memory, () =>
        custom.create(who.caller, event({ contactId: who.contact.id })),
      );
    await kill(request);
    await request();
    await request();
    expect(await who.item()).toMatchObject({
      "event.order_placed": told,
      customEvents: told,
      score: 7 * told,
    });
    expect(await listed(who)).toHaveLength(told);
  });
  expect(steps.length).toBeGreaterThan(8);
  expect((await scores.listLog(who.caller, who.contact.id, { limit: 100 })).log).toHaveLength(
    2 * told,
  );
});

test("concurrent events of one contact are all counted", async () => {
  const who = await buyer();
  await rule(who);
  await Promise.all(
    Array.from({ length: 12 }, () =>
      custom.create(who.caller, event({ contactId: who.contact.id })),
    ),
  );
  expect(await who.item()).toMatchObject({ "event.order_placed": 12, score: 120 });
});

test("a contact counts 200 event names; events with further names are stored but not counted", async () => {
  const who = await buyer();
  const names = new Set(Array.from({ length: maxEventNamesPerContact - 1 }, (_, i) => `e${i}`));
  await write(update(await who.item(), { add: { eventNames: names } }));
  for (const eventName of ["last", "one too many", "e5"])
    await custom.create(who.caller, event({ contactId: who.contact.id, eventName }));
  const item = await who.item();
  expect(item.eventNames!.size).toBe(maxEventNamesPerContact);
  expect(item).toMatchObject({ "event.last": 1, "event.e5": 1 });
  expect(item).not.toHaveProperty(["event.one too many"]);
  expect(await listed(who, { eventName: "one too many" })).toHaveLength(1);
});

test("a site has at most 1,000 event names", async () => {
  const who = await buyer();
  await write(
    update(keys.eventNameCount(who.orgId, who.siteId), {
      set: { count: eventNames.maxEventNamesPerSite - 1 },
    }),
  );
  const record = (eventName: string) =>
    custom.create(who.caller, event({ contactId: who.contact.id, eventName }));
  await record("last");
  await expect(record("one more")).rejects.toMatchObject({
    kind: "invalid",
    details: [{ path: "eventName" }],
  });
  await record("last");
  expect(await listed(who)).toHaveLength(2);
});

test("a deleted name makes room for another, and the next event registers it again", async () => {
  const who = await buyer();
  const record = (eventName: string) =>
    custom.create(who.caller, event({ contactId: who.contact.id, eventName }));
  for (const name of ["kept", "gone"]) await record(name);
  await write(
    update(keys.eventNameCount(who.orgId, who.siteId), {
      set: { count: eventNames.maxEventNamesPerSite },
    }),
  );
  await expect(record("more")).rejects.toMatchObject({ kind: "invalid" });
  await eventNames.remove(who.caller, undefined, "gone");
  await expect(eventNames.remove(who.caller, undefined, "gone")).rejects.toMatchObject({
    kind: "missing",
  });
  expect((await eventNames.listNames(who.caller, undefined)).names).toEqual(["kept"]);
  expect(await who.item()).toMatchObject({ "event.gone": 1 });
  await record("gone");
  expect((await eventNames.listNames(who.caller, undefined)).names).toEqual(["gone", "kept"]);
  await expect(record("more")).rejects.toMatchObject({ kind: "invalid" });
});

test("names are listed with their last use", async () => {
  const who = await buyer();
  const record = (eventName: string) =>
    custom.create(who.caller, event({ contactId: who.contact.id, eventName }));
  for (const name of ["often", "once"]) await record(name);
  const usesOf = async () => (await eventNames.listNames(who.caller, undefined)).uses;
  const before = await usesOf();
  expect(before).toMatchObject([
    { name: "often", siteId: who.siteId, lastUsedAt: expect.stringMatching(/Z$/) },
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
  const who = await buyer();
  await expect(
    custom.create(who.caller, event({ email: "bob@example.com" })),
  ).rejects.toMatchObject({ kind: "missing" });
  await expect(custom.create(who.caller, event({ contactId: 1 }))).rejects.toMatchObject({
    kind: "missing",
  });
  expect((await eventNames.listNames(who.caller, undefined)).names).toEqual([]);
});

test("the events of a deleted contact are deleted", async () => {
  const who = await buyer();
  await custom.create(who.caller, event({ contactId: who.contact.id }));
  await contacts.remove(who.caller, who.contact.id);
  expect(await listed(who)).toEqual([]);
});

describe("the list of events", () => {
  async function busy() {
    const who = await buyer();
    const other = await createContact(who, "bob@example.com");
    for (let n = 0; n < 9; n++)
      await custom.create(
        who.caller,
        event({
          contactId: n % 3 ? other.id : who.contact.id,
          eventName: n % 2 ? "odd" : "even",
          properties: { n },
        }),
      );
    return { ...who, other };
  }
  const numbers = (items: custom.CustomEvent[]) => items.map(({ properties }) => properties.n);

  test("is newest first and can be limited to a contact, a name or both", async () => {
    const who = await busy();
    expect(numbers(await listed(who))).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0]);
    expect(numbers(await listed(who, { contactId: who.contact.id }))).toEqual([6, 3, 0]);
    expect(numbers(await listed(who, { eventName: "odd" }))).toEqual([7, 5, 3, 1]);
    expect(numbers(await listed(who, { eventName: "odd", contactId: who.other.id }))).toEqual([
      7, 5, 1,
    ]);
  });

  test.each(["everyone", "one contact"])(
    "shows every event once, by cursor and by page: %s",
    async (of) => {
      const who = await busy();
      const filter = of === "everyone" ? {} : { contactId: who.other.id };
      const whole = numbers(await listed(who, filter));
      const byCursor: unknown[] = [];
      const byPage: unknown[] = [];
      let cursor: string | undefined;
      do {
        const { items, pagination } = await custom.list(who.caller, {
          ...filter,
          limit: 2,
          cursor,
        });
        byCursor.push(...numbers(items));
        cursor = pagination.nextCursor ?? undefined;
      } while (cursor);
      for (let number = 1; number <= 5; number++)
        byPage.push(
          ...numbers((await custom.list(who.caller, { ...filter, limit: 2, page: number })).items),
        );
      expect(byCursor).toEqual(whole);
      expect(byPage).toEqual(whole);
    },
  );

  const totalOf = async (who: TestSite, filter: object = {}) =>
    (await custom.list(who.caller, page({ limit: 2, ...filter }))).pagination.total;

  test("has an exact total for a contact, and no total for a site or a name", async () => {
    const who = await busy();
    const blog = await sites.create(who.caller, sites.NewSite.parse({ name: "Blog" }));
    expect(await totalOf(who, { contactId: who.contact.id })).toBe(3);
    expect(await totalOf(who, { contactId: who.other.id, siteId: who.siteId })).toBe(6);
    expect(await totalOf(who, { contactId: who.other.id, siteId: blog.id })).toBe(0);
    expect(await totalOf(who, { contactId: who.other.id, eventName: "odd" })).toBeNull();
    expect(await totalOf(who)).toBeNull();
    const silent = await createContact(who, "silent@example.com");
    expect(await totalOf(who, { contactId: silent.id })).toBe(0);
  });

  test("counts the events of a contact stored by an earlier version once, while more events arrive", async () => {
    const who = await busy();
    const filter = { contactId: who.other.id };
    const stored = () => contacts.findItem(who.caller, who.other.id);
    const record = () => custom.create(who.caller, event(filter));
    await write(update(await stored(), { remove: ["customEvents"] }));
    await record();
    expect(await stored()).not.toHaveProperty("customEvents");
    await Promise.all([record(), totalOf(who, filter), record(), totalOf(who, filter), record()]);
    expect(await totalOf(who, filter)).toBe(10);
    expect(await stored()).toMatchObject({ customEvents: 10 });
    await record();
    expect(await totalOf(who, filter)).toBe(11);
    // A changed counter shows that the events are not counted again.
    await write(update(await stored(), { set: { customEvents: 50 } }));
    expect(await totalOf(who, filter)).toBe(50);
  });

  test("a bound key reads and records events of its own site only", async () => {
    const who = await buyer();
    const blog = await sites.create(who.caller, sites.NewSite.parse({ name: "Blog" }));
    await custom.create(who.caller, event({ contactId: who.contact.id }));
    const bound = { ...who.caller, siteId: blog.id };
    expect((await custom.list(bound, page())).items).toEqual([]);
    expect(await eventNames.listNames(bound, undefined)).toEqual({ names: [], uses: [] });
    await expect(custom.create(bound, event({ contactId: who.contact.id }))).rejects.toMatchObject({
      code: "site_forbidden",
    });
    await expect(custom.list(bound, page({ contactId: who.contact.id }))).rejects.toMatchObject({
      code: "site_forbidden",
    });
  });

  test("a cursor of another list is rejected", async () => {
    const who = await busy();
    const { pagination } = await custom.list(who.caller, page({ limit: 1 }));
    const wrong = custom.list(
      who.caller,
      page({ contactId: who.contact.id, cursor: pagination.nextCursor }),
    );
    await expect(wrong).rejects.toMatchObject({ kind: "invalid" });
  });
});
