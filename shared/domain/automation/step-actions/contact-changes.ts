// What each action does with a contact: the same changes as requests make, in the transaction of
// the enrollment.
import { missing } from "../../../errors.ts";
import * as records from "../../../kernel/records.ts";
import type { GroupKind } from "../../../keys.ts";
import { subscriptionOf } from "../../audience/contacts/contact-events.ts";
import { type ContactItem, groupAttribute } from "../../audience/contacts/contact-schema.ts";
import { commitSubscription } from "../../audience/contacts/contact-status.ts";
import * as contacts from "../../audience/contacts/contacts.ts";
import type { ChangeContext } from "../../audience/contacts/reactions.ts";
import { commitMembership } from "../../audience/groups/group-members.ts";
import type { Group } from "../../audience/groups/groups.ts";
import { commitPoints } from "../../audience/scoring/lead-scores.ts";
import * as contactTopics from "../../audience/topics/contact-topics.ts";
import { getFieldValue } from "../contact-field-values.ts";
import type { EnrollmentItem } from "../enrollment-schema.ts";
import { commitEnrollment, commitLeaving } from "../enrollments.ts";
import type { ActionConfig, StepActionName } from "./action-config.ts";
import { addValue, setField } from "./field-changes.ts";
import { prepareCall, prepareNotices } from "./prepare-tasks.ts";

export interface ActionSubject {
  contact: ContactItem;
  enrollment: EnrollmentItem;
  stepId: number;
  stepOrder: number;
  config: ActionConfig;
}

/**
 * Does not call `commit` if the contact is as the action wants it. Throws a problem if the action
 * is not possible.
 */
type ContactChange = (subject: ActionSubject, context: ChangeContext) => Promise<unknown>;

const changeGroup =
  (kind: GroupKind, joins: boolean): ContactChange =>
  async ({ contact, config: { tagId, listId } }, context) => {
    const id = (kind === "TAG" ? tagId : listId)!;
    const group = await records.find<Group>(kind, contact, id);
    if ((contact[groupAttribute(kind)]?.has(id) === true) === joins) return;
    await commitMembership([contact], { kind, group, joins }, context);
  };

const changeTopic =
  (subscribed: boolean): ContactChange =>
  async ({ contact, config: { topicId: id = 0 } }, context) => {
    if (!(await records.findAlive("TOPIC", contact.orgId, id)))
      throw missing("The topic does not exist");
    const choices = [{ id, subscribed }];
    await contactTopics.commitChange(contact, { choices, consent: bySequence }, context);
  };

const bySequence = { source: "sequence" } as const;

const addToField: ContactChange = async ({ contact, config: { field = "", value } }, context) => {
  const added = addValue(getFieldValue(contact, field), value!, field);
  if (added !== undefined) await contacts.commitChange(contact, setField(field, added), context);
};

const addPoints: ContactChange = async (
  { contact, enrollment, stepId, config: { delta = 0 } },
  context,
) => {
  const cause = {
    key: `enrollment ${enrollment.id} step ${stepId}`,
    at: enrollment.at,
    reason: "Action of a sequence",
  };
  await commitPoints(contact, { delta, cause }, context);
};

const unsubscribe: ContactChange = async ({ contact }, context) => {
  if (subscriptionOf(contact) === "unsubscribed") return;
  const change = { status: "unsubscribed", consent: bySequence } as const;
  await commitSubscription(contact, change, context);
};

export const contactChanges: Record<StepActionName, ContactChange> = {
  add_tag: changeGroup("TAG", true),
  remove_tag: changeGroup("TAG", false),
  add_to_list: changeGroup("LIST", true),
  remove_from_list: changeGroup("LIST", false),
  join_topic: changeTopic(true),
  leave_topic: changeTopic(false),
  set_field: ({ contact, config: { field = "", value = null } }, context) =>
    contacts.commitChange(contact, setField(field, value), context),
  add_to_field: addToField,
  clear_field: ({ contact, config: { field = "" } }, context) =>
    contacts.commitChange(contact, setField(field, null), context),
  adjust_score: addPoints,
  enroll: ({ contact, config: { sequenceId = 0 } }, context) =>
    commitEnrollment(contact, sequenceId, context),
  leave_sequence: ({ contact, config: { sequenceId = 0 } }, context) =>
    commitLeaving(contact, sequenceId, context),
  unsubscribe,
  notify: async (subject, context) => startTask(await prepareNotices(subject), context),
  call_url: async (subject, context) => startTask(await prepareCall(subject), context),
};

async function startTask(
  task: Awaited<ReturnType<typeof prepareCall>>,
  { commit }: ChangeContext,
): Promise<void> {
  await commit(task.write);
  await task.afterCommit();
}
