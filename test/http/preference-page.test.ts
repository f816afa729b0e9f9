// The preference page over HTTP: fields that the site chose, a pause, and the reason for leaving.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LocalService } from "../../infra/local/service.ts";
import type { Contact } from "../../shared/domain/audience/contacts/contact-schema.ts";
import type { Site } from "../../shared/domain/identity/sites.ts";
import { expectStatus } from "../support/api-client.ts";
import { sendNewsletter, startNewsletterService } from "../support/newsletters.ts";

let service: LocalService;
beforeAll(async () => {
  service = await startNewsletterService();
});
afterAll(() => service.stop());

const types = { plan: "text", age: "number", vip: "boolean", birthday: "date", likes: "list" };
const fields = ["firstName", ...Object.keys(types).map((name) => `customFields.${name}`)];

async function createReader() {
  const reader = await sendNewsletter(service);
  const { call, siteId } = reader.client;
  for (const [name, type] of Object.entries(types))
    expectStatus(200, await call("PUT", `/contact-fields/${name}`, { label: `The ${name}`, type }));
  const preferencePage = { fields, snooze: true, leaveReason: true };
  expectStatus(200, await call<Site>("PUT", `/sites/${siteId}`, { preferencePage }));
  const link = reader.unsubscribePageUrl;
  const asJson = async (content: object) => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(link, { method: "POST", headers, body: JSON.stringify(content) });
    return { status: answer.status, body: await answer.json() };
  };
  const asForm = async (content: Record<string, string>) => {
    const body = new URLSearchParams(content);
    const answer = await fetch(link, { method: "POST", body });
    return { status: answer.status, page: await answer.text() };
  };
  const contact = async () =>
    expectStatus(200, await call<Contact>("GET", `/contacts/${reader.contactId}`)).body.data;
  return { ...reader, link, asJson, asForm, contact };
}

test("shows and changes the chosen fields, read by their types", async () => {
  const { link, asForm, asJson, contact } = await createReader();
  const page = await (await fetch(`${link}?view=preferences`)).text();
  for (const part of ['name="field.firstName"', 'value="Ann"', "The plan", 'type="date"'])
    expect(page).toContain(part);
  const saved = await asForm({
    action: "change_fields",
    "field.firstName": "Anna",
    "field.customFields.plan": "<pro>",
    "field.customFields.age": "41",
    "field.customFields.vip": "true",
    "field.customFields.birthday": "1985-04-03",
    "field.customFields.likes": "tea; cake",
  });
  expect(saved.status).toBe(200);
  expect(saved.page).toContain("<h1>Your details are saved</h1>");
  expect(saved.page).toContain('value="&lt;pro&gt;"');
  const values = { plan: "<pro>", age: 41, vip: true, birthday: "1985-04-03" };
  expect(await contact()).toMatchObject({
    firstName: "Anna",
    customFields: { ...values, likes: ["tea", "cake"] },
  });
  const cleared = await asJson({
    action: "change_fields",
    fields: { firstName: "", "customFields.vip": null, "customFields.age": 42 },
  });
  expect(cleared.status).toBe(200);
  expect(cleared.body).toMatchObject({
    data: {
      fields: [
        { key: "firstName", label: null, type: "text", value: null },
        { key: "customFields.plan", label: "The plan", value: "<pro>" },
        { key: "customFields.age", type: "number", value: "42" },
        { key: "customFields.vip", type: "boolean", value: null },
        { key: "customFields.birthday", type: "date", value: "1985-04-03" },
        { key: "customFields.likes", type: "list", value: "tea; cake" },
      ],
    },
  });
  expect((await contact()).firstName).toBeNull();
});

test("refuses a value that its field cannot have, and a field that is not on the page", async () => {
  const { asForm, asJson, contact } = await createReader();
  const before = await contact();
  const entered = { "field.firstName": "Bea", "field.customFields.age": "old" };
  const { status, page } = await asForm({ action: "change_fields", ...entered });
  expect(status).toBe(400);
  for (const part of ["this is not a number", 'value="old"', 'value="Bea"', "aria-invalid"])
    expect(page).toContain(part);
  for (const [path, content] of [
    ["customFields.age", { "customFields.age": "old" }],
    ["phone", { phone: "1" }],
    ["customFields.other", { "customFields.other": "1" }],
    ["email", { email: "eve@example.com" }],
    ["firstName", { firstName: 7 }],
    ["firstName", { firstName: "x".repeat(201) }],
    ["fields.firstName", { firstName: { a: 1 } }],
  ] as const) {
    const answer = await asJson({ action: "change_fields", fields: content });
    expect([answer.status, answer.body]).toMatchObject([400, { details: [{ path }] }]);
  }
  expect(await contact()).toEqual(before);
});

test("pauses, ends the pause, and asks for a reason after leaving", async () => {
  const { link, asForm, asJson, contact, status, client } = await createReader();
  expect(await (await fetch(link)).text()).toContain("view=preferences");
  const paused = await asForm({ action: "snooze", days: "90" });
  expect(paused.page).toContain("<h1>Your emails are paused</h1>");
  expect(paused.page).toContain("Get emails again now");
  expect((await contact()).snoozedUntil).toEqual(expect.any(String));
  expect((await asForm({ action: "end_snooze" })).page).toContain("Welcome back");
  expect((await contact()).snoozedUntil).toBeNull();
  for (const [path, content] of [
    ["days", { action: "snooze", days: 45 }],
    ["reason", { action: "give_reason" }],
    ["reason", { action: "give_reason", reason: "bored" }],
    ["comment", { action: "give_reason", reason: "other", comment: "x".repeat(501) }],
  ] as const)
    expect(await asJson(content)).toMatchObject({ status: 400, body: { details: [{ path }] } });
  expect(await asJson({ action: "give_reason", reason: "other" })).toMatchObject({ status: 400 });
  expect(await status()).toBe("subscribed");
  expect((await asForm({ action: "unsubscribe" })).page).toContain("Why did you unsubscribe?");
  const thanks = await asForm({ action: "give_reason", reason: "too_many", comment: "Daily!" });
  expect(thanks.page).toContain("Thank you for your answer.");
  expect(thanks.page).not.toContain("Why did you unsubscribe?");
  const report = await client.call("GET", "/analytics/leave-reasons?period=7d");
  expect(expectStatus(200, report).body.data).toMatchObject({
    answers: 1,
    reasons: [{ reason: "too_many", count: 1 }, {}, {}, {}, {}],
  });
});

test.each([
  ["preferencePage.fields.0", ["email"]],
  ["preferencePage.fields", ["firstName", "firstName"]],
  ["preferencePage.fields.1", ["firstName", "customFields.unknown"]],
  ["preferencePage.fields.0", ["customFields.seen"]],
  ["preferencePage.fields", Array.from({ length: 11 }, (_, i) => `customFields.f${i}`)],
])("a site cannot choose fields that do not fit: %s %j", async (path, chosen) => {
  const { client } = await sendNewsletter(service);
  const { call, siteId } = client;
  expectStatus(200, await call("PUT", "/contact-fields/seen", { label: "Seen", type: "datetime" }));
  const preferencePage = { fields: chosen, snooze: true, leaveReason: true };
  const answer = await call("PUT", `/sites/${siteId}`, { preferencePage });
  expect(expectStatus(400, answer).body).toMatchObject({ details: [{ path }] });
});
