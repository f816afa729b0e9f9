import { describe, expect, test } from "vitest";
import * as groups from "../../shared/domain/contacts/groups.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import * as sites from "../../shared/domain/sites.ts";
import * as suppressions from "../../shared/domain/suppressions.ts";
import { type Audience, audience, counted, create, members, stored } from "../support/audience.ts";
import { armed, atSomeSteps } from "../support/killer.ts";

armed();

const exact = async (shop: Audience) => expect(await counted(shop)).toBe((await stored(shop)).length);
const exactGroup = async (shop: Audience, kind: "TAG" | "LIST", group: number) => {
  const { ids, count } = await members(shop, kind, group);
  const carriers = (await stored(shop)).filter((one) => one[kind === "TAG" ? "tags" : "lists"]?.has(group)).map(({ id }) => id);
  expect(ids).toEqual(carriers.sort((a, b) => a - b));
  expect(count).toBe(ids.length);
};
const tag = async ({ caller, siteId }: Audience, name: string) => (await groups.tagsNamed(caller, siteId, [name])).get(name)!;
const suppression = (email: string) => suppressions.NewSuppression.parse({ email });
const suppress = (shop: Audience, email: string) => suppressions.suppress(shop.orgId, { ...suppression(email), source: "test" });

describe("making one", () => {
  test("ten creates of one address make one contact, and nine are told", async () => {
    const shop = await audience();
    const made = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => create(shop, i % 2 ? "Ann@x.com" : "ann@X.com", { tags: ["a"] })),
    );
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const one of made) if (one.status === "rejected") expect(one.reason).toMatchObject({ kind: "conflict", code: "email_exists" });
    expect(await counted(shop)).toBe(1);
    await exactGroup(shop, "TAG", await tag(shop, "a"));
  });

  test("dead at any step, it is there whole and counted, or not at all", async () => {
    const list = async (shop: Audience) => (await groups.create("LIST", shop.caller, { siteId: shop.siteId, name: "News" })).id;
    const steps = await atSomeSteps(3, async (kill) => {
      const shop = await audience();
      const listId = await list(shop);
      await kill(() => create(shop, "ann@x.com", { tags: ["new"], lists: [listId] }));
      await exact(shop);
      await exactGroup(shop, "LIST", listId);
      await exactGroup(shop, "TAG", await tag(shop, "new"));
      await create(shop, "ann@x.com", { tags: ["new"], lists: [listId] }).catch((error) => expect(error.code).toBe("email_exists"));
      expect(await counted(shop)).toBe(1);
      expect((await members(shop, "LIST", listId)).count).toBe(1);
    });
    expect(steps.length).toBeGreaterThan(10);
  });

  test("it is found by its id at once, by nobody else's", async () => {
    const [shop, other] = [await audience(), await audience()];
    const { id } = await create(shop, "Ann@X.com", { firstName: "Ann", customFields: { a: "x", b: 1, c: true, d: null } });
    expect(await contacts.find(shop.caller, id)).toMatchObject({
      email: "Ann@X.com",
      status: "subscribed",
      customFields: { a: "x", b: 1, c: true, d: null },
    });
    await expect(contacts.find(other.caller, id)).rejects.toMatchObject({ kind: "missing" });
    const second = await sites.create(shop.caller, sites.NewSite.parse({ name: "Second" }));
    await expect(contacts.find({ ...shop.caller, siteId: second.id }, id)).rejects.toMatchObject({ code: "site_forbidden" });
  });
});

describe("changing one", () => {
  test("a new address finds the contact, and the old one is free", async () => {
    const shop = await audience();
    const ann = await create(shop, "ann@x.com", { tags: ["a", "b"] });
    const moved = await contacts.change(shop.caller, ann.id, { email: "anna@y.com", firstName: "Anna" });
    expect(moved).toMatchObject({ id: ann.id, email: "anna@y.com", firstName: "Anna", tags: ann.tags, createdAt: ann.createdAt });
    expect(await contacts.find(shop.caller, ann.id)).toEqual(moved);
    const again = await create(shop, "ann@x.com");
    expect(again.id).not.toBe(ann.id);
    await expect(contacts.change(shop.caller, again.id, { email: "ANNA@y.com" })).rejects.toMatchObject({ code: "email_exists" });
    await exact(shop);
    for (const { id } of ann.tags) await exactGroup(shop, "TAG", id);
  });

  test("dead at any step of a new address, it has the one or the other, and every count holds", async () => {
    await atSomeSteps(3, async (kill) => {
      const shop = await audience();
      const ann = await create(shop, "ann@x.com", { tags: ["a"] });
      await kill(() => contacts.change(shop.caller, ann.id, { email: "bea@y.com" }));
      const now = await contacts.find(shop.caller, ann.id);
      expect(["ann@x.com", "bea@y.com"]).toContain(now.email);
      await contacts.change(shop.caller, ann.id, { email: "bea@y.com" });
      expect((await contacts.find(shop.caller, ann.id)).email).toBe("bea@y.com");
      expect(await stored(shop)).toHaveLength(1);
      await exact(shop);
      await exactGroup(shop, "TAG", ann.tags[0]!.id);
      await contacts.part(shop.caller, ann.id, "TAG", ann.tags[0]!.id);
      expect(await members(shop, "TAG", ann.tags[0]!.id)).toEqual({ ids: [], count: 0 });
    });
  });

  test("changes by many at once are all kept", async () => {
    const shop = await audience();
    const { id } = await create(shop, "ann@x.com");
    const names = ["a", "b", "c", "d"];
    const ids = await groups.tagsNamed(shop.caller, shop.siteId, names);
    await Promise.all([
      contacts.change(shop.caller, id, { firstName: "Ann" }),
      contacts.change(shop.caller, id, { customFields: { plan: "pro" } }),
      contacts.change(shop.caller, id, { customFields: { size: 3 } }),
      ...names.map((name) => contacts.join(shop.caller, id, "TAG", ids.get(name)!)),
    ]);
    const ann = await contacts.find(shop.caller, id);
    expect(ann).toMatchObject({ firstName: "Ann", customFields: { plan: "pro", size: 3 } });
    expect(ann.tags.map(({ name }) => name).toSorted()).toEqual(names);
  });

  test("null empties a field, and a custom field past the hundredth is refused", async () => {
    const shop = await audience();
    const fields = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}`, i]));
    const { id } = await create(shop, "ann@x.com", { firstName: "Ann", customFields: fields });
    expect(await contacts.change(shop.caller, id, { firstName: null })).toMatchObject({ firstName: null });
    await expect(contacts.change(shop.caller, id, { customFields: { more: 1 } })).rejects.toMatchObject({
      details: [{ path: "customFields" }],
    });
    expect(await contacts.change(shop.caller, id, { customFields: null })).toMatchObject({ customFields: {} });
  });
});

describe("removing one", () => {
  test("dead at any step, doing it again ends it, with every count exact", async () => {
    await atSomeSteps(3, async (kill) => {
      const shop = await audience();
      const ann = await create(shop, "ann@x.com", { tags: ["a"] });
      await kill(() => contacts.remove(shop.caller, ann.id));
      await exact(shop);
      await exactGroup(shop, "TAG", ann.tags[0]!.id);
      await contacts.remove(shop.caller, ann.id).catch((error) => expect(error.kind).toBe("missing"));
      expect(await counted(shop)).toBe(0);
      expect(await members(shop, "TAG", ann.tags[0]!.id)).toEqual({ ids: [], count: 0 });
    });
  });

  test("with more memberships than a transaction holds, it leaves them all", async () => {
    const shop = await audience();
    const { id } = await create(shop, "ann@x.com");
    const ids = await groups.tagsNamed(
      shop.caller,
      shop.siteId,
      Array.from({ length: 110 }, (_, i) => `t${i}`),
    );
    for (const group of ids.values()) await contacts.join(shop.caller, id, "TAG", group);
    await contacts.change(shop.caller, id, { email: "other@x.com" });
    await contacts.remove(shop.caller, id);
    expect(await stored(shop)).toEqual([]);
    for (const group of ids.values()) expect(await members(shop, "TAG", group)).toEqual({ ids: [], count: 0 });
  });
});

describe("and the suppression list", () => {
  test("an address on it makes its contact suppressed in every site, off it each is what it was", async () => {
    const shop = await audience();
    const second = await sites.create(shop.caller, sites.NewSite.parse({ name: "Second" }));
    const [here, there] = [
      await create(shop, "ann@x.com"),
      await create({ ...shop, siteId: second.id }, "Ann@x.com", { status: "unsubscribed" }),
    ];
    const statuses = async () =>
      (await Promise.all([here, there].map(({ id }) => contacts.find(shop.caller, id)))).map(({ status }) => status);
    await suppress(shop, "ANN@x.com");
    expect(await statuses()).toEqual(["suppressed", "suppressed"]);
    expect(await contacts.change(shop.caller, here.id, { status: "pending" })).toMatchObject({ status: "suppressed" });
    await suppressions.remove(shop.orgId, "ann@x.com");
    expect(await statuses()).toEqual(["pending", "unsubscribed"]);
  });

  test("who is made under a suppressed address is suppressed, and who leaves for another one is not", async () => {
    const shop = await audience();
    await suppress(shop, "ann@x.com");
    const ann = await create(shop, "Ann@x.com");
    expect(ann.status).toBe("suppressed");
    expect((await contacts.change(shop.caller, ann.id, { email: "free@x.com" })).status).toBe("subscribed");
    expect((await contacts.change(shop.caller, ann.id, { email: "ann@x.com" })).status).toBe("suppressed");
  });

  test("contact and list agree however they are written side by side", async () => {
    for (let round = 0; round < 15; round++) {
      const shop = await audience();
      const [made] = await Promise.all([create(shop, "ann@x.com"), suppress(shop, "ann@x.com")]);
      expect((await contacts.find(shop.caller, made.id)).status).toBe("suppressed");
      await Promise.allSettled([
        suppressions.remove(shop.orgId, "ann@x.com"),
        suppress(shop, "ann@x.com"),
        contacts.change(shop.caller, made.id, { firstName: "Ann" }),
      ]);
      const listed = (await suppressions.find(shop.orgId, "ann@x.com")) !== undefined;
      expect((await contacts.find(shop.caller, made.id)).status).toBe(listed ? "suppressed" : "subscribed");
    }
  });

  test("dead at any step of suppressing or of taking off, doing it again makes both agree", async () => {
    await atSomeSteps(3, async (kill) => {
      const shop = await audience();
      const { id } = await create(shop, "ann@x.com");
      await kill(() => suppress(shop, "ann@x.com"));
      await suppress(shop, "ann@x.com");
      expect((await contacts.find(shop.caller, id)).status).toBe("suppressed");
    });
    await atSomeSteps(3, async (kill) => {
      const shop = await audience();
      const { id } = await create(shop, "ann@x.com");
      await suppress(shop, "ann@x.com");
      await kill(() => suppressions.remove(shop.orgId, "ann@x.com"));
      await suppressions.remove(shop.orgId, "ann@x.com").catch((error) => expect(error.kind).toBe("missing"));
      expect((await contacts.find(shop.caller, id)).status).toBe("subscribed");
    });
  });
});
