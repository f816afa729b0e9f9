// A submission that holds: it needed no confirmation, or has it. The contact is written in one transaction with the note that it was,
// so that nobody is subscribed twice over; what follows is safe to repeat, and is repeated until it is done.
import { absent, all, equals, exists } from "../../conditions.ts";
import { claim, get, Unmet, update, type Write, write } from "../../doors/table.ts";
import { canonical } from "../../email.ts";
import { Problem, unlessMissing } from "../../errors.ts";
import { keys, off } from "../../keys.ts";
import type { ContactItem } from "../contacts/contact.ts";
import * as groups from "../contacts/groups.ts";
import * as items from "../contacts/items.ts";
import * as members from "../contacts/members.ts";
import * as standing from "../contacts/standing.ts";
import * as contacts from "../contacts.ts";
import * as organizations from "../organizations.ts";
import * as scoring from "../scoring.ts";
import type { SequenceItem } from "../sequences/record.ts";
import * as triggers from "../sequences/triggers.ts";
import * as suppressions from "../suppressions.ts";
import type { FormItem } from "./form.ts";
import * as submissions from "./submissions.ts";
import type { Value } from "./values.ts";

type Submission = submissions.SubmissionItem;

/** All that an accepted submission brings about, exactly once. */
export async function accept(form: FormItem, submission: Submission): Promise<void> {
  const { orgId, email } = submission;
  // By their own hand: who presses the button in their mail wants mail again.
  if (isConfirmed(submission) && !submission.applied) await suppressions.welcomeBack(orgId, email);
  const contact = await applied(form, submission);
  if (contact) {
    await standing.follow(orgId, [contact]);
    // A list, or the contact itself, may have been deleted meanwhile.
    await happened(form, submission, contact).catch(unlessMissing);
  }
  await finish(submission);
}

/** What follows on a submission that holds; each step is safe to repeat. The sequences it starts began with the contact. */
async function happened(form: FormItem, submission: Submission, { id: contactId, siteId }: ContactItem): Promise<void> {
  const { orgId } = form;
  const tags = await groups.tagsNamed({ orgId }, siteId, form.tags);
  for (const [name, id] of tags) await scoring.applyTag({ orgId }, contactId, { id, name });
  if (form.listId !== null) await members.add({ orgId }, "LIST", form.listId, [contactId]).catch(unlessMissing);
  await scoring.happened(
    orgId,
    { id: contactId, siteId },
    {
      trigger: "form_submit",
      key: `submission ${submission.id}`,
      at: submission.confirmedAt ?? submission.createdAt,
      facts: { formId: form.id },
    },
  );
}

/** Nothing is left to be done, unless it was confirmed meanwhile. */
export const finish = (submission: Submission, set: Partial<Submission> = {}): Promise<boolean> =>
  claim(update(submission, { set, remove: [...off("due"), "taken"] }, { if: all(exists, equals("status", submission.status)) }));

const isConfirmed = ({ confirmedAt }: Submission): boolean => confirmedAt !== undefined;
const mostTries = 8;

/** The contact as it was written; undefined when it is gone since. */
async function applied(form: FormItem, submission: Submission): Promise<ContactItem | undefined> {
  for (let tries = 1; ; tries++) {
    if (submission.applied) return (await contacts.byIds(submission.orgId, [submission.contactId!], { consistent: true }))[0];
    const current = await contactAt(submission);
    const met = current ? filled(current, submission) : await fresh(submission, form, "subscribed");
    const [date, starts] = await Promise.all([organizations.today(form.orgId), sequencesOf(form)]);
    const begun = await triggers.startedBy(met, { formId: form.id, starts }, roomForSequences);
    const contact = { ...met, ...entering(met, begun) };
    const storing = current ? items.changing(current, contact, neverTaken) : items.inserting(contact, date);
    try {
      await write(noting(submission, contact, { applied: true }), submissions.logging(submission, contact.id), ...storing, ...begun.writes);
      await triggers.started(begun);
      return contact;
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      // Somebody else is at it too.
      if (error.index === 0) return contactAt(submission);
      if (tries >= mostTries) throw error;
    }
  }
}

const contactAt = ({ orgId, siteId, email }: Submission): Promise<ContactItem | undefined> =>
  get<ContactItem>(keys.contact(orgId, siteId, canonical(email)));

const noting = (submission: Submission, { id: contactId }: ContactItem, set: Partial<Submission>): Write =>
  update(submission, { set: { ...set, contactId } }, { if: all(exists, absent("applied")) });

// Of the 100 writes of a transaction.
const roomForSequences = 90;

/** The form's own, as long as there is such a one. */
async function sequencesOf({ orgId, sequenceId }: FormItem): Promise<number[]> {
  const sequence = sequenceId === null ? undefined : await get<SequenceItem>(keys.record(orgId, "SEQUENCE", sequenceId));
  return sequence && sequence.status !== "archived" ? [sequence.id] : [];
}

const entering = (contact: ContactItem, begun: triggers.Begun): Pick<ContactItem, "sequences"> => {
  const { sequences } = begun.of(contact).add;
  return sequences ? { sequences: new Set([...(contact.sequences ?? []), ...sequences]) } : {};
};

/**
 * Before the confirmation there is somebody to confirm: whoever is new is a contact that waits, whoever is known stays as they are.
 * Answers with the submission as it then is.
 */
export async function meet(form: FormItem, submission: Submission): Promise<Submission> {
  for (let tries = 1; submission.contactId === undefined; tries++) {
    const current = await contactAt(submission);
    const contact = current ?? (await fresh(submission, form, "pending"));
    const storing = current ? [] : items.inserting(contact, await organizations.today(form.orgId));
    try {
      await write(noting(submission, contact, {}), submissions.logging(submission, contact.id), ...storing);
      await standing.follow(submission.orgId, [contact]);
      return { ...submission, contactId: contact.id };
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      // It was confirmed meanwhile, or is gone.
      if (error.index === 0) return submission;
      if (tries >= mostTries) throw error;
    }
  }
  return submission;
}

async function fresh(submission: Submission, form: FormItem, status: "pending" | "subscribed"): Promise<ContactItem> {
  const { orgId, siteId, email, freshContactId: id } = submission;
  const suppressed = (await suppressions.among(orgId, [email], "marketing")).has(canonical(email));
  const fields = { email, ...ofContact(submission), source: `form: ${form.name}`.slice(0, 200), status };
  const item = items.newItem(fields, { orgId, siteId, id, tags: [], lists: [], suppressed });
  const contact = status === "pending" ? item : { ...item, forms: new Set([form.id]) };
  await write(items.pointing(contact));
  return contact;
}

/** What a known contact gets of it. Anybody may type any address: without a confirmation only what is empty is filled, and who has left stays away. */
function filled(current: ContactItem, submission: Submission): ContactItem {
  const confirmed = isConfirmed(submission);
  const given = ofContact(submission);
  const isFree = (known: unknown) => confirmed || known === undefined || known === null || known === "";
  const { customFields = {}, ...texts } = given;
  const changes = {
    ...Object.fromEntries(Object.entries(texts).filter(([name]) => isFree(current[name as "firstName"]))),
    customFields: Object.fromEntries(Object.entries(customFields).filter(([name]) => isFree(current.customFields?.[name]))),
    ...(confirmed && { status: "subscribed" as const }),
  };
  return { ...changed(current, changes), forms: new Set([...(current.forms ?? []), submission.formId]) };
}

// The address stays what it is.
const neverTaken = new Problem("conflict", "The site has a contact with this email");

/** Where there is no room for more custom fields, the submission alone keeps them. */
function changed(current: ContactItem, { customFields, ...changes }: Parameters<typeof items.changed>[1]): ContactItem {
  try {
    return items.changed(current, { ...changes, customFields });
  } catch (error) {
    if (!(error instanceof Problem && error.kind === "invalid")) throw error;
    return items.changed(current, changes);
  }
}

type Given = { [Name in (typeof submissions.contactFields)[number]]?: string } & { customFields?: Record<string, Value> };

/** An empty box says nothing: it empties no field, and unticks nothing. */
function ofContact({ fields }: Submission): Given {
  const own = new Set<string>(submissions.contactFields);
  const said = Object.entries(fields).filter(([, value]) => value !== "" && value !== false);
  const customFields = Object.fromEntries(said.filter(([name]) => !own.has(name)));
  return {
    ...Object.fromEntries(said.filter(([name]) => own.has(name)).map(([name, value]) => [name, String(value).slice(0, 200)])),
    ...(Object.keys(customFields).length && { customFields }),
  };
}
