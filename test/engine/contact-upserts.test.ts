import { describe, expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { put, write } from "../../shared/adapters/dynamodb/table.ts";
import * as bulk from "../../shared/domain/audience/contacts/bulk-upsert.ts";
import * as pages from "../../shared/domain/audience/contacts/contact-listing.ts";
import { ContactRow } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { upsert } from "../../shared/domain/audience/contacts/upserts.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as ids from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import {
  createContact,
  createTestSite,
  readAllContacts,
  readContactCount,
  readGroupMembers,
  type TestSite,
} from "../support/contacts.ts";
import { crashAtSomeSteps, interceptClients } from "../support/crash-injection.ts";
import { everything } from "../support/extent.ts";
import fc from "../support/fast-check.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";

interceptClients();

type Given = { email: string } & Partial<ContactRow>;
const rows = (given: Given[]) => given.map((row) => ContactRow.parse(row));
const save = (shop: TestSite, given: Given[], resubscribe = false) =>
  upsert({ caller: shop.caller, siteId: shop.siteId }, rows(given), { resubscribe });
const addresses = (n: number) => Array.from({ length: n }, (_, i) => ({ email: `p${i}@x.com` }));

/** Checks the counters of contacts and tags against the stored contacts. */
async function expectExactCounts(shop: TestSite, names: string[]): Promise<void> {
  const all = await readAllContacts(shop);
  expect(await readContactCount(shop)).toBe(all.length);
  for (const [, id] of await groups.getOrCreateTags(shop.caller, shop.siteId, names)) {
    const taggedIds = all.filter(({ tags }) => tags?.has(id)).map((one) => one.id);
    const { ids, count } = await readGroupMembers(shop, "TAG", id);
    // Memberships are written before the contact. After a crash there can be memberships that the
    // contact does not have yet.
    expect(ids.filter((one) => taggedIds.includes(one))).toEqual(taggedIds.sort((a, b) => a - b));
    expect(count).toBe(taggedIds.length);
  }
}

/** Checks that the list of each tag has as many contacts as its total. */
async function expectListsMatchTotals(shop: TestSite, names: string[]): Promise<void> {
  for (const [, id] of await groups.getOrCreateTags(shop.caller, shop.siteId, names)) {
    const { items, pagination } = await pages.list(shop.caller, { limit: 100 }, { tagId: id });
    expect(items).toHaveLength(pagination.total!);
  }
}

test("three concurrent upserts of the same 100 rows create 100 contacts with exact memberships", async () => {
  const shop = await createTestSite();
  const given = addresses(100).map((row, i) => ({ ...row, tags: [`t${i % 3}`, "all"] }));
  const outcomes = (
    await Promise.all([save(shop, given), save(shop, given), save(shop, given)])
  ).flat();
  expect(outcomes.filter(({ outcome }) => outcome === "created")).toHaveLength(100);
  expect(outcomes.filter(({ outcome }) => outcome === "updated")).toHaveLength(200);
  expect(await readAllContacts(shop)).toHaveLength(100);
  await expectExactCounts(shop, ["t0", "t1", "t2", "all"]);
  await expectListsMatchTotals(shop, ["t0", "t1", "t2", "all"]);
});

test("after a crash at any point, rows are complete or missing, and a retry counts each once", async () => {
  const given = [...addresses(3), { email: "there@x.com", firstName: "New" }].map((row) => ({
    ...row,
    tags: ["a", "b"],
  }));
  const steps = await crashAtSomeSteps(async (crash) => {
    const shop = await createTestSite();
    const existing = await createContact(shop, "there@x.com", { tags: ["a"] });
    const address = keys.idempotency(shop.orgId, "bulk");
    await write(put(address, {}));
    const memory = { key: address, taken: {} };
    await crash(() => ids.withReservedIds(memory, () => save(shop, given)));
    await expectExactCounts(shop, ["a", "b"]);
    await expectListsMatchTotals(shop, ["a", "b"]);
    const outcomes = await ids.withReservedIds(memory, () => save(shop, given));
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      "created",
      "created",
      "created",
      "updated",
    ]);
    expect(await contacts.find(shop.caller, existing.id)).toMatchObject({ firstName: "New" });
    expect(await readAllContacts(shop)).toHaveLength(4);
    await expectExactCounts(shop, ["a", "b"]);
  });
  expect(steps.length).toBeGreaterThan(15);
});

test("one call with all rows has the same result as one call for each row", async () => {
  const row = fc.record(
    {
      email: fc.constantFrom("ann@x.com", "Ann@X.com", "bob@x.com", "cy@x.com"),
      firstName: fc.constantFrom("A", "B", null),
      status: fc.constantFrom("subscribed", "unsubscribed", "pending"),
      customFields: fc.dictionary(fc.constantFrom("k", "l"), fc.integer()),
      tags: fc.subarray(["x", "y", "z"]),
    },
    { requiredKeys: ["email"] },
  );
  const readResult = async (shop: TestSite) => {
    const all = await contacts.toApiAll(shop.orgId, (await readAllContacts(shop)) as never);
    return all
      .map(({ email, firstName, status, customFields, tags }) => ({
        email,
        firstName,
        status,
        customFields,
        tags: tags.map(({ name }) => name).toSorted(),
      }))
      .toSorted((a, b) => (a.email < b.email ? -1 : 1));
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 8 }),
      fc.boolean(),
      async (given, resubscribe) => {
        const [one, many] = [await createTestSite(), await createTestSite()];
        for (const each of given) await save(one, [each as Given], resubscribe);
        await save(many, given as Given[], resubscribe);
        expect(await readResult(many)).toEqual(await readResult(one));
        await expectExactCounts(many, ["x", "y", "z"]);
      },
    ),
    { numRuns: everything ? 40 : 6 },
  );
});

describe("rows of one address", () => {
  test("keep all tags and lists, also more than fit into one transaction", async () => {
    const shop = await createTestSite();
    const given = Array.from({ length: 5 }, (_, i) => ({
      email: "ann@x.com",
      tags: Array.from({ length: 20 }, (_, k) => `t${i}-${k}`),
    }));
    const outcomes = await save(shop, given);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      "created",
      "updated",
      "updated",
      "updated",
      "updated",
    ]);
    const [ann] = await readAllContacts(shop);
    expect(ann!.tags!.size).toBe(100);
    await expectExactCounts(
      shop,
      given.flatMap(({ tags }) => tags),
    );
  });

  test("that have too many custom fields together fail alone", async () => {
    const shop = await createTestSite();
    const fields = (prefix: string) =>
      Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`${prefix}${i}`, i]));
    await createContact(shop, "ann@x.com", { customFields: fields("a") });
    const outcomes = await save(shop, [
      { email: "ann@x.com", customFields: fields("b") },
      { email: "bob@x.com" },
    ]);
    expect(outcomes).toEqual([
      { outcome: "failed", error: expect.stringContaining("at most 100 fields") },
      { outcome: "created", id: expect.any(Number) },
    ]);
  });
});

test("100 new contacts cost about five units each; the same rows again cost almost nothing", async () => {
  const shop = await createTestSite();
  const given = addresses(100).map((row) => ({
    ...row,
    lastName: "Example",
    company: "Mill",
    firstName: "Ann",
    customFields: { b: 1, a: "X", C: "Y" },
  }));
  const first = await measureUnits(() => save(shop, given));
  expect(first.usage.writeUnits).toBeLessThan(700);
  const again = await measureUnits(() => save(shop, given));
  expect(again.usage.writeUnits).toBeLessThanOrEqual(2);
});

test("unsubscribed contacts are subscribed again only with resubscribe", async () => {
  const shop = await createTestSite();
  const ann = await createContact(shop, "ann@x.com", { status: "unsubscribed" });
  const bob = await createContact(shop, "bob@x.com");
  await suppressions.suppress(shop.orgId, {
    ...suppressions.NewSuppression.parse({ email: "bob@x.com", reason: "spam_report" }),
    source: "test",
  });
  const statuses = async () =>
    Promise.all([ann, bob].map(async ({ id }) => (await contacts.find(shop.caller, id)).status));
  const given: Given[] = [
    { email: "ann@x.com", status: "subscribed" },
    { email: "bob@x.com", status: "subscribed" },
  ];
  await save(shop, given);
  await save(shop, [{ email: "ann@x.com", firstName: "Ann" }, { email: "bob@x.com" }]);
  expect(await statuses()).toEqual(["unsubscribed", "suppressed"]);
  await upsert(
    { caller: { ...shop.caller, siteIds: [shop.siteId] }, siteId: shop.siteId },
    rows(given),
    {
      resubscribe: true,
    },
  );
  expect(await statuses()).toEqual(["subscribed", "suppressed"]);
  await save(shop, given, true);
  expect(await statuses()).toEqual(["subscribed", "subscribed"]);
  expect(await suppressions.find(shop.orgId, "bob@x.com")).toBeUndefined();
});

test("many new contacts follow suppressions that change meanwhile, for a read unit each", async () => {
  const shop = await createTestSite();
  const entry = (email: string) => ({ email, reason: "manual" as const, source: "test" });
  const given = addresses(300);
  const { orgId } = shop;
  const { usage } = await measureUnits(() => save(shop, given.slice(0, 200)));
  expect(usage.readUnits).toBeLessThan(1.2 * 200);
  for (const email of ["p200@x.com", "p201@x.com"])
    await suppressions.suppress(orgId, entry(email));
  const insert = pauseCall("TransactWriteItems");
  const saving = save(shop, given.slice(100));
  await insert.reached;
  await suppressions.suppress(orgId, entry("p299@x.com"));
  await suppressions.remove(orgId, "p201@x.com");
  insert.release();
  await saving;
  removePauses();
  const all = await readAllContacts(shop);
  const suppressed = all.filter((one) => (one as { status?: string }).status === "suppressed");
  expect(all).toHaveLength(300);
  expect(suppressed.map(({ sk }) => sk).toSorted()).toEqual(["p200@x.com", "p299@x.com"]);
});

test("an invalid row has an error message; failed rows have no id", async () => {
  const shop = await createTestSite();
  const { results } = await bulk.save(
    shop,
    [null, { email: 5 }, { email: "a@x.com", lists: [1] }, { email: "a@x.com" }],
    {},
  );
  expect(results).toMatchObject([
    { outcome: "failed", id: null, email: "" },
    { outcome: "failed", id: null, email: "" },
    {
      outcome: "failed",
      id: null,
      email: "a@x.com",
      error: "lists: the site has no list 1",
    },
    { outcome: "created", id: expect.any(Number) },
  ]);
});
