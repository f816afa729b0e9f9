// Which topics a contact is subscribed to. The contact stores the topics in which it differs from
// the default. Each change adds an entry to the log of the contact: the evidence of consent.

import { query, update, type Write, write } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { invalid } from "../../../errors.ts";
import { positionOf } from "../../../kernel/paging.ts";
import { ranges } from "../../../keys.ts";
import {
  type Consent,
  type ConsentItem,
  consentLogWrite,
  logPrefix,
  positionPattern,
  toConsentEntry,
} from "../contacts/consent-log.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";
import { bumpVersion, unchangedCondition } from "../contacts/contact-writes.ts";
import * as contacts from "../contacts/contacts.ts";
import * as departures from "../contacts/departures.ts";
import type {
  ConsentEntry,
  ContactTopic,
  ContactTopics,
  TopicChoice,
} from "./contact-topic-schemas.ts";
import type { TopicItem } from "./topic-schema.ts";
import { isSubscribed } from "./topic-subscription.ts";
import * as topics from "./topics.ts";

// More than a site has topics, because choices about deleted topics stay for mail on its way.
const maxSwitchedTopics = 200;

/**
 * Joins and leaves topics of the contact's site. Safe to repeat. Throws 404 without the contact and
 * 400 for an unknown topic.
 */
export const change = (
  caller: CallerScope,
  contactId: number,
  { choices, consent }: { choices: TopicChoice[]; consent: Consent },
): Promise<ContactItem> =>
  contacts.changeWithRetry(caller, { id: contactId }, async (contact) => {
    const chosen = resolveChoices(choices, await topics.listOfSite(caller.orgId, contact.siteId));
    const { switchedTopics, entries } = applyChoices(contact, chosen);
    const leaves = chosen.some(({ subscribed }) => !subscribed);
    const departed = leaves ? { contactIds: [contactId] } : {};
    if (!entries.length) {
      // An earlier request may have committed without finishing.
      if (leaves) await departures.logDepartures(caller.orgId, departed);
      return contact;
    }
    const set = { switchedTopics, ...bumpVersion(contact) };
    await departures.commitDepartures(caller.orgId, departed, (logWrites) =>
      write(
        changeWrite(contact, set),
        consentLogWrite(contact, consent, { topics: entries }),
        ...logWrites,
      ),
    );
    return { ...contact, ...set };
  });

function resolveChoices(choices: TopicChoice[], known: TopicItem[]): Choice[] {
  return choices.map(({ id, subscribed }, i) => {
    const topic = known.find((one) => one.id === id);
    const isRepeated = choices.findIndex((choice) => choice.id === id) !== i;
    if (topic && !isRepeated) return { topic, subscribed };
    const message = isRepeated ? "occurs twice" : "is not a topic of the contact's site";
    throw invalid(`Topic ${id} ${message}`, { details: [{ path: `topics.${i}.id`, message }] });
  });
}

interface Choice {
  topic: TopicItem;
  subscribed: boolean;
}

/** The topics of the contact after the choices, and what they change, for the consent log. */
export function applyChoices(
  contact: Pick<ContactItem, "switchedTopics">,
  choices: Choice[],
): Pick<ContactItem, "switchedTopics"> & { entries: ConsentEntry["topics"] } {
  const changed = choices.filter(
    ({ topic, subscribed }) => isSubscribed(contact, topic) !== subscribed,
  );
  const ids = new Set(changed.map(({ topic }) => topic.id));
  const next = [...new Set(contact.switchedTopics).symmetricDifference(ids)];
  // Beyond the limit, the older ids belong to topics that were deleted.
  const kept = next.toSorted((a, b) => b - a).slice(0, maxSwitchedTopics);
  return {
    switchedTopics: kept.length ? new Set(kept) : undefined,
    entries: changed.map(({ topic: { id, name }, subscribed }) => ({ id, name, subscribed })),
  };
}

/** DynamoDB stores no empty sets. */
function changeWrite(
  contact: ContactItem,
  { switchedTopics, ...set }: Partial<ContactItem>,
): Write {
  const condition = { if: unchangedCondition(contact) };
  return switchedTopics
    ? update(contact, { set: { ...set, switchedTopics } }, condition)
    : update(contact, { set, remove: ["switchedTopics"] }, condition);
}

/** The topics of a contact with the log of its choices. Throws 404. */
export async function find(
  caller: CallerScope,
  contactId: number,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<ContactTopics> {
  const after = positionOf({ cursor }, positionPattern);
  const contact = await contacts.findItem(caller, contactId);
  const [known, { items, next }] = await Promise.all([
    listOfContact(contact),
    query<ConsentItem>(ranges.contactLog(caller.orgId, contactId, logPrefix), {
      newestFirst: true,
      limit,
      after,
    }),
  ]);
  return {
    status: contact.status,
    topics: known,
    log: items.map(toConsentEntry),
    nextCursor: next ?? null,
  };
}

/** All topics of the contact's site, in their order. */
export const listOfContact = async (contact: ContactItem): Promise<ContactTopic[]> =>
  (await topics.listOfSite(contact.orgId, contact.siteId)).map((topic) => ({
    ...topic,
    subscribed: isSubscribed(contact, topic),
  }));
