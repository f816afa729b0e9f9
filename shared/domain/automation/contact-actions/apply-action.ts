// Does an action for a few contacts. Each function can be repeated after a crash, and then changes
// only the contacts that the first attempt did not reach.
import { query } from "../../../adapters/dynamodb/table.ts";
import { undefinedIfMissing } from "../../../errors.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { ranges } from "../../../keys.ts";
import type { ContactItem } from "../../audience/contacts/contact-schema.ts";
import { setSubscription } from "../../audience/contacts/contact-status.ts";
import * as contacts from "../../audience/contacts/contacts.ts";
import * as groupMembers from "../../audience/groups/group-members.ts";
import * as suppressions from "../../audience/suppressions/suppressions.ts";
import * as contactTopics from "../../audience/topics/contact-topics.ts";
import { type FinishedEnrollmentItem, logPrefix } from "../enrollment-schema.ts";
import { enroll } from "../enrollments.ts";
import type { ActionType, ContactActionItem } from "./action-schema.ts";

type Failure = ContactActionItem["failures"][number];

/**
 * Returns the contacts for which it was not possible. Throws 404 or 409 if the target does not
 * exist or takes no contacts any more.
 */
export async function applyAction(
  action: ContactActionItem,
  contactIds: number[],
): Promise<Failure[]> {
  const { orgId, siteId } = action;
  const found = await contacts.getByIds(orgId, contactIds, { consistent: true });
  const ofSite = found.filter((contact) => contact.siteId === siteId);
  const known = new Set(ofSite.map(({ id }) => id));
  const others = contactIds.filter((id) => !known.has(id));
  // A contact that an earlier attempt has deleted is as it should be.
  const failed =
    action.action === "delete"
      ? []
      : others.map((contactId) => ({ contactId, error: "The contact does not exist" }));
  return [...failed, ...(await appliers[action.action](action, ofSite))];
}

type Applier = (action: ContactActionItem, contacts: ContactItem[]) => Promise<Failure[]>;

const contactsAtOnce = 8;
const forEach = async (
  some: ContactItem[],
  work: (contact: ContactItem) => Promise<unknown>,
): Promise<Failure[]> => {
  await inParallel(contactsAtOnce, some, work);
  return [];
};

const changeGroup =
  (change: typeof groupMembers.addMembers, kind: "TAG" | "LIST"): Applier =>
  async ({ orgId, target }, some) => {
    const group = { kind, id: target!.id };
    return (
      await change(
        { orgId },
        group,
        some.map(({ id }) => id),
      )
    ).failed;
  };

const changeTopic =
  (subscribed: boolean): Applier =>
  ({ orgId, target }, some) =>
    forEach(some, ({ id }) =>
      contactTopics
        .change({ orgId }, id, {
          choices: [{ id: target!.id, subscribed }],
          consent: { source: "api" },
        })
        .catch(undefinedIfMissing),
    );

const appliers: Record<ActionType, Applier> = {
  add_tag: changeGroup(groupMembers.addMembers, "TAG"),
  remove_tag: changeGroup(groupMembers.removeMembers, "TAG"),
  add_to_list: changeGroup(groupMembers.addMembers, "LIST"),
  remove_from_list: changeGroup(groupMembers.removeMembers, "LIST"),
  join_topic: changeTopic(true),
  leave_topic: changeTopic(false),
  enroll: enrollOnce,
  unsubscribe: (_, some) =>
    forEach(some, (contact) => setSubscription(contact, "unsubscribed", { source: "api" })),
  suppress: ({ orgId, source }, some) =>
    forEach(some, ({ email }) =>
      suppressions.suppress(orgId, { email, reason: "manual", detail: null, source }),
    ),
  delete: ({ orgId }, some) =>
    forEach(some, ({ id }) => contacts.remove({ orgId }, id).catch(undefinedIfMissing)),
};

/** A contact that went through the sequence since the action began does not enter it again. */
async function enrollOnce(action: ContactActionItem, some: ContactItem[]): Promise<Failure[]> {
  const { orgId, target } = action;
  const done = await inParallel(contactsAtOnce, some, ({ id }) => hasEnded(action, id));
  const contactIds = some.filter((_, i) => !done[i]).map(({ id }) => id);
  if (!contactIds.length) return [];
  return (await enroll({ orgId }, target!.id, { contactIds })).failed;
}

async function hasEnded(
  { orgId, target, createdAt }: ContactActionItem,
  contactId: number,
): Promise<boolean> {
  const { items } = await query<FinishedEnrollmentItem>(
    ranges.contactLog(orgId, contactId, logPrefix),
    { newestFirst: true, limit: 200, consistent: true },
  );
  return items.some((one) => one.sequenceId === target!.id && one.createdAt >= createdAt);
}
