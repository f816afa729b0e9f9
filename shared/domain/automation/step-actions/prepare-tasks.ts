// What actions that reach outside of the service store with the enrollment.

import { get } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import * as liquid from "../../../email/liquid.ts";
import { invalid } from "../../../errors.ts";
import * as ids from "../../../ids.ts";
import { toSingleLine } from "../../../kernel/email-fields.ts";
import { keys } from "../../../keys.ts";
import * as contacts from "../../audience/contacts/contacts.ts";
import type { ActivityItem } from "../../audience/tracking/activities.ts";
import { listOwners } from "../../identity/accounts.ts";
import { tryCountSequenceNotices } from "../../identity/attempt-limits.ts";
import { findDefault } from "../../senders/choose-config.ts";
import { nameOfContact, toContactVariables } from "../../sending/contact-variables.ts";
import { findItem } from "../sequence-schema.ts";
import { maxNotifiedMembers } from "./action-config.ts";
import type { ActionSubject } from "./contact-changes.ts";
import { prepareTask } from "./step-tasks.ts";

/** Contacts go on while the request waits for its answer. */
export async function prepareCall(subject: ActionSubject) {
  const { contact, enrollment, stepId, config } = subject;
  const { orgId, sequenceId } = enrollment;
  const [sequence, event, shown] = await Promise.all([
    findItem({ orgId }, sequenceId),
    getEvent(subject),
    contacts.toApi(orgId, contact),
  ]);
  const body = JSON.stringify({
    event: "sequence.call",
    timestamp: now().toISOString(),
    enrollmentId: enrollment.id,
    contact: shown,
    sequence: { id: sequenceId, name: sequence.name },
    step: { id: stepId, stepOrder: subject.stepOrder },
    properties: event ?? null,
  });
  const { url = "", saveResponse = [] } = config;
  return prepareTask(subject, "call", { url, body, saveResponse });
}

const maxSubjectLength = 200;

/** Throws a problem if no email can be sent. */
export async function prepareNotices(subject: ActionSubject) {
  const { contact, enrollment, config } = subject;
  const { orgId } = enrollment;
  await findDefault(orgId);
  const memberIds = config.memberIds ?? (await listOwners(orgId)).map(({ id }) => id);
  const notified = memberIds.slice(0, maxNotifiedMembers);
  if (!(await tryCountSequenceNotices(orgId, notified.length)))
    throw invalid("The organization has sent 1,000 emails to members today");
  const event = await getEvent(subject);
  const variables = {
    ...toContactVariables(contact),
    ...{ email: contact.email, name: nameOfContact(contact) },
    ...(event && { event }),
  };
  const budget = new liquid.Budget();
  const render = (field: "subject" | "message", source: string): string => {
    const compiled = liquid.compile(source, { escape: false, field });
    return liquid.render(compiled, variables, { now: now(), budget }).text;
  };
  const { subject: title = "{{ email }}", message = "" } = config;
  const firstId = await ids.nextSendIds(notified.length);
  return prepareTask(subject, "notices", {
    memberIds: notified,
    sendIds: notified.map((_, i) => firstId + i),
    subject: toSingleLine(render("subject", title)).slice(0, maxSubjectLength),
    message: render("message", message),
  });
}

/** The properties of the event that mails would show. */
async function getEvent({
  enrollment: { orgId, contactId, startedBy, wokenBy },
}: ActionSubject): Promise<Record<string, unknown> | undefined> {
  const sortKey = wokenBy ?? startedBy;
  if (sortKey === undefined) return undefined;
  const event = await get<ActivityItem>(keys.contactLog(orgId, contactId, sortKey));
  return event && JSON.parse(event.properties ?? "{}");
}
