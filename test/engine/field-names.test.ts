// Two spellings of a custom field that differ only in letter case are one field per site, however
// contacts get it.
import { describe, expect, test } from "vitest";
import {
  ContactRow,
  type NewContact,
} from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { upsert } from "../../shared/domain/audience/contacts/upserts.ts";
import { SegmentRules } from "../../shared/domain/audience/segments/segment-rules.ts";
import * as segments from "../../shared/domain/audience/segments/segments.ts";
import * as liquid from "../../shared/email/liquid.ts";
import { createContact, createTestSite, type TestSite } from "../support/contacts.ts";

type Fields = NonNullable<NewContact["customFields"]>;

const row = (email: string, customFields: Fields) => ContactRow.parse({ email, customFields });
const fieldsOf = async ({ caller }: TestSite, id: number) =>
  (await contacts.find(caller, id)).customFields;
const having = (site: TestSite, field: string, operator = "equals", value: unknown = "pro") =>
  segments.countPreview(site.caller, {
    siteId: site.siteId,
    rules: SegmentRules.parse({
      match: "all",
      conditions: [
        {
          field: `customFields.${field}`,
          operator,
          ...(operator.endsWith("xists") ? {} : { value }),
        },
      ],
    }),
  });

describe("the first spelling of a custom field is its name", () => {
  test("for new contacts, updates and bulk rows", async () => {
    const site = await createTestSite();
    const { id } = await createContact(site, "ann@example.com", {
      customFields: { Plan: "pro", zip: "01" },
    });
    const second = await createContact(site, "bob@example.com", {
      customFields: { plan: "pro", ZIP: "02", Town: "Ulm" },
    });
    expect(second.customFields).toEqual({ Plan: "pro", zip: "02", Town: "Ulm" });
    await contacts.change(site.caller, id, { customFields: { PLAN: "team", Zip: null } });
    expect(await fieldsOf(site, id)).toEqual({ Plan: "team" });
    const [outcome] = await upsert({ caller: site, siteId: site.siteId }, [
      row("bob@example.com", { pLAN: "free", TOWN: "Bonn", seats: 3 }),
    ]);
    expect(outcome).toMatchObject({ outcome: "updated" });
    expect(await fieldsOf(site, second.id)).toEqual({
      Plan: "free",
      zip: "02",
      Town: "Bonn",
      seats: 3,
    });
    // Another site has its own names.
    const other = await createTestSite();
    expect(
      (await createContact(other, "ann@example.com", { customFields: { plan: "pro" } }))
        .customFields,
    ).toEqual({ plan: "pro" });
  });

  test("for concurrent requests with two spellings, and for two spellings in one object", async () => {
    const site = await createTestSite();
    const made = await Promise.all(
      ["Plan", "plan", "PLAN", "pLan"].map((name, i) =>
        createContact(site, `${i}@example.com`, { customFields: { [name]: "pro" } }),
      ),
    );
    expect(new Set(made.flatMap(({ customFields }) => Object.keys(customFields))).size).toBe(1);
    const both = await createContact(site, "both@example.com", {
      customFields: { Seats: 1, seats: 2 },
    });
    expect(Object.entries(both.customFields)).toEqual([["Seats", 2]]);
  });

  test("for more new fields than one write can store; above the limit, spellings are kept as sent", async () => {
    const site = await createTestSite();
    const many = (n: number, letter: string) =>
      Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`${letter}${n}x${i}`, i]));
    for (let n = 0; n < 6; n++)
      await createContact(site, `${n}@example.com`, { customFields: many(n, "f") });
    const names = Object.keys(
      (await createContact(site, "a@example.com", { customFields: many(4, "F") })).customFields,
    );
    expect(names.every((name) => name.startsWith("f"))).toBe(true);
    const beyond = Object.keys(
      (await createContact(site, "b@example.com", { customFields: many(5, "F") })).customFields,
    );
    expect(beyond.every((name) => name.startsWith("F"))).toBe(true);
  });
});

test("segments find a field under any spelling", async () => {
  const site = await createTestSite();
  const plans = { a: "pro", b: "free", c: "pro", d: "pro" };
  for (const [name, plan] of Object.entries(plans))
    await createContact(site, `${name}@example.com`, { customFields: { plan } });
  await createContact(site, "e@example.com");
  for (const name of ["plan", "Plan", "PLAN"]) {
    expect([name, await having(site, name)]).toEqual([name, 3]);
    expect([name, await having(site, name, "notEquals")]).toEqual([name, 2]);
    expect([name, await having(site, name, "exists")]).toEqual([name, 4]);
    expect([name, await having(site, name, "notExists")]).toEqual([name, 1]);
  }
});

test("templates find a field under any spelling", () => {
  const renderWith = (source: string, variables: object) =>
    liquid.render(
      liquid.compile(source, { escape: false, field: "text" }),
      { ...variables },
      { now: new Date(0) },
    );
  const variables = { plan: "pro", firstName: "Ann", customFields: { plan: "pro" } };
  expect(
    renderWith(
      "{{ customFields.Plan }} {{ PLAN }} {{ customFields.plan }} {{ firstName }}",
      variables,
    ),
  ).toEqual({
    text: "pro pro pro Ann",
    missing: [],
  });
  expect(renderWith("{{ customFields.Seats }}{{ Seats }}", variables).missing).toEqual([
    "customFields.Seats",
    "Seats",
  ]);
});
