// Applies accepted submissions: those that needed no confirmation or have it. One transaction
// writes the contact and marks the submission as applied, so a submission changes the contact only
// once. The follow-ups are idempotent and are retried until they are done.
import { absent, all, exists } from "../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  get,
  getMany,
  update,
  type Write,
  write,
} from "../../adapters/dynamodb/table.ts";
import { Problem, undefinedIfMissing } from "../../errors.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { keys } from "../../keys.ts";
import { consentLogWrite } from "../audience/contacts/consent-log.ts";
import { commitContactChanges } from "../audience/contacts/contact-events.ts";
import { findSurvivor } from "../audience/contacts/contact-lookups.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as contactStatus from "../audience/contacts/contact-status.ts";
import * as contactWrites from "../audience/contacts/contact-writes.ts";
import * as declaredFields from "../audience/contacts/declared-fields.ts";
import type { ReactionWrites } from "../audience/contacts/reactions.ts";
import * as groupMembers from "../audience/groups/group-members.ts";
import * as groups from "../audience/groups/groups.ts";
import { applyTag } from "../audience/groups/tags.ts";
import * as scoring from "../audience/scoring/scoring.ts";
import * as suppressionLookups from "../audience/suppressions/suppression-lookups.ts";
import * as suppressions from "../audience/suppressions/suppressions.ts";
import { listOfSite } from "../audience/topics/site-topics.ts";
import { applyChoices } from "../audience/topics/topic-choices.ts";
import { topicCountWrites } from "../audience/topics/topic-counts.ts";
import type { StoredChoices } from "../audience/topics/topic-subscription.ts";
import type { SequenceItem } from "../automation/sequence-schema.ts";
import * as triggers from "../automation/triggers.ts";
import * as organizations from "../identity/organizations.ts";
import type { FormItem } from "./form-schema.ts";
import * as submissions from "./submissions.ts";

type Submission = submissions.SubmissionItem;

/** Applies an accepted submission exactly once. Idempotent. */
export async function acceptSubmission(form: FormItem, submission: Submission): Promise<void> {
  const { orgId, email } = submission;
  // A confirmation proves that the owner of the email address wants mail again.
  if (isConfirmed(submission) && !submission.applied)
    await suppressions.removeIfUnsubscribed(orgId, email);
  const contact = await writeContact(form, submission);
  if (contact) {
    await contactStatus.syncWithSuppressions(orgId, [contact]);
    // The list or the contact may have been deleted in between.
    await applyFollowUps(form, submission, contact).catch(undefinedIfMissing);
  }
  await submissions.finish(submission);
}

/**
 * Tags, list and points. Each step is idempotent. Sequences were started in the transaction of the
 * contact.
 */
async function applyFollowUps(
  form: FormItem,
  submission: Submission,
  { id: contactId, siteId }: ContactItem,
): Promise<void> {
  const { orgId } = form;
  const tags = await groups.getOrCreateTags({ orgId }, siteId, form.tags);
  const storedTags = await getMany<groups.Group>(
    [...new Set(tags.values())].map((id) => keys.record(orgId, "TAG", id)),
  );
  // A tag that was deleted in between is undefined.
  for (const tag of storedTags) if (tag) await applyTag({ orgId }, contactId, tag);
  if (form.listId !== null)
    await groupMembers
      .addMembers({ orgId }, { kind: "LIST", id: form.listId }, [contactId])
      .catch(undefinedIfMissing);
  await scoring.scoreEvent(
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

const isConfirmed = ({ confirmedAt }: Submission): boolean => confirmedAt !== undefined;

/** Returns the contact as written. Undefined when it was deleted after an earlier attempt. */
async function writeContact(
  form: FormItem,
  submission: Submission,
): Promise<ContactItem | undefined> {
  if (submission.applied) return findSurvivor(submission.orgId, submission.contactId!);
  return retryOnConflict("The contact", async () => {
    const current = await getContact(submission);
    const merged = current
      ? await mergeIntoContact(current, submission)
      : await createContactItem(submission, form, "subscribed");
    const [date, starts] = await Promise.all([
      organizations.getToday(form.orgId),
      getSequenceIds(form),
    ]);
    const reaction = await triggers.reactToContactChange(
      merged,
      { formId: form.id, starts, oncePerDay: true },
      maxSequenceWrites,
    );
    const { stored, consentWrites } = await confirmChoices(form, submission, {
      contact: merged,
      isNew: current?.status !== "subscribed" && merged.status === "subscribed",
      date,
    });
    const contact = { ...merged, ...sequencesOf(merged, reaction), ...stored };
    const saveWrites = current
      ? contactWrites.changeWrites(current, contact, unexpectedConflict)
      : contactWrites.insertWrites(contact, date);
    try {
      const transitions = [{ before: current, after: contact }];
      await commitContactChanges(form.orgId, { transitions }, (extraWrites) =>
        write(
          contactIdWrite(submission, contact, { applied: true }),
          submissions.logWrite(submission, contact.id),
          ...consentWrites,
          ...saveWrites,
          ...reaction.writes,
          ...extraWrites,
        ),
      );
      await reaction.afterCommit();
      return contact;
    } catch (error) {
      // Another worker applied the submission.
      if (error instanceof ConditionFailed && error.index === 0) return getContact(submission);
      throw error;
    }
  });
}

/** The choices of the contact after a confirmed submission, and the evidence. */
async function confirmChoices(
  { orgId, topicIds }: FormItem,
  submission: Submission,
  { contact, isNew, date }: { contact: ContactItem; isNew: boolean; date: string },
): Promise<{ stored?: StoredChoices; consentWrites: Write[] }> {
  if (!isConfirmed(submission)) return { consentWrites: [] };
  const ofSite = topicIds.length ? await listOfSite(orgId, contact.siteId) : [];
  const { stored, entries, changes } = applyChoices(
    contact,
    // A topic that was deleted since is left out.
    ofSite.filter(({ id }) => topicIds.includes(id)).map((topic) => ({ topic, subscribed: true })),
  );
  const consent = { source: "form" as const, ipAddress: submission.confirmedIp };
  const change = {
    ...(isNew && { status: "subscribed" as const }),
    ...(entries.length && { topics: entries }),
  };
  return {
    stored,
    consentWrites: [
      ...(Object.keys(change).length ? [consentLogWrite(contact, consent, change)] : []),
      ...topicCountWrites(contact, changes, date),
    ],
  };
}

/**
 * The contact with the address. Without one, the contact that the submission waits with, which has
 * another address by now or was merged.
 */
async function getContact(submission: Submission): Promise<ContactItem | undefined> {
  const { orgId, siteId, email, contactId } = submission;
  const found = await get<ContactItem>(keys.contact(orgId, siteId, normalizeEmail(email)));
  return found ?? (contactId === undefined ? undefined : findSurvivor(orgId, contactId));
}

const contactIdWrite = (
  submission: Submission,
  { id: contactId }: ContactItem,
  set: Partial<Submission>,
): Write =>
  update(submission, { set: { ...set, contactId } }, { if: all(exists, absent("applied")) });

// A transaction takes 100 writes; up to 12 are for the contact and the submission.
const maxSequenceWrites = 88;

/** The sequence of the form, unless it was deleted or archived. */
async function getSequenceIds({ orgId, sequenceId }: FormItem): Promise<number[]> {
  const sequence =
    sequenceId === null
      ? undefined
      : await get<SequenceItem>(keys.record(orgId, "SEQUENCE", sequenceId));
  return sequence && sequence.status !== "archived" ? [sequence.id] : [];
}

const sequencesOf = (
  contact: ContactItem,
  reaction: ReactionWrites,
): Pick<ContactItem, "sequences"> => {
  const { sequences } = reaction.forContact(contact).add;
  return sequences ? { sequences: new Set([...(contact.sequences ?? []), ...sequences]) } : {};
};

/**
 * Links a submission that waits for its confirmation to a contact. A new contact is `pending`; an
 * existing one does not change. Returns the submission with its contact id.
 */
export async function ensureContact(form: FormItem, submission: Submission): Promise<Submission> {
  if (submission.contactId !== undefined) return submission;
  return retryOnConflict("The contact", async () => {
    const current = await getContact(submission);
    const contact = current ?? (await createContactItem(submission, form, "pending"));
    const insertWrites = current
      ? []
      : contactWrites.insertWrites(contact, await organizations.getToday(form.orgId));
    try {
      const transitions = current ? [] : [{ after: contact }];
      await commitContactChanges(form.orgId, { transitions }, (extraWrites) =>
        write(
          contactIdWrite(submission, contact, {}),
          submissions.logWrite(submission, contact.id),
          ...insertWrites,
          ...extraWrites,
        ),
      );
      await contactStatus.syncWithSuppressions(submission.orgId, [contact]);
      return { ...submission, contactId: contact.id };
    } catch (error) {
      // The submission was applied or deleted in between.
      if (error instanceof ConditionFailed && error.index === 0) return submission;
      throw error;
    }
  });
}

async function createContactItem(
  submission: Submission,
  form: FormItem,
  status: "pending" | "subscribed",
): Promise<ContactItem> {
  const { orgId, siteId, email, freshContactId: id } = submission;
  const suppressed = (
    await suppressionLookups.filterSuppressed(orgId, [email], { purpose: "marketing" })
  ).has(normalizeEmail(email));
  const fields = {
    email,
    ...(await contactValuesOf(submission)),
    locale: submission.locale ?? submission.language,
    source: `form: ${form.name}`.slice(0, 200),
    status,
  };
  const item = contactWrites.createItem(fields, {
    orgId,
    siteId,
    id,
    tags: [],
    lists: [],
    suppressed,
  });
  const contact = status === "pending" ? item : { ...item, forms: new Set([form.id]) };
  await write(contactWrites.pointerWrite(contact));
  return contact;
}

/**
 * Merges a submission into an existing contact. Anyone can enter any email address, so a submission
 * without confirmation only fills empty fields and does not change the status.
 */
async function mergeIntoContact(
  current: ContactItem,
  submission: Submission,
): Promise<ContactItem> {
  const confirmed = isConfirmed(submission);
  const { customFields = {}, ...texts } = await contactValuesOf(submission);
  const { locale = submission.language } = submission;
  const mayChange = (value: unknown) =>
    confirmed || value === undefined || value === null || value === "";
  const currentFields = new Map(
    Object.entries(current.customFields ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const changes = {
    ...Object.fromEntries(
      Object.entries(texts).filter(([name]) => mayChange(current[name as "firstName"])),
    ),
    customFields: Object.fromEntries(
      Object.entries(customFields).filter(([name]) =>
        mayChange(currentFields.get(name.toLowerCase())),
      ),
    ),
    ...(!current.locale && { locale }),
    ...(confirmed && { status: "subscribed" as const }),
  };
  return {
    ...applyFormChanges(current, changes),
    forms: new Set([...(current.forms ?? []), submission.formId]),
  };
}

// The email address does not change, so this conflict cannot happen.
const unexpectedConflict = new Problem("conflict", "The site has a contact with this email");

/** If the contact has no room for more custom fields, only the submission keeps them. */
function applyFormChanges(
  current: ContactItem,
  { customFields, ...changes }: Parameters<typeof contactWrites.applyChanges>[1],
): ContactItem {
  try {
    return contactWrites.applyChanges(current, { ...changes, customFields });
  } catch (error) {
    if (!(error instanceof Problem && error.kind === "invalid")) throw error;
    return contactWrites.applyChanges(current, changes);
  }
}

type ContactValues = { [Name in (typeof submissions.contactFields)[number]]?: string } & {
  customFields?: NonNullable<ContactItem["customFields"]>;
};

/**
 * Leaves out empty inputs and unticked checkboxes, so that they do not clear a field of the
 * contact.
 */
async function contactValuesOf({ orgId, siteId, fields }: Submission): Promise<ContactValues> {
  const standardFields = new Set<string>(submissions.contactFields);
  const filledFields = Object.entries(fields).filter(
    ([, value]) => value !== "" && value !== false,
  );
  const customFields: NonNullable<ContactItem["customFields"]> = Object.fromEntries(
    filledFields.filter(([name]) => !standardFields.has(name)),
  );
  // The type of a field may have changed since the submission, which keeps the value.
  const [read] = await declaredFields.readRows({ orgId, siteId }, [{ customFields }]);
  return {
    ...Object.fromEntries(
      filledFields
        .filter(([name]) => standardFields.has(name))
        .map(([name, value]) => [name, String(value).slice(0, 200)]),
    ),
    ...(Object.keys(customFields).length && read!.row),
  };
}
