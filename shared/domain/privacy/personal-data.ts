// All data stored about one contact, for a data access request and for erasure.
import * as z from "zod";
import { get, getMany, queryAll, queryPages } from "../../adapters/dynamodb/table.ts";
import { type CallerScope, requireOrganizationAccess } from "../../caller.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { RecordId, Timestamp } from "../../kernel/record-fields.ts";
import { keys, ranges } from "../../keys.ts";
import { Confirmation } from "../audience/contacts/confirmation-schema.ts";
import * as confirmations from "../audience/contacts/confirmations.ts";
import * as consentLog from "../audience/contacts/consent-log.ts";
import { idsOf } from "../audience/contacts/contact-lookups.ts";
import { Contact, type ContactItem } from "../audience/contacts/contact-schema.ts";
import { getContactsByEmail } from "../audience/contacts/contact-status.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import { sendLogPrefix } from "../audience/contacts/engagement.ts";
import * as mailedContacts from "../audience/mail-counts/mailed-contacts.ts";
import * as leadScores from "../audience/scoring/lead-scores.ts";
import * as suppressions from "../audience/suppressions/suppressions.ts";
import { ConsentEntry, ContactTopic } from "../audience/topics/contact-topic-schemas.ts";
import * as contactTopics from "../audience/topics/contact-topics.ts";
import * as activities from "../audience/tracking/activities.ts";
import type { ContactWatchItem } from "../automation/contact-watches.ts";
import * as sendHistory from "../delivery-events/send-history.ts";
import { listUnmatchedAbout, UnmatchedEvent } from "../delivery-events/unmatched-events.ts";
import * as submissions from "../forms/submissions.ts";
import { InboundEmail, toApi as inboundToApi } from "../inbound/inbound-email.ts";
import { listInboundFrom } from "../inbound/list-inbound.ts";
import * as readSends from "../sending/read-sends.ts";
import { type SendItem, toApi } from "../sending/send-schema.ts";
import { getOtherContacts, readSendsToPerson } from "./sends-of-person.ts";

const PersonalActivity = z
  .object({
    name: z.string().describe("Name of the event. For a page view: `page_view`."),
    url: z.string().nullable().describe("URL of the page where it happened, or `null`."),
    properties: z.record(z.string(), z.unknown()).describe("Your own data given with the event."),
    source: z.string().describe("`api`, or `tracking` for the tracking script."),
    occurredAt: Timestamp.describe("When it happened."),
    createdAt: Timestamp.describe("When it was recorded."),
  })
  .meta({ id: "PersonalActivity" });

const ContactWatch = z
  .object({
    sequenceId: RecordId.describe("Sequence whose trigger watches the contact."),
    isMember: z.boolean().describe("Whether the contact was last seen in its segment."),
    nextLookAt: Timestamp.nullable().describe(
      "When time alone can start the sequence, such as on its date. `null`: never.",
    ),
    lastDay: z
      .string()
      .nullable()
      .describe("The last day on which a date started the sequence, `YYYY-MM-DD`, or `null`."),
  })
  .meta({ id: "ContactWatch" });

export const PersonalData = z
  .object({
    contact: Contact,
    scoreLog: z.array(leadScores.ScoreEntry).describe("Changes of the lead score, newest first."),
    customEvents: z.array(PersonalActivity).describe("Custom events of the contact, newest first."),
    pageViews: z.array(PersonalActivity).describe("Page views of the contact, newest first."),
    sends: z
      .array(sendHistory.SendDetail)
      .describe(
        "Sends to the contact, with their events. Also sends of the last 90 days to its address " +
          "that belong to no other contact, such as those from before the contact existed.",
      ),
    unmatchedEvents: z
      .array(UnmatchedEvent)
      .describe(
        "Events about the address whose send was not found, of the last 7 days. Empty for " +
          "callers that are limited to sites.",
      ),
    inboundEmails: z
      .array(InboundEmail)
      .describe("Email of the last 60 days from its address, newest first, at most 200."),
    topics: z
      .array(ContactTopic)
      .describe("Topics of the site, and whether the contact is subscribed to each."),
    consents: z
      .array(ConsentEntry)
      .describe("Choices about email, by the contact or by requests, newest first."),
    confirmation: Confirmation.nullable().describe(
      "The latest request to confirm by email, or `null`.",
    ),
    submissions: z.array(submissions.Submission).describe("Form submissions of the contact."),
    watches: z
      .array(ContactWatch)
      .describe("What triggers of segments and dates have seen of the contact."),
    mergedContacts: z
      .array(
        z.object({
          id: RecordId.describe("Id that the contact had."),
          email: z.string().describe("Email address that it had."),
          mergedAt: Timestamp.describe("When it was merged."),
        }),
      )
      .describe("Contacts that were merged into it. Their data is part of all lists."),
    complete: z
      .boolean()
      .describe(
        "false if there are more than 2,000 records of a kind; only 2,000 of each are returned.",
      ),
  })
  .meta({ id: "Person" });
export type PersonalData = z.output<typeof PersonalData>;

export const AddressData = z
  .object({
    email: z.string().describe("Email address of the request, in lower case."),
    contacts: z.array(PersonalData).describe("All data of each contact with the address."),
    sends: z
      .array(sendHistory.SendDetail)
      .describe(
        "Sends to the address in the last 90 days, with their events, that are not among those " +
          "of the contacts. Newest first.",
      ),
    unmatchedEvents: z
      .array(UnmatchedEvent)
      .describe("Events about the address whose send was not found, of the last 7 days."),
    suppression: suppressions.Suppression.nullable().describe(
      "The suppression of the address, or `null`.",
    ),
    complete: z
      .boolean()
      .describe("false if there are more than 2,000 sends or unmatched events to the address."),
  })
  .meta({ id: "AddressData" });
export type AddressData = z.output<typeof AddressData>;

const maxPerKind = 2000;

/** Newest first, at most 2,000 of each kind. Throws 404. */
export async function getPersonalData(caller: CallerScope, id: number): Promise<PersonalData> {
  const { orgId } = caller;
  const contact = await contacts.findItem(caller, id);
  const [watch, confirmation] = await Promise.all([
    get<ContactWatchItem>(keys.contactWatch(orgId, id)),
    confirmations.findOfContact(contact),
  ]);
  const [
    inbound,
    contactForApi,
    topics,
    unmatched,
    scored,
    consents,
    events,
    views,
    sendIds,
    submitted,
  ] = await Promise.all([
    listInboundFrom({ orgId, siteIds: [contact.siteId] }, contact.sk),
    contacts.toApi(orgId, contact),
    contactTopics.listOfContact(contact),
    caller.siteIds ? [] : listUnmatchedAbout(orgId, contact.sk),
    readLog<leadScores.ScoreLogItem>(orgId, id, leadScores.logPrefix),
    readLog<consentLog.ConsentItem>(orgId, id, consentLog.logPrefix),
    readLog<activities.ActivityItem>(orgId, id, activities.customEventLogPrefix),
    readLog<activities.ActivityItem>(orgId, id, activities.pageViewLogPrefix),
    getSendIds(orgId, contact),
    getSubmissions(orgId, id),
  ]);
  const logged = await readSends.getSends(orgId, sendIds.toReversed().slice(0, maxPerKind));
  const found = await getIndexedSends(caller, contact);
  const items = new Map(
    [...logged.filter((item) => item !== undefined), ...found].map((item) => [item.id, item]),
  );
  const sends = await toSendDetails(orgId, [...items.values()]);
  return {
    contact: contactForApi,
    scoreLog: scored.slice(0, maxPerKind).map(leadScores.toApi),
    customEvents: events.slice(0, maxPerKind).map(toActivity),
    pageViews: views.slice(0, maxPerKind).map(toActivity),
    sends: sends.slice(0, maxPerKind),
    unmatchedEvents: unmatched.slice(0, maxPerKind),
    inboundEmails: inbound.map(inboundToApi),
    topics,
    consents: consents.slice(0, maxPerKind).map(consentLog.toConsentEntry),
    confirmation,
    submissions: submitted.slice(0, maxPerKind).map(submissions.toApi),
    watches: Object.entries(watch?.states ?? {}).map(toWatch),
    mergedContacts: (contact.merged ?? []).map(({ at, ...one }) => ({ ...one, mergedAt: at })),
    complete: [scored, unmatched, consents, events, views, sendIds, sends, submitted].every(
      ({ length }) => length <= maxPerKind,
    ),
  };
}

/** All data about an address, with or without contacts. Throws 403 for callers limited to sites. */
export async function getAddressData(caller: CallerScope, email: string): Promise<AddressData> {
  requireOrganizationAccess(caller);
  const { orgId } = caller;
  const address = normalizeEmail(email);
  const [contactItems, unmatched, suppression] = await Promise.all([
    getContactsByEmail(orgId, [address]),
    listUnmatchedAbout(orgId, address),
    suppressions.find(orgId, address),
  ]);
  const people: PersonalData[] = [];
  for (const { id } of contactItems) people.push(await getPersonalData(caller, id));
  const known = new Set(people.flatMap((one) => one.sends.map(({ id }) => id)));
  const found: SendItem[] = [];
  for await (const sends of readSendsToPerson(orgId, address)) {
    found.push(...sends.filter(({ id }) => !known.has(id)));
    if (found.length > maxPerKind) break;
  }
  const sends = await toSendDetails(orgId, found);
  return {
    email: address,
    contacts: people,
    sends: sends.slice(0, maxPerKind),
    unmatchedEvents: unmatched.slice(0, maxPerKind),
    suppression: suppression ?? null,
    complete: [sends, unmatched].every(({ length }) => length <= maxPerKind),
  };
}

/** Sends to the contact's address that belong to no other contact, also from before it existed. */
async function getIndexedSends(caller: CallerScope, contact: ContactItem): Promise<SendItem[]> {
  const found: SendItem[] = [];
  for await (const sends of readSendsToPerson(caller.orgId, contact.sk)) {
    const visible = sends.filter(({ siteId }) => caller.siteIds?.includes(siteId) ?? true);
    const others = await getOtherContacts(caller.orgId, visible, contact);
    found.push(...visible.filter(({ contactId }) => contactId == null || !others.has(contactId)));
    if (found.length > maxPerKind) break;
  }
  return found;
}

/** Newest first. */
async function toSendDetails(
  orgId: number,
  items: SendItem[],
): Promise<z.output<typeof sendHistory.SendDetail>[]> {
  const sends = await inParallel(16, items, async (item) => ({
    ...toApi(item),
    events: await sendHistory.listEventsOfSend(orgId, item),
  }));
  return sends.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
}

const toActivity = ({
  name,
  url,
  properties,
  source,
  at,
  recordedAt = at,
}: activities.ActivityItem): z.output<typeof PersonalActivity> => ({
  name,
  url: url ?? null,
  properties: properties ? (JSON.parse(properties) as Record<string, unknown>) : {},
  source,
  occurredAt: at,
  createdAt: recordedAt,
});

const toWatch = ([sequenceId, { isMember = false, at, day }]: [
  string,
  ContactWatchItem["states"][string],
]): z.output<typeof ContactWatch> => ({
  sequenceId: Number(sequenceId),
  isMember,
  nextLookAt: at ?? null,
  lastDay: day ?? null,
});

/**
 * Newest first. Reads at least one entry beyond the limit, so that the caller can tell that there
 * are more.
 */
async function readLog<T>(orgId: number, id: number, prefix: string): Promise<T[]> {
  const found: T[] = [];
  const options = { newestFirst: true, limit: 1000 };
  for await (const { items } of queryPages<T>(ranges.contactLog(orgId, id, prefix), options)) {
    found.push(...items);
    if (found.length > maxPerKind) break;
  }
  return found;
}

/** Ids of all sends to the contact, about in the order in which they were accepted. */
export async function getSendIds(orgId: number, contact: ContactItem): Promise<number[]> {
  const { id, siteId, sendIds = [] } = contact;
  const [older, ofBroadcasts] = await Promise.all([
    queryAll<{ ids: number[] }>(ranges.contactLog(orgId, id, sendLogPrefix)),
    mailedContacts.listSendIds({ orgId, siteId }, idsOf(contact)),
  ]);
  const all = new Set([...older.flatMap(({ ids }) => ids), ...sendIds, ...ofBroadcasts]);
  // Blocks of ids are reserved one after the other.
  return [...all].toSorted((a, b) => a - b);
}

/** Stored submissions, newest first. */
async function getSubmissions(
  orgId: number,
  contactId: number,
): Promise<submissions.SubmissionItem[]> {
  const logged = await readLog<submissions.SubmissionLogItem>(
    orgId,
    contactId,
    submissions.logPrefix,
  );
  const found = await getMany<submissions.SubmissionItem>(
    logged.map(({ formId, place }) => keys.submission(orgId, formId, place)),
    { consistent: true },
  );
  return found.flatMap((one) => one ?? []);
}
