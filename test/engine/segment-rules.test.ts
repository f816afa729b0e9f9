// The rules engine against a naive reading of the same rules, on the engine: what DynamoDB is asked, what is asked in code, and both.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type ContactItem, derived } from "../../shared/domain/contacts/contact.ts";
import * as reader from "../../shared/domain/contacts/reader.ts";
import { compile, wanted } from "../../shared/domain/segments/compile.ts";
import type { Context } from "../../shared/domain/segments/evaluate.ts";
import { GivenRules, type Rules } from "../../shared/domain/segments/grammar.ts";
import { put, writeMany } from "../../shared/doors/table.ts";
import { keys, shards } from "../../shared/keys.ts";
import { belongs, deadTag, facts, livingTags, rules, time } from "../support/segment-rules.ts";

const siteId = 1;
let orgId = 9_000_000;

const context: Context = {
  now: time,
  groups: {
    TAG: { idOf: (value) => (value === "One" ? 1 : livingTags.find((id) => id === value)), dead: new Set([deadTag]) },
    LIST: { idOf: () => undefined, dead: new Set() },
  },
};
const nobodyDied: Context = { ...context, groups: { ...context.groups, TAG: { ...context.groups.TAG, dead: new Set() } } };

async function stored(people: Partial<ContactItem>[]): Promise<ContactItem[]> {
  orgId++;
  const items = people.map((person, i) => {
    const email = `${i % 2 ? "Ann" : "bob"}${i}@x.com${i % 3 ? "" : ".br"}`;
    const fields = { email, ...person };
    return {
      ...keys.contact(orgId, siteId, email),
      orgId,
      siteId,
      id: i + 1,
      updatedAt: time.toISOString(),
      ...fields,
      ...derived(fields),
    } as ContactItem;
  });
  await writeMany(items.map((item) => put(item, item)));
  return items;
}

async function found(wish: reader.Wanted): Promise<number[]> {
  const ids: number[] = [];
  for (const shard of shards) for await (const { items } of reader.scan(orgId, siteId, shard, wish)) ids.push(...items.map(({ id }) => id));
  return ids.sort((a, b) => a - b);
}

const idsOf = (items: ContactItem[]) => items.map(({ id }) => id);

test("whatever the rules, they find whom a naive reading finds", async () => {
  const people = fc.array(facts, { minLength: 30, maxLength: 30 });
  const crowd = fc.array(rules, { minLength: 10, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(people, crowd, fc.boolean(), async (given, several, died) => {
      const items = await stored(died ? given : given.map(({ tags, ...rest }) => ({ ...rest, ...living(tags) })));
      for (const one of several) {
        expect(GivenRules.parse(one)).toEqual(one);
        const compiled = compile(one, died ? context : nobodyDied);
        const naive = idsOf(items.filter((item) => belongs(item, one)));
        expect(idsOf(items.filter(compiled.matches))).toEqual(naive);
        expect(items.map((item) => compiled.explain(item).matched)).toEqual(items.map(compiled.matches));
        expect(await found(wanted(compiled))).toEqual(naive);
        expect(await reader.count(orgId, siteId, wanted(compiled))).toBe(naive.length);
        if (!compiled.exact) expect(await found({ filter: compiled.pushed })).toEqual(expect.arrayContaining(naive));
      }
    }),
    { numRuns: 20 },
  );
}, 120_000);

const living = (tags: Set<number> | undefined): Pick<ContactItem, "tags"> => {
  const left = [...(tags ?? [])].filter((id) => id !== deadTag);
  return left.length ? { tags: new Set(left) } : {};
};

const condition = (i: number) => ({ field: "firstName", operator: "contains" as const, value: `name ${i}` });
const many: Rules = {
  match: "all",
  conditions: [
    { field: "firstName", operator: "startsWith", value: "n" },
    { match: "any", conditions: Array.from({ length: 99 }, (_, i) => condition(i)) },
  ],
};

test("rules too long for one filter are pushed as far as they go, and decided in code", async () => {
  const items = await stored(Array.from({ length: 40 }, (_, i) => ({ firstName: `${i % 2 ? "N" : "M"}ame ${i * 5}` })));
  const compiled = compile(many, context);
  expect(compiled.exact).toBe(false);
  expect(compiled.pushed).toBeDefined();
  const naive = idsOf(items.filter((item) => belongs(item, many)));
  expect(naive).toHaveLength(10 + 10);
  expect(await found(wanted(compiled))).toEqual(naive);
  expect(await found({ filter: compiled.pushed })).toHaveLength(20);
  const either: Rules = { match: "any", conditions: Array.from({ length: 100 }, (_, i) => condition(i)) };
  expect(await found(wanted(compile(either, context)))).toEqual(idsOf(items.filter((item) => belongs(item, either))));
});

test("everything that DynamoDB can decide, it decides", () => {
  const exact = (field: string, operator: string, value?: unknown) =>
    compile(GivenRules.parse({ match: "all", conditions: [{ field, operator, value }] }), nobodyDied).exact;
  expect(exact("email", "endsWith", "@gmail.com")).toBe(true);
  expect(exact("firstName", "notContains", "Ann")).toBe(true);
  expect(exact("customFields.plan", "in", ["Pro", 5, true])).toBe(true);
  expect(exact("tag", "exists")).toBe(true);
  expect(exact("event.bought", "lessThan", 3)).toBe(true);
  expect(exact("lastOpenedAt", "notInLastDays", 30)).toBe(true);
  expect(exact("firstName", "endsWith", "n")).toBe(false);
  expect(exact("customFields.since", "before", "2026-01-01")).toBe(false);
});
