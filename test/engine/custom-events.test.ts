import { describe, expect, test } from "vitest";
import type { ContactItem } from "../../shared/domain/contacts/contact.ts";
import { maxEventNames } from "../../shared/domain/contacts/facts.ts";
import * as scores from "../../shared/domain/contacts/scores.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import * as custom from "../../shared/domain/custom-events.ts";
import * as eventNames from "../../shared/domain/event-names.ts";
import * as rules from "../../shared/domain/scoring-rules.ts";
import * as sites from "../../shared/domain/sites.ts";
import { put, update, write } from "../../shared/doors/table.ts";
import { type Memory, remembering } from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import { type Audience, audience, create } from "../support/audience.ts";
import { armed, atEveryStep } from "../support/killer.ts";

armed();

const event = (given: object) => custom.NewCustomEvent.parse({ eventName: "order_placed", ...given });
const rule = (who: Audience, given: object = {}) =>
  rules.create(
    who.caller,
    rules.NewScoringRule.parse({ siteId: who.siteId, name: "Ordered", trigger: "custom_event", points: 10, ...given }),
  );
const page = (more: object = {}) => ({ limit: 50, ...more });
const listed = async (who: Audience, more: object = {}) => (await custom.list(who.caller, page(more))).items;

async function buyer() {
  const who = await audience();
  const contact = await create(who, "ann@example.com");
  const item = (): Promise<ContactItem> => contacts.item(who.caller, contact.id);
  return { ...who, contact, item };
}

test("an event is counted on its contact, scored and listed", async () => {
  const who = await buyer();
  await rule(who);
  const made = await custom.create(who.caller, event({ email: "ANN@example.com", properties: { total: 49.9, items: [{ id: 1 }] } }));
  expect(made).toMatchObject({
    contactId: who.contact.id,
    siteId: who.siteId,
    properties: { total: 49.9, items: [{ id: 1 }] },
    source: "api",
  });
  expect(await who.item()).toMatchObject({ "event.order_placed": 1, eventNames: new Set(["order_placed"]), score: 10 });
  expect(await listed(who)).toEqual([made]);
  expect(await eventNames.list(who.caller, undefined)).toEqual(["order_placed"]);
});

test("the same request, dead at any step and made again, is one event, counted and scored once", async () => {
  const who = await buyer();
  await Promise.all([rule(who), rule(who, { name: "Ordered again", points: -3 })]);
  let told = 0;
  const steps = await atEveryStep(async (kill) => {
    const memory: Memory = { address: keys.idempotency(who.orgId, `key ${++told}`), taken: {} };
    await write(put(memory.address, {}));
    const request = () => remembering(memory, () => custom.create(who.caller, event({ contactId: who.contact.id })));
    await kill(request);
    await request();
    await request();
    expect(await who.item()).toMatchObject({ "event.order_placed": told, score: 7 * told });
    expect(await listed(who)).toHaveLength(told);
  });
  expect(steps.length).toBeGreaterThan(8);
  expect((await scores.log(who.caller, who.contact.id, { limit: 100 })).log).toHaveLength(2 * told);
});

test("events of one contact that come at once are all counted", async () => {
  const who = await buyer();
  await rule(who);
  await Promise.all(Array.from({ length: 12 }, () => custom.create(who.caller, event({ contactId: who.contact.id }))));
  expect(await who.item()).toMatchObject({ "event.order_placed": 12, score: 120 });
});

test("a contact counts 200 names; an event of a further one is recorded and not counted", async () => {
  const who = await buyer();
  const names = new Set(Array.from({ length: maxEventNames - 1 }, (_, i) => `e${i}`));
  await write(update(await who.item(), { add: { eventNames: names } }));
  for (const eventName of ["last", "one too many", "e5"]) await custom.create(who.caller, event({ contactId: who.contact.id, eventName }));
  const item = await who.item();
  expect(item.eventNames!.size).toBe(maxEventNames);
  expect(item).toMatchObject({ "event.last": 1, "event.e5": 1 });
  expect(item).not.toHaveProperty(["event.one too many"]);
  expect(await listed(who, { eventName: "one too many" })).toHaveLength(1);
});

test("a site has 1,000 names of events and no more", async () => {
  const who = await buyer();
  await write(update(keys.eventNameCount(who.orgId, who.siteId), { set: { count: eventNames.maxNames - 1 } }));
  const record = (eventName: string) => custom.create(who.caller, event({ contactId: who.contact.id, eventName }));
  await record("last");
  await expect(record("one more")).rejects.toMatchObject({ kind: "invalid", details: [{ path: "eventName" }] });
  await record("last");
  expect(await listed(who)).toHaveLength(2);
});

test("an event makes no contact", async () => {
  const who = await buyer();
  await expect(custom.create(who.caller, event({ email: "bob@example.com" }))).rejects.toMatchObject({ kind: "missing" });
  await expect(custom.create(who.caller, event({ contactId: 1 }))).rejects.toMatchObject({ kind: "missing" });
  expect(await eventNames.list(who.caller, undefined)).toEqual([]);
});

test("what a deleted contact did is gone with it", async () => {
  const who = await buyer();
  await custom.create(who.caller, event({ contactId: who.contact.id }));
  await contacts.remove(who.caller, who.contact.id);
  expect(await listed(who)).toEqual([]);
});

describe("the list", () => {
  async function busy() {
    const who = await buyer();
    const other = await create(who, "bob@example.com");
    for (let n = 0; n < 9; n++)
      await custom.create(
        who.caller,
        event({ contactId: n % 3 ? other.id : who.contact.id, eventName: n % 2 ? "odd" : "even", properties: { n } }),
      );
    return { ...who, other };
  }
  const numbers = (items: custom.CustomEvent[]) => items.map(({ properties }) => properties.n);

  test("is newest first, of one contact, of one name, or of both", async () => {
    const who = await busy();
    expect(numbers(await listed(who))).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0]);
    expect(numbers(await listed(who, { contactId: who.contact.id }))).toEqual([6, 3, 0]);
    expect(numbers(await listed(who, { eventName: "odd" }))).toEqual([7, 5, 3, 1]);
    expect(numbers(await listed(who, { eventName: "odd", contactId: who.other.id }))).toEqual([7, 5, 1]);
  });

  test.each(["everyone", "one contact"])("shows every event once, by cursor and by page: %s", async (of) => {
    const who = await busy();
    const filter = of === "everyone" ? {} : { contactId: who.other.id };
    const whole = numbers(await listed(who, filter));
    const byCursor: unknown[] = [];
    const byPage: unknown[] = [];
    let cursor: string | undefined;
    do {
      const { items, pagination } = await custom.list(who.caller, { ...filter, limit: 2, cursor });
      byCursor.push(...numbers(items));
      cursor = pagination.nextCursor ?? undefined;
    } while (cursor);
    for (let number = 1; number <= 5; number++)
      byPage.push(...numbers((await custom.list(who.caller, { ...filter, limit: 2, page: number })).items));
    expect(byCursor).toEqual(whole);
    expect(byPage).toEqual(whole);
  });

  test("a bound key sees its site only, and records for no other", async () => {
    const who = await buyer();
    const blog = await sites.create(who.caller, sites.NewSite.parse({ name: "Blog" }));
    await custom.create(who.caller, event({ contactId: who.contact.id }));
    const bound = { ...who.caller, siteId: blog.id };
    expect((await custom.list(bound, page())).items).toEqual([]);
    expect(await eventNames.list(bound, undefined)).toEqual([]);
    await expect(custom.create(bound, event({ contactId: who.contact.id }))).rejects.toMatchObject({ code: "site_forbidden" });
    await expect(custom.list(bound, page({ contactId: who.contact.id }))).rejects.toMatchObject({ code: "site_forbidden" });
  });

  test("a cursor of another list is refused", async () => {
    const who = await busy();
    const { pagination } = await custom.list(who.caller, page({ limit: 1 }));
    const wrong = custom.list(who.caller, page({ contactId: who.contact.id, cursor: pagination.nextCursor }));
    await expect(wrong).rejects.toMatchObject({ kind: "invalid" });
  });
});
