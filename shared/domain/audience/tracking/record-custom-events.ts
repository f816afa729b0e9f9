// Records custom events that a request reports: finds or creates their contacts, and records each
// event once.
import { any, atMost, equals, isNew } from "../../../adapters/dynamodb/conditions.ts";
import { ConditionFailed, get, put, transact } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { addSeconds, epochSeconds } from "../../../clock.ts";
import { invalid, isTransient, missing, Problem } from "../../../errors.ts";
import * as ids from "../../../ids.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { validationMessages } from "../../../kernel/validation-messages.ts";
import { keys } from "../../../keys.ts";
import * as sites from "../../identity/sites.ts";
import { findSurvivor } from "../contacts/contact-lookups.ts";
import type { ContactItem, ContactRow } from "../contacts/contact-schema.ts";
import * as contacts from "../contacts/contacts.ts";
import { getContactIds } from "../contacts/external-ids.ts";
import { upsertRows } from "../contacts/upserts.ts";
import {
  type Activity,
  type ActivityItem,
  type ActivitySource,
  activitySortKey,
  recordActivity,
} from "./activities.ts";
import * as customEventNames from "./custom-event-names.ts";
import { type CustomEvent, NewCustomEvent, type NewCustomEvents, toApi } from "./custom-events.ts";

/** Throws 404 when the contact does not exist and the event does not create it. */
export async function create(caller: CallerScope, event: NewCustomEvent): Promise<CustomEvent> {
  const [recorded] = await recordAll(caller, [event]);
  if (recorded instanceof Problem) throw recorded;
  return recorded!;
}

/** Each event has its own result: one that fails does not stop the others. */
export async function createMany(caller: CallerScope, { siteId, events }: NewCustomEvents) {
  const parsed = events.map((event) =>
    NewCustomEvent.safeParse(event, { error: validationMessages }),
  );
  const valid = parsed.flatMap(({ data }) => (data ? [{ siteId, ...data }] : []));
  const recorded = (await recordAll(caller, valid)).values();
  const results = parsed.map(({ data, error }, index) => {
    const [issue] = error?.issues ?? [];
    const message = issue && [issue.path.join("."), issue.message].filter(Boolean).join(": ");
    const result = data ? recorded.next().value! : invalid(message ?? "");
    return result instanceof Problem
      ? { index, event: null, error: result.message }
      : { index, event: result, error: null };
  });
  const created = results.filter(({ event }) => event).length;
  return { created, failed: results.length - created, results };
}

export type NumberedEvent = NewCustomEvent & {
  /** A retry after a crash has the same id and time and finds its own event. */
  activityId: number;
  receivedAt: string;
  /** Id for the contact if it is created. */
  newContactId: number | undefined;
  /** Defaults to `api`. */
  source?: ActivitySource;
};

/** Events of one contact are recorded one after the other. */
async function recordAll(
  caller: CallerScope,
  events: NewCustomEvent[],
): Promise<(CustomEvent | Problem)[]> {
  if (!events.length) return [];
  const numbered = await numberEvents(events);
  const found = await findContacts(caller, numbered);
  const results: (CustomEvent | Problem)[] = [];
  const byContact = Map.groupBy(numbered.keys(), (index) => {
    const contact = found[index]!;
    return contact instanceof Problem ? `failed ${index}` : contact.id;
  });
  await inParallel(8, [...byContact.values()], async ([first, ...others]) => {
    for (const index of [first!, ...others]) {
      const contact = found[index]!;
      results[index] =
        contact instanceof Problem
          ? contact
          : await settle(record(contact, numbered[index]!, { isFirst: index === first }));
    }
  });
  return results;
}

/** Reserves all ids before any work, so that a retry gives each event the same ones. */
export async function numberEvents(events: NewCustomEvent[]): Promise<NumberedEvent[]> {
  if (!events.length) return [];
  const creating = events.filter(({ createContact }) => createContact).length;
  const firstId = await ids.nextActivityIds(events.length);
  const receivedAt = new Date(await ids.requestTime()).toISOString();
  const contactIds = (await ids.nextContactIds(creating)).values();
  return events.map((event, index) => ({
    ...event,
    activityId: firstId + index,
    receivedAt,
    newContactId: event.createContact ? contactIds.next().value : undefined,
  }));
}

/** The result, or the problem if a repetition of the request would not help. */
const settle = <T>(work: Promise<T>): Promise<T | Problem> =>
  work.catch((error: unknown) => {
    if (isTransient(error)) throw error;
    return error as Problem;
  });

/** Creates the missing contacts of events with `createContact`. */
async function findContacts(
  caller: CallerScope,
  events: NumberedEvent[],
): Promise<(ContactItem | Problem)[]> {
  const known = new Map<string, Promise<ContactItem | Problem>>();
  const find = (event: NumberedEvent) => {
    const { siteId, contactId, email, externalId } = event;
    const subject = JSON.stringify([siteId, contactId, email, externalId]);
    const result = known.get(subject) ?? settle(findContact(caller, event));
    known.set(subject, result);
    return result;
  };
  const found = await inParallel(8, events, find);
  const unknown = events.filter(
    ({ createContact }, index) => createContact && isMissing(found[index]!),
  );
  if (!unknown.length) return found;
  const errors = await createContacts(caller, unknown);
  known.clear();
  return inParallel(8, events, async (event) => errors.get(event) ?? find(event));
}

const isMissing = (found: ContactItem | Problem): boolean =>
  found instanceof Problem && found.kind === "missing";

async function findContact(
  caller: CallerScope,
  { siteId, contactId, email = "", externalId }: NewCustomEvent,
): Promise<ContactItem> {
  if (contactId !== undefined) {
    const contact = await findOrSurvivor(caller, contactId);
    if (siteId === undefined || siteId === contact.siteId) return contact;
    throw invalid("contactId: the contact belongs to another site", {
      details: [{ path: "contactId", message: "belongs to another site" }],
    });
  }
  const resolvedId = await sites.resolveSiteId(caller, siteId);
  if (externalId !== undefined) {
    const contactIds = await getContactIds(caller.orgId, [resolvedId], externalId);
    const [found] = await contacts.getByIds(caller.orgId, contactIds, { consistent: true });
    if (!found) throw missing("The site has no contact with this externalId");
    return found;
  }
  const contact = await get<ContactItem>(
    keys.contact(caller.orgId, resolvedId, normalizeEmail(email)),
  );
  if (!contact) throw missing("The site has no contact with this email");
  return contact;
}

/** A program may have the id of a contact that was merged: its events still count. */
async function findOrSurvivor(caller: CallerScope, contactId: number): Promise<ContactItem> {
  const survivor = await findSurvivor(caller.orgId, contactId);
  return contacts.findItem(caller, survivor?.id ?? contactId);
}

/** Returns the problem of each event whose contact could not be created. */
async function createContacts(
  caller: CallerScope,
  events: NumberedEvent[],
): Promise<Map<NumberedEvent, Problem>> {
  const errors = new Map<NumberedEvent, Problem>();
  const resolved = await inParallel(8, events, async (event) => {
    const siteId = await settle(sites.resolveSiteId(caller, event.siteId));
    if (siteId instanceof Problem) errors.set(event, siteId);
    return siteId instanceof Problem ? [] : [{ event, siteId }];
  });
  const bySite = Map.groupBy(resolved.flat(), ({ siteId }) => siteId);
  await inParallel(2, [...bySite], async ([siteId, some]) => {
    const rows = some.map(({ event }): ContactRow => {
      const { email = "", status = "pending", eventName } = event;
      return { email, status, source: `event: ${eventName}`, tags: [], lists: [] };
    });
    // A contact that another request created in between stays as it is.
    const outcomes = await upsertRows({ caller, siteId }, rows, {
      mode: "create",
      ids: some.map(({ event }) => event.newContactId!),
      mayBeRetry: true,
    });
    for (const [index, { error }] of outcomes.entries())
      if (error !== undefined) errors.set(some[index]!.event, invalid(error));
  });
  return errors;
}

/** Records an event of a contact that was just read. */
export const recordFor = (contact: ContactItem, event: NumberedEvent): Promise<CustomEvent> =>
  record(contact, event, { isFirst: true });

async function record(
  contact: ContactItem,
  event: NumberedEvent,
  { isFirst }: { isFirst: boolean },
): Promise<CustomEvent> {
  const { orgId, siteId } = contact;
  await customEventNames.registerName(contact, event.eventName);
  const claimed = await claimId(contact, event);
  const logged = claimed.isEarlier && (await getLogged(orgId, claimed));
  if (logged) return toApi(logged);
  const activity: Activity = {
    id: claimed.activityId,
    at: claimed.at,
    ...(claimed.recordedAt !== claimed.at && { recordedAt: claimed.recordedAt }),
    type: "custom",
    name: event.eventName,
    properties: JSON.stringify(event.properties),
    source: event.source ?? "api",
  };
  // The counts of the contact that was read are older than the earlier events of the request.
  const alreadyRead = isFirst && claimed.contactId === contact.id ? contact : undefined;
  const contactId = await recordActivity(orgId, { id: claimed.contactId, alreadyRead }, activity);
  return toApi({ ...activity, siteId, contactId });
}

/** What an event with an id of the caller is stored as, decided before it is recorded. */
interface EventIdItem {
  activityId: number;
  contactId: number;
  at: string;
  recordedAt: string;
  expires: number;
}

const idTtlSeconds = 30 * 24 * 3600;

/**
 * The first request with an id decides how the event is stored; `isEarlier` is set for all further
 * ones. So concurrent requests write the same log entry, which exists once, and a request after a
 * crash completes the first.
 */
async function claimId(
  { orgId, siteId, id: contactId }: ContactItem,
  { id, activityId, occurredAt, receivedAt }: NumberedEvent,
): Promise<EventIdItem & { isEarlier: boolean }> {
  const claim: EventIdItem = {
    activityId,
    contactId,
    at: occurredAt === undefined ? receivedAt : new Date(occurredAt).toISOString(),
    recordedAt: receivedAt,
    expires: epochSeconds(addSeconds(idTtlSeconds)),
  };
  if (id === undefined) return { ...claim, isEarlier: false };
  const key = keys.eventId(orgId, siteId, id);
  return retryOnConflict("The event", async () => {
    const isFree = any(isNew, atMost("expires", epochSeconds()));
    if (await transact(put(key, claim, { if: isFree }))) return { ...claim, isEarlier: false };
    const earlier = await get<EventIdItem>(key);
    if (earlier && (await hasContact(orgId, earlier))) return { ...earlier, isEarlier: true };
    // The contact was deleted, and its events with it, so the id is free.
    const isSame = equals("activityId", earlier?.activityId ?? 0);
    if (await transact(put(key, claim, { if: isSame }))) return { ...claim, isEarlier: false };
    throw new ConditionFailed(0);
  });
}

const hasContact = async (orgId: number, { contactId }: EventIdItem): Promise<boolean> =>
  (await findSurvivor(orgId, contactId)) !== undefined;

/** The log of a merged contact is read first, because its entries move to the other one. */
async function getLogged(
  orgId: number,
  { activityId, contactId, at }: EventIdItem,
): Promise<ActivityItem | undefined> {
  const sortKey = activitySortKey({ type: "custom", at, id: activityId });
  const logged = await get<ActivityItem>(keys.contactLog(orgId, contactId, sortKey));
  if (logged) return logged;
  const survivor = await findSurvivor(orgId, contactId);
  return survivor && survivor.id !== contactId
    ? get<ActivityItem>(keys.contactLog(orgId, survivor.id, sortKey))
    : undefined;
}
