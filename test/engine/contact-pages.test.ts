import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { equals } from "../../shared/conditions.ts";
import type { Contact } from "../../shared/domain/contacts/contact.ts";
import * as groups from "../../shared/domain/contacts/groups.ts";
import * as pages from "../../shared/domain/contacts/pages.ts";
import * as reader from "../../shared/domain/contacts/reader.ts";
import { upsert } from "../../shared/domain/contacts/upserts.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import { metered } from "../../shared/doors/meter.ts";
import { shards } from "../../shared/keys.ts";
import { type Audience, audience, create, person } from "../support/audience.ts";

const many = (shop: Audience, n: number, row: (i: number) => object = () => ({})) =>
  upsert(
    shop.caller,
    shop.siteId,
    Array.from({ length: n }, (_, i) => ({ ...person(`p${String(i).padStart(4, "0")}@x.com`), ...row(i) })),
  );

/** Page after page by cursor, with `meanwhile` between them. */
async function walk(
  shop: Audience,
  limit: number,
  filter: pages.Filter,
  meanwhile: (turn: number) => Promise<unknown> = async () => {},
): Promise<Contact[]> {
  const seen: Contact[] = [];
  let cursor: string | undefined;
  for (let turn = 0; ; turn++) {
    const { items, pagination } = await pages.list(shop.caller, { limit, cursor }, { siteId: shop.siteId, ...filter });
    seen.push(...items);
    if (pagination.nextCursor === null) return seen;
    cursor = pagination.nextCursor;
    await meanwhile(turn);
  }
}
const emailsOf = (all: Contact[]) => all.map(({ email }) => email);

test("every walk meets every lasting contact exactly once, while others come, change and go", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        n: fc.integer({ min: 1, max: 60 }),
        limit: fc.integer({ min: 1, max: 13 }),
        way: fc.constantFrom("all", "tag", "status", "search"),
        ops: fc.array(fc.constantFrom("add", "remove", "rename", "change"), { maxLength: 8 }),
      }),
      async ({ n, limit, way, ops }) => {
        const shop = await audience();
        await many(shop, n, () => ({ tags: ["t"], lastName: "common" }));
        for (const i of [0, 1, 2, 3, 4, 5, 6, 7]) await create(shop, `leaving${i}@x.com`, { tags: ["t"], lastName: "common" });
        const tagId = (await groups.tagsNamed(shop.caller, shop.siteId, ["t"])).get("t")!;
        const filters = { all: {}, tag: { tagId }, status: { status: "subscribed" as const }, search: { search: "COMMON" } };
        const idOf = async (email: string) =>
          (await pages.list(shop.caller, { limit: 1 }, { siteId: shop.siteId, search: email })).items[0]!.id;
        const doing: Record<string, (i: number) => Promise<unknown>> = {
          add: (i) => create(shop, `coming${i}@x.com`, { tags: ["t"], lastName: "common" }),
          remove: async (i) => contacts.remove(shop.caller, await idOf(`leaving${i}@x.com`)),
          rename: async (i) => contacts.change(shop.caller, await idOf(`leaving${i}@x.com`), { firstName: "New" }),
          change: async (i) => contacts.change(shop.caller, await idOf(`leaving${i}@x.com`), { status: "pending" }),
        };
        const seen = emailsOf(await walk(shop, limit, filters[way], async (turn) => ops[turn] && (await doing[ops[turn]]!(turn))));
        expect(new Set(seen).size).toBe(seen.length);
        const lasting = seen.filter((email) => email.startsWith("p"));
        expect(lasting.toSorted()).toEqual(Array.from({ length: n }, (_, i) => `p${String(i).padStart(4, "0")}@x.com`));
      },
    ),
    { numRuns: 12 },
  );
}, 60_000);

test("a member that has another address by now is still found, in its place", async () => {
  const shop = await audience();
  await many(shop, 20, () => ({ tags: ["t"] }));
  const tagId = (await groups.tagsNamed(shop.caller, shop.siteId, ["t"])).get("t")!;
  const before = await walk(shop, 7, { tagId });
  for (const { id } of before.slice(3, 9)) await contacts.change(shop.caller, id, { email: `moved${id}@y.com` });
  const after = await walk(shop, 7, { tagId });
  expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  expect(after[4]!.email).toBe(`moved${after[4]!.id}@y.com`);
});

describe("the reader", () => {
  let shop: Audience;
  beforeAll(async () => {
    shop = await audience();
    await many(shop, 500, (i) => ({ company: i % 50 ? "other" : "rare" }));
  });
  const rare = { filter: equals("company", "rare") };

  test("gives each contact once by its collections, and can be taken up anywhere", async () => {
    const found: number[] = [];
    for (const shard of shards) {
      let after: string | undefined;
      for (let first = true; first || after !== undefined; first = false) {
        for await (const page of reader.scan(shop.orgId, shop.siteId, shard, { after, limit: 7 })) {
          found.push(...page.items.map(({ id }) => id));
          after = page.next;
          break;
        }
      }
    }
    expect(found).toHaveLength(500);
    expect(new Set(found).size).toBe(500);
  });

  test("counts what the filter lets pass, and what code finds among it", async () => {
    expect(await reader.count(shop.orgId, shop.siteId)).toBe(500);
    expect(await reader.count(shop.orgId, shop.siteId, rare)).toBe(10);
    expect(await reader.count(shop.orgId, shop.siteId, { ...rare, matches: ({ sk }) => sk < "p0200" })).toBe(4);
  });

  test("pages by address, in step by number and by cursor", async () => {
    const addresses = Array.from({ length: 10 }, (_, i) => `p${String(i * 50).padStart(4, "0")}@x.com`);
    const byNumber = await Promise.all([1, 2, 3, 4].map((page) => reader.page(shop.orgId, shop.siteId, { page, limit: 3 }, rare)));
    expect(byNumber.flatMap(({ items }) => items.map(({ sk }) => sk))).toEqual(addresses);
    expect(byNumber.map(({ next }) => next !== undefined)).toEqual([true, true, true, false]);
    const code = { matches: ({ sk }: { sk: string }) => sk.startsWith("p04") };
    expect((await reader.page(shop.orgId, shop.siteId, { limit: 5 }, code)).items.map(({ sk }) => sk)[0]).toBe("p0400@x.com");
  });

  test("reads little more than a page shows, where all are wanted", async () => {
    const { usage } = await metered(() => reader.page(shop.orgId, shop.siteId, { limit: 50 }, {}));
    expect(usage.readUnits).toBeLessThanOrEqual(16 * 2);
  });
});

test("a page of the newest costs as much in a large site as in a small one", async () => {
  const shop = await audience();
  await many(shop, 300);
  const { usage } = await metered(() => pages.list(shop.caller, { limit: 50 }, { siteId: shop.siteId }));
  // 16 shelves and 50 contacts at half a unit each, 16 counters, the site.
  expect(usage.readUnits).toBeLessThanOrEqual(16 * 0.5 + 50 * 0.5 + 3);
});
