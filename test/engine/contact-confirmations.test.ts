import { expect, test } from "vitest";
import "../../shared/domain/reactions.ts";
import * as clock from "../../shared/clock.ts";
import * as bulkUpsert from "../../shared/domain/audience/contacts/bulk-upsert.ts";
import * as confirmations from "../../shared/domain/audience/contacts/confirmations.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { NewImport } from "../../shared/domain/audience/imports/import-record.ts";
import * as imports from "../../shared/domain/audience/imports/imports.ts";
import * as importJob from "../../shared/domain/audience/imports/run-import.ts";
import * as contactTopics from "../../shared/domain/audience/topics/contact-topics.ts";
import { NewTemplate } from "../../shared/domain/content/template-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import { checkTemplate } from "../../shared/domain/forms/confirmation-templates.ts";
import * as contactConfirmations from "../../shared/domain/forms/contact-confirmations.ts";
import * as doubleOptIn from "../../shared/domain/forms/double-opt-in.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { getPersonalData } from "../../shared/domain/privacy/personal-data.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { createContact, readAllContacts, type TestSite } from "../support/contacts.ts";
import { crashAtSomeSteps, interceptClients } from "../support/crash-injection.ts";
import {
  createForm,
  createSiteWithSender,
  findContactByEmail,
  listSubmissions,
  processSubmissions,
  submitForm,
} from "../support/forms.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";

useDynamoDbEngine();
interceptClients();

const email = "ann@example.com";
const asking = { status: "pending", sendConfirmation: true } as const;
const visitor = { ip: "192.0.2.9", userAgent: "Safari" };

const sendsOf = async ({ caller, siteId }: TestSite) =>
  (await listSends(caller, { limit: 100, page: 1 }, { siteId })).sends;
const recipientsOf = async (at: TestSite) => (await sendsOf(at)).map(({ toEmail }) => toEmail);

/** Sends what is due, like the due index and the queue. */
async function sendDue(at: TestSite, work = (one: () => Promise<unknown>) => one()) {
  for (const { id } of await readAllContacts(at))
    await work(() => contactConfirmations.resumeConfirmation(at.orgId, id));
}
const tokenOf = async ({ orgId }: TestSite, contactId: number) =>
  contactConfirmations.createToken((await confirmations.find(orgId, contactId))!);
const confirmationOf = async ({ caller }: TestSite, contactId: number) =>
  contactTopics.find(caller, contactId, { limit: 10 });

async function useTemplate(at: TestSite, html: string, fields: object = {}): Promise<void> {
  const { id } = await templates.create(
    at.caller,
    NewTemplate.parse({
      siteId: at.siteId,
      name: "Confirm",
      subject: "Welcome to {{ siteName }}, {{ firstName }}",
      html,
      ...fields,
    }),
  );
  const settings = { confirmationTemplateId: id };
  await checkTemplate(at.caller, at.siteId, settings);
  await sites.change(at.caller, at.siteId, settings);
}

test("a pending contact of a request gets one mail, and its link subscribes it with evidence", async () => {
  const at = await createSiteWithSender();
  const { id } = await createContact(at, email, asking);
  for (let n = 0; n < 2; n++) await sendDue(at);
  expect(await recipientsOf(at)).toEqual([email]);
  const token = await tokenOf(at, id);
  expect(await doubleOptIn.findStatus(token)).toMatchObject({ email, state: "waiting" });
  expect(await findContactByEmail(at, email)).toMatchObject({ status: "pending" });
  for (let n = 0; n < 2; n++)
    expect(await doubleOptIn.confirm(token, visitor)).toMatchObject({ state: "confirmed" });
  expect(await findContactByEmail(at, email)).toMatchObject({ status: "subscribed" });
  const sendId = (await sendsOf(at))[0]!.id;
  const { log, confirmation } = await confirmationOf(at, id);
  expect(confirmation).toMatchObject({
    status: "confirmed",
    source: "console",
    sendId,
    confirmedIp: "192.0.2.9",
  });
  expect(log).toMatchObject([
    {
      source: "confirmation",
      status: "subscribed",
      ipAddress: "192.0.2.9",
      sendId,
      confirmation: { source: "console", templateId: null, userAgent: "Safari" },
    },
  ]);
  expect(await getPersonalData(at.caller, id)).toMatchObject({ confirmation });
  // A later link does not undo an unsubscribe.
  await contacts.change(at.caller, id, { status: "unsubscribed" });
  await doubleOptIn.confirm(token, visitor);
  expect(await findContactByEmail(at, email)).toMatchObject({ status: "unsubscribed" });
});

test("only the owner of the current address confirms, and only of a contact that exists", async () => {
  const at = await createSiteWithSender();
  const { id } = await createContact(at, email, asking);
  await sendDue(at);
  const token = await tokenOf(at, id);
  await contacts.change(at.caller, id, { email: "ann@example.net" });
  await expect(doubleOptIn.confirm(token, visitor)).rejects.toMatchObject({ kind: "missing" });
  expect(await contacts.find(at.caller, id)).toMatchObject({ status: "pending" });
  await contacts.change(at.caller, id, { email });
  await contacts.remove(at.caller, id);
  await expect(doubleOptIn.confirm(token, visitor)).rejects.toMatchObject({ kind: "missing" });
});

test("after a crash at any step of the worker or of the confirmation, everything happens once", async () => {
  const stepNames = await crashAtSomeSteps(async (crash) => {
    const at = await createSiteWithSender();
    await createContact(at, email, asking);
    await sendDue(at, crash);
    await sendDue(at);
    expect(await recipientsOf(at)).toEqual([email]);
  });
  expect(stepNames.length).toBeGreaterThan(5);
  await crashAtSomeSteps(async (crash) => {
    const at = await createSiteWithSender();
    const { id } = await createContact(at, email, asking);
    await sendDue(at);
    const token = await tokenOf(at, id);
    await crash(() => doubleOptIn.confirm(token, visitor));
    await doubleOptIn.confirm(token, visitor);
    expect(await findContactByEmail(at, email)).toMatchObject({ status: "subscribed" });
    expect((await confirmationOf(at, id)).log).toHaveLength(1);
  });
});

test("rows ask new and pending contacts, and a subscriber whose address is typed stays one", async () => {
  const at = await createSiteWithSender();
  await createContact(at, "new@example.com", { status: "pending" });
  await createContact(at, "in@example.com");
  await createContact(at, "out@example.com", { status: "unsubscribed" });
  const rows = ["new", "in", "out", "fresh"].map((name) => ({
    email: `${name}@example.com`,
    ...asking,
  }));
  const saved = await bulkUpsert.save(
    at,
    [...rows, { email: "x@example.com", sendConfirmation: true }],
    {},
  );
  expect(saved.results.at(-1)).toMatchObject({
    outcome: "failed",
    error: "sendConfirmation: needs the status pending",
  });
  await sendDue(at);
  expect((await recipientsOf(at)).toSorted()).toEqual(["fresh@example.com", "new@example.com"]);
  expect(await findContactByEmail(at, "in@example.com")).toMatchObject({ status: "subscribed" });
  expect(await findContactByEmail(at, "out@example.com")).toMatchObject({
    status: "unsubscribed",
  });
  await bulkUpsert.save(at, rows, { resubscribe: true });
  await sendDue(at);
  expect((await recipientsOf(at)).toSorted()).toEqual([
    "fresh@example.com",
    "new@example.com",
    "out@example.com",
  ]);
});

test("an import asks each address once, also when its worker crashes and another repeats the batch", async () => {
  await crashAtSomeSteps(async (crash) => {
    const at = await createSiteWithSender();
    await createContact(at, "known@example.net", { status: "pending" });
    const addresses = ["ann@example.net", "bob@example.net", "known@example.net"];
    const bytes = Buffer.from(`email\n${[...addresses, "ANN@example.net"].join("\n")}\n`);
    const options = NewImport.parse({ siteId: at.siteId, ...asking });
    const { id } = await imports.start(at.caller, options, { bytes });
    await crash(() => importJob.runImport(at.orgId, id));
    clock.advanceClock(600);
    await importJob.runImport(at.orgId, id);
    await sendDue(at);
    await sendDue(at);
    expect((await recipientsOf(at)).toSorted()).toEqual(addresses);
    expect(await imports.find(at.caller, id)).toMatchObject({ status: "completed", created: 2 });
  });
});

test("an address is asked once per hour, and again later on request", async () => {
  const at = await createSiteWithSender();
  const { id } = await createContact(at, email, asking);
  await sendDue(at);
  const again = async () => {
    await confirmations.requestAgain(await contacts.findItem(at.caller, id), "api");
    await sendDue(at);
    return (await confirmationOf(at, id)).confirmation;
  };
  expect(await again()).toMatchObject({ status: "not_sent", error: /within the last hour/ });
  clock.advanceClock(3601);
  expect(await again()).toMatchObject({ status: "sent", source: "api", error: null });
  expect(await recipientsOf(at)).toHaveLength(2);
  await doubleOptIn.confirm(await tokenOf(at, id), visitor);
  await expect(again()).rejects.toMatchObject({ code: "not_pending" });
});

test("one reminder is sent after the chosen time to those who have not confirmed, also of forms", async () => {
  const at = await createSiteWithSender();
  await sites.change(at.caller, at.siteId, { confirmationReminderHours: 48 });
  const form = await createForm(at, { doubleOptIn: true });
  const slow = await createContact(at, "slow@example.com", asking);
  const quick = await createContact(at, "quick@example.com", asking);
  await submitForm(form.id, { email: "form@example.com" });
  const work = async () => {
    await sendDue(at);
    await processSubmissions(at, form.id);
  };
  await work();
  expect(await recipientsOf(at)).toHaveLength(3);
  await doubleOptIn.confirm(await tokenOf(at, quick.id), visitor);
  clock.advanceClock(47 * 3600);
  await work();
  expect(await recipientsOf(at)).toHaveLength(3);
  clock.advanceClock(2 * 3600);
  for (let n = 0; n < 2; n++) await work();
  expect((await recipientsOf(at)).toSorted()).toEqual([
    "form@example.com",
    "form@example.com",
    "quick@example.com",
    "slow@example.com",
    "slow@example.com",
  ]);
  clock.advanceClock(100 * 3600);
  await work();
  expect(await recipientsOf(at)).toHaveLength(5);
  expect((await confirmationOf(at, slow.id)).confirmation).toMatchObject({
    reminderSendId: expect.any(Number),
  });
  expect(await listSubmissions(at, form.id)).toMatchObject([
    { status: "pending", reminderSendId: expect.any(Number) },
  ]);
});

test("an expired link offers a new mail, which works", async () => {
  const at = await createSiteWithSender();
  const { id } = await createContact(at, email, asking);
  const form = await createForm(at, { doubleOptIn: true });
  await submitForm(form.id, { email: "form@example.com" });
  await sendDue(at);
  await processSubmissions(at, form.id);
  const tokens = [
    await tokenOf(at, id),
    await doubleOptIn.createToken((await listSubmissions(at, form.id))[0]!),
  ];
  clock.advanceClock(31 * 24 * 3600);
  for (const token of tokens) {
    expect(await doubleOptIn.confirm(token, visitor)).toMatchObject({ state: "expired" });
    for (let n = 0; n < 2; n++) await doubleOptIn.renew(token);
  }
  await sendDue(at);
  await processSubmissions(at, form.id);
  expect(await recipientsOf(at)).toHaveLength(4);
  for (const token of tokens)
    expect(await doubleOptIn.confirm(token, visitor)).toMatchObject({ state: "confirmed" });
});

test("the mail has the template of the site, and the text of the service once the link is gone", async () => {
  const at = await createSiteWithSender();
  for (const html of ["<p>Hello</p>", "{% if x %}{{ confirmUrl }}{% endif %}"])
    await expect(useTemplate(at, html)).rejects.toMatchObject({
      kind: "invalid",
      details: [{ path: "confirmationTemplateId" }],
    });
  await useTemplate(at, '<p>Hi {{ firstName }}</p><a href="{{ confirmUrl }}">Yes</a>');
  const { id } = await createContact(at, email, { ...asking, firstName: "Ann" });
  await sendDue(at);
  expect(await sendsOf(at)).toMatchObject([{ subject: "Welcome to Shop, Ann" }]);
  const { confirmation } = await confirmationOf(at, id);
  const templateId = confirmation!.templateId!;
  expect(confirmation).toMatchObject({ templateId: expect.any(Number), templateVersion: 1 });
  await templates.change(at.caller, templateId, { html: "<p>Nothing</p>" });
  const bob = await createContact(at, "bob@example.com", asking);
  await sendDue(at);
  // The text of the service is in English.
  expect((await confirmationOf(at, bob.id)).confirmation).toMatchObject({
    ...{ templateId: null, locale: "en" },
  });
  expect((await sendsOf(at))[0]).toMatchObject({ subject: /Please confirm your email address/ });
  await templates.remove(at.caller, templateId);
  await createContact(at, "eve@example.com", asking);
  await sendDue(at);
  expect(await recipientsOf(at)).toHaveLength(3);
});

test("a site has a template in each language, which the contact or the form chooses", async () => {
  const at = await createSiteWithSender();
  const link = '<a href="{{ confirmUrl }}">Yes</a>';
  const german = { subject: "Willkommen bei {{ siteName }}" };
  const translated = (html: string) => ({
    locale: "en",
    translations: { de: { ...german, html } },
  });
  await expect(useTemplate(at, link, translated("<p>Hallo</p>"))).rejects.toMatchObject({
    details: [
      { path: "confirmationTemplateId", message: expect.stringMatching(/in the language de$/) },
    ],
  });
  await useTemplate(at, link, translated(link));
  const subjectFor = async (address: string, fields: object) => {
    await createContact(at, address, { ...asking, ...fields });
    await sendDue(at);
    return (await sendsOf(at)).find(({ toEmail }) => toEmail === address)!.subject;
  };
  expect(await subjectFor(email, { locale: "de-AT" })).toBe("Willkommen bei Shop");
  const asked = (await findContactByEmail(at, email))!;
  expect((await confirmationOf(at, asked.id)).confirmation).toMatchObject({ locale: "de" });
  await doubleOptIn.confirm(await tokenOf(at, asked.id), visitor);
  const { log } = await contactTopics.find(at.caller, asked.id, { limit: 10 });
  expect(log[0]).toMatchObject({ source: "confirmation", confirmation: { locale: "de" } });
  expect(await subjectFor("bob@example.com", { locale: "fr" })).toBe("Welcome to Shop, ");
  expect(await subjectFor("eve@example.com", {})).toBe("Welcome to Shop, ");
  const form = await createForm(at, { doubleOptIn: true });
  // It is submitted in German.
  await submitForm(form.id, { email: "kim@example.com" });
  await processSubmissions(at, form.id);
  const sent = (await sendsOf(at)).find(({ toEmail }) => toEmail === "kim@example.com");
  expect(sent).toMatchObject({ subject: "Willkommen bei Shop" });
  expect((await listSubmissions(at, form.id))[0]).toMatchObject({ mailLocale: "de" });
});
