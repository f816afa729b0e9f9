// Webhook events of contacts, and the commit of every change that causes one.
import { isDeepStrictEqual } from "node:util";
import type { Write } from "../../../adapters/dynamodb/table.ts";
import { prepareEvents, type RecordEvent } from "../../webhooks/record-events.ts";
import type { ContactItem, ContactStatus } from "./contact-schema.ts";
import { commitDepartures, type Departures } from "./departures.ts";

/** A contact before and after a change. A new one has no `before`, a deleted one no `after`. */
export interface ContactTransition {
  before?: ContactItem | undefined;
  after?: ContactItem | undefined;
}

/** How many writes `commitContactChanges` adds to a transaction at most. */
export const maxExtraWrites = 2;

/**
 * Every change of the fields or the status of contacts is committed here, and every change that
 * makes one unreachable. `commit` adds the given writes to its transaction, is called once, and
 * throws if nothing was written.
 */
export async function commitContactChanges<T>(
  orgId: number,
  { transitions, departures = {} }: { transitions: ContactTransition[]; departures?: Departures },
  commit: (extraWrites: Write[]) => Promise<T>,
): Promise<T> {
  const events = await prepareEvents(orgId, () => transitions.flatMap(listEvents));
  const result = await commitDepartures(orgId, departures, (logWrites) =>
    commit([...logWrites, ...events.writes]),
  );
  await events.afterCommit();
  return result;
}

const textFields = ["firstName", "lastName", "phone", "company", "timezone", "source"] as const;
const comparedFields = ["email", ...textFields, "customFields", "status"] as const;

function listEvents({ before, after }: ContactTransition): RecordEvent[] {
  const contact = after ?? before;
  if (!contact) return [];
  const toEvent = (event: RecordEvent["event"], more: object = {}): RecordEvent => ({
    event,
    contactId: contact.id,
    email: contact.email,
    details: { siteId: contact.siteId, data: { ...toData(contact), ...more } },
  });
  if (!after) return [toEvent("contact.deleted")];
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
const subscriptionOf = ({ status, unsuppressed }: ContactItem): ContactStatus =>
  status === "suppressed" ? (unsuppressed ?? "subscribed") : status;

const toData = (contact: ContactItem): object => ({
  ...Object.fromEntries(textFields.map((field) => [field, contact[field] ?? null])),
  customFields: contact.customFields ?? {},
  status: contact.status,
  createdAt: contact.createdAt,
});
