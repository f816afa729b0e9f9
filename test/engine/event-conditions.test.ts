// Conditions on the events of contacts: compared with a naive evaluation, and what they read.
import { describe, expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { put, update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as contactListing from "../../shared/domain/audience/contacts/contact-listing.ts";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { maxEventsPerContact } from "../../shared/domain/audience/segments/event-history.ts";
import type { RuleExplanation } from "../../shared/domain/audience/segments/rule-compiler.ts";
import {
  type SegmentCondition,
  type SegmentRules,
  SegmentRulesInput,
} from "../../shared/domain/audience/segments/segment-rules.ts";
import * as segments from "../../shared/domain/audience/segments/segments.ts";
import * as activities from "../../shared/domain/audience/tracking/activities.ts";
import { nextActivityId } from "../../shared/ids.ts";
import { inParallel } from "../../shared/kernel/parallel.ts";
import { keys } from "../../shared/keys.ts";
import { createContact, createTestSite, type TestSite } from "../support/contacts.ts";
import {
  atOf,
  comparedValue,
  eventRules,
  type Person,
  personMatches,
  type RandomEvent,
  randomEvents,
} from "../support/event-rules.ts";
import { everything } from "../support/extent.ts";
import fc from "../support/fast-check.ts";

const one = (condition: object): SegmentRules =>
  SegmentRulesInput.parse({ match: "all", conditions: [condition] });

const record = async (
  { orgId, id }: Pick<ContactItem, "orgId" | "id">,
  event: Partial<RandomEvent> & { at?: string },
) =>
  activities.recordActivity(
    orgId,
    { id },
    {
      id: await nextActivityId(),
      at: event.at ?? atOf({ daysAgo: 0, ...event } as RandomEvent, clock.now()),
      type: "custom",
      name: event.name ?? "bought",
      properties: JSON.stringify(event.properties ?? {}),
      source: "api",
    },
  );

async function createPerson(shop: TestSite, { company, events }: Person, i: number) {
  const contact = await createContact(shop, `p${i}@x.com`, { company });
  const { caller, orgId } = shop;
  for (const event of events) await record({ orgId, id: contact.id }, event);
  return contacts.findItem(caller, contact.id);
}

/** As it was stored before contacts kept the times of events. */
const forgetTimes = (contact: ContactItem) =>
  write(
    update(contact, {
      remove: ["bought", "viewed.item"].flatMap((name) => [
        `firstEventAt.${name}`,
        `lastEventAt.${name}`,
      ]),
    }),
  );

const person: fc.Arbitrary<Person> = fc.record({
  company: fc.constantFrom("Acme", "Other"),
  events: randomEvents,
});

function expectValues(explanation: RuleExplanation, node: SegmentRules, who: Person) {
  for (const [i, part] of node.conditions.entries()) {
    const explained = explanation.conditions![i]!;
    if ("conditions" in part) expectValues(explained, part, who);
    else {
      expect(explained.matched).toBe(personMatches(who, part));
      if (!/EventAt/.test(part.field))
        expect(explained.actual).toEqual(comparedValue(who, part) ?? null);
    }
  }
}

test("random conditions on events match the same contacts as a naive evaluation", async () => {
  const people = fc.array(person, { minLength: 6, maxLength: 6 });
  const rules = fc.array(eventRules, { minLength: 6, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(people, rules, fc.boolean(), async (given, several, isOld) => {
      const shop = await createTestSite();
      const { caller, orgId, siteId } = shop;
      const items = await inParallel(4, given, (who, i) => createPerson(shop, who, i));
      if (isOld) await inParallel(4, items.slice(3), forgetTimes);
      const current = await inParallel(4, items, ({ id }) => contacts.findItem(caller, id));
      for (const node of several) {
        expect(SegmentRulesInput.parse(node)).toEqual(node);
        const naive = items.filter((_, i) => personMatches(given[i]!, node)).map(({ id }) => id);
        const { id } = await segments.create(caller, {
          siteId,
          name: "Some",
          description: null,
          rules: node,
        });
        const page = await segments.members(caller, id, { limit: 100 });
        expect(new Set(page.items.map((item) => item.id))).toEqual(new Set(naive));
        expect(await segments.count(caller, id)).toBe(naive.length);
        const listed = await contactListing.list(caller, { limit: 100 }, { segmentId: id });
        expect(listed.items).toHaveLength(naive.length);
        const matches = await segments.createMatcher(orgId, siteId, node);
        const tested = await inParallel(4, current, (contact) => matches(contact));
        expect(current.filter((_, i) => tested[i]).map((item) => item.id)).toEqual(naive);
        const explained = await segments.explain(caller, id, items[0]!.id);
        expect(explained.matched).toBe(naive.includes(items[0]!.id));
        expectValues(explained, node, given[0]!);
      }
    }),
    { numRuns: everything ? 20 : 3 },
  );
});

const readUnits = async (work: () => Promise<unknown>): Promise<number> =>
  (await measureUnits(work)).usage.readUnits;

describe("events are read only for contacts that the summaries do not decide", () => {
  test("one contact of many costs one read", async () => {
    const shop = await createTestSite();
    const ids = await inParallel(4, Array.from({ length: 12 }), async (_, i) => {
      const { id } = await createContact(shop, `p${i}@x.com`, { company: i ? "Other" : "Acme" });
      await record({ orgId: shop.orgId, id }, { daysAgo: 40, properties: { total: 60 } });
      await record({ orgId: shop.orgId, id }, { daysAgo: 1, properties: { total: 10 } });
      return id;
    });
    expect(ids).toHaveLength(12);
    const count = (rules: SegmentRules) =>
      readUnits(() => segments.countMatching(shop.orgId, shop.siteId, rules));
    const plain = await count(one({ field: "company", operator: "equals", value: "Acme" }));
    const bought = { field: "event.bought", operator: "exists" };
    expect(await count(one({ ...bought, inLastDays: 50 }))).toBe(plain);
    expect(await count(one({ ...bought, inLastDays: 0.5 }))).toBe(plain);
    expect(await count(one({ ...bought, operator: "greaterThan", value: 2, inLastDays: 30 }))).toBe(
      plain,
    );
    const where = [{ field: "properties.total", operator: "greaterThan", value: 50 }];
    const both: SegmentRules = {
      match: "all",
      conditions: [
        ...one({ ...bought, where }).conditions,
        { field: "company", operator: "equals", value: "Acme" },
      ],
    };
    expect(await count(both)).toBe(plain + 0.5);
    expect(await count(one({ ...bought, where }))).toBe(plain + 12 * 0.5);
  });

  test(`the newest ${maxEventsPerContact} events of a contact are read`, async () => {
    const shop = await createTestSite();
    const { caller, orgId, siteId } = shop;
    const { id } = await createContact(shop, "ann@x.com");
    await record({ orgId, id }, { daysAgo: 50, name: "signed up" });
    await record({ orgId, id }, { daysAgo: 49 });
    const start = clock.now().getTime() - 40 * 86_400_000;
    const more = Array.from({ length: maxEventsPerContact - 1 }, (_, i) => {
      const at = new Date(start + i * 1000).toISOString();
      const activity = { id: i + 1, at, type: "custom", name: "other" } as const;
      return put(keys.contactLog(orgId, id, activities.activitySortKey(activity)), {
        ...activity,
        siteId,
        contactId: id,
      });
    });
    for (let i = 0; i < more.length; i += 99) await write(...more.slice(i, i + 99));
    const matches = async (name: string) => {
      const rules = one({
        field: `event.${name}`,
        operator: "exists",
        where: [{ field: "properties.gone", operator: "notExists" }],
      });
      const contact = await contacts.findItem(caller, id);
      return (await segments.createMatcher(orgId, siteId, rules))({
        ...contact,
        // The reader would stop at the time of the latest event of the name.
        [`lastEventAt.${name}`]: clock.now().toISOString(),
      });
    };
    expect(await matches("bought")).toBe(true);
    expect(await matches("signed up")).toBe(false);
  });

  test("page views are events, and their address is a property", async () => {
    const shop = await createTestSite();
    const { caller, orgId, siteId } = shop;
    const { id } = await createContact(shop, "ann@x.com");
    for (const url of ["https://x.com/pricing", "https://x.com/"])
      await activities.recordActivity(
        orgId,
        { id },
        {
          id: await nextActivityId(),
          at: clock.now().toISOString(),
          type: "page_view",
          name: activities.pageViewName,
          url,
          source: "tracking",
        },
      );
    const matches = async (condition: Partial<SegmentCondition>) =>
      (
        await segments.createMatcher(orgId, siteId, one({ field: "event.page_view", ...condition }))
      )(await contacts.findItem(caller, id));
    const where = [{ field: "properties.url", operator: "contains" as const, value: "/pricing" }];
    expect(await matches({ operator: "equals", value: 1, where })).toBe(true);
    expect(await matches({ operator: "equals", value: 2, inLastDays: 7 })).toBe(true);
    expect(await matches({ operator: "exists", where: [{ ...where[0]!, value: "/about" }] })).toBe(
      false,
    );
  });
});
