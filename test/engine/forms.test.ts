import { TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { publicForms } from "../../functions/http/public-forms.ts";
import * as clock from "../../shared/clock.ts";
import { erase } from "../../shared/domain/contacts/erasure.ts";
import * as groups from "../../shared/domain/contacts/groups.ts";
import { dossier } from "../../shared/domain/contacts/person.ts";
import * as scores from "../../shared/domain/contacts/scores.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import * as confirmations from "../../shared/domain/forms/confirmations.ts";
import * as deadForms from "../../shared/domain/forms/dead-forms.ts";
import type { Form } from "../../shared/domain/forms/form.ts";
import * as submissions from "../../shared/domain/forms/submissions.ts";
import { takeUp } from "../../shared/domain/forms/taking-up.ts";
import * as forms from "../../shared/domain/forms.ts";
import * as scoringRules from "../../shared/domain/scoring-rules.ts";
import * as segments from "../../shared/domain/segments.ts";
import * as sends from "../../shared/domain/sends.ts";
import * as enrollments from "../../shared/domain/sequences/enrollments.ts";
import { NewSequence } from "../../shared/domain/sequences/record.ts";
import { NewSteps } from "../../shared/domain/sequences/step.ts";
import * as steps from "../../shared/domain/sequences/steps.ts";
import * as sequences from "../../shared/domain/sequences.ts";
import * as suppressions from "../../shared/domain/suppressions.ts";
import { get, queryAll } from "../../shared/doors/table.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { type Audience, audience, counted, create, members, stored as storedContacts } from "../support/audience.ts";
import { ask } from "../support/events.ts";
import { fill, newForm, person, shop, stored, worked } from "../support/forms.ts";
import { heldUp, letGo } from "../support/held-up.ts";
import { armed, atSomeSteps } from "../support/killer.ts";

armed();

const email = "ann@example.com";
const press = (token: string) => confirmations.confirm(token, { ip: "192.0.2.9", userAgent: "Safari" });

/** A form that gives a tag, a list and points. */
async function generous(at: Audience, more: object = {}) {
  const list = await groups.create("LIST", at.caller, { siteId: at.siteId, name: `News ${crypto.randomUUID()}` });
  const form = await newForm(at, { tags: ["reader"], listId: list.id, ...more });
  const rule = { siteId: at.siteId, name: "Submitted", trigger: "form_submit", match: { formId: form.id }, points: 7 };
  await scoringRules.create(at.caller, scoringRules.NewScoringRule.parse(rule));
  return { form, list };
}

/** One that waits a day for everybody. */
async function sequence({ caller, siteId }: Audience, more: object = {}) {
  const made = await sequences.create(caller, NewSequence.parse({ siteId, name: "Welcome", ...more }));
  await steps.add(caller, made.id, NewSteps.parse({ type: "delay", delayMinutes: 1440 }));
  return sequences.change(caller, made.id, { status: "active" });
}

/** All that a form gives, once, and every count agrees with what is there. */
async function given(at: Audience, { form, list }: Awaited<ReturnType<typeof generous>>, submitted = 1, people = 1) {
  const ann = (await person(at, email))!;
  expect(ann).toMatchObject({ status: "subscribed", score: 7 * submitted });
  expect([ann.tags.map(({ name }) => name), ann.lists.map(({ id }) => id)]).toEqual([["reader"], [list.id]]);
  expect((await members(at, "LIST", list.id)).count).toBe(people);
  expect((await members(at, "LIST", list.id)).ids).toContain(ann.id);
  expect((await contacts.item(at.caller, ann.id)).forms).toEqual(new Set([form.id]));
  expect((await storedContacts(at)).length).toBe(await counted(at));
  const all = await stored(at, form.id);
  expect(all.length).toBe(submitted);
  expect(await submissions.count(at.orgId, form.id)).toBe(submitted);
  expect(all.map(({ status, duesk, contactId }) => [status, duesk, contactId])).toEqual(all.map(() => ["accepted", undefined, ann.id]));
  const { log } = await scores.log(at.caller, ann.id, { limit: 50 });
  expect(log.map(({ delta }) => delta)).toEqual(all.map(() => 7));
}

describe("without a confirmation", () => {
  test("who submits is a contact with what the form asked and gives, and the evidence is kept", async () => {
    const at = await audience();
    const fields = [
      { name: "email", type: "email" },
      { name: "firstName" },
      { name: "plan", type: "select", options: ["pro", "team"] },
      { name: "seats", type: "number" },
      { name: "terms", type: "checkbox", required: true },
    ];
    const made = await generous(at, { designJson: { fields } });
    await fill(made.form.id, { email, firstName: "Ann", plan: "pro", seats: "3", terms: "on", company: "Acme", utm: "x" });
    await given(at, made);
    expect(await person(at, email)).toMatchObject({
      firstName: "Ann",
      company: "Acme",
      source: "form: News",
      customFields: { plan: "pro", seats: 3, terms: true },
    });
    const { items, pagination } = await forms.submitted(at.caller, made.form.id, { limit: 10 });
    expect(pagination.total).toBe(1);
    expect(items[0]).toMatchObject({
      email,
      status: "accepted",
      fields: { firstName: "Ann", plan: "pro", seats: 3, terms: true, company: "Acme", utm: "x" },
      consent: { ip: "192.0.2.7", userAgent: "Firefox", page: "https://shop.example/", formVersion: 1, confirmedAt: null },
    });
    const rules = { match: "all" as const, conditions: [{ field: `form.${made.form.id}`, operator: "exists" as const }] };
    const segment = await segments.create(at.caller, segments.NewSegment.parse({ siteId: at.siteId, name: "S", rules }));
    expect((await segments.explain(at.caller, segment.id, (await person(at, email))!.id)).matched).toBe(true);
  });

  test("somebody known keeps what is known, gets what is new, and stays away if they left", async () => {
    const at = await audience();
    const { id } = await create(at, "Ann@Example.com", { firstName: "Ann", customFields: { plan: "pro" }, status: "unsubscribed" });
    const form = await newForm(at, {
      tags: ["again"],
      designJson: { fields: [{ name: "firstName" }, { name: "lastName" }, { name: "plan" }] },
    });
    await fill(form.id, { email, firstName: "Mallory", lastName: "Lee", plan: "" });
    expect(await person(at, email)).toMatchObject({
      id,
      status: "unsubscribed",
      firstName: "Ann",
      lastName: "Lee",
      customFields: { plan: "pro" },
      tags: [{ name: "again" }],
    });
  });

  test("a suppressed address stays so, known or new", async () => {
    const at = await audience();
    const form = await newForm(at);
    for (const reason of ["bounce", "unsubscribe"] as const) {
      await suppressions.suppress(at.orgId, { ...suppressions.NewSuppression.parse({ email: `${reason}@x.com`, reason }), source: "test" });
      await fill(form.id, { email: `${reason}@x.com` });
      expect((await person(at, `${reason}@x.com`))?.status).toBe("suppressed");
      expect((await suppressions.find(at.orgId, `${reason}@x.com`))?.reason).toBe(reason);
    }
  });

  test("no room for more custom fields loses the fields and nothing else", async () => {
    const at = await audience();
    const full = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}`, 1]));
    await create(at, email, { customFields: full });
    const form = await newForm(at, { tags: ["t"], designJson: { fields: [{ name: "more" }, { name: "lastName" }] } });
    await fill(form.id, { email, more: "x", lastName: "Lee" });
    expect(await person(at, email)).toMatchObject({ lastName: "Lee", customFields: full, tags: [{ name: "t" }] });
  });

  test("pressed twice is once; another content is another submission; after a while the same is, too", async () => {
    const at = await audience();
    const made = await generous(at);
    await Promise.all(Array.from({ length: 4 }, () => fill(made.form.id, { email, firstName: "Ann" })));
    await given(at, made);
    await Promise.all(["Bo", "Cy"].map((firstName) => fill(made.form.id, { email, firstName })));
    await given(at, made, 3);
    clock.advance(301);
    await fill(made.form.id, { email, firstName: "Ann" });
    await given(at, made, 4);
  });

  test("many people at once are counted exactly", async () => {
    const at = await audience();
    const form = await newForm(at);
    await Promise.all(Array.from({ length: 20 }, (_, i) => fill(form.id, { email: `p${i}@x.com` })));
    await worked(at, form.id);
    expect(await submissions.count(at.orgId, form.id)).toBe(20);
    expect((await stored(at, form.id)).filter(({ duesk }) => duesk !== undefined)).toEqual([]);
    expect(await counted(at)).toBe(20);
    const seen: number[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const { items, pagination } = await forms.submitted(at.caller, form.id, { limit: 7, cursor });
      seen.push(...items.map(({ id }) => id));
      cursor = pagination.nextCursor ?? undefined;
    }
    const ids = (await stored(at, form.id)).map(({ id }) => id);
    expect(seen).toEqual(ids.toReversed());
    expect((await forms.submitted(at.caller, form.id, { limit: 7, page: 3 })).items.map(({ id }) => id)).toEqual(seen.slice(14));
  });

  test("dead at any step, it is done once by whoever takes it up, or was never taken", async () => {
    const told = await atSomeSteps(3, async (kill) => {
      const at = await audience();
      const made = await generous(at);
      await forms.open(made.form.id);
      await kill(() => fill(made.form.id, { email }));
      await worked(at, made.form.id);
      // The visitor tries again, as browsers do.
      await fill(made.form.id, { email });
      await worked(at, made.form.id);
      await given(at, made);
    });
    expect(told.length).toBeGreaterThan(20);
  }, 300_000);

  test("a list that is gone is passed over", async () => {
    const at = await audience();
    const { form, list } = await generous(at);
    await groups.removeGroup("LIST", at.caller, list.id);
    await fill(form.id, { email });
    expect(await person(at, email)).toMatchObject({ status: "subscribed", score: 7, lists: [], tags: [{ name: "reader" }] });
  });

  test("its sequence begins, and those that wait for it, once for each submission that holds", async () => {
    const at = await audience();
    const own = await sequence(at);
    const form = await newForm(at, { sequenceId: own.id });
    const waiting = await sequence(at, { triggerType: "form_submit", triggerConfig: { formId: form.id } });
    await Promise.all([fill(form.id, { email }), fill(form.id, { email, firstName: "Ann" })]);
    await worked(at, form.id);
    for (const { id } of [own, waiting]) {
      const { items } = await enrollments.list(at.caller, id, { limit: 10 }, {});
      expect(items.map(({ contactId }) => contactId)).toEqual([(await person(at, email))!.id]);
    }
    await fill((await newForm(at)).id, { email: "else@x.com" });
    await create(at, "left@x.com", { status: "unsubscribed" });
    await fill(form.id, { email: "left@x.com" });
    for (const { id } of [own, waiting]) expect((await enrollments.list(at.caller, id, { limit: 10 }, {})).items).toHaveLength(1);
    await expect(newForm(at, { sequenceId: own.id + 999_999 })).rejects.toMatchObject({ kind: "missing" });
  });

  test("what somebody submitted is told with the person, and goes when it is erased", async () => {
    const at = await audience();
    const form = await newForm(at);
    await fill(form.id, { email, firstName: "Ann" });
    await fill(form.id, { email, firstName: "Bo" });
    await fill(form.id, { email: "other@x.com" });
    const { id } = (await person(at, email))!;
    expect((await dossier(at.caller, id)).submissions.map(({ fields }) => fields)).toEqual([{ firstName: "Bo" }, { firstName: "Ann" }]);
    await erase(at.caller, id);
    expect((await stored(at, form.id)).map((one) => one.email)).toEqual(["other@x.com"]);
    expect(await submissions.count(at.orgId, form.id)).toBe(1);
  });
});

describe("double opt-in", () => {
  const asked = async (at: Audience) => (await sends.list(at.caller, { limit: 50 }, {})).sends;
  const tokenAt = async (at: Audience, formId: number, n = 0) => confirmations.tokenOf((await stored(at, formId))[n]!);

  test("nothing happens before the button is pressed but a mail, and then everything, once", async () => {
    const at = await shop();
    const made = await generous(at, { doubleOptIn: true });
    await fill(made.form.id, { email, firstName: "Ann" });
    await worked(at, made.form.id);
    expect(await person(at, email)).toMatchObject({ status: "pending", tags: [], lists: [], score: 0 });
    const contactId = (await person(at, email))!.id;
    const mail = { contactId, toEmail: email, siteId: at.siteId, subject: "Bitte bestätigen: Shop", status: "queued" };
    expect(await asked(at)).toMatchObject([mail]);
    const token = await tokenAt(at, made.form.id);
    for (let n = 0; n < 2; n++) expect(await confirmations.find(token)).toMatchObject({ email, siteName: "Shop", confirmed: false });
    expect((await person(at, email))?.status).toBe("pending");
    for (let n = 0; n < 2; n++) expect(await press(token)).toMatchObject({ confirmed: true });
    await given(at, made);
    const { items } = await forms.submitted(at.caller, made.form.id, { limit: 10 });
    expect(items[0]).toMatchObject({
      status: "accepted",
      confirmationSendId: (await asked(at))[0]!.id,
      consent: { confirmedIp: "192.0.2.9", confirmedUserAgent: "Safari", confirmedAt: expect.stringMatching(/Z$/) },
    });
    const ann = (await person(at, email))!;
    await contacts.change(at.caller, ann.id, { status: "unsubscribed" });
    await press(token);
    expect((await person(at, email))?.status).toBe("unsubscribed");
  });

  test("who left comes back by the button, and gets what they entered; who bounced does not", async () => {
    const at = await shop();
    const form = await newForm(at, { doubleOptIn: true });
    await create(at, email, { firstName: "Old", lastName: "Lee", status: "unsubscribed" });
    const source = "test";
    await suppressions.suppress(at.orgId, { ...suppressions.NewSuppression.parse({ email: "gone@x.com", reason: "unsubscribe" }), source });
    await suppressions.suppress(at.orgId, { ...suppressions.NewSuppression.parse({ email: "bounced@x.com", reason: "bounce" }), source });
    for (const to of [email, "gone@x.com", "bounced@x.com"]) await fill(form.id, { email: to, firstName: "New" });
    await worked(at, form.id);
    expect(await person(at, email)).toMatchObject({ status: "unsubscribed", firstName: "Old" });
    expect((await asked(at)).map(({ toEmail, status }) => `${toEmail} ${status}`).toSorted()).toEqual([
      `${email} queued`,
      "bounced@x.com failed",
      "gone@x.com queued",
    ]);
    for (const n of [0, 1, 2]) await press(await tokenAt(at, form.id, n));
    expect(await person(at, email)).toMatchObject({ status: "subscribed", firstName: "New", lastName: "Lee" });
    expect((await person(at, "gone@x.com"))?.status).toBe("subscribed");
    expect((await person(at, "bounced@x.com"))?.status).toBe("suppressed");
  });

  test("one mail an hour for an address and form, five for an organization; who confirms may be mailed again", async () => {
    const at = await shop();
    const [form, ...others] = await Promise.all(Array.from({ length: 6 }, () => newForm(at, { doubleOptIn: true })));
    const entering = async ({ id }: Form, firstName: string) => {
      await fill(id, { email, firstName });
      await worked(at, id);
    };
    for (const name of ["a", "b"]) await entering(form!, name);
    expect(await asked(at)).toHaveLength(1);
    expect((await stored(at, form!.id)).map(({ error }) => error)).toEqual([undefined, expect.stringContaining("within the hour")]);
    await press(await tokenAt(at, form!.id));
    await entering(form!, "c");
    expect(await asked(at)).toHaveLength(2);
    for (const other of others) await entering(other, "x");
    expect(await asked(at)).toHaveLength(5);
    clock.advance(3601);
    await entering(form!, "d");
    expect(await asked(at)).toHaveLength(6);
  });

  test("dead at any step of asking, one mail goes", async () => {
    const told = await atSomeSteps(3, async (kill) => {
      const at = await shop();
      const made = await generous(at, { doubleOptIn: true });
      await fill(made.form.id, { email });
      await worked(at, made.form.id, kill);
      await worked(at, made.form.id);
      expect(await asked(at)).toHaveLength(1);
      expect(await stored(at, made.form.id)).toMatchObject([{ status: "pending", confirmationSendId: (await asked(at))[0]!.id }]);
      expect((await stored(at, made.form.id))[0]!.duesk).toBeUndefined();
      expect(await counted(at)).toBe(1);
    });
    expect(told.length).toBeGreaterThan(10);
  }, 300_000);

  test("dead at any step of submitting, there is one contact that waits, and one mail", async () => {
    await atSomeSteps(3, async (kill) => {
      const at = await shop();
      const form = await newForm(at, { doubleOptIn: true });
      await kill(() => fill(form.id, { email }));
      await worked(at, form.id);
      await fill(form.id, { email });
      await worked(at, form.id);
      expect(await asked(at)).toHaveLength(1);
      expect(await submissions.count(at.orgId, form.id)).toBe(1);
      expect([await counted(at), (await person(at, email))?.status]).toEqual([1, "pending"]);
    });
  }, 300_000);

  test("dead at any step of confirming, everything happens once", async () => {
    const told = await atSomeSteps(3, async (kill) => {
      const at = await shop();
      const made = await generous(at, { doubleOptIn: true });
      await fill(made.form.id, { email });
      await worked(at, made.form.id);
      const token = await tokenAt(at, made.form.id);
      await kill(() => press(token));
      // Nothing is confirmed: they press again. Else a tick finds it.
      if (!(await confirmations.find(token)).confirmed) await press(token);
      await worked(at, made.form.id);
      await given(at, made);
    });
    expect(told.length).toBeGreaterThan(20);
  }, 300_000);

  test("pressed twice at once is once", async () => {
    const at = await shop();
    const made = await generous(at, { doubleOptIn: true });
    await fill(made.form.id, { email });
    await worked(at, made.form.id);
    const token = await tokenAt(at, made.form.id);
    await Promise.all([press(token), press(token), press(token)]);
    await worked(at, made.form.id);
    await given(at, made);
  });

  test("who is late with what another has done does it no second time", async () => {
    for (const n of [1, 2, 3]) {
      const at = await shop();
      const made = await generous(at, { doubleOptIn: true });
      await fill(made.form.id, { email });
      await worked(at, made.form.id);
      const token = await tokenAt(at, made.form.id);
      const holding = heldUp(TransactWriteCommand, n);
      const late = press(token);
      await holding.reached;
      await press(token);
      const contact = await contacts.item(at.caller, (await person(at, email))!.id);
      holding.release();
      await late;
      letGo();
      await worked(at, made.form.id);
      await given(at, made);
      expect(await contacts.item(at.caller, contact.id)).toEqual(contact);
    }
  });

  test("who is late with having asked takes nothing from those who confirm meanwhile", async () => {
    const at = await shop();
    const made = await generous(at, { doubleOptIn: true });
    await fill(made.form.id, { email });
    const token = await tokenAt(at, made.form.id);
    const noting = heldUp(UpdateCommand, ({ input }) => input.UpdateExpression!.includes("REMOVE"));
    const late = worked(at, made.form.id);
    await noting.reached;
    const accepting = heldUp(TransactWriteCommand);
    const pressed = press(token);
    await accepting.reached;
    noting.release();
    await late;
    // Should they die now, a tick goes on.
    expect((await stored(at, made.form.id))[0]).toHaveProperty("duesk");
    accepting.release();
    await pressed;
    await given(at, made);
  });

  test("a link is good for 30 days, for its submission, and as long as there is the form", async () => {
    const at = await shop();
    const form = await newForm(at, { doubleOptIn: true });
    await fill(form.id, { email });
    const token = await tokenAt(at, form.id);
    const changed = `${token.slice(0, 5)}${token[5] === "x" ? "y" : "x"}${token.slice(6)}`;
    for (const bad of ["", "made-up", token.slice(0, -2), changed])
      await expect(confirmations.find(bad)).rejects.toMatchObject({ kind: "missing" });
    clock.advance(30 * 24 * 3600 + 60);
    await expect(press(token)).rejects.toMatchObject({ kind: "missing" });
    await fill(form.id, { email });
    const fresh = await tokenAt(at, form.id, 1);
    await press(fresh);
    clock.advance(40 * 24 * 3600);
    expect(await confirmations.find(fresh)).toMatchObject({ confirmed: true });
    await forms.remove(at.caller, form.id);
    await expect(confirmations.find(fresh)).rejects.toMatchObject({ kind: "missing" });
  });

  test("needs somebody who can send, once the form is active; should they be gone later, the submission says so", async () => {
    const at = await audience();
    await expect(newForm(at, { doubleOptIn: true })).rejects.toMatchObject({ code: "no_sending_config" });
    const form = await newForm(at, { doubleOptIn: true, status: "draft" });
    await expect(forms.change(at.caller, form.id, { status: "active" })).rejects.toMatchObject({ code: "no_sending_config" });
    await submissions.store((await forms.open(form.id)).form, { email, fields: {}, extra: {} }, { ip: "x", language: "en" });
    await worked(at, form.id);
    expect(await stored(at, form.id)).toMatchObject([{ status: "pending", error: expect.stringContaining("sending config") }]);
    expect((await stored(at, form.id))[0]!.duesk).toBeUndefined();
  });
});

describe("a form", () => {
  test("keeps every version of what it said", async () => {
    const at = await audience();
    const form = await newForm(at, { designJson: { title: "One", unknown: { kept: true } } });
    expect(form).toMatchObject({ version: 1, designJson: { title: "One", unknown: { kept: true } } });
    expect(await forms.change(at.caller, form.id, { status: "inactive" })).toMatchObject({ version: 1 });
    expect(await forms.change(at.caller, form.id, { designJson: { title: "Two" } })).toMatchObject({ version: 2 });
    expect(await forms.find(at.caller, form.id, 1)).toMatchObject({ version: 1, designJson: { title: "One" } });
    expect(await forms.find(at.caller, form.id)).toMatchObject({ version: 2, designJson: { title: "Two" } });
    await expect(forms.find(at.caller, form.id, 3)).rejects.toMatchObject({ kind: "missing" });
  });

  test("changed by several at once loses no change", async () => {
    const at = await audience();
    const form = await newForm(at);
    const changes = [{ name: "New" }, { tags: ["t"] }, { redirectUrl: "https://shop.example/" }, { designJson: { title: "T" } }];
    await Promise.all(changes.map((change) => forms.change(at.caller, form.id, change)));
    expect(await forms.find(at.caller, form.id)).toMatchObject({ ...Object.assign({}, ...changes), version: 3 });
  });

  test("that is deleted takes its submissions along, whoever dies over it; contacts stay", async () => {
    await atSomeSteps(3, async (kill) => {
      const at = await audience();
      const form = await newForm(at);
      for (let i = 0; i < 3; i++) await fill(form.id, { email: `p${i}@x.com` });
      await forms.remove(at.caller, form.id);
      await expect(forms.open(form.id)).rejects.toMatchObject({ kind: "missing" });
      // Somebody was about to submit when it died.
      const late = { orgId: at.orgId, id: form.id, siteId: at.siteId, version: 1, doubleOptIn: false };
      await kill(() => deadForms.sweep(at.orgId, form.id));
      await submissions.store(late, { email: "late@x.com", fields: {}, extra: {} }, { ip: "x", language: "en" });
      await takeUp(at.orgId, form.id, (await stored(at, form.id)).at(-1)!.sk);
      clock.advance(1000);
      await deadForms.sweep(at.orgId, form.id);
      expect(await stored(at, form.id)).toEqual([]);
      expect(await submissions.count(at.orgId, form.id)).toBe(0);
      expect(await queryAll(ranges.bodies(at.orgId, "FORM", form.id))).toEqual([]);
      expect(await get(keys.deadForm(at.orgId, form.id))).toBeUndefined();
      expect(await counted(at)).toBe(3);
    });
  }, 300_000);
});

describe("in public", () => {
  beforeEach(() => {
    vi.stubEnv("ADDRESS_LIMIT_PER_MINUTE", "3");
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test("one address submits so many times a minute, others are not in its way, and pages may read why", async () => {
    const at = await audience();
    const { id } = await newForm(at);
    const from = (address: string, n: number) =>
      ask<object>(publicForms, "POST /forms/:id/submit", {
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
