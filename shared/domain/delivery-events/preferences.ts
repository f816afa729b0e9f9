// What contacts do on the preference page besides choosing topics: they pause marketing mail,
// change their fields, and say why they left. The token of a link in a mail names the contact.
import { equals } from "../../adapters/dynamodb/conditions.ts";
import { checkCondition, get, put, write } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { invalid } from "../../errors.ts";
import { retryInTurn } from "../../kernel/retry-on-conflict.ts";
import { consentLogWrite } from "../audience/contacts/consent-log.ts";
import { lineOf } from "../audience/contacts/contact-writes.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import { type LeaveReason, leaveReasonCountWrite } from "../audience/contacts/leave-reason.ts";
import type { SnoozeDays } from "../audience/contacts/preference-choices.ts";
import {
  listPreferenceFields,
  type PreferenceValues,
  toContactChanges,
} from "../audience/contacts/preference-fields.ts";
import { endSnooze, snooze } from "../audience/contacts/snoozes.ts";
import { defaultPreferencePage } from "../identity/consent-settings.ts";
import * as organizations from "../identity/organizations.ts";
import { addSourceCountWrites, sourceOf } from "../sending/mail-sources.ts";
import { getSend } from "../sending/read-sends.ts";
import {
  findStatus,
  findSubject,
  type LinkUse,
  leaveReasonKey,
  toConsent,
} from "./unsubscribes.ts";

/** Throws 400 if the site does not offer it. */
export async function pauseMail(token: string, use: LinkUse, days: SnoozeDays): Promise<void> {
  const subject = await findSubject(token);
  const page = subject.site.preferencePage ?? defaultPreferencePage;
  if (!subject.contact || !page.snooze) throw invalid("Emails cannot be paused on this page");
  await snooze(subject.contact, days, toConsent(subject, use));
}

/** Safe to repeat. */
export async function endPause(token: string, use: LinkUse): Promise<void> {
  const subject = await findSubject(token);
  if (subject.contact) await endSnooze(subject.contact, toConsent(subject, use));
}

/** Throws 400 for a field that is not on the page, and for a value that its field cannot have. */
export async function changeFields(token: string, values: PreferenceValues): Promise<void> {
  const { orgId, contact, site } = await findSubject(token);
  const page = site.preferencePage ?? defaultPreferencePage;
  const fields = contact ? await listPreferenceFields(contact, page.fields) : [];
  const changes = toContactChanges(fields, values);
  if (contact && Object.keys(changes).length) await contacts.change({ orgId }, contact.id, changes);
}

interface LeaveAnswer {
  reason: LeaveReason;
  comment: string | null;
}

/**
 * Stores why the contact left, and counts it for the site and the mail. The first answer of a mail
 * stays: a repeat changes nothing. Throws 400 if the page does not ask.
 */
export async function giveReason(token: string, use: LinkUse, answer: LeaveAnswer): Promise<void> {
  const subject = await findSubject(token);
  const { orgId, contact, sendId } = subject;
  if (!contact) throw notAsked();
  const key = leaveReasonKey(subject, contact);
  await retryInTurn(lineOf(orgId, contact.id), "The contact", async () => {
    if (await get(key)) return;
    const [{ asksLeaveReason }, send, today] = await Promise.all([
      findStatus(token),
      sendId === undefined ? undefined : getSend(orgId, sendId),
      organizations.getToday(orgId),
    ]);
    if (!asksLeaveReason) throw notAsked();
    const source = send && sourceOf(send);
    const { reason } = answer;
    await write(
      checkCondition(contact, equals("id", contact.id)),
      put(key, { at: now().toISOString() }, { ifAbsent: true }),
      consentLogWrite(contact, toConsent(subject, use), { leaving: answer }),
      leaveReasonCountWrite(contact, reason, today),
      ...(source
        ? addSourceCountWrites(orgId, contact.id, [
            { source, counts: {}, events: { [`left.${reason}`]: 1 } },
          ])
        : []),
    );
  });
}

const notAsked = () => invalid("This page asks for a reason only after unsubscribing");
