// Ids of contacts in the customer's own system: unique in a site, in every way to write a contact.
import { expect, test } from "vitest";
import { get, put, write } from "../../shared/adapters/dynamodb/table.ts";
import * as bulkUpsert from "../../shared/domain/audience/contacts/bulk-upsert.ts";
import * as contactListing from "../../shared/domain/audience/contacts/contact-listing.ts";
import { NewContact } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { upsertRows } from "../../shared/domain/audience/contacts/upserts.ts";
import * as segments from "../../shared/domain/audience/segments/segments.ts";
import { NewCustomEvent } from "../../shared/domain/audience/tracking/custom-events.ts";
import * as recordCustomEvents from "../../shared/domain/audience/tracking/record-custom-events.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { type ReservedIds, withReservedIds } from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import { createTestSite, newContact, type TestSite } from "../support/contacts.ts";
import { crashAtSomeSteps, interceptClients } from "../support/crash-injection.ts";

interceptClients();

const taken = {
  kind: "conflict",
  code: "external_id_exists",
  details: [{ path: "externalId" }],
};
const create = ({ caller, siteId }: TestSite, email: string, externalId: string | null) =>
  contacts.create(caller, NewContact.parse({ siteId, email, externalId }));
const holder = async ({ orgId, siteId }: TestSite, externalId: string) =>
  (await get<{ contactId: number }>(keys.externalId(orgId, siteId, externalId)))?.contactId;
const find = async (site: TestSite, filter: object) => {
  const { items } = await contactListing.list(site.caller as never, { limit: 50 }, filter);
  return items.map(({ email }) => email);
};

test("an id is unique in its site, and letter case counts", async () => {
  const site = await createTestSite();
  const ann = await create(site, "ann@example.com", "u1");
  expect(ann.externalId).toBe("u1");
  await expect(create(site, "bob@example.com", "u1")).rejects.toMatchObject(taken);
  await create(site, "bob@example.com", "U1");
  const bob = await create(site, "cleo@example.com", null);
  await expect(contacts.change(site.caller, bob.id, { externalId: "u1" })).rejects.toMatchObject(
    taken,
  );
  const blog = await sites.create(site.caller, sites.NewSite.parse({ name: "Blog" }));
  await create({ ...site, siteId: blog.id }, "ann@example.com", "u1");
});

test("an id is free after its contact got another one, cleared it or was deleted", async () => {
  const site = await createTestSite();
  const ann = await create(site, "ann@example.com", "u1");
  await contacts.change(site.caller, ann.id, { externalId: "u2", email: "anne@example.com" });
  const bob = await create(site, "bob@example.com", "u1");
  await contacts.change(site.caller, ann.id, { externalId: null });
  await contacts.change(site.caller, bob.id, { externalId: "u2" });
  await contacts.remove(site.caller, bob.id);
  expect([await holder(site, "u1"), await holder(site, "u2")]).toEqual([undefined, undefined]);
  await create(site, "cleo@example.com", "u2");
});

test("of concurrent requests with one id, one succeeds", async () => {
  const site = await createTestSite();
  const results = await Promise.allSettled(
    Array.from({ length: 5 }, (_, i) => create(site, `p${i}@example.com`, "u1")),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await find(site, { externalId: "u1" })).toHaveLength(1);
});

test("after a crash at any point, a repeated creation or change has the id", async () => {
  const site = await createTestSite();
  let runs = 0;
  await crashAtSomeSteps(async (crash) => {
    const memory: ReservedIds = { key: keys.idempotency(site.orgId, `key ${++runs}`), taken: {} };
    await write(put(memory.key, {}));
    const creation = () =>
      withReservedIds(memory, () => create(site, `p${runs}@example.com`, `u${runs}`));
    await crash(creation);
    const { id } = await creation();
    expect(await holder(site, `u${runs}`)).toBe(id);
    const change = () => contacts.change(site.caller, id, { externalId: `changed${runs}` });
    await crash(change);
    await change();
    expect(await holder(site, `changed${runs}`)).toBe(id);
    expect(await holder(site, `u${runs}`)).toBeUndefined();
  });
});

test("rows take, change and keep ids; a row with a taken id fails alone", async () => {
  const site = await createTestSite();
  const context = { caller: site.caller, siteId: site.siteId };
  const save = async (rows: object[]) =>
    (await bulkUpsert.save(context, rows, { resubscribe: false })).results.map(
      ({ outcome, error }) => error ?? outcome,
    );
  const error = "externalId: another contact of the site has it";
  expect(
    await save([
      { email: "ann@example.com", externalId: "u1" },
      { email: "bob@example.com", externalId: "u1", tags: ["new"] },
      { email: "cleo@example.com" },
    ]),
  ).toEqual(["created", error, "created"]);
  expect(
    await save([
      { email: "ann@example.com" },
      { email: "cleo@example.com", externalId: "u1" },
      { email: "bob@example.com", externalId: "u2" },
    ]),
  ).toEqual(["updated", error, "created"]);
  expect(await save([{ email: "ann@example.com", externalId: "u3" }])).toEqual(["updated"]);
  expect(await save([{ email: "cleo@example.com", externalId: "u1" }])).toEqual(["updated"]);
  expect(await find(site, { externalId: "u1" })).toEqual(["cleo@example.com"]);
});

test("a full bulk request with ids fits into its transactions", async () => {
  const site = await createTestSite();
  const rows = Array.from({ length: 100 }, (_, i) => ({
    ...newContact(`p${i}@example.com`),
    externalId: `u${i}`,
  }));
  const context = { caller: site.caller, siteId: site.siteId };
  const outcomes = await upsertRows(context, rows, { mode: "upsert" });
  expect(outcomes.every(({ outcome }) => outcome === "created")).toBe(true);
  const changed = rows.map((row) => ({ ...row, externalId: `new ${row.externalId}` }));
  await upsertRows(context, changed, { mode: "upsert" });
  expect(await find(site, { externalId: "new u99" })).toEqual(["p99@example.com"]);
  expect(await find(site, { externalId: "u99" })).toEqual([]);
});

test("contacts are found by id in lists, segments and for events", async () => {
  const site = await createTestSite();
  const ann = await create(site, "ann@example.com", "u1");
  await create(site, "bob@example.com", "u2");
  expect(await find(site, { externalId: "u1" })).toEqual(["ann@example.com"]);
  expect(await find(site, { externalId: "u1", status: "subscribed" })).toEqual(["ann@example.com"]);
  expect(await find(site, { externalId: "u1", status: "pending" })).toEqual([]);
  const { id } = await segments.create(
    site.caller,
    segments.NewSegment.parse({
      siteId: site.siteId,
      name: "One",
      rules: {
        match: "all",
        conditions: [{ field: "externalId", operator: "equals", value: "u1" }],
      },
    }),
  );
  expect(await find(site, { segmentId: id })).toEqual(["ann@example.com"]);
  const record = (externalId: string) =>
    recordCustomEvents.create(
      site.caller,
      NewCustomEvent.parse({ siteId: site.siteId, externalId, eventName: "x" }),
    );
  expect((await record("u1")).contactId).toBe(ann.id);
  await expect(record("u3")).rejects.toMatchObject({ kind: "missing" });
});
