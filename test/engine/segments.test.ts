import { describe, expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as contactPages from "../../shared/domain/audience/contacts/contact-listing.ts";
import type {
  Contact,
  ContactItem,
  NewContact,
} from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as facts from "../../shared/domain/audience/contacts/segment-attributes.ts";
import * as members from "../../shared/domain/audience/groups/group-members.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import * as segments from "../../shared/domain/audience/segments/segments.ts";
import * as activities from "../../shared/domain/audience/tracking/activities.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { nextActivityId } from "../../shared/ids.ts";
import { inParallel } from "../../shared/kernel/parallel.ts";
import { createContact, createTestSite, type TestSite } from "../support/contacts.ts";
import { everything } from "../support/extent.ts";
import fc from "../support/fast-check.ts";
import { createForm, submitForm } from "../support/forms.ts";

const rulesOf = (...conditions: object[]) => ({ match: "all", conditions });
const segment = async ({ caller, siteId }: TestSite, rules: object) =>
  (await segments.create(caller, segments.NewSegment.parse({ siteId, name: "Some", rules }))).id;
const emails = async ({ caller }: TestSite, id: number) =>
  (await segments.members(caller, id, { limit: 100 })).items.map(({ email }) => email);
const createContacts = (shop: TestSite, n: number, more: Partial<NewContact> = {}) =>
  Promise.all(Array.from({ length: n }, (_, i) => createContact(shop, `p${i}@x.com`, more)));
const recordEvent = async ({ orgId, id }: ContactItem, name: string) =>
  activities.recordActivity(
    orgId,
    { id: id },
    {
      id: await nextActivityId(),
      at: clock.now().toISOString(),
      type: "custom",
      name,
      source: "api",
    },
  );

describe("the contacts of a segment", () => {
  test("change at once when a contact is created, changed, tagged or deleted", async () => {
    const shop = await createTestSite();
    await groups.create("TAG", shop.caller, { siteId: shop.siteId, name: "vip" });
    const { caller } = shop;
    const id = await segment(shop, {
      match: "any",
      conditions: [
        { field: "company", operator: "equals", value: "ACME" },
        { field: "tag", operator: "equals", value: "vip" },
      ],
    });
    expect(await segments.count(caller, id)).toBe(0);
    const ann = await createContact(shop, "Ann@x.com", { company: "Acme" });
    const bob = await createContact(shop, "bob@x.com", { tags: ["VIP"] });
    expect(await emails(shop, id)).toEqual(["Ann@x.com", "bob@x.com"]);
    await contacts.change(caller, ann.id, { company: "Other" });
    expect(await emails(shop, id)).toEqual(["bob@x.com"]);
    await contacts.remove(caller, bob.id);
    expect(await segments.count(caller, id)).toBe(0);
  });

  test("a number in text is compared as it is written", async () => {
    const shop = await createTestSite();
    await createContact(shop, "ann@x.com", { customFields: { n: 5 } });
    const counts = await inParallel(3, ["5", "05", "5.0"], (value) =>
      segments.countPreview(shop.caller, {
        rules: segments.NewSegment.shape.rules.parse(
          rulesOf({ field: "customFields.n", operator: "equals", value }),
        ),
      }),
    );
    expect(counts).toEqual([1, 0, 0]);
  });

  test("a segment without rules has all contacts of its site only", async () => {
    const shop = await createTestSite();
    const other = {
      ...shop,
      siteId: (await sites.create(shop.caller, sites.NewSite.parse({ name: "Other" }))).id,
    };
    await Promise.all([createContacts(shop, 3), createContact(other, "else@x.com")]);
    const id = await segment(shop, rulesOf());
    expect(await segments.count(shop.caller, id)).toBe(3);
    const bound = { ...shop.caller, siteIds: [other.siteId] };
    await expect(segments.count(bound, id)).rejects.toMatchObject({ code: "site_forbidden" });
    await expect(
      contactPages.resolveFilter(shop.caller, { segmentId: id, siteId: other.siteId }),
    ).rejects.toMatchObject({
      kind: "invalid",
    });
  });

  test("a deleted tag matches no contact, and counts as no tag", async () => {
    const shop = await createTestSite();
    const { caller } = shop;
    const [ann] = await createContacts(shop, 3, { tags: ["gone"] });
    await createContact(shop, "kept@x.com", { tags: ["kept"] });
    const [{ id: deletedTag }] = ann!.tags as [{ id: number; name: string }];
    const [byName, byId, any, none] = await Promise.all([
      segment(shop, rulesOf({ field: "tag", operator: "equals", value: "gone" })),
      segment(shop, rulesOf({ field: "tag", operator: "in", value: [deletedTag] })),
      segment(shop, rulesOf({ field: "tag", operator: "exists" })),
      segment(shop, rulesOf({ field: "tag", operator: "notExists" })),
    ]);
    const counts = () =>
      Promise.all([byName, byId, any, none].map((id) => segments.count(caller, id)));
    expect(await counts()).toEqual([3, 3, 4, 0]);
    await groups.removeGroup("TAG", caller, deletedTag);
    expect(await counts()).toEqual([0, 0, 1, 3]);
    // A new tag with the old name does not match, because the rules contain the id.
    await createContact(shop, "new@x.com", { tags: ["gone"] });
    expect(await counts()).toEqual([0, 0, 2, 3]);
  });

  test("a list of another site is rejected", async () => {
    const shop = await createTestSite();
    const other = (await sites.create(shop.caller, sites.NewSite.parse({ name: "Other" }))).id;
    const list = await groups.create("LIST", shop.caller, { siteId: other, name: "News" });
    const rules = rulesOf({ field: "list", operator: "notEquals", value: list.id });
    const message = `rules.conditions.0.value: there is no list ${list.id} in this site`;
    await expect(segment(shop, rules)).rejects.toMatchObject({ kind: "invalid", message });
  });

  test("rules about events, forms and campaigns use exact counts despite concurrent changes", async () => {
    const shop = await createTestSite();
    const { caller } = shop;
    const { id } = await createContact(shop, "ann@x.com");
    const item = await contacts.findItem(caller, id);
    await Promise.all([
      ...Array.from({ length: 5 }, () => recordEvent(item, "bought")),
      contacts.change(caller, id, { firstName: "Ann" }),
      contacts.change(caller, id, { lastName: "Lee" }),
    ]);
    const form = await createForm(shop);
    await submitForm(form.id, { email: "ann@x.com" });
    const now = await contacts.findItem(caller, id);
    await write(update(now, { set: facts.addCampaign(now, "opened", 7) }));
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

  test("a contact counts 200 event names, and further events with these names", async () => {
    const shop = await createTestSite();
    const { id } = await createContact(shop, "ann@x.com");
    const item = await contacts.findItem(shop.caller, id);
    const names = Array.from({ length: facts.maxEventNamesPerContact - 1 }, (_, i) => `e${i}`);
    await inParallel(4, names, (name) => recordEvent(item, name));
    // One more name fits, and two arrive concurrently.
    await Promise.all([recordEvent(item, "late"), recordEvent(item, "later")]);
    await recordEvent(item, "e0");
    const { eventNames, ...known } = (await contacts.findItem(shop.caller, id)) as ContactItem &
      Record<string, unknown>;
    expect(eventNames!.size).toBe(200);
    expect(known).toMatchObject({ "event.e0": 2, "event.e198": 1 });
    expect([known["event.late"], known["event.later"]].toSorted()).toEqual([1, undefined]);
  });

  test("a contact stores its latest 200 campaigns", async () => {
    const shop = await createTestSite();
    const item = await contacts.findItem(shop.caller, (await createContact(shop, "ann@x.com")).id);
    const full = {
      ...item,
      sentCampaigns: new Set(Array.from({ length: facts.maxCampaignsPerContact }, (_, i) => i + 1)),
    };
    const { sentCampaigns } = facts.addCampaign(full, "sent", 201) as {
      sentCampaigns: Set<number>;
    };
    expect([
      sentCampaigns.size,
      sentCampaigns.has(1),
      sentCampaigns.has(2),
      sentCampaigns.has(201),
    ]).toEqual([200, false, true, true]);
  });
});

test("an explanation tells for each condition whether it matches, with the contact's value", async () => {
  const shop = await createTestSite();
  const b = await groups.create("TAG", shop.caller, { siteId: shop.siteId, name: "b" });
  const ann = await createContact(shop, "ann@x.com", {
    tags: ["a"],
    customFields: { plan: "Pro" },
  });
  const id = await segment(shop, {
    match: "any",
    conditions: [
      { field: "score", operator: "greaterThan", value: 5 },
      rulesOf(
        { field: "customFields.plan", operator: "equals", value: "pro" },
        { field: "tag", operator: "equals", value: "b" },
      ),
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
          {
            field: "customFields.plan",
            operator: "equals",
            value: "pro",
            matched: true,
            actual: "Pro",
          },
          {
            field: "tag",
            operator: "equals",
            value: b.id,
            matched: false,
            actual: [ann.tags[0]!.id],
            actualNames: ["a"],
          },
        ],
      },
      { field: "firstName", operator: "notExists", matched: true, actual: null },
    ],
  });
  const { rules } = await segments.find(shop.caller, id);
  expect(await segments.explainPreview(shop.caller, { rules, contactId: ann.id })).toEqual(
    await segments.explain(shop.caller, id, ann.id),
  );
  const unsaved = segments.NewSegment.shape.rules.parse(
    rulesOf({ field: "tag", operator: "equals", value: "a" }),
  );
  expect(
    await segments.explainPreview(shop.caller, { rules: unsaved, contactId: ann.id }),
  ).toMatchObject({ matched: true, conditions: [{ matched: true, actualNames: ["a"] }] });
  const stranger = await createTestSite();
  for (const explain of [
    () => segments.explain(stranger.caller, id, ann.id),
    () => segments.explainPreview(stranger.caller, { rules: unsaved, contactId: ann.id }),
  ])
    await expect(explain()).rejects.toMatchObject({ kind: "missing" });
});

test("counting with a pushed-down filter returns no contacts and costs as much as reading them", async () => {
  const shop = await createTestSite();
  await createContacts(shop, 200);
  const id = await segment(
    shop,
    rulesOf({ field: "email", operator: "endsWith", value: "9@X.com" }),
  );
  const { result, usage } = await measureUnits(() => segments.count(shop.caller, id));
  expect(result).toBe(20);
  expect(usage.readUnits).toBeLessThan(40);
});

async function* pages({ caller }: TestSite, id: number, limit: number): AsyncGenerator<Contact[]> {
  let cursor: string | undefined;
  do {
    const { items, pagination } = await segments.members(caller, id, {
      limit,
      ...(cursor !== undefined && { cursor }),
    });
    yield items;
    cursor = pagination.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

test("pages have each remaining contact exactly once while others are created and deleted", async () => {
  const shop = await createTestSite();
  const staying = await createContacts(shop, 40, { company: "Acme" });
  const [pushed, inCode] = [
    await segment(shop, rulesOf({ field: "company", operator: "equals", value: "acme" })),
    await segment(shop, rulesOf({ field: "company", operator: "endsWith", value: "me" })),
  ];
  const ids = staying.map(({ id }) => id).sort((a, b) => a - b);
  let made = 0;
  const busy = fc.record({
    limit: fc.integer({ min: 4, max: 25 }),
    comings: fc.array(fc.nat(1000), { maxLength: 2 }),
    code: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(busy, async ({ limit, comings, code }) => {
      const seen: number[] = [];
      for await (const page of pages(shop, code ? inCode : pushed, limit)) {
        expect(page.length).toBeLessThanOrEqual(limit);
        seen.push(...page.map(({ id }) => id));
        const come = await Promise.all(
          comings.map((n) => createContact(shop, `g${n}-${made++}@x.com`, { company: "Acme" })),
        );
        await Promise.all(come.slice(1).map(({ id }) => contacts.remove(shop.caller, id)));
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.filter((id) => ids.includes(id)).sort((a, b) => a - b)).toEqual(ids);
    }),
    { numRuns: everything ? 6 : 3 },
  );
});

test("a page by number is the same as the page by cursor", async () => {
  const shop = await createTestSite();
  await createContacts(shop, 25);
  const id = await segment(shop, rulesOf({ field: "email", operator: "startsWith", value: "P" }));
  const third = await segments.members(shop.caller, id, { limit: 10, page: 3 });
  const byCursor: Contact[][] = [];
  for await (const page of pages(shop, id, 10)) byCursor.push(page);
  expect(byCursor.map((page) => page.length)).toEqual([10, 10, 5]);
  expect(third.items).toEqual(byCursor[2]);
  expect(third.pagination).toMatchObject({ page: 3, total: null, nextCursor: null });
});

test("contacts join a large list while a segment that uses it is read", async () => {
  const shop = await createTestSite();
  const list = await groups.create("LIST", shop.caller, { siteId: shop.siteId, name: "News" });
  const ids = (await createContacts(shop, 40)).map(({ id }) => id);
  await members.addMembers(shop.caller, { kind: "LIST", id: list.id }, ids);
  const id = await segment(shop, rulesOf({ field: "list", operator: "equals", value: "NEWS" }));
  expect(await segments.count(shop.caller, id)).toBe(40);
});
