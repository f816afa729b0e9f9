// Fields of contacts: standard ones, declared ones, and those that contacts use.
import { afterEach, describe, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as jobs from "../../shared/domain/analytics/jobs.ts";
import * as bulkUpsert from "../../shared/domain/audience/contacts/bulk-upsert.ts";
import * as fields from "../../shared/domain/audience/contacts/contact-fields.ts";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { convertField } from "../../shared/domain/audience/contacts/convert-field.ts";
import * as fieldConversions from "../../shared/domain/audience/contacts/field-conversions.ts";
import * as organizations from "../../shared/domain/identity/organizations.ts";
import {
  createContact,
  createTestSite,
  readAllContacts,
  type TestSite,
} from "../support/contacts.ts";
import { interceptClients, runUntilCrash } from "../support/crash-injection.ts";
import { everything } from "../support/extent.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";

interceptClients();
afterEach(removePauses);

const declare = ({ caller, siteId }: TestSite, name: string, label: string, type = "text") =>
  fields.declare(caller, name, fields.FieldDeclaration.parse({ siteId, label, type }));
const listCustom = async ({ caller, siteId }: TestSite) =>
  (await fields.list(caller, siteId)).fields.filter(({ custom }) => custom);

test("the list has standard fields, and custom fields with type and use", async () => {
  const site = await createTestSite();
  await createContact(site, "ann@example.com", {
    firstName: "Ann",
    customFields: { plan: "pro", age: 41, member: true },
  });
  await createContact(site, "bob@example.com", { customFields: { PLAN: 7 } });
  const { fields: listed, sampledContacts } = await fields.list(site.caller, site.siteId);
  expect(sampledContacts).toBe(2);
  expect(listed.find(({ key }) => key === "firstName")).toEqual({
    key: "firstName",
    name: "firstName",
    label: "First name",
    ...{ type: "text", custom: false, declared: false, uses: 1, sample: "Ann" },
  });
  expect(await listCustom(site)).toMatchObject([
    { key: "customFields.age", type: "number", declared: false, uses: 1, sample: "41" },
    { key: "customFields.member", type: "boolean", uses: 1 },
    { key: "customFields.plan", type: "text", uses: 2 },
  ]);
});

test("a declared field has a label and a type, before and after contacts have it", async () => {
  const site = await createTestSite();
  const made = { key: "customFields.Size", label: "Shoe size", type: "number", declared: true };
  expect(await declare(site, "Size", "Shoe size", "number")).toMatchObject({
    ...made,
    ...{ uses: 0, sample: null },
  });
  const { id } = await createContact(site, "ann@example.com", { customFields: { size: 43 } });
  expect(await contacts.find(site.caller, id)).toMatchObject({ customFields: { Size: 43 } });
  expect(await listCustom(site)).toMatchObject([{ ...made, uses: 1 }]);
  await declare(site, "SIZE", "Size of shoes", "number");
  expect(await listCustom(site)).toMatchObject([{ ...made, label: "Size of shoes" }]);
  await fields.remove(site.caller, "sIze", site.siteId);
  expect(await listCustom(site)).toMatchObject([{ name: "Size", label: "Size", declared: false }]);
  // A name that no field can have is too long for a key.
  await expect(fields.remove(site.caller, "0".repeat(2000), site.siteId)).rejects.toMatchObject({
    kind: "missing",
  });
  await expect(fields.remove(site.caller, "Size", site.siteId)).rejects.toThrow(
    "no declared field",
  );
});

test("fields belong to one site, which declares at most 100", async () => {
  const [site, other] = await Promise.all([createTestSite(), createTestSite()]);
  for (let i = 0; i < 100; i++) await declare(site, `field ${i}`, `Field ${i}`);
  await expect(declare(site, "one more", "One more")).rejects.toThrow("at most 100");
  expect(await declare(site, "field 7", "Seven")).toMatchObject({ label: "Seven" });
  expect(await listCustom(other)).toEqual([]);
  await expect(fields.list(other.caller, site.siteId)).rejects.toThrow("does not exist");
});

const invalidField = (name: string, message: string) => ({
  kind: "invalid",
  message: expect.stringContaining(`customFields.${name}: ${message}`),
  details: [{ path: `customFields.${name}`, message: expect.stringContaining(message) }],
});

test("values are stored by the declared type, and what cannot be read is refused", async () => {
  const site = await createTestSite();
  for (const [name, type] of Object.entries({
    ...{ Age: "number", member: "boolean", since: "date", seen: "datetime" },
    ...{ colors: "list", page: "url", zip: "text" },
  }))
    await declare(site, name, name, type);
  const { id } = await createContact(site, "ann@example.com", {
    customFields: {
      ...{ age: "1,299.50", member: "yes", since: "2026-11-20 09:12:44" },
      ...{ seen: "2026-11-20 09:12:44", colors: "red; blue", page: "https://a.example", zip: 7 },
      ...{ other: "1,299.50" },
    },
  });
  const stored = {
    ...{ Age: 1299.5, member: true, since: "2026-11-20", seen: "2026-11-20T09:12:44.000Z" },
    ...{ colors: ["red", "blue"], page: "https://a.example", zip: "7", other: "1,299.50" },
  };
  expect((await contacts.find(site.caller, id)).customFields).toEqual(stored);
  const change = (customFields: Record<string, string | string[] | boolean>) =>
    contacts.change(site.caller, id, { customFields });
  await expect(change({ age: "abc" })).rejects.toMatchObject(
    invalidField("Age", '"abc" is not a number'),
  );
  await expect(change({ since: "31.02.2026" })).rejects.toMatchObject(
    invalidField("since", '"31.02.2026" is not a day of the calendar'),
  );
  await expect(change({ other: ["a"] })).rejects.toMatchObject(
    invalidField("other", "is a list, which only a field that is declared as a list can hold"),
  );
  await expect(
    createContact(site, "bob@example.com", { customFields: { member: "maybe" } }),
  ).rejects.toMatchObject(invalidField("member", '"maybe" is not yes or no'));
  expect((await contacts.find(site.caller, id)).customFields).toEqual(stored);
  await change({ colors: ["green"], age: "", member: false });
  const { Age: _, ...rest } = stored;
  expect((await contacts.find(site.caller, id)).customFields).toEqual({
    ...rest,
    ...{ colors: ["green"], member: false },
  });
});

test("a row of a bulk request fails alone, with the field and the value", async () => {
  const site = await createTestSite();
  await declare(site, "age", "Age", "number");
  const { results } = await bulkUpsert.save(
    site,
    [
      { email: "ann@example.com", customFields: { age: "abc" } },
      { email: "bob@example.com", customFields: { AGE: "41" } },
    ],
    {},
  );
  expect(results).toMatchObject([
    { outcome: "failed", error: 'customFields.age: "abc" is not a number such as 1,299.90' },
    { outcome: "created" },
  ]);
  expect((await contacts.find(site.caller, results[1]!.id!)).customFields).toEqual({ age: 41 });
});

test("a time without a zone is one of the organization", async () => {
  const site = await createTestSite();
  await organizations.change(site.caller, { timezone: "America/New_York" });
  await declare(site, "seen", "Seen", "datetime");
  const { customFields } = await createContact(site, "ann@example.com", {
    customFields: { seen: "2026-11-20 09:12:44" },
  });
  expect(customFields).toEqual({ seen: "2026-11-20T14:12:44.000Z" });
});

describe("a change of the type", () => {
  const format = { dateOrder: "mdy" } as const;
  const changeType = ({ caller, siteId }: TestSite, name: string, type: string) =>
    fields.declare(
      caller,
      name,
      fields.FieldDeclaration.parse({ siteId, label: name, type, ...format }),
    );
  const findConversion = ({ caller, siteId }: TestSite, name: string) =>
    fieldConversions.find(caller, name, siteId);
  const run = ({ orgId, siteId }: TestSite, name: string) => convertField({ orgId, siteId, name });
  const readValues = async (site: TestSite, name: string) => {
    const items = (await readAllContacts(site)) as unknown as ContactItem[];
    return items.toSorted((a, b) => a.id - b.id).map((item) => item.customFields?.[name]);
  };

  async function createSiteWithDates(): Promise<TestSite> {
    const site = await createTestSite();
    const values = ["2026-11-20", "11/20/2026", "soon", "", 5, "20.11.2026"];
    for (const [i, since] of values.entries())
      await createContact(site, `p${i}@example.com`, { customFields: { since, other: since } });
    await createContact(site, "none@example.com");
    return site;
  }
  const converted = ["2026-11-20", "2026-11-20", "soon", undefined, 5, "2026-11-20", undefined];
  const result = {
    ...{ fieldName: "since", type: "date", status: "completed", progress: 100 },
    ...{ processed: 6, converted: 4, failed: 2, error: null },
    errors: expect.arrayContaining([
      { contactId: expect.any(Number), error: '"soon" is not a date such as 2026-11-20' },
      { contactId: expect.any(Number), error: "5 is not a date such as 2026-11-20" },
    ]),
  };

  test("converts what contacts have, and lists what it cannot read", async () => {
    const site = await createSiteWithDates();
    const { conversion } = await changeType(site, "since", "date");
    expect(conversion).toMatchObject({ status: "queued", progress: 0, processed: 0 });
    await run(site, "since");
    expect(await readValues(site, "since")).toEqual(converted);
    expect(await findConversion(site, "since")).toMatchObject({ ...result, id: conversion!.id });
    const [job] = (await jobs.list(site.caller, { limit: 10 })).items;
    expect(job).toMatchObject({
      ...{ type: "field_conversion", status: "completed", done: 6, failed: 2 },
      path: `/contact-fields/since/conversion?siteId=${site.siteId}`,
      state: "6 contacts: 4 converted, 2 not possible",
    });
    // The same type again changes nothing, and another one converts back.
    expect((await changeType(site, "since", "date")).conversion).toBeNull();
    await changeType(site, "since", "text");
    await run(site, "since");
    expect(await readValues(site, "since")).toEqual(converted.map((value) => value?.toString()));
  });

  test("a field that no contact can have needs no conversion", async () => {
    const site = await createTestSite();
    expect((await changeType(site, "since", "date")).conversion).toBeNull();
    await expect(findConversion(site, "since")).rejects.toThrow("has not changed");
  });

  test("a label alone keeps the type", async () => {
    const site = await createTestSite();
    await changeType(site, "since", "date");
    const relabelled = { siteId: site.siteId, label: "Since" };
    expect(await fields.declare(site.caller, "since", relabelled)).toMatchObject({
      ...{ label: "Since", type: "date", conversion: null },
    });
  });

  test("a crash at any step converts each value once and lists each failure once", async () => {
    for (let n = 1; ; n += everything ? 1 : 7) {
      const site = await createSiteWithDates();
      await changeType(site, "since", "date");
      const { crashed } = await runUntilCrash(n, "after", () => run(site, "since"));
      // The lease of the crashed worker ends.
      clock.advanceClock(400);
      await run(site, "since");
      expect(await readValues(site, "since")).toEqual(converted);
      const found = await findConversion(site, "since");
      expect(found).toMatchObject({
        ...result,
        // An empty text that was removed before the crash is no value any more.
        ...{ processed: expect.any(Number), converted: expect.any(Number) },
      });
      if (!crashed) return;
    }
  });

  test("a later change of the type stops the worker of the earlier one", async () => {
    const site = await createSiteWithDates();
    await changeType(site, "since", "number");
    const paused = pauseCall("TransactWriteItems");
    const running = run(site, "since");
    await paused.reached;
    removePauses();
    await changeType(site, "since", "date");
    paused.release();
    await running;
    await run(site, "since");
    expect(await readValues(site, "since")).toEqual(converted);
    expect(await findConversion(site, "since")).toMatchObject(result);
  });
});
