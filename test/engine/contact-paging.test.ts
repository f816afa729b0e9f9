import { beforeAll, describe, expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { equals } from "../../shared/adapters/dynamodb/conditions.ts";
import * as pages from "../../shared/domain/audience/contacts/contact-listing.ts";
import type { ContactOrder } from "../../shared/domain/audience/contacts/contact-order.ts";
import * as reader from "../../shared/domain/audience/contacts/contact-reader.ts";
import type { Contact } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { upsert } from "../../shared/domain/audience/contacts/upserts.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { emailShards } from "../../shared/keys.ts";
import { createContact, createTestSite, newContact, type TestSite } from "../support/contacts.ts";
import { everything } from "../support/extent.ts";
import fc from "../support/fast-check.ts";

const many = (shop: TestSite, n: number, row: (i: number) => object = () => ({})) =>
  upsert(
    { caller: shop.caller, siteId: shop.siteId },
    Array.from({ length: n }, (_, i) => ({
      ...newContact(`p${String(i).padStart(4, "0")}@x.com`),
      ...row(i),
    })),
  );

/** Page after page by cursor, with `meanwhile` between them. */
async function readAllPages(
  shop: TestSite,
  limit: number,
  { sort, order, ...filter }: pages.ContactFilter & ContactOrder,
  meanwhile: (turn: number) => Promise<unknown> = async () => {},
): Promise<Contact[]> {
  const readContacts: Contact[] = [];
  let cursor: string | undefined;
  for (let turn = 0; ; turn++) {
    const { items, pagination } = await pages.list(
      shop.caller,
      { limit, cursor, sort, order },
      { siteId: shop.siteId, ...filter },
    );
    readContacts.push(...items);
    if (pagination.nextCursor === null) return readContacts;
    cursor = pagination.nextCursor;
    await meanwhile(turn);
  }
}
const emailsOf = (all: Contact[]) => all.map(({ email }) => email);

test("pages have every remaining contact once while others are created and deleted", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        n: fc.integer({ min: 1, max: 60 }),
        limit: fc.integer({ min: 1, max: 13 }),
        way: fc.constantFrom("all", "tag", "status", "search"),
        ops: fc.array(fc.constantFrom("add", "remove", "rename", "change"), { maxLength: 8 }),
      }),
      async ({ n, limit, way: method, ops }) => {
        const shop = await createTestSite();
        await many(shop, n, () => ({ tags: ["t"], lastName: "common" }));
        for (const i of [0, 1, 2, 3, 4, 5, 6, 7])
          await createContact(shop, `leaving${i}@x.com`, { tags: ["t"], lastName: "common" });
        const tagId = (await groups.getOrCreateTags(shop.caller, shop.siteId, ["t"])).get("t")!;
        const filters = {
          all: {},
          tag: { tagId },
          status: { status: "subscribed" as const },
          search: { search: "COMMON" },
        };
        const idOf = async (email: string) =>
          (await pages.list(shop.caller, { limit: 1 }, { siteId: shop.siteId, search: email }))
            .items[0]!.id;
        const doing: Record<string, (i: number) => Promise<unknown>> = {
          add: (i) => createContact(shop, `coming${i}@x.com`, { tags: ["t"], lastName: "common" }),
          remove: async (i) => contacts.remove(shop.caller, await idOf(`leaving${i}@x.com`)),
          rename: async (i) =>
            contacts.change(shop.caller, await idOf(`leaving${i}@x.com`), { firstName: "New" }),
          change: async (i) =>
            contacts.change(shop.caller, await idOf(`leaving${i}@x.com`), { status: "pending" }),
        };
        const emails = emailsOf(
          await readAllPages(
            shop,
            limit,
            filters[method],
            async (turn) => ops[turn] && (await doing[ops[turn]]!(turn)),
          ),
        );
        expect(new Set(emails).size).toBe(emails.length);
        const lasting = emails.filter((email) => email.startsWith("p"));
        expect(lasting.toSorted()).toEqual(
          Array.from({ length: n }, (_, i) => `p${String(i).padStart(4, "0")}@x.com`),
        );
      },
    ),
    { numRuns: everything ? 12 : 3 },
  );
});

test("a member keeps its position after its address changes", async () => {
  const shop = await createTestSite();
  await many(shop, 20, () => ({ tags: ["t"] }));
  const tagId = (await groups.getOrCreateTags(shop.caller, shop.siteId, ["t"])).get("t")!;
  const before = await readAllPages(shop, 7, { tagId });
  for (const { id } of before.slice(3, 9))
    await contacts.change(shop.caller, id, { email: `moved${id}@y.com` });
  const after = await readAllPages(shop, 7, { tagId });
  expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  expect(after[4]!.email).toBe(`moved${after[4]!.id}@y.com`);
});

describe("the contact reader", () => {
  let shop: TestSite;
  beforeAll(async () => {
    shop = await createTestSite();
    await many(shop, 500, (i) => ({ company: i % 50 ? "other" : "rare" }));
  });
  const rare = { filter: equals("company", "rare") };

  test("yields each contact once per shard, and continues from any position", async () => {
    const found: number[] = [];
    for (const shard of emailShards) {
      let after: string | undefined;
      for (let first = true; first || after !== undefined; first = false) {
        for await (const page of reader.readShard(shop, shard, {
          after,
          limit: 7,
        })) {
          found.push(...page.items.map(({ id }) => id));
          after = page.next;
          break;
        }
      }
    }
    expect(found).toHaveLength(500);
    expect(new Set(found).size).toBe(500);
  });

  test("counts contacts that pass the filter, and those that also pass a test in code", async () => {
    expect(await reader.countContacts(shop)).toBe(500);
    expect(await reader.countContacts(shop, rare)).toBe(10);
    expect(
      await reader.countContacts(shop, {
        ...rare,
        test: ({ sk }) => sk < "p0200",
      }),
    ).toBe(4);
  });

  test("returns the same pages by number and by cursor, in order of the address", async () => {
    const addresses = Array.from(
      { length: 10 },
      (_, i) => `p${String(i * 50).padStart(4, "0")}@x.com`,
    );
    const byNumber = await Promise.all(
      [1, 2, 3, 4].map((page) => reader.readSitePage(shop, { page, limit: 3 }, rare)),
    );
    expect(byNumber.flatMap(({ items }) => items.map(({ sk }) => sk))).toEqual(addresses);
    expect(byNumber.map(({ next }) => next !== undefined)).toEqual([true, true, true, false]);
    const code = { test: ({ sk }: { sk: string }) => sk.startsWith("p04") };
    expect((await reader.readSitePage(shop, { limit: 5 }, code)).items.map(({ sk }) => sk)[0]).toBe(
      "p0400@x.com",
    );
  });

  test("reads little more than the page without a filter", async () => {
    const { usage } = await measureUnits(() => reader.readSitePage(shop, { limit: 50 }, {}));
    expect(usage.readUnits).toBeLessThanOrEqual(16 * 2);
  });
});

test("a search finds names by folded letters, and the letters themselves", async () => {
  const { caller, siteId } = await createTestSite();
  await upsert({ caller, siteId }, [
    newContact("m@x.com", { firstName: "Jörg", lastName: "Müller" }),
    newContact("s@x.com", { firstName: "Zoë", lastName: "Strauß" }),
    newContact("plain@x.com", { firstName: "Ann", lastName: "Miller" }),
  ]);
  const find = async (search: string) =>
    (await pages.list(caller, { limit: 10 }, { siteId, search })).items.map(({ email }) => email);
  for (const text of ["müller", "MULLER", "mueller", "jorg", "joerg mue"])
    expect(await find(text), text).toEqual(["m@x.com"]);
  for (const text of ["zoe", "Zoë", "strauss", "strauß"])
    expect(await find(text), text).toEqual(["s@x.com"]);
  expect(await find("miller")).toEqual(["plain@x.com"]);
});

test("a search without siteId finds contacts of all sites once, and only one site for a bound key", async () => {
  const shop = await createTestSite();
  const second = await sites.create(shop.caller, sites.NewSite.parse({ name: "Second" }));
  const third = await sites.create(shop.caller, sites.NewSite.parse({ name: "Third" }));
  const places = [third.id, second.id, shop.siteId];
  const rows = Array.from({ length: 7 }, (_, i) =>
    newContact(`ann${i}@x.com`, { firstName: i % 2 ? "Bob" : "Ann" }),
  );
  for (const siteId of places)
    await upsert({ caller: shop.caller, siteId: siteId }, [...rows, newContact("zoe@y.com")]);
  const all = places.flatMap((siteId) => rows.map(({ email }) => `${siteId} ${email}`));
  for (const limit of [1, 3, 7, 50]) {
    const readContacts: Contact[] = [];
    let cursor: string | undefined;
    do {
      const { items, pagination } = await pages.list(
        shop.caller,
        { limit, cursor },
        { search: "ann" },
      );
      readContacts.push(...items);
      cursor = pagination.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(readContacts.map(({ siteId, email }) => `${siteId} ${email}`)).toEqual(all);
  }
  const third4 = await pages.list(shop.caller, { limit: 4, page: 3 }, { search: "ann" });
  expect(third4.items.map(({ siteId, email }) => `${siteId} ${email}`)).toEqual(all.slice(8, 12));
  expect(
    (await pages.list(shop.caller, { limit: 50 }, { status: "subscribed" })).items,
  ).toHaveLength(24);
  const bound = await pages.list(
    { ...shop.caller, siteIds: [second.id] },
    { limit: 50 },
    { search: "ann" },
  );
  expect(bound.items.map(({ siteId }) => siteId)).toEqual(Array(7).fill(second.id));
});

test("a page of the newest contacts costs the same in large and small sites", async () => {
  const shop = await createTestSite();
  await many(shop, 300);
  const { usage } = await measureUnits(() =>
    pages.list(shop.caller, { limit: 50 }, { siteId: shop.siteId }),
  );
  // 16 empty shards and 50 contacts at half a unit each, and the counters and the site.
  expect(usage.readUnits).toBeLessThanOrEqual(16 * 0.5 + 50 * 0.5 + 3);
});

describe("orders of the list", () => {
  const emails = ["carl@x.com", "ann@x.com", "Zoe@x.com", "bob@x.com", "dora@x.com"];
  let shop: TestSite;
  beforeAll(async () => {
    shop = await createTestSite();
    for (const email of emails) await createContact(shop, email, { tags: ["t"], lastName: "Lee" });
  });
  const read = (order: ContactOrder, filter: pages.ContactFilter = {}) =>
    readAllPages(shop, 2, { ...filter, ...order }).then(emailsOf);
  const byEmail = ["ann@x.com", "bob@x.com", "carl@x.com", "dora@x.com", "Zoe@x.com"];

  test("all contacts are listed by time and by email in both directions", async () => {
    expect(await read({})).toEqual(emails.toReversed());
    expect(await read({ sort: "createdAt" })).toEqual(emails.toReversed());
    expect(await read({ sort: "createdAt", order: "asc" })).toEqual(emails);
    expect(await read({ sort: "email" })).toEqual(byEmail);
    expect(await read({ sort: "email", order: "desc" })).toEqual(byEmail.toReversed());
    const { pagination } = await pages.list(
      shop.caller,
      { limit: 2, sort: "email" },
      { siteId: shop.siteId },
    );
    expect(pagination.total).toBe(5);
  });

  test("filtered lists are in email order in both directions", async () => {
    const filter = { search: "lee" };
    expect(await read({ sort: "email" }, filter)).toEqual(byEmail);
    expect(await read({ sort: "email", order: "desc" }, filter)).toEqual(byEmail.toReversed());
  });

  test("an order that would need all contacts is refused", async () => {
    const tagId = (await groups.getOrCreateTags(shop.caller, shop.siteId, ["t"])).get("t")!;
    for (const [order, filter, path] of [
      [{ sort: "createdAt" }, { search: "lee" }, "sort"],
      [{ sort: "createdAt" }, { tagId }, "sort"],
      [{ sort: "email" }, { tagId }, "sort"],
      [{ order: "asc" }, {}, "order"],
    ] as const)
      await expect(read(order, filter)).rejects.toMatchObject({
        kind: "invalid",
        details: [{ path }],
      });
    expect(await read({ sort: "email" }, { tagId, status: "subscribed" })).toEqual(byEmail);
  });

  test("a page by email costs the same in large and small sites, whatever its direction", async () => {
    const large = await createTestSite();
    await many(large, 300);
    for (const order of ["asc", "desc"] as const) {
      const { usage } = await measureUnits(() =>
        pages.list(large.caller, { limit: 50, sort: "email", order }, { siteId: large.siteId }),
      );
      // As above, with the shards read in place of the contacts.
      expect(usage.readUnits).toBeLessThanOrEqual(16 * 2 + 3);
    }
  });

  test("contacts of several sites are listed site by site in both directions", async () => {
    const many = await createTestSite();
    const second = await sites.create(many.caller, sites.NewSite.parse({ name: "Second" }));
    for (const siteId of [many.siteId, second.id])
      await upsert({ caller: many.caller, siteId }, [newContact("a@x.com"), newContact("b@x.com")]);
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const { items, pagination } = await pages.list(
        many.caller,
        { limit: 1, cursor, sort: "email", order: "desc" },
        {},
      );
      expect(pagination.total).toBe(4);
      found.push(...items.map(({ siteId, email }) => `${siteId} ${email}`));
      cursor = pagination.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(found).toEqual(
      [second.id, many.siteId].flatMap((siteId) => [`${siteId} b@x.com`, `${siteId} a@x.com`]),
    );
  });
});
