// Which topics a contact is subscribed to. Each change adds an entry to the log of the contact: the
// evidence of consent.

import { query, update, type Write, write } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { positionOf } from "../../../kernel/paging.ts";
import { ranges } from "../../../keys.ts";
import * as organizations from "../../identity/organizations.ts";
import * as confirmations from "../contacts/confirmations.ts";
import {
  type Consent,
  type ConsentItem,
  logPrefix,
  positionPattern,
  toConsentEntry,
  topicLogWrites,
} from "../contacts/consent-log.ts";
import { commitContactChanges } from "../contacts/contact-events.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";
import { bumpVersion, unchangedCondition } from "../contacts/contact-writes.ts";
import * as contacts from "../contacts/contacts.ts";
import { logDepartures } from "../contacts/departures.ts";
import type { ChangeContext } from "../contacts/reactions.ts";
import type { ContactTopic, ContactTopics } from "./contact-topic-schemas.ts";
import { listOfSite } from "./site-topics.ts";
import type { TopicChoice } from "./topic-choice-schemas.ts";
import {
  type AppliedChoices,
  applyChoices,
  resolveChoices,
  toTopicStates,
} from "./topic-choices.ts";
import { topicCountWrites } from "./topic-counts.ts";
import type { StoredChoices } from "./topic-subscription.ts";

/**
 * Joins and leaves topics of the contact's site. Safe to repeat. Throws 404 without the contact and
 * 400 for an unknown topic.
 */
export const change = (
  caller: CallerScope,
  contactId: number,
  request: TopicRequest,
): Promise<ContactItem> =>
  contacts.changeWithRetry(caller, { id: contactId }, (contact) =>
    commitChange(contact, request, { commit: write }),
  );

interface TopicRequest {
  choices: TopicChoice[];
  consent: Consent;
}

/**
 * Changes the contact as it was read, and returns it. Throws if it has changed since, and 400 for
 * an unknown topic. Does not call `commit` if nothing changes.
 */
export async function commitChange(
  contact: ContactItem,
  { choices, consent }: TopicRequest,
  { commit, chain }: ChangeContext,
): Promise<ContactItem> {
  const { orgId, id } = contact;
  const chosen = resolveChoices(choices, await listOfSite(orgId, contact.siteId));
  const { stored, entries, changes, isChange } = applyChoices(contact, chosen);
  const leaves = chosen.some(({ subscribed }) => !subscribed);
  const repeatedIds = leaves ? [id] : [];
  if (!isChange) {
    // An earlier request may have committed without finishing.
    if (leaves) await logDepartures(orgId, { contactIds: repeatedIds });
    return contact;
  }
  const version = bumpVersion(contact);
  const date = await organizations.getToday(orgId);
  const after = { ...contact, ...stored, ...version };
  const change = { transitions: [{ before: contact, after }], repeatedIds, chain };
  await commitContactChanges(orgId, change, (extraWrites) =>
    commit(
      changeWrite(contact, stored, version),
      ...topicLogWrites(contact, consent, entries),
      ...topicCountWrites(contact, changes, date),
      ...extraWrites,
    ),
  );
  return after;
}

const changeWrite = (
  contact: ContactItem,
  stored: AppliedChoices["stored"],
  set: Partial<ContactItem>,
): Write => {
  const isEmpty = (name: keyof StoredChoices) => stored[name] === undefined;
  return update(
    contact,
    {
      set: { ...set, ...stored },
      remove: (["switchedTopics", "leftTopics"] as const).filter(isEmpty),
    },
    { if: unchangedCondition(contact) },
  );
};

/** The topics of a contact with the log of its choices. Throws 404. */
export async function find(
  caller: CallerScope,
  contactId: number,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<ContactTopics> {
  const after = positionOf({ cursor }, positionPattern);
  const contact = await contacts.findItem(caller, contactId);
  const [known, { items, next }, confirmation] = await Promise.all([
    listOfContact(contact),
    query<ConsentItem>(ranges.contactLog(caller.orgId, contactId, logPrefix), {
      newestFirst: true,
      limit,
      after,
    }),
    confirmations.findOfContact(contact),
  ]);
  return {
    status: contact.status,
    topics: known,
    log: items.map(toConsentEntry),
    nextCursor: next ?? null,
    confirmation,
  };
}

/** All topics of the contact's site, in their order. */
export async function listOfContact(contact: ContactItem): Promise<ContactTopic[]> {
  const known = await listOfSite(contact.orgId, contact.siteId);
  return toTopicStates(contact, known).map((state, i) => ({ ...known[i]!, ...state }));
}
