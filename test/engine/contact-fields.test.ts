// Fields of contacts: standard ones, declared ones, and those that contacts use.
import { expect, test } from "vitest";
import * as fields from "../../shared/domain/audience/contacts/contact-fields.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { createContact, createTestSite, type TestSite } from "../support/contacts.ts";

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
