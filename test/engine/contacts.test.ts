import { describe, expect, test } from "vitest";
import * as bulk from "../../shared/domain/audience/contacts/bulk-upsert.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { upsert } from "../../shared/domain/audience/contacts/upserts.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { applyTag, removeTag } from "../../shared/domain/audience/groups/tags.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import {
  createContact,
  createTestSite,
  newContact,
  readAllContacts,
  readContactCount,
  readGroupMembers,
  type TestSite,
} from "../support/contacts.ts";
import { crashAtSomeSteps, interceptClients } from "../support/crash-injection.ts";

interceptClients();

const expectExactCounts = async (shop: TestSite) =>
  expect(await readContactCount(shop)).toBe((await readAllContacts(shop)).length);
const exactGroup = async (shop: TestSite, kind: "TAG" | "LIST", group: number) => {
  const { ids, count } = await readGroupMembers(shop, kind, group);
  const memberIds = (await readAllContacts(shop))
    .filter((one) => one[kind === "TAG" ? "tags" : "lists"]?.has(group))
    .map(({ id }) => id);
  expect(ids).toEqual(memberIds.sort((a, b) => a - b));
  expect(count).toBe(ids.length);
};
const tag = async ({ caller, siteId }: TestSite, name: string) =>
  (await groups.getOrCreateTags(caller, siteId, [name])).get(name)!;
const suppression = (email: string) => suppressions.NewSuppression.parse({ email });
const suppress = (shop: TestSite, email: string) =>
  suppressions.suppress(shop.orgId, { ...suppression(email), source: "test" });

describe("creating a contact", () => {
  test("ten concurrent requests with one address create one contact; nine get 409", async () => {
    const shop = await createTestSite();
    const made = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) =>
        createContact(shop, i % 2 ? "Ann@x.com" : "ann@X.com", { tags: ["a"] }),
      ),
    );
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const one of made)
      if (one.status === "rejected")
        expect(one.reason).toMatchObject({ kind: "conflict", code: "email_exists" });
    expect(await readContactCount(shop)).toBe(1);
    await exactGroup(shop, "TAG", await tag(shop, "a"));
  });

  test("a rejected request creates no tags: unknown list, address in use, invalid bulk rows", async () => {
    const shop = await createTestSite();
    const { caller, siteId } = shop;
    await createContact(shop, "ann@x.com", { tags: ["old"] });
    const tags = ["Old", "new"];
    await expect(createContact(shop, "bob@x.com", { tags, lists: [4711] })).rejects.toMatchObject({
      kind: "missing",
    });
    await expect(createContact(shop, "Ann@x.com", { tags })).rejects.toMatchObject({
      code: "email_exists",
    });
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`f${i}`, i]));
    const more = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`g${i}`, i]));
    await upsert({ caller: caller, siteId: siteId }, [
      { ...newContact("full@x.com"), customFields: many },
    ]);
    const rows = [
      { ...newContact("bob@x.com"), tags, lists: [4711] },
      { ...newContact("full@x.com"), tags, customFields: more },
    ];
    expect(
      (await upsert({ caller: caller, siteId: siteId }, rows)).map(({ outcome }) => outcome),
    ).toEqual(["failed", "failed"]);
    const names = async () =>
      (await groups.list("TAG", caller, { limit: 100, siteId })).items.map(({ name }) => name);
    expect(await names()).toEqual(["old"]);
    expect(
      await upsert({ caller: caller, siteId: siteId }, [{ ...newContact("ann@x.com"), tags }]),
    ).toMatchObject([{ outcome: "updated" }]);
    expect(await names()).toEqual(["new", "old"]);
  });

  test("after a crash at any point, the contact is complete and counted, or does not exist", async () => {
    const list = async (shop: TestSite) =>
      (await groups.create("LIST", shop.caller, { siteId: shop.siteId, name: "News" })).id;
    const steps = await crashAtSomeSteps(async (crash) => {
      const shop = await createTestSite();
      const listId = await list(shop);
      await crash(() => createContact(shop, "ann@x.com", { tags: ["new"], lists: [listId] }));
      await expectExactCounts(shop);
      await exactGroup(shop, "LIST", listId);
      await exactGroup(shop, "TAG", await tag(shop, "new"));
      await createContact(shop, "ann@x.com", { tags: ["new"], lists: [listId] }).catch((error) =>
        expect(error.code).toBe("email_exists"),
      );
      expect(await readContactCount(shop)).toBe(1);
      expect((await readGroupMembers(shop, "LIST", listId)).count).toBe(1);
    });
    expect(steps.length).toBeGreaterThan(10);
  });

  test("the contact is found by its id at once, and not by other organizations", async () => {
    const [shop, other] = [await createTestSite(), await createTestSite()];
    const { id } = await createContact(shop, "Ann@X.com", {
      firstName: "Ann",
      customFields: { a: "x", b: 1, c: true, d: null },
    });
    expect(await contacts.find(shop.caller, id)).toMatchObject({
      email: "Ann@X.com",
      status: "subscribed",
      customFields: { a: "x", b: 1, c: true, d: null },
    });
    await expect(contacts.find(other.caller, id)).rejects.toMatchObject({ kind: "missing" });
    const second = await sites.create(shop.caller, sites.NewSite.parse({ name: "Second" }));
    await expect(contacts.find({ ...shop.caller, siteIds: [second.id] }, id)).rejects.toMatchObject(
      {
        code: "site_forbidden",
      },
    );
  });
});

describe("changing a contact", () => {
  test("a new address finds the contact, and the old address can be used again", async () => {
    const shop = await createTestSite();
    const ann = await createContact(shop, "ann@x.com", { tags: ["a", "b"] });
    const changed = await contacts.change(shop.caller, ann.id, {
      email: "anna@y.com",
      firstName: "Anna",
    });
    expect(changed).toMatchObject({
      id: ann.id,
      email: "anna@y.com",
      firstName: "Anna",
      tags: ann.tags,
      createdAt: ann.createdAt,
    });
    expect(await contacts.find(shop.caller, ann.id)).toEqual(changed);
    const again = await createContact(shop, "ann@x.com");
    expect(again.id).not.toBe(ann.id);
    await expect(
      contacts.change(shop.caller, again.id, { email: "ANNA@y.com" }),
    ).rejects.toMatchObject({ code: "email_exists" });
    await expectExactCounts(shop);
    for (const { id } of ann.tags) await exactGroup(shop, "TAG", id);
  });

  test("after a crash, the contact has the old or the new address, and counts are exact", async () => {
    await crashAtSomeSteps(async (crash) => {
      const shop = await createTestSite();
      const ann = await createContact(shop, "ann@x.com", { tags: ["a"] });
      await crash(() => contacts.change(shop.caller, ann.id, { email: "bea@y.com" }));
      const now = await contacts.find(shop.caller, ann.id);
      expect(["ann@x.com", "bea@y.com"]).toContain(now.email);
      await contacts.change(shop.caller, ann.id, { email: "bea@y.com" });
      expect((await contacts.find(shop.caller, ann.id)).email).toBe("bea@y.com");
      expect(await readAllContacts(shop)).toHaveLength(1);
      await expectExactCounts(shop);
      await exactGroup(shop, "TAG", ann.tags[0]!.id);
      await removeTag(shop.caller, ann.id, ann.tags[0]!.id);
      expect(await readGroupMembers(shop, "TAG", ann.tags[0]!.id)).toEqual({ ids: [], count: 0 });
    });
  });

  test("concurrent changes are all stored", async () => {
    const shop = await createTestSite();
    const { id } = await createContact(shop, "ann@x.com");
    const names = ["a", "b", "c", "d"];
    const ids = await groups.getOrCreateTags(shop.caller, shop.siteId, names);
    await Promise.all([
      contacts.change(shop.caller, id, { firstName: "Ann" }),
      contacts.change(shop.caller, id, { customFields: { plan: "pro" } }),
      contacts.change(shop.caller, id, { customFields: { size: 3 } }),
      ...names.map((name) => applyTag(shop.caller, id, { id: ids.get(name)!, name })),
    ]);
    const ann = await contacts.find(shop.caller, id);
    expect(ann).toMatchObject({ firstName: "Ann", customFields: { plan: "pro", size: 3 } });
    expect(ann.tags.map(({ name }) => name).toSorted()).toEqual(names);
  });

  test("null removes a custom field, so that another one fits", async () => {
    const shop = await createTestSite();
    const full = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}`, i]));
    const { id } = await createContact(shop, "ann@x.com", { customFields: full });
    await expect(
      contacts.change(shop.caller, id, { customFields: { more: 1 } }),
    ).rejects.toMatchObject({ kind: "invalid" });
    const { f0: _, ...otherFields } = full;
    const changed = await contacts.change(shop.caller, id, {
      customFields: { f0: null, never: null },
    });
    expect(changed.customFields).toEqual(otherFields);
    const swapped = await contacts.change(shop.caller, id, { customFields: { more: 1 } });
    expect(swapped.customFields).toEqual({ ...otherFields, more: 1 });
    await bulk.save(shop, [{ email: "ann@x.com", customFields: { more: null } }], {});
    expect((await contacts.find(shop.caller, id)).customFields).toEqual(otherFields);
  });

  test("null clears a field; more than 100 custom fields are rejected", async () => {
    const shop = await createTestSite();
    const fields = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}`, i]));
    const { id } = await createContact(shop, "ann@x.com", {
      firstName: "Ann",
      customFields: fields,
    });
    expect(await contacts.change(shop.caller, id, { firstName: null })).toMatchObject({
      firstName: null,
    });
    await expect(
      contacts.change(shop.caller, id, { customFields: { more: 1 } }),
    ).rejects.toMatchObject({
      details: [{ path: "customFields" }],
    });
    expect(await contacts.change(shop.caller, id, { customFields: null })).toMatchObject({
      customFields: {},
    });
  });
});

describe("deleting a contact", () => {
  test("after a crash at any point, a repeated request completes the deletion, and counts are exact", async () => {
    await crashAtSomeSteps(async (crash) => {
      const shop = await createTestSite();
      const ann = await createContact(shop, "ann@x.com", { tags: ["a"] });
      await crash(() => contacts.remove(shop.caller, ann.id));
      await expectExactCounts(shop);
      await exactGroup(shop, "TAG", ann.tags[0]!.id);
      await contacts
        .remove(shop.caller, ann.id)
        .catch((error) => expect(error.kind).toBe("missing"));
      expect(await readContactCount(shop)).toBe(0);
      expect(await readGroupMembers(shop, "TAG", ann.tags[0]!.id)).toEqual({ ids: [], count: 0 });
    });
  });

  test("removes all memberships, also more than fit into one transaction", async () => {
    const shop = await createTestSite();
    const { id } = await createContact(shop, "ann@x.com");
    const ids = await groups.getOrCreateTags(
      shop.caller,
      shop.siteId,
      Array.from({ length: 110 }, (_, i) => `t${i}`),
    );
    for (const [name, tagId] of ids) await applyTag(shop.caller, id, { id: tagId, name });
    await contacts.change(shop.caller, id, { email: "other@x.com" });
    await contacts.remove(shop.caller, id);
    expect(await readAllContacts(shop)).toEqual([]);
    for (const group of ids.values())
      expect(await readGroupMembers(shop, "TAG", group)).toEqual({ ids: [], count: 0 });
  });
});

describe("contacts and the suppression list", () => {
  test("a suppression holds in every site; removing it restores the contacts' status", async () => {
    const shop = await createTestSite();
    const second = await sites.create(shop.caller, sites.NewSite.parse({ name: "Second" }));
    const [first, other] = [
      await createContact(shop, "ann@x.com"),
      await createContact({ ...shop, siteId: second.id }, "Ann@x.com", { status: "unsubscribed" }),
    ];
    const statuses = async () =>
      (await Promise.all([first, other].map(({ id }) => contacts.find(shop.caller, id)))).map(
        ({ status }) => status,
      );
    await suppress(shop, "ANN@x.com");
    expect(await statuses()).toEqual(["suppressed", "suppressed"]);
    expect(await contacts.change(shop.caller, first.id, { status: "pending" })).toMatchObject({
      status: "suppressed",
    });
    await suppressions.remove(shop.orgId, "ann@x.com");
    expect(await statuses()).toEqual(["pending", "unsubscribed"]);
  });

  test("a contact created with a suppressed address is suppressed until its address changes", async () => {
    const shop = await createTestSite();
    await suppress(shop, "ann@x.com");
    const ann = await createContact(shop, "Ann@x.com");
    expect(ann.status).toBe("suppressed");
    expect((await contacts.change(shop.caller, ann.id, { email: "free@x.com" })).status).toBe(
      "subscribed",
    );
    expect((await contacts.change(shop.caller, ann.id, { email: "ann@x.com" })).status).toBe(
      "suppressed",
    );
  });

  test("contacts and suppressions agree after concurrent writes", async () => {
    for (let round = 0; round < 15; round++) {
      const shop = await createTestSite();
      const [made] = await Promise.all([
        createContact(shop, "ann@x.com"),
        suppress(shop, "ann@x.com"),
      ]);
      expect((await contacts.find(shop.caller, made.id)).status).toBe("suppressed");
      await Promise.allSettled([
        suppressions.remove(shop.orgId, "ann@x.com"),
        suppress(shop, "ann@x.com"),
        contacts.change(shop.caller, made.id, { firstName: "Ann" }),
      ]);
      const listed = (await suppressions.find(shop.orgId, "ann@x.com")) !== undefined;
      expect((await contacts.find(shop.caller, made.id)).status).toBe(
        listed ? "suppressed" : "subscribed",
      );
    }
  });

  test("a repeated suppression after a crash makes address and contact agree", async () => {
    await crashAtSomeSteps(async (crash) => {
      const shop = await createTestSite();
      const { id } = await createContact(shop, "ann@x.com");
      await crash(() => suppress(shop, "ann@x.com"));
      await suppress(shop, "ann@x.com");
      expect((await contacts.find(shop.caller, id)).status).toBe("suppressed");
    });
    await crashAtSomeSteps(async (crash) => {
      const shop = await createTestSite();
      const { id } = await createContact(shop, "ann@x.com");
      await suppress(shop, "ann@x.com");
      await crash(() => suppressions.remove(shop.orgId, "ann@x.com"));
      await suppressions
        .remove(shop.orgId, "ann@x.com")
        .catch((error) => expect(error.kind).toBe("missing"));
      expect((await contacts.find(shop.caller, id)).status).toBe("subscribed");
    });
  });
});
