// Compares segment rules with a naive evaluation: filter expressions of DynamoDB, the evaluation in
// code, and both together.

import { expect, test } from "vitest";
import { put, writeMany } from "../../shared/adapters/dynamodb/table.ts";
import * as reader from "../../shared/domain/audience/contacts/contact-reader.ts";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import { searchAttributes } from "../../shared/domain/audience/contacts/contact-search-text.ts";
import {
  compileRules,
  toContactQuery,
} from "../../shared/domain/audience/segments/rule-compiler.ts";
import type { RuleContext } from "../../shared/domain/audience/segments/rule-tests.ts";
import {
  type SegmentRules,
  SegmentRulesInput,
} from "../../shared/domain/audience/segments/segment-rules.ts";
import { emailShards, keys } from "../../shared/keys.ts";
import { everything } from "../support/extent.ts";
import fc from "../support/fast-check.ts";
import {
  contactFields,
  declaredTypes,
  deletedTag,
  evaluationTime,
  existingTags,
  matchesNaively,
  organizationZone,
  rules,
} from "../support/segment-rules.ts";

const siteId = 1;
let orgId = 9_000_000;

const context: RuleContext = {
  now: evaluationTime,
  timezone: organizationZone,
  typeOf: (name) => declaredTypes[name],
  groups: {
    TAG: {
      idOf: (value) => (value === "One" ? 1 : existingTags.find((id) => id === value)),
      deletedIds: new Set([deletedTag]),
    },
    LIST: { idOf: () => undefined, deletedIds: new Set() },
  },
};
const contextWithoutDeletions: RuleContext = {
  ...context,
  groups: { ...context.groups, TAG: { ...context.groups.TAG, deletedIds: new Set() } },
};

async function storeContacts(contactList: Partial<ContactItem>[]): Promise<ContactItem[]> {
  orgId++;
  const items = contactList.map((randomFields, i) => {
    const email = `${i % 2 ? "Ann" : "bob"}${i}@x.com${i % 3 ? "" : ".br"}`;
    const fields = { email, ...randomFields };
    return {
      ...keys.contact(orgId, siteId, email),
      orgId,
      siteId,
      id: i + 1,
      updatedAt: evaluationTime.toISOString(),
      ...fields,
      ...searchAttributes(fields),
    } as ContactItem;
  });
  await writeMany(items.map((item) => put(item, item)));
  return items;
}

async function found(query: reader.ContactQuery): Promise<number[]> {
  const ids: number[] = [];
  for (const shard of emailShards)
    for await (const { items } of reader.readShard({ orgId, siteId }, shard, query))
      ids.push(...items.map(({ id }) => id));
  return ids.sort((a, b) => a - b);
}

const idsOf = (items: ContactItem[]) => items.map(({ id }) => id);

test("random rules match the same contacts as a naive evaluation", async () => {
  const contactList = fc.array(contactFields, { minLength: 30, maxLength: 30 });
  const crowd = fc.array(rules, { minLength: 10, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(contactList, crowd, fc.boolean(), async (given, several, hasDeletions) => {
      const items = await storeContacts(
        hasDeletions
          ? given
          : given.map(({ tags, ...rest }) => ({ ...rest, ...withoutDeletedTag(tags) })),
      );
      for (const one of several) {
        expect(SegmentRulesInput.parse(one)).toEqual(one);
        const compiled = compileRules(one, hasDeletions ? context : contextWithoutDeletions);
        const naive = idsOf(items.filter((item) => matchesNaively(item, one)));
        expect(idsOf(items.filter(compiled.test))).toEqual(naive);
        expect(items.map((item) => compiled.explain(item).matched)).toEqual(
          items.map(compiled.test),
        );
        expect(await found(toContactQuery({ orgId, siteId }, compiled))).toEqual(naive);
        expect(
          await reader.countContacts(
            { orgId, siteId },
            toContactQuery({ orgId, siteId }, compiled),
          ),
        ).toBe(naive.length);
        if (!compiled.filterIsExact)
          expect(await found({ filter: compiled.filter })).toEqual(expect.arrayContaining(naive));
      }
    }),
    { numRuns: everything ? 20 : 5 },
  );
});

const withoutDeletedTag = (tags: Set<number> | undefined): Pick<ContactItem, "tags"> => {
  const left = [...(tags ?? [])].filter((id) => id !== deletedTag);
  return left.length ? { tags: new Set(left) } : {};
};

const condition = (i: number) => ({
  field: "firstName",
  operator: "contains" as const,
  value: `name ${i}`,
});
const many: SegmentRules = {
  match: "all",
  conditions: [
    { field: "firstName", operator: "startsWith", value: "n" },
    { match: "any", conditions: Array.from({ length: 99 }, (_, i) => condition(i)) },
  ],
};

test("rules that are too long for one filter are pushed down in part and evaluated in code", async () => {
  const items = await storeContacts(
    Array.from({ length: 40 }, (_, i) => ({ firstName: `${i % 2 ? "N" : "M"}ame ${i * 5}` })),
  );
  const compiled = compileRules(many, context);
  expect(compiled.filterIsExact).toBe(false);
  expect(compiled.filter).toBeDefined();
  const naive = idsOf(items.filter((item) => matchesNaively(item, many)));
  expect(naive).toHaveLength(10 + 10);
  expect(await found(toContactQuery({ orgId, siteId }, compiled))).toEqual(naive);
  expect(await found({ filter: compiled.filter })).toHaveLength(20);
  const either: SegmentRules = {
    match: "any",
    conditions: Array.from({ length: 100 }, (_, i) => condition(i)),
  };
  expect(await found(toContactQuery({ orgId, siteId }, compileRules(either, context)))).toEqual(
    idsOf(items.filter((item) => matchesNaively(item, either))),
  );
});

test("text operators compare a number or boolean as it is written", async () => {
  const values = [80331, "80331", "081", 180, true, "Truce", null];
  const items = await storeContacts(values.map((a) => ({ customFields: { a } })));
  const having = async (operator: string, value: string) => {
    const one = SegmentRulesInput.parse({
      match: "all",
      conditions: [{ field: "customFields.a", operator, value }],
    });
    const ids = await found(
      toContactQuery({ orgId, siteId }, compileRules(one, contextWithoutDeletions)),
    );
    expect(idsOf(items.filter(compileRules(one, contextWithoutDeletions).test))).toEqual(ids);
    return ids.map((id) => values[id - 1]);
  };
  expect(await having("startsWith", "80")).toEqual([80331, "80331"]);
  expect(await having("endsWith", "1")).toEqual([80331, "80331", "081"]);
  expect(await having("contains", "80")).toEqual([80331, "80331", 180]);
  expect(await having("startsWith", "TRU")).toEqual([true, "Truce"]);
  expect(await having("notContains", "8")).toEqual([true, "Truce", null]);
});

test("all conditions that DynamoDB can evaluate are pushed down", () => {
  const exact = (field: string, operator: string, value?: unknown) =>
    compileRules(
      SegmentRulesInput.parse({ match: "all", conditions: [{ field, operator, value }] }),
      contextWithoutDeletions,
    ).filterIsExact;
  expect(exact("email", "endsWith", "@gmail.com")).toBe(true);
  expect(exact("firstName", "notContains", "Ann")).toBe(true);
  expect(exact("customFields.plan", "in", ["Pro", 5, true])).toBe(true);
  expect(exact("tag", "exists")).toBe(true);
  expect(exact("event.bought", "lessThan", 3)).toBe(true);
  expect(exact("lastOpenedAt", "notInLastDays", 30)).toBe(true);
  expect(exact("firstName", "endsWith", "n")).toBe(false);
  expect(exact("customFields.since", "before", "2026-01-01")).toBe(false);
});

/** The contacts, by their number, that match a condition at a time. */
async function matching(
  contactList: Partial<ContactItem>[],
  condition: object,
  now: string,
): Promise<number[]> {
  const items = await storeContacts(contactList);
  const one = SegmentRulesInput.parse({ match: "all", conditions: [condition] });
  const compiled = compileRules(one, { ...context, now: new Date(now) });
  const ids = await found(toContactQuery({ orgId, siteId }, compiled));
  expect(idsOf(items.filter(compiled.test))).toEqual(ids);
  return ids;
}

test(
  "a date is a day of the contact, also between its midnight and that of UTC " +
    "(https://github.com/mautic/mautic/issues/17319)",
  async () => {
    const people: Partial<ContactItem>[] = [
      { timezone: "Europe/Berlin", customFields: { day: "2026-06-16" } },
      { timezone: "America/Los_Angeles", customFields: { day: "2026-06-15" } },
      { customFields: { day: "2026-06-15" } },
      { timezone: "Europe/Berlin", customFields: { day: "soon" } },
    ];
    const at = (field: object) => matching(people, { field: "customFields.day", ...field }, now);
    // In Berlin the 16th has begun; in New York, the zone of the organization, it is the 15th.
    const now = "2026-06-15T22:30:00.000Z";
    expect(await at({ operator: "today" })).toEqual([1, 2, 3]);
    expect(await at({ operator: "notToday" })).toEqual([]);
    expect(await at({ operator: "inNextDays", value: 1 })).toEqual([1, 2, 3]);
    expect(await at({ operator: "anniversaryInDays", value: 0 })).toEqual([1, 2, 3]);
    expect(await at({ operator: "notOn", value: "2026-06-15" })).toEqual([1]);
  },
);

test("an anniversary of 29 February is on the 28th in other years", async () => {
  const people = ["2024-02-29", "2020-02-28", "1999-03-01"].map((day) => ({
    customFields: { day },
  }));
  const on = (now: string) =>
    matching(people, { field: "customFields.day", operator: "anniversaryInDays", value: 0 }, now);
  expect(await on("2027-02-28T15:00:00Z")).toEqual([1, 2]);
  expect(await on("2028-02-28T15:00:00Z")).toEqual([2]);
  expect(await on("2028-02-29T15:00:00Z")).toEqual([1]);
  expect(await on("2027-03-01T15:00:00Z")).toEqual([3]);
});
