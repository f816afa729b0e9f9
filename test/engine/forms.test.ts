import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { publicForms } from "../../functions/http/public-forms.ts";
import { get, queryAll } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import * as scores from "../../shared/domain/audience/scoring/lead-scores.ts";
import * as scoringRules from "../../shared/domain/audience/scoring/scoring-rules.ts";
import * as segments from "../../shared/domain/audience/segments/segments.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as contactTopics from "../../shared/domain/audience/topics/contact-topics.ts";
import { NewTopic } from "../../shared/domain/audience/topics/topic-schema.ts";
import * as topics from "../../shared/domain/audience/topics/topics.ts";
import * as enrollmentListing from "../../shared/domain/automation/enrollment-listing.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import { NewSequence } from "../../shared/domain/automation/sequence-schema.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import { AddStepsRequest } from "../../shared/domain/automation/step-schema.ts";
import * as steps from "../../shared/domain/automation/steps.ts";
import * as deletedForms from "../../shared/domain/forms/deleted-forms.ts";
import * as confirmations from "../../shared/domain/forms/double-opt-in.ts";
import type { Form } from "../../shared/domain/forms/form-schema.ts";
import * as forms from "../../shared/domain/forms/forms.ts";
import { resumeSubmission } from "../../shared/domain/forms/submission-processing.ts";
import * as submissions from "../../shared/domain/forms/submissions.ts";
import { erase } from "../../shared/domain/privacy/erasure.ts";
import { getPersonalData } from "../../shared/domain/privacy/personal-data.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { undefinedIfMissing } from "../../shared/errors.ts";
import { keys, ranges } from "../../shared/keys.ts";
import {
  createContact,
  createTestSite,
  readContactCount,
  readGroupMembers,
  readAllContacts as storedContacts,
  type TestSite,
} from "../support/contacts.ts";
import { crashAtSomeSteps, interceptClients } from "../support/crash-injection.ts";
import { deleteIfUnused } from "../support/delete-if-unused.ts";
import {
  createForm,
  createSiteWithSender,
  findContactByEmail,
  listSubmissions,
  processSubmissions,
  submitForm,
} from "../support/forms.ts";
import { invokeRoute, nextMinute } from "../support/lambda-requests.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";

useDynamoDbEngine();

interceptClients();

const email = "ann@example.com";
const confirm = (token: string) =>
  confirmations.confirm(token, { ip: "192.0.2.9", userAgent: "Safari" });

/** Confirms in another process, because writers of a contact in one process take turns. */
async function confirmInOtherProcess(token: string): Promise<void> {
  const code = `
    import "./shared/domain/reactions.ts";
    import * as confirmations from "./shared/domain/forms/double-opt-in.ts";
    await confirmations.confirm(${JSON.stringify(token)}, { ip: "192.0.2.9", userAgent: "Safari" });`;
  const env = process.env as Record<string, string>;
  await promisify(execFile)(process.execPath, ["--input-type=module-typescript", "-e", code], {
    env,
  });
}

/** A form that gives a tag, a list and points. */
async function createFormWithEffects(at: TestSite, more: object = {}) {
  const list = await groups.create("LIST", at.caller, {
    siteId: at.siteId,
    name: `News ${crypto.randomUUID()}`,
  });
  const form = await createForm(at, { tags: ["reader"], listId: list.id, ...more });
  const rule = {
    siteId: at.siteId,
    name: "Submitted",
    trigger: "form_submit",
    match: { formId: form.id },
    points: 7,
  };
  await scoringRules.create(at.caller, scoringRules.NewScoringRule.parse(rule));
  return { form, list };
}

/** Creates an active sequence whose first step is a delay of a day. */
async function sequence({ caller, siteId }: TestSite, more: object = {}) {
  const made = await sequences.create(
    caller,
    NewSequence.parse({ siteId, name: "Welcome", ...more }),
  );
  await steps.add(caller, made.id, AddStepsRequest.parse({ type: "delay", delayMinutes: 1440 }));
  return sequences.change(caller, made.id, { status: "active" });
}

/** Checks that the effects of a form happened once and that all counts agree. */
async function expectEffectsOnce(
  at: TestSite,
  { form, list }: Awaited<ReturnType<typeof createFormWithEffects>>,
  submitted = 1,
  contactCount = 1,
) {
  const ann = (await findContactByEmail(at, email))!;
  expect(ann).toMatchObject({ status: "subscribed", score: 7 * submitted });
  expect([ann.tags.map(({ name }) => name), ann.lists.map(({ id }) => id)]).toEqual([
    ["reader"],
    [list.id],
  ]);
  expect((await readGroupMembers(at, "LIST", list.id)).count).toBe(contactCount);
  expect((await readGroupMembers(at, "LIST", list.id)).ids).toContain(ann.id);
  expect((await contacts.findItem(at.caller, ann.id)).forms).toEqual(new Set([form.id]));
  expect((await storedContacts(at)).length).toBe(await readContactCount(at));
  const all = await listSubmissions(at, form.id);
  expect(all.length).toBe(submitted);
  expect(await submissions.count(at.orgId, form.id)).toBe(submitted);
  expect(all.map(({ status, duesk, contactId }) => [status, duesk, contactId])).toEqual(
    all.map(() => ["accepted", undefined, ann.id]),
  );
  const { log } = await scores.listLog(at.caller, ann.id, { limit: 50 });
  expect(log.map(({ delta }) => delta)).toEqual(all.map(() => 7));
}

describe("without double opt-in", () => {
  test("a submission creates a contact with fields, tags and lists, and stores evidence", async () => {
    const at = await createTestSite();
    const fields = [
      { name: "email", type: "email" },
      { name: "firstName" },
      { name: "plan", type: "select", options: ["pro", "team"] },
      { name: "seats", type: "number" },
      { name: "terms", type: "checkbox", required: true },
    ];
    const made = await createFormWithEffects(at, { designJson: { fields } });
    await submitForm(made.form.id, {
      email,
      firstName: "Ann",
      plan: "pro",
      seats: "3",
      terms: "on",
      company: "Acme",
      utm: "x",
    });
    await expectEffectsOnce(at, made);
    expect(await findContactByEmail(at, email)).toMatchObject({
      firstName: "Ann",
      company: "Acme",
      source: "form: News",
      customFields: { plan: "pro", seats: 3, terms: true },
    });
    const { items, pagination } = await forms.listSubmissions(at.caller, made.form.id, {
      limit: 10,
    });
    expect(pagination.total).toBe(1);
    expect(items[0]).toMatchObject({
      email,
      status: "accepted",
      fields: { firstName: "Ann", plan: "pro", seats: 3, terms: true, company: "Acme", utm: "x" },
      consent: {
        ip: "192.0.2.7",
        userAgent: "Firefox",
        page: "https://shop.example/",
        formVersion: 1,
        confirmedAt: null,
      },
    });
    const rules = {
      match: "all" as const,
      conditions: [{ field: `form.${made.form.id}`, operator: "exists" as const }],
    };
    const segment = await segments.create(
      at.caller,
      segments.NewSegment.parse({ siteId: at.siteId, name: "S", rules }),
    );
    expect(
      (await segments.explain(at.caller, segment.id, (await findContactByEmail(at, email))!.id))
        .matched,
    ).toBe(true);
  });

  test("a known contact keeps its values, gets new ones, and stays unsubscribed", async () => {
    const at = await createTestSite();
    const { id } = await createContact(at, "Ann@Example.com", {
      firstName: "Ann",
      customFields: { plan: "pro" },
      status: "unsubscribed",
    });
    const form = await createForm(at, {
      tags: ["again"],
      designJson: { fields: [{ name: "firstName" }, { name: "lastName" }, { name: "plan" }] },
    });
    await submitForm(form.id, { email, firstName: "Mallory", lastName: "Lee", plan: "" });
    expect(await findContactByEmail(at, email)).toMatchObject({
      id,
      status: "unsubscribed",
      firstName: "Ann",
      lastName: "Lee",
      customFields: { plan: "pro" },
      tags: [{ name: "again" }],
    });
  });

  test("a suppressed address stays suppressed, known or new", async () => {
    const at = await createTestSite();
    const form = await createForm(at);
    for (const reason of ["bounce", "unsubscribe"] as const) {
      await suppressions.suppress(at.orgId, {
        ...suppressions.NewSuppression.parse({ email: `${reason}@x.com`, reason }),
        source: "test",
      });
      await submitForm(form.id, { email: `${reason}@x.com` });
      expect((await findContactByEmail(at, `${reason}@x.com`))?.status).toBe("suppressed");
      expect((await suppressions.find(at.orgId, `${reason}@x.com`))?.reason).toBe(reason);
    }
  });

  test("a submission over the limit of custom fields loses only those fields", async () => {
    const at = await createTestSite();
    const full = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}`, 1]));
    await createContact(at, email, { customFields: full });
    const form = await createForm(at, {
      tags: ["t"],
      designJson: { fields: [{ name: "more" }, { name: "lastName" }] },
    });
    await submitForm(form.id, { email, more: "x", lastName: "Lee" });
    expect(await findContactByEmail(at, email)).toMatchObject({
      lastName: "Lee",
      customFields: full,
      tags: [{ name: "t" }],
    });
  });

  test("a repeated submission counts once; other content or a later time makes a new one", async () => {
    const at = await createTestSite();
    const made = await createFormWithEffects(at);
    await Promise.all(
      Array.from({ length: 4 }, () => submitForm(made.form.id, { email, firstName: "Ann" })),
    );
    await expectEffectsOnce(at, made);
    await Promise.all(
      ["Bo", "Cy"].map((firstName) => submitForm(made.form.id, { email, firstName })),
    );
    await expectEffectsOnce(at, made, 3);
    clock.advanceClock(301);
    await submitForm(made.form.id, { email, firstName: "Ann" });
    await expectEffectsOnce(at, made, 4);
  });

  test("concurrent submissions are counted exactly", async () => {
    const at = await createTestSite();
    const form = await createForm(at);
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => submitForm(form.id, { email: `p${i}@x.com` })),
    );
    await processSubmissions(at, form.id);
    expect(await submissions.count(at.orgId, form.id)).toBe(20);
    expect((await listSubmissions(at, form.id)).filter(({ duesk }) => duesk !== undefined)).toEqual(
      [],
    );
    expect(await readContactCount(at)).toBe(20);
    const seenIds: number[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const { items, pagination } = await forms.listSubmissions(at.caller, form.id, {
        limit: 7,
        cursor,
      });
      seenIds.push(...items.map(({ id }) => id));
      cursor = pagination.nextCursor ?? undefined;
    }
    const ids = (await listSubmissions(at, form.id)).map(({ id }) => id);
    expect(seenIds).toEqual(ids.toReversed());
    expect(
      (await forms.listSubmissions(at.caller, form.id, { limit: 7, page: 3 })).items.map(
        ({ id }) => id,
      ),
    ).toEqual(seenIds.slice(14));
  });

  test("after a crash at any step, a submission is processed once or was never accepted", async () => {
    const stepNames = await crashAtSomeSteps(async (crash) => {
      const at = await createTestSite();
      const made = await createFormWithEffects(at);
      await forms.findPublicForm(made.form.id);
      await crash(() => submitForm(made.form.id, { email }));
      await processSubmissions(at, made.form.id);
      // The visitor submits again.
      await submitForm(made.form.id, { email });
      await processSubmissions(at, made.form.id);
      await expectEffectsOnce(at, made);
    });
    expect(stepNames.length).toBeGreaterThan(20);
  });

  test("a deleted list is skipped", async () => {
    const at = await createTestSite();
    const { form, list } = await createFormWithEffects(at);
    await groups.removeGroup("LIST", at.caller, list.id);
    await submitForm(form.id, { email });
    expect(await findContactByEmail(at, email)).toMatchObject({
      status: "subscribed",
      score: 7,
      lists: [],
      tags: [{ name: "reader" }],
    });
  });

  test("a submission starts the form's sequence and those that it triggers once", async () => {
    const at = await createTestSite();
    const ownSequence = await sequence(at);
    const form = await createForm(at, { sequenceId: ownSequence.id });
    const waiting = await sequence(at, {
      triggerType: "form_submit",
      triggerConfig: { formId: form.id },
    });
    await Promise.all([
      submitForm(form.id, { email }),
      submitForm(form.id, { email, firstName: "Ann" }),
    ]);
    await processSubmissions(at, form.id);
    for (const { id } of [ownSequence, waiting]) {
      const { items } = await enrollmentListing.list(at.caller, { limit: 10 }, { sequenceId: id });
      expect(items.map(({ contactId }) => contactId)).toEqual([
        (await findContactByEmail(at, email))!.id,
      ]);
    }
    await submitForm((await createForm(at)).id, { email: "else@x.com" });
    await createContact(at, "left@x.com", { status: "unsubscribed" });
    await submitForm(form.id, { email: "left@x.com" });
    for (const { id } of [ownSequence, waiting])
      expect(
        (await enrollmentListing.list(at.caller, { limit: 10 }, { sequenceId: id })).items,
      ).toHaveLength(1);
    await expect(createForm(at, { sequenceId: ownSequence.id + 999_999 })).rejects.toMatchObject({
      kind: "missing",
    });
  });

  test("starts a sequence for an address at most once a day, whatever its fields", async () => {
    const at = await createTestSite();
    const ownSequence = await sequence(at);
    const form = await createForm(at, { sequenceId: ownSequence.id });
    const waiting = await sequence(at, {
      triggerType: "form_submit",
      triggerConfig: { formId: form.id },
    });
    const submitAndLeave = async (firstName: string) => {
      await submitForm(form.id, {
        email: firstName.length % 2 ? email : email.toUpperCase(),
        firstName,
      });
      const { id: contactId } = (await findContactByEmail(at, email))!;
      const remaining = [ownSequence, waiting].map(({ id }) =>
        enrollments.cancel(at.caller, id, { contactId }).then(() => true, undefinedIfMissing),
      );
      return (await Promise.all(remaining)).filter(Boolean).length;
    };
    const started: number[] = [];
    for (const name of ["A", "Bo", "Cid"]) started.push(await submitAndLeave(name));
    expect(started).toEqual([2, 0, 0]);
    const day = 24 * 3600 + 1;
    clock.advanceClock(day);
    try {
      expect(await submitAndLeave("Dora")).toBe(2);
    } finally {
      clock.advanceClock(-day);
    }
  });

  test("the tags and the list of a form start sequences", async () => {
    const at = await createTestSite();
    const { form, list } = await createFormWithEffects(at);
    const tagged = await sequence(at, {
      triggerType: "tag_add",
      triggerConfig: { tagName: "Reader" },
    });
    const listed = await sequence(at, {
      triggerType: "list_join",
      triggerConfig: { listId: list.id },
    });
    await Promise.all([
      submitForm(form.id, { email }),
      submitForm(form.id, { email, firstName: "Ann" }),
    ]);
    await processSubmissions(at, form.id);
    const ann = (await findContactByEmail(at, email))!;
    for (const { id } of [tagged, listed]) {
      const { items } = await enrollmentListing.list(at.caller, { limit: 10 }, { sequenceId: id });
      expect(items.map(({ contactId }) => contactId)).toEqual([ann.id]);
    }
  });

  test("submissions are part of a contact's personal data and are deleted with it", async () => {
    const at = await createTestSite();
    const form = await createForm(at);
    await submitForm(form.id, { email, firstName: "Ann" });
    await submitForm(form.id, { email, firstName: "Bo" });
    await submitForm(form.id, { email: "other@x.com" });
    const { id } = (await findContactByEmail(at, email))!;
    expect((await getPersonalData(at.caller, id)).submissions.map(({ fields }) => fields)).toEqual([
      { firstName: "Bo" },
      { firstName: "Ann" },
    ]);
    await erase(at.caller, id);
    expect((await listSubmissions(at, form.id)).map((one) => one.email)).toEqual(["other@x.com"]);
    expect(await submissions.count(at.orgId, form.id)).toBe(1);
  });
});

describe("double opt-in", () => {
  const sendsOf = async (at: TestSite) => (await listSends(at.caller, { limit: 50 }, {})).sends;
  const tokenAt = async (at: TestSite, formId: number, n = 0) =>
    confirmations.createToken((await listSubmissions(at, formId))[n]!);

  test("a confirmed submission joins the topics of its form once, with evidence", async () => {
    const at = await createSiteWithSender();
    const { caller, siteId } = at;
    const make = (name: string) =>
      topics.create(caller, NewTopic.parse({ siteId, name, defaultSubscription: "unsubscribed" }));
    const [offers, gone] = [await make("Offers"), await make("Gone")];
    const topicIds = [offers.id, gone.id];
    await expect(createForm(at, { topicIds })).rejects.toMatchObject({ kind: "invalid" });
    const form = await createForm(at, { topicIds, doubleOptIn: true });
    await expect(forms.change(caller, form.id, { doubleOptIn: false })).rejects.toMatchObject({
      details: [{ path: "doubleOptIn" }],
    });
    await expect(deleteIfUnused(caller, "TOPIC", offers.id)).rejects.toMatchObject({
      code: "in_use",
    });
    await topics.remove(caller, gone.id);
    await submitForm(form.id, { email });
    await processSubmissions(at, form.id);
    const ann = (await findContactByEmail(at, email))!;
    const read = () => contactTopics.find(caller, ann.id, { limit: 50 });
    expect((await read()).topics).toMatchObject([{ name: "Offers", subscribed: false }]);
    await confirm(await tokenAt(at, form.id));
    await processSubmissions(at, form.id);
    const { topics: found, log } = await read();
    expect(found).toMatchObject([{ name: "Offers", subscribed: true }]);
    expect(log).toMatchObject([
      { source: "form", ipAddress: "192.0.2.9", topics: [{ name: "Offers", subscribed: true }] },
    ]);
  });

  test("only the mail is sent before the confirmation, and everything else once after it", async () => {
    const at = await createSiteWithSender();
    const made = await createFormWithEffects(at, { doubleOptIn: true });
    await submitForm(made.form.id, { email, firstName: "Ann" });
    await processSubmissions(at, made.form.id);
    expect(await findContactByEmail(at, email)).toMatchObject({
      status: "pending",
      tags: [],
      lists: [],
      score: 0,
    });
    const contactId = (await findContactByEmail(at, email))!.id;
    const mail = {
      contactId,
      toEmail: email,
      siteId: at.siteId,
      subject: "Bitte bestätigen Sie Ihre E-Mail-Adresse für Shop",
      status: "queued",
    };
    expect(await sendsOf(at)).toMatchObject([mail]);
    const token = await tokenAt(at, made.form.id);
    for (let n = 0; n < 2; n++)
      expect(await confirmations.findStatus(token)).toMatchObject({
        email,
        siteName: "Shop",
        state: "waiting",
      });
    expect((await findContactByEmail(at, email))?.status).toBe("pending");
    for (let n = 0; n < 2; n++) expect(await confirm(token)).toMatchObject({ state: "confirmed" });
    await expectEffectsOnce(at, made);
    const { items } = await forms.listSubmissions(at.caller, made.form.id, { limit: 10 });
    expect(items[0]).toMatchObject({
      status: "accepted",
      confirmationSendId: (await sendsOf(at))[0]!.id,
      consent: {
        confirmedIp: "192.0.2.9",
        confirmedUserAgent: "Safari",
        confirmedAt: expect.stringMatching(/Z$/),
      },
    });
    const ann = (await findContactByEmail(at, email))!;
    await contacts.change(at.caller, ann.id, { status: "unsubscribed" });
    await confirm(token);
    expect((await findContactByEmail(at, email))?.status).toBe("unsubscribed");
  });

  test("confirming subscribes an unsubscribed contact again, but not a bounced one", async () => {
    const at = await createSiteWithSender();
    const form = await createForm(at, { doubleOptIn: true });
    await createContact(at, email, { firstName: "Old", lastName: "Lee", status: "unsubscribed" });
    const source = "test";
    await suppressions.suppress(at.orgId, {
      ...suppressions.NewSuppression.parse({ email: "gone@x.com", reason: "unsubscribe" }),
      source,
    });
    await suppressions.suppress(at.orgId, {
      ...suppressions.NewSuppression.parse({ email: "bounced@x.com", reason: "bounce" }),
      source,
    });
    for (const to of [email, "gone@x.com", "bounced@x.com"])
      await submitForm(form.id, { email: to, firstName: "New" });
    await processSubmissions(at, form.id);
    expect(await findContactByEmail(at, email)).toMatchObject({
      status: "unsubscribed",
      firstName: "Old",
    });
    expect(
      (await sendsOf(at)).map(({ toEmail, status }) => `${toEmail} ${status}`).toSorted(),
    ).toEqual([`${email} queued`, "bounced@x.com failed", "gone@x.com queued"]);
    for (const n of [0, 1, 2]) await confirm(await tokenAt(at, form.id, n));
    expect(await findContactByEmail(at, email)).toMatchObject({
      status: "subscribed",
      firstName: "New",
      lastName: "Lee",
    });
    expect((await findContactByEmail(at, "gone@x.com"))?.status).toBe("subscribed");
    expect((await findContactByEmail(at, "bounced@x.com"))?.status).toBe("suppressed");
  });

  test("an address gets one mail per hour and form and five per organization, until it confirms", async () => {
    const at = await createSiteWithSender();
    const [form, ...otherForms] = await Promise.all(
      Array.from({ length: 6 }, () => createForm(at, { doubleOptIn: true })),
    );
    const entering = async ({ id }: Form, firstName: string) => {
      await submitForm(id, { email, firstName });
      await processSubmissions(at, id);
    };
    for (const name of ["a", "b"]) await entering(form!, name);
    expect(await sendsOf(at)).toHaveLength(1);
    expect((await listSubmissions(at, form!.id)).map(({ error }) => error)).toEqual([
      undefined,
      expect.stringContaining("within the last hour"),
    ]);
    await confirm(await tokenAt(at, form!.id));
    await entering(form!, "c");
    expect(await sendsOf(at)).toHaveLength(2);
    for (const other of otherForms) await entering(other, "x");
    expect(await sendsOf(at)).toHaveLength(5);
    clock.advanceClock(3601);
    await entering(form!, "d");
    expect(await sendsOf(at)).toHaveLength(6);
  });

  test("after a crash at any step of the request, one mail is sent", async () => {
    const stepNames = await crashAtSomeSteps(async (crash) => {
      const at = await createSiteWithSender();
      const made = await createFormWithEffects(at, { doubleOptIn: true });
      await submitForm(made.form.id, { email });
      await processSubmissions(at, made.form.id, crash);
      await processSubmissions(at, made.form.id);
      expect(await sendsOf(at)).toHaveLength(1);
      expect(await listSubmissions(at, made.form.id)).toMatchObject([
        { status: "pending", confirmationSendId: (await sendsOf(at))[0]!.id },
      ]);
      expect((await listSubmissions(at, made.form.id))[0]!.duesk).toBeUndefined();
      expect(await readContactCount(at)).toBe(1);
    });
    expect(stepNames.length).toBeGreaterThan(10);
  });

  test("after a crash at any step of a submission, there is one pending contact and one mail", async () => {
    await crashAtSomeSteps(async (crash) => {
      const at = await createSiteWithSender();
      const form = await createForm(at, { doubleOptIn: true });
      await crash(() => submitForm(form.id, { email }));
      await processSubmissions(at, form.id);
      await submitForm(form.id, { email });
      await processSubmissions(at, form.id);
      expect(await sendsOf(at)).toHaveLength(1);
      expect(await submissions.count(at.orgId, form.id)).toBe(1);
      expect([await readContactCount(at), (await findContactByEmail(at, email))?.status]).toEqual([
        1,
        "pending",
      ]);
    });
  });

  test("after a crash at any step of the confirmation, everything happens once", async () => {
    const stepNames = await crashAtSomeSteps(async (crash) => {
      const at = await createSiteWithSender();
      const made = await createFormWithEffects(at, { doubleOptIn: true });
      await submitForm(made.form.id, { email });
      await processSubmissions(at, made.form.id);
      const token = await tokenAt(at, made.form.id);
      await crash(() => confirm(token));
      // If nothing is confirmed yet, the visitor presses again. Otherwise the due index has it.
      if ((await confirmations.findStatus(token)).state === "waiting") await confirm(token);
      await processSubmissions(at, made.form.id);
      await expectEffectsOnce(at, made);
    });
    expect(stepNames.length).toBeGreaterThan(20);
  });

  test("two simultaneous confirmations count once", async () => {
    const at = await createSiteWithSender();
    const made = await createFormWithEffects(at, { doubleOptIn: true });
    await submitForm(made.form.id, { email });
    await processSubmissions(at, made.form.id);
    const token = await tokenAt(at, made.form.id);
    await Promise.all([confirm(token), confirm(token), confirm(token)]);
    await processSubmissions(at, made.form.id);
    await expectEffectsOnce(at, made);
  });

  test("a late worker does not repeat the work of another", async () => {
    for (const n of [1, 2, 3]) {
      const at = await createSiteWithSender();
      const made = await createFormWithEffects(at, { doubleOptIn: true });
      await submitForm(made.form.id, { email });
      await processSubmissions(at, made.form.id);
      const token = await tokenAt(at, made.form.id);
      const holding = pauseCall("TransactWriteItems", n);
      const late = confirm(token);
      await holding.reached;
      await confirmInOtherProcess(token);
      const contact = await contacts.findItem(at.caller, (await findContactByEmail(at, email))!.id);
      holding.release();
      await late;
      removePauses();
      await processSubmissions(at, made.form.id);
      await expectEffectsOnce(at, made);
      expect(await contacts.findItem(at.caller, contact.id)).toEqual(contact);
    }
  });

  test("a late confirmation mail does not undo a confirmation in the meantime", async () => {
    const at = await createSiteWithSender();
    const made = await createFormWithEffects(at, { doubleOptIn: true });
    await submitForm(made.form.id, { email });
    const token = await tokenAt(at, made.form.id);
    const noting = pauseCall("UpdateItem", (input) => input.UpdateExpression!.includes("REMOVE"));
    const late = processSubmissions(at, made.form.id);
    await noting.reached;
    const accepting = pauseCall("TransactWriteItems");
    const confirming = confirm(token);
    await accepting.reached;
    noting.release();
    await late;
    // After a crash at this point, the due index would find the submission.
    expect((await listSubmissions(at, made.form.id))[0]).toHaveProperty("duesk");
    accepting.release();
    await confirming;
    await expectEffectsOnce(at, made);
  });

  test("a link is valid for 30 days, for its own submission, until the form is deleted", async () => {
    const at = await createSiteWithSender();
    const form = await createForm(at, { doubleOptIn: true });
    await submitForm(form.id, { email });
    const token = await tokenAt(at, form.id);
    const changed = `${token.slice(0, 5)}${token[5] === "x" ? "y" : "x"}${token.slice(6)}`;
    for (const badToken of ["", "made-up", token.slice(0, -2), changed])
      await expect(confirmations.findStatus(badToken)).rejects.toMatchObject({ kind: "missing" });
    clock.advanceClock(30 * 24 * 3600 + 60);
    expect(await confirm(token)).toMatchObject({ state: "expired" });
    expect(await findContactByEmail(at, email)).toMatchObject({ status: "pending" });
    await submitForm(form.id, { email });
    const fresh = await tokenAt(at, form.id, 1);
    await confirm(fresh);
    clock.advanceClock(40 * 24 * 3600);
    expect(await confirmations.findStatus(fresh)).toMatchObject({ state: "confirmed" });
    await forms.remove(at.caller, form.id);
    await expect(confirmations.findStatus(fresh)).rejects.toMatchObject({ kind: "missing" });
  });

  test("an active form needs a sender, and a submission reports a sender that is missing later", async () => {
    const at = await createTestSite();
    await expect(createForm(at, { doubleOptIn: true })).rejects.toMatchObject({
      code: "no_sending_config",
    });
    const form = await createForm(at, { doubleOptIn: true, status: "draft" });
    await expect(forms.change(at.caller, form.id, { status: "active" })).rejects.toMatchObject({
      code: "no_sending_config",
    });
    await submissions.storeSubmission(
      (await forms.findPublicForm(form.id)).form,
      { email, fields: {}, extra: {} },
      { ip: "x", language: "en" },
    );
    await processSubmissions(at, form.id);
    expect(await listSubmissions(at, form.id)).toMatchObject([
      { status: "pending", error: expect.stringContaining("sending config") },
    ]);
    expect((await listSubmissions(at, form.id))[0]!.duesk).toBeUndefined();
  });
});

describe("a form", () => {
  test("keeps every version", async () => {
    const at = await createTestSite();
    const form = await createForm(at, { designJson: { title: "One", unknown: { kept: true } } });
    expect(form).toMatchObject({
      version: 1,
      designJson: { title: "One", unknown: { kept: true } },
    });
    expect(await forms.change(at.caller, form.id, { status: "inactive" })).toMatchObject({
      version: 1,
    });
    expect(await forms.change(at.caller, form.id, { designJson: { title: "Two" } })).toMatchObject({
      version: 2,
    });
    expect(await forms.find(at.caller, form.id, 1)).toMatchObject({
      version: 1,
      designJson: { title: "One" },
    });
    expect(await forms.find(at.caller, form.id)).toMatchObject({
      version: 2,
      designJson: { title: "Two" },
    });
    await expect(forms.find(at.caller, form.id, 3)).rejects.toMatchObject({ kind: "missing" });
  });

  test("keeps all concurrent changes", async () => {
    const at = await createTestSite();
    const form = await createForm(at);
    const changes = [
      { name: "New" },
      { tags: ["t"] },
      { redirectUrl: "https://shop.example/" },
      { designJson: { title: "T" } },
    ];
    await Promise.all(changes.map((change) => forms.change(at.caller, form.id, change)));
    expect(await forms.find(at.caller, form.id)).toMatchObject({
      ...Object.assign({}, ...changes),
      version: 3,
    });
  });

  test("deletes its submissions and no contacts when it is deleted, even after a crash", async () => {
    await crashAtSomeSteps(async (crash) => {
      const at = await createTestSite();
      const form = await createForm(at);
      for (let i = 0; i < 3; i++) await submitForm(form.id, { email: `p${i}@x.com` });
      await forms.remove(at.caller, form.id);
      await expect(forms.findPublicForm(form.id)).rejects.toMatchObject({ kind: "missing" });
      // A submission that was loading the form when it was deleted.
      const late = {
        orgId: at.orgId,
        id: form.id,
        siteId: at.siteId,
        version: 1,
        doubleOptIn: false,
      };
      await crash(() => deletedForms.cleanUp(at.orgId, form.id));
      await submissions.storeSubmission(
        late,
        { email: "late@x.com", fields: {}, extra: {} },
        { ip: "x", language: "en" },
      );
      await resumeSubmission(at.orgId, form.id, (await listSubmissions(at, form.id)).at(-1)!.sk);
      clock.advanceClock(1000);
      await deletedForms.cleanUp(at.orgId, form.id);
      expect(await listSubmissions(at, form.id)).toEqual([]);
      expect(await submissions.count(at.orgId, form.id)).toBe(0);
      expect(await queryAll(ranges.recordBodies(at.orgId, "FORM", form.id))).toEqual([]);
      expect(await get(keys.deletedForm(at.orgId, form.id))).toBeUndefined();
      expect(await readContactCount(at)).toBe(3);
    });
  });
});

describe("public endpoints", () => {
  beforeEach(() => {
    vi.stubEnv("ADDRESS_LIMIT_PER_MINUTE", "3");
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test("submissions are limited per address and minute, and the error is readable across origins", async () => {
    const at = await createTestSite();
    const { id } = await createForm(at);
    nextMinute();
    const from = (address: string, n: number) =>
      invokeRoute<object>(publicForms, "POST /forms/:id/submit", {
        params: { id: String(id) },
        headers: { "content-type": "application/json", origin: "https://shop.example" },
        raw: Buffer.from(JSON.stringify({ email: `p${n}@x.com` })),
        address,
      });
    const statuses = [];
    for (let n = 0; n < 4; n++) statuses.push((await from("198.51.100.7", n)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect(await from("198.51.100.7", 5)).toMatchObject({
      body: { code: "rate_limited" },
      headers: { "access-control-allow-origin": "*", "retry-after": expect.any(String) },
    });
    expect((await from("198.51.100.8", 6)).status).toBe(200);
    expect(await submissions.count(at.orgId, id)).toBe(4);
  });
});
