import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as activities from "../../shared/domain/contacts/activities.ts";
import type { Contact, ContactItem, NewContact } from "../../shared/domain/contacts/contact.ts";
import * as facts from "../../shared/domain/contacts/facts.ts";
import * as groups from "../../shared/domain/contacts/groups.ts";
import * as members from "../../shared/domain/contacts/members.ts";
import * as contactPages from "../../shared/domain/contacts/pages.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import * as segments from "../../shared/domain/segments.ts";
import * as sites from "../../shared/domain/sites.ts";
import { metered } from "../../shared/doors/meter.ts";
import { update, write } from "../../shared/doors/table.ts";
import { takeActivity } from "../../shared/ids.ts";
import { inParallel } from "../../shared/parallel.ts";
import { type Audience, audience, create } from "../support/audience.ts";
import { fill, newForm } from "../support/forms.ts";

const rulesOf = (...conditions: object[]) => ({ match: "all", conditions });
const segment = async ({ caller, siteId }: Audience, rules: object) =>
  (await segments.create(caller, segments.NewSegment.parse({ siteId, name: "Some", rules }))).id;
const emails = async ({ caller }: Audience, id: number) =>
  (await segments.members(caller, id, { limit: 100 })).items.map(({ email }) => email);
const people = (shop: Audience, n: number, more: Partial<NewContact> = {}) =>
  Promise.all(Array.from({ length: n }, (_, i) => create(shop, `p${i}@x.com`, more)));
const happen = async ({ orgId, id }: ContactItem, name: string) =>
  activities.record(orgId, id, { id: await takeActivity(), at: clock.now().toISOString(), type: "custom", name, source: "api" });

describe("whom a segment holds", () => {
  test("is asked of the present: who is made, changed, tagged or removed is in or out at once", async () => {
    const shop = await audience();
    const { caller } = shop;
    const id = await segment(shop, {
      match: "any",
      conditions: [
        { field: "company", operator: "equals", value: "ACME" },
        { field: "tag", operator: "equals", value: "vip" },
      ],
    });
    expect(await segments.count(caller, id)).toBe(0);
    const ann = await create(shop, "Ann@x.com", { company: "Acme" });
    const bob = await create(shop, "bob@x.com", { tags: ["VIP"] });
    expect(await emails(shop, id)).toEqual(["Ann@x.com", "bob@x.com"]);
    await contacts.change(caller, ann.id, { company: "Other" });
    expect(await emails(shop, id)).toEqual(["bob@x.com"]);
    await contacts.remove(caller, bob.id);
    expect(await segments.count(caller, id)).toBe(0);
  });

  test("a number is as it is written, not as it might be read", async () => {
    const shop = await audience();
    await create(shop, "ann@x.com", { customFields: { n: 5 } });
    const counts = await inParallel(3, ["5", "05", "5.0"], (value) =>
      segments.preview(shop.caller, {
        rules: segments.NewSegment.shape.rules.parse(rulesOf({ field: "customFields.n", operator: "equals", value })),
      }),
    );
    expect(counts).toEqual([1, 0, 0]);
  });

  test("without rules is everyone of its site, and nobody of another", async () => {
    const shop = await audience();
    const other = { ...shop, siteId: (await sites.create(shop.caller, sites.NewSite.parse({ name: "Other" }))).id };
    await Promise.all([people(shop, 3), create(other, "else@x.com")]);
    const id = await segment(shop, rulesOf());
    expect(await segments.count(shop.caller, id)).toBe(3);
    const bound = { ...shop.caller, siteId: other.siteId };
    await expect(segments.count(bound, id)).rejects.toMatchObject({ code: "site_forbidden" });
    await expect(contactPages.wantedOf(shop.caller, { segmentId: id, siteId: other.siteId })).rejects.toMatchObject({ kind: "invalid" });
  });

  test("by a tag that was deleted is nobody, and who carries only that has no tag", async () => {
    const shop = await audience();
    const { caller } = shop;
    const [ann] = await people(shop, 3, { tags: ["gone"] });
    await create(shop, "kept@x.com", { tags: ["kept"] });
    const [{ id: gone }] = ann!.tags as [{ id: number; name: string }];
    const [byName, byId, any, none] = await Promise.all([
      segment(shop, rulesOf({ field: "tag", operator: "equals", value: "gone" })),
      segment(shop, rulesOf({ field: "tag", operator: "in", value: [gone] })),
      segment(shop, rulesOf({ field: "tag", operator: "exists" })),
      segment(shop, rulesOf({ field: "tag", operator: "notExists" })),
    ]);
    const counts = () => Promise.all([byName, byId, any, none].map((id) => segments.count(caller, id)));
    expect(await counts()).toEqual([3, 3, 4, 0]);
    await groups.removeGroup("TAG", caller, gone);
    expect(await counts()).toEqual([0, 0, 1, 3]);
    // A new tag of the old name is another.
    await create(shop, "new@x.com", { tags: ["gone"] });
    expect(await counts()).toEqual([1, 0, 2, 3]);
  });

  test("of another site's list is nobody", async () => {
    const shop = await audience();
    const other = (await sites.create(shop.caller, sites.NewSite.parse({ name: "Other" }))).id;
    const list = await groups.create("LIST", shop.caller, { siteId: other, name: "News" });
    await people(shop, 1);
    expect(await segments.count(shop.caller, await segment(shop, rulesOf({ field: "list", operator: "notEquals", value: list.id })))).toBe(
      1,
    );
    expect(await segments.count(shop.caller, await segment(shop, rulesOf({ field: "list", operator: "equals", value: list.id })))).toBe(0);
  });

  test("follows what was counted: events, forms and campaigns, and loses none to a change at the same time", async () => {
    const shop = await audience();
    const { caller } = shop;
    const { id } = await create(shop, "ann@x.com");
    const item = await contacts.item(caller, id);
    await Promise.all([
      ...Array.from({ length: 5 }, () => happen(item, "bought")),
      contacts.change(caller, id, { firstName: "Ann" }),
      contacts.change(caller, id, { lastName: "Lee" }),
    ]);
    const form = await newForm(shop);
    await fill(form.id, { email: "ann@x.com" });
    const now = await contacts.item(caller, id);
    await write(update(now, { set: facts.campaignMet(now, "opened", 7) }));
    const matching = await segment(
      shop,
      rulesOf(
        { field: "event.bought", operator: "equals", value: 5 },
        { field: `form.${form.id}`, operator: "exists" },
        { field: "campaign.7.opened", operator: "equals", value: true },
        { field: "campaign.7.clicked", operator: "notExists" },
        { field: "firstName", operator: "equals", value: "ann" },
        { field: "lastName", operator: "equals", value: "lee" },
      ),
    );
    expect(await segments.count(caller, matching)).toBe(1);
  });

  test("a contact remembers the counts of 200 events, and of those it knows every one more", async () => {
    const shop = await audience();
    const { id } = await create(shop, "ann@x.com");
    const item = await contacts.item(shop.caller, id);
    const names = Array.from({ length: facts.maxEventNames - 1 }, (_, i) => `e${i}`);
    await inParallel(4, names, (name) => happen(item, name));
    // There is room for one more, and two come at once.
    await Promise.all([happen(item, "late"), happen(item, "later")]);
    await happen(item, "e0");
    const { eventNames, ...known } = (await contacts.item(shop.caller, id)) as ContactItem & Record<string, unknown>;
    expect(eventNames!.size).toBe(200);
    expect(known).toMatchObject({ "event.e0": 2, "event.e198": 1 });
    expect([known["event.late"], known["event.later"]].toSorted()).toEqual([1, undefined]);
  });

  test("a contact remembers its latest 200 campaigns", async () => {
    const shop = await audience();
    const item = await contacts.item(shop.caller, (await create(shop, "ann@x.com")).id);
    const full = { ...item, sentCampaigns: new Set(Array.from({ length: facts.maxCampaigns }, (_, i) => i + 1)) };
    const { sentCampaigns } = facts.campaignMet(full, "sent", 201) as { sentCampaigns: Set<number> };
    expect([sentCampaigns.size, sentCampaigns.has(1), sentCampaigns.has(2), sentCampaigns.has(201)]).toEqual([200, false, true, true]);
  });
});

test("an explanation says of each condition whether it holds, and what the contact carries", async () => {
  const shop = await audience();
  const ann = await create(shop, "ann@x.com", { tags: ["a"], customFields: { plan: "Pro" } });
  const id = await segment(shop, {
    match: "any",
    conditions: [
      { field: "score", operator: "greaterThan", value: 5 },
      rulesOf({ field: "customFields.plan", operator: "equals", value: "pro" }, { field: "tag", operator: "equals", value: "b" }),
      { field: "firstName", operator: "notExists" },
    ],
  });
  expect(await segments.explain(shop.caller, id, ann.id)).toEqual({
    match: "any",
    matched: true,
    conditions: [
      { field: "score", operator: "greaterThan", value: 5, matched: false, actual: 0 },
      {
        match: "all",
        matched: false,
        conditions: [
          { field: "customFields.plan", operator: "equals", value: "pro", matched: true, actual: "Pro" },
          { field: "tag", operator: "equals", value: "b", matched: false, actual: [ann.tags[0]!.id], actualNames: ["a"] },
        ],
      },
      { field: "firstName", operator: "notExists", matched: true, actual: null },
    ],
  });
  const stranger = await audience();
  await expect(segments.explain(stranger.caller, id, ann.id)).rejects.toMatchObject({ kind: "missing" });
});

test("counting what DynamoDB can decide reads no contact out, and costs what reading them does", async () => {
  const shop = await audience();
  await people(shop, 200);
  const id = await segment(shop, rulesOf({ field: "email", operator: "endsWith", value: "9@X.com" }));
  const { result, usage } = await metered(() => segments.count(shop.caller, id));
  expect(result).toBe(20);
  expect(usage.readUnits).toBeLessThan(40);
});

async function* pages({ caller }: Audience, id: number, limit: number): AsyncGenerator<Contact[]> {
  let cursor: string | undefined;
  do {
    const { items, pagination } = await segments.members(caller, id, { limit, ...(cursor !== undefined && { cursor }) });
    yield items;
    cursor = pagination.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

test("paging gives each who stays exactly once, whoever comes and goes meanwhile", async () => {
  const shop = await audience();
  const staying = await people(shop, 40, { company: "Acme" });
  const [pushed, inCode] = [
    await segment(shop, rulesOf({ field: "company", operator: "equals", value: "acme" })),
    await segment(shop, rulesOf({ field: "company", operator: "endsWith", value: "me" })),
  ];
  const ids = staying.map(({ id }) => id).sort((a, b) => a - b);
  let made = 0;
  const busy = fc.record({ limit: fc.integer({ min: 4, max: 25 }), comings: fc.array(fc.nat(1000), { maxLength: 2 }), code: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(busy, async ({ limit, comings, code }) => {
      const seen: number[] = [];
      for await (const page of pages(shop, code ? inCode : pushed, limit)) {
        expect(page.length).toBeLessThanOrEqual(limit);
        seen.push(...page.map(({ id }) => id));
        const come = await Promise.all(comings.map((n) => create(shop, `g${n}-${made++}@x.com`, { company: "Acme" })));
        await Promise.all(come.slice(1).map(({ id }) => contacts.remove(shop.caller, id)));
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.filter((id) => ids.includes(id)).sort((a, b) => a - b)).toEqual(ids);
    }),
    { numRuns: 6 },
  );
}, 120_000);

test("a page by number is the same as the page by cursor", async () => {
  const shop = await audience();
  await people(shop, 25);
  const id = await segment(shop, rulesOf({ field: "email", operator: "startsWith", value: "P" }));
  const third = await segments.members(shop.caller, id, { limit: 10, page: 3 });
  const byCursor: Contact[][] = [];
  for await (const page of pages(shop, id, 10)) byCursor.push(page);
  expect(byCursor.map((page) => page.length)).toEqual([10, 10, 5]);
  expect(third.items).toEqual(byCursor[2]);
  expect(third.pagination).toMatchObject({ page: 3, total: null, nextCursor: null });
});

test("a list of any size joins at once while a segment by it is read", async () => {
  const shop = await audience();
  const list = await groups.create("LIST", shop.caller, { siteId: shop.siteId, name: "News" });
  const ids = (await people(shop, 40)).map(({ id }) => id);
  await members.add(shop.caller, "LIST", list.id, ids);
  const id = await segment(shop, rulesOf({ field: "list", operator: "equals", value: "NEWS" }));
  expect(await segments.count(shop.caller, id)).toBe(40);
});
