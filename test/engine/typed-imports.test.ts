// Imports and forms read the values of declared fields by their types.
import { expect, test } from "vitest";
import * as fields from "../../shared/domain/audience/contacts/contact-fields.ts";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { type Import, NewImport } from "../../shared/domain/audience/imports/import-record.ts";
import * as imports from "../../shared/domain/audience/imports/imports.ts";
import { preview } from "../../shared/domain/audience/imports/preview-import.ts";
import * as runs from "../../shared/domain/audience/imports/run-import.ts";
import { findTypeErrors, readEntry } from "../../shared/domain/forms/form-entry.ts";
import * as forms from "../../shared/domain/forms/forms.ts";
import { createTestSite, readAllContacts, type TestSite } from "../support/contacts.ts";
import { createForm, processSubmissions, submitForm } from "../support/forms.ts";

async function createSiteWithFields(types: Record<string, string>): Promise<TestSite> {
  const site = await createTestSite();
  for (const [name, type] of Object.entries(types))
    await fields.declare(
      site.caller,
      name,
      fields.FieldDeclaration.parse({ siteId: site.siteId, label: name, type }),
    );
  return site;
}

type Options = Partial<NewImport>;
const parseOptions = ({ siteId }: TestSite, options: Options) =>
  NewImport.parse({ siteId, ...options });
const source = (file: string) => ({ bytes: Buffer.from(file) });

async function importFile(site: TestSite, file: string, options: Options = {}): Promise<Import> {
  const { id } = await imports.start(site.caller, parseOptions(site, options), source(file));
  await runs.runImport(site.orgId, id);
  return imports.find(site.caller, id);
}

const showFile = (site: TestSite, file: string, options: Options = {}) =>
  preview(site.caller, parseOptions(site, options), source(file));

async function readFields(site: TestSite) {
  const items = (await readAllContacts(site)) as unknown as ContactItem[];
  return Object.fromEntries(items.map(({ email, customFields }) => [email, customFields]));
}

test("a file of a database is read by the declared types", async () => {
  const site = await createSiteWithFields({
    ...{ since: "date", seen: "datetime", spent: "number", paid: "boolean", zip: "text" },
    ...{ colors: "list", page: "url", count: "number" },
  });
  const file = [
    "email,since,seen,spent,paid,zip,colors,page,count,other",
    'a@x.com,2026-11-20,2026-11-20 09:12:44+00,"1,299.00",t,00501,"red,blue",https://a.example,007,5',
    "b@x.com,0000-00-00,NULL,19.90,f,5,,,,1.50",
  ].join("\n");
  expect(await importFile(site, file)).toMatchObject({
    ...{ status: "completed", created: 2, failed: 0, decimalMark: ".", dateOrder: null },
  });
  expect(await readFields(site)).toEqual({
    "a@x.com": {
      ...{ since: "2026-11-20", seen: "2026-11-20T09:12:44.000Z", spent: 1299, paid: true },
      ...{ zip: "00501", colors: ["red", "blue"], page: "https://a.example", count: 7, other: 5 },
    },
    "b@x.com": { since: null, seen: null, spent: 19.9, paid: false, zip: "5", other: "1.50" },
  });
});

test("order and decimal mark are those of the whole file, also if only its last row shows them", async () => {
  const site = await createSiteWithFields({ since: "date", spent: "number" });
  const file = "email;since;spent\na@x.com;03/04/2026;1.299\nb@x.com;20/11/2026;1.299,50";
  expect(await importFile(site, file)).toMatchObject({
    ...{ created: 2, failed: 0, decimalMark: ",", dateOrder: "dmy" },
  });
  expect(await readFields(site)).toEqual({
    "a@x.com": { since: "2026-04-03", spent: 1299 },
    "b@x.com": { since: "2026-11-20", spent: 1299.5 },
  });
});

test(
  "dates that match no format are row errors, and an unclear order stops the import before it " +
    "changes a contact (https://github.com/mautic/mautic/issues/2038)",
  async () => {
    const site = await createSiteWithFields({ since: "date" });
    const file = "email,since\na@x.com,03/04/2026\nb@x.com,soon\nc@x.com,31.02.2026";
    const problem =
      'Dates in "since", such as 03/04/2026, can begin with the day or with the month';
    expect(await importFile(site, file)).toMatchObject({
      ...{ status: "failed", error: expect.stringContaining(problem), created: 0 },
    });
    expect(await showFile(site, file)).toMatchObject({ error: expect.stringContaining(problem) });
    expect(await importFile(site, file, { dateOrder: "mdy" })).toMatchObject({
      ...{ status: "completed", created: 1, failed: 2 },
      errors: [
        { row: 3, message: 'customFields.since: "soon" is not a date such as 2026-11-20' },
        { row: 4, message: 'customFields.since: "31.02.2026" is not a day of the calendar' },
      ],
    });
    expect(await readFields(site)).toEqual({ "a@x.com": { since: "2026-03-04" } });
  },
);

test("the preview shows how each typed column is read, and what cannot be read", async () => {
  const site = await createSiteWithFields({ since: "date", spent: "number" });
  const lines = ["1,5", "2,5", "3,5", "many", "more"].map(
    (spent, i) => `p${i}@x.com;2026-11-2${i};${spent};x`,
  );
  const file = ["email;since;spent;note", ...lines].join("\n");
  const shown = await showFile(site, file);
  expect(shown).toMatchObject({ error: null, decimalMark: ",", dateOrder: null });
  const error = (cell: string) => `"${cell}" is not a number such as 1.299,90`;
  expect(shown.columns).toMatchObject([
    { field: "email", type: null, readings: [] },
    { type: "date", readings: [0, 1, 2].map((i) => ({ value: `2026-11-2${i}`, error: null })) },
    {
      type: "number",
      readings: [
        { cell: "1,5", value: 1.5, error: null },
        { cell: "2,5", value: 2.5, error: null },
        { cell: "3,5", value: 3.5, error: null },
        { cell: "many", value: null, error: error("many") },
        { cell: "more", value: null, error: error("more") },
      ],
    },
    { field: "customFields.note", type: null, readings: [] },
  ]);
  expect(shown.rows.map((row) => row.error)).toEqual([
    ...[null, null, null],
    ...["many", "more"].map((cell) => `customFields.spent: ${error(cell)}`),
  ]);
  const chosen = await showFile(site, file, { decimalMark: "." });
  expect(chosen.columns[2]!.readings[0]).toMatchObject({ cell: "1,5", value: null });
});

test("a form refuses what the declared type cannot have, and stores the rest by type", async () => {
  const site = await createSiteWithFields({ birthday: "date", seats: "number", page: "url" });
  const inputs = ["birthday", "seats", "page"].map((name) => ({ name, label: name, type: "text" }));
  const email = { name: "email", label: "Email", type: "email" };
  const { id } = await createForm(site, { designJson: { fields: [email, ...inputs] } });
  const typed = (await forms.findPublicForm(id)).design!;
  const given = { email: "ann@example.com", birthday: "31.02.2000", seats: "two", page: "x" };
  const { entry, errors } = readEntry(typed, given);
  expect(errors).toEqual([]);
  expect(
    (await findTypeErrors(site, typed, entry)).map(({ field, code }) => [field.name, code]),
  ).toEqual([
    ["birthday", "date"],
    ["seats", "number"],
    ["page", "url"],
  ]);
  await submitForm(id, { ...given, birthday: "29.02.2000", seats: "2" });
  await processSubmissions(site, id);
  const [item] = await readAllContacts(site);
  const { customFields } = await contacts.find(site.caller, item!.id);
  expect(customFields).toEqual({ birthday: "2000-02-29", seats: 2 });
});
