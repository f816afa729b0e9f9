import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as bulk from "../../shared/domain/contacts/bulk.ts";
import { ContactRow } from "../../shared/domain/contacts/contact.ts";
import * as groups from "../../shared/domain/contacts/groups.ts";
import * as pages from "../../shared/domain/contacts/pages.ts";
import { upsert } from "../../shared/domain/contacts/upserts.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import * as suppressions from "../../shared/domain/suppressions.ts";
import { metered } from "../../shared/doors/meter.ts";
import { put, write } from "../../shared/doors/table.ts";
import * as ids from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import { type Audience, audience, counted, create, members, stored } from "../support/audience.ts";
import { armed, atSomeSteps } from "../support/killer.ts";

armed();

type Given = { email: string } & Partial<ContactRow>;
const rows = (given: Given[]) => given.map((row) => ContactRow.parse(row));
const save = (shop: Audience, given: Given[], resubscribe = false) => upsert(shop.caller, shop.siteId, rows(given), { resubscribe });
const addresses = (n: number) => Array.from({ length: n }, (_, i) => ({ email: `p${i}@x.com` }));

/** What is counted is what is there. */
async function exact(shop: Audience, names: string[]): Promise<void> {
  const all = await stored(shop);
  expect(await counted(shop)).toBe(all.length);
  for (const [, id] of await groups.tagsNamed(shop.caller, shop.siteId, names)) {
    const carriers = all.filter(({ tags }) => tags?.has(id)).map((one) => one.id);
    const { ids, count } = await members(shop, "TAG", id);
    // Memberships come first: who dies then leaves some of which the contact itself knows nothing, and no list tells.
    expect(ids.filter((one) => carriers.includes(one))).toEqual(carriers.sort((a, b) => a - b));
    expect(count).toBe(carriers.length);
  }
}

/** A list shows whoever is counted. */
async function shown(shop: Audience, names: string[]): Promise<void> {
  for (const [, id] of await groups.tagsNamed(shop.caller, shop.siteId, names)) {
    const { items, pagination } = await pages.list(shop.caller, { limit: 100 }, { tagId: id });
    expect(items).toHaveLength(pagination.total!);
  }
}

test("the same hundred rows by three callers at once make a hundred contacts, each in its groups once", async () => {
  const shop = await audience();
  const given = addresses(100).map((row, i) => ({ ...row, tags: [`t${i % 3}`, "all"] }));
  const outcomes = (await Promise.all([save(shop, given), save(shop, given), save(shop, given)])).flat();
  expect(outcomes.filter(({ outcome }) => outcome === "created")).toHaveLength(100);
  expect(outcomes.filter(({ outcome }) => outcome === "updated")).toHaveLength(200);
  expect(await stored(shop)).toHaveLength(100);
  await exact(shop, ["t0", "t1", "t2", "all"]);
  await shown(shop, ["t0", "t1", "t2", "all"]);
});

test("dead at any step, every row is there whole or not at all, and made again under the same ids they count once", async () => {
  const given = [...addresses(3), { email: "there@x.com", firstName: "New" }].map((row) => ({ ...row, tags: ["a", "b"] }));
  const steps = await atSomeSteps(3, async (kill) => {
    const shop = await audience();
    const there = await create(shop, "there@x.com", { tags: ["a"] });
    const address = keys.idempotency(shop.orgId, "bulk");
    await write(put(address, {}));
    const memory = { address, taken: {} };
    await kill(() => ids.remembering(memory, () => save(shop, given)));
    await exact(shop, ["a", "b"]);
    await shown(shop, ["a", "b"]);
    const outcomes = await ids.remembering(memory, () => save(shop, given));
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["created", "created", "created", "updated"]);
    expect(await contacts.find(shop.caller, there.id)).toMatchObject({ firstName: "New" });
    expect(await stored(shop)).toHaveLength(4);
    await exact(shop, ["a", "b"]);
  });
  expect(steps.length).toBeGreaterThan(15);
});

test("whatever comes, one row after the other or all in one call, ends the same", async () => {
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
  const told = async (shop: Audience) => {
    const all = await contacts.tellAll(shop.orgId, (await stored(shop)) as never);
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
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 8 }), fc.boolean(), async (given, resubscribe) => {
      const [one, many] = [await audience(), await audience()];
      for (const each of given) await save(one, [each as Given], resubscribe);
      await save(many, given as Given[], resubscribe);
      expect(await told(many)).toEqual(await told(one));
      await exact(many, ["x", "y", "z"]);
    }),
    { numRuns: 40 },
  );
});

describe("rows of one address", () => {
  test("with more tags and lists together than one transaction holds are all kept", async () => {
    const shop = await audience();
    const given = Array.from({ length: 5 }, (_, i) => ({ email: "ann@x.com", tags: Array.from({ length: 20 }, (_, k) => `t${i}-${k}`) }));
    const outcomes = await save(shop, given);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["created", "updated", "updated", "updated", "updated"]);
    const [ann] = await stored(shop);
    expect(ann!.tags!.size).toBe(100);
    await exact(
      shop,
      given.flatMap(({ tags }) => tags),
    );
  });

  test("that together have too many custom fields fail, and no other", async () => {
    const shop = await audience();
    const fields = (prefix: string) => Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`${prefix}${i}`, i]));
    await create(shop, "ann@x.com", { customFields: fields("a") });
    const outcomes = await save(shop, [{ email: "ann@x.com", customFields: fields("b") }, { email: "bob@x.com" }]);
    expect(outcomes).toEqual([
      { outcome: "failed", error: expect.stringContaining("at most 100 fields") },
      { outcome: "created", id: expect.any(Number) },
    ]);
  });
});

test("a hundred new contacts cost about five units each, and the same again next to none", async () => {
  const shop = await audience();
  const given = addresses(100).map((row) => ({
    ...row,
    lastName: "Example",
    company: "Mill",
    firstName: "Ann",
    customFields: { b: 1, a: "X", C: "Y" },
  }));
  const first = await metered(() => save(shop, given));
  expect(first.usage.writeUnits).toBeLessThan(700);
  const again = await metered(() => save(shop, given));
  expect(again.usage.writeUnits).toBeLessThanOrEqual(2);
});

test("nobody who left comes back by a row that says so, nor by one that says nothing, unless resubscribe says so", async () => {
  const shop = await audience();
  const ann = await create(shop, "ann@x.com", { status: "unsubscribed" });
  const bob = await create(shop, "bob@x.com");
  await suppressions.suppress(shop.orgId, {
    ...suppressions.NewSuppression.parse({ email: "bob@x.com", reason: "spam_report" }),
    source: "test",
  });
  const statuses = async () => Promise.all([ann, bob].map(async ({ id }) => (await contacts.find(shop.caller, id)).status));
  const given: Given[] = [
    { email: "ann@x.com", status: "subscribed" },
    { email: "bob@x.com", status: "subscribed" },
  ];
  await save(shop, given);
  await save(shop, [{ email: "ann@x.com", firstName: "Ann" }, { email: "bob@x.com" }]);
  expect(await statuses()).toEqual(["unsubscribed", "suppressed"]);
  await upsert({ ...shop.caller, siteId: shop.siteId }, shop.siteId, rows(given), { resubscribe: true });
  expect(await statuses()).toEqual(["subscribed", "suppressed"]);
  await save(shop, given, true);
  expect(await statuses()).toEqual(["subscribed", "subscribed"]);
  expect(await suppressions.find(shop.orgId, "bob@x.com")).toBeUndefined();
});

test("an empty row tells what it lacks, and an id only where there is a contact", async () => {
  const shop = await audience();
  const { results } = await bulk.save(
    shop.caller,
    shop.siteId,
    [null, { email: 5 }, { email: "a@x.com", lists: [1] }, { email: "a@x.com" }],
    {},
  );
  expect(results).toMatchObject([
    { outcome: "failed", id: null, email: "" },
    { outcome: "failed", id: null, email: "" },
    { outcome: "failed", id: null, email: "a@x.com", error: "lists: there is no list 1 in this site" },
    { outcome: "created", id: expect.any(Number) },
  ]);
});
