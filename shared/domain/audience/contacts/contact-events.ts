// The commit of every change of contacts, with what follows from it: webhook events, entries in the
// departure log, and notes for triggers.
import { isDeepStrictEqual } from "node:util";
import type { Write } from "../../../adapters/dynamodb/table.ts";
import { prepareEvents, type RecordEvent } from "../../webhooks/record-events.ts";
import { listOfSite } from "../topics/site-topics.ts";
import type { ContactItem, ContactStatus } from "./contact-schema.ts";
import { textFields } from "./contact-search-text.ts";
import { commitDepartures } from "./departures.ts";
import { type ContactTransition, contactReactions, type NoteOptions } from "./reactions.ts";

/** How many writes `commitContactChanges` adds to a transaction at most. */
export const maxExtraWrites = 3;

/**
 * Every change of the fields, the status or the topics of contacts is committed here. Contacts that
 * become unreachable by it are logged. `repeatedIds`: contacts that are logged as well, because an
 * earlier request may have committed their change without finishing. `commit` adds the given writes
 * to its transaction, is called once, and throws if nothing was written.
 */
export async function commitContactChanges<T>(
  orgId: number,
  {
    transitions,
    repeatedIds = [],
    ...noteOptions
  }: {
    transitions: ContactTransition[];
    repeatedIds?: number[];
  } & NoteOptions,
  commit: (extraWrites: Write[]) => Promise<T>,
): Promise<T> {
  const [events, departed, note] = await Promise.all([
    prepareEvents(orgId, () => transitions.flatMap(listEvents)),
    listDeparted(transitions),
    contactReactions().noteChanges(orgId, transitions, noteOptions),
  ]);
  const contactIds = [...new Set([...departed.map(({ id }) => id), ...repeatedIds])];
  const result = await commitDepartures(orgId, { contactIds }, (logWrites) =>
    commit([...logWrites, ...events.writes, ...note.writes]),
  );
  await Promise.all([events.afterCommit(), note.afterCommit()]);
  return result;
}

async function listDeparted(transitions: ContactTransition[]): Promise<ContactItem[]> {
  const leaves = await Promise.all(
    transitions.map(
      async ({ before, after }) =>
        before !== undefined &&
        (!after || losesStatus(before, after) || (await leavesTopic(before, after))),
    ),
  );
  return transitions.flatMap(({ before }, i) => (before && leaves[i] ? [before] : []));
}

/** The suppression has logged the address. Mail to an earlier address is found by the contact. */
const losesStatus = (before: ContactItem, { status }: ContactItem): boolean =>
  before.status === "subscribed" &&
  (status === "suppressed" ? before.movedAt !== undefined : status !== "subscribed");

/** Contacts who join a topic, which is opt-in, differ from its default too. */
async function leavesTopic(before: ContactItem, after: ContactItem): Promise<boolean> {
  if (listAdded(before.leftTopics, after.leftTopics).size) return true;
  const switched = listAdded(before.switchedTopics, after.switchedTopics);
  if (!switched.size) return false;
  const topics = await listOfSite(after.orgId, after.siteId);
  const isOptIn = (id: number) =>
    topics.find((topic) => topic.id === id)?.defaultSubscription === "unsubscribed";
  return ![...switched].every(isOptIn);
}

const listAdded = (before = new Set<number>(), after = new Set<number>()): Set<number> =>
  after.difference(before);

// The address has a place of its own in an event.
const dataFields = textFields.filter((field) => field !== "email");
const comparedFields = [...textFields, "customFields", "status"] as const;

function listEvents({ before, after, mergedInto }: ContactTransition): RecordEvent[] {
  const contact = after ?? before;
  if (!contact) return [];
  const toEvent = (event: RecordEvent["event"], more: object = {}): RecordEvent => ({
    event,
    contactId: contact.id,
    email: contact.email,
    details: { siteId: contact.siteId, data: { ...toData(contact), ...more } },
  });
  if (!after) return [toEvent("contact.deleted", { mergedInto: mergedInto ?? null })];
  const changed = before ? listChangedFields(before, after) : [];
  const isUnsubscribed =
    subscriptionOf(after) === "unsubscribed" &&
    (!before || subscriptionOf(before) !== "unsubscribed");
  return [
    ...(before ? [] : [toEvent("contact.created")]),
    ...(changed.length ? [toEvent("contact.updated", { changed })] : []),
    ...(isUnsubscribed ? [toEvent("contact.unsubscribed")] : []),
  ];
}

const listChangedFields = (before: ContactItem, after: ContactItem): string[] =>
  comparedFields.filter((field) => !isDeepStrictEqual(before[field], after[field]));

/** A suppressed contact keeps the status that it had. */
export const subscriptionOf = ({ status, unsuppressed }: ContactItem): ContactStatus =>
  status === "suppressed" ? (unsuppressed ?? "subscribed") : status;

const toData = (contact: ContactItem): object => ({
  ...Object.fromEntries(dataFields.map((field) => [field, contact[field] ?? null])),
  customFields: contact.customFields ?? {},
  status: contact.status,
  createdAt: contact.createdAt,
});
