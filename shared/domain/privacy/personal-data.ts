// All data stored about one contact, for a data access request and for erasure.
import * as z from "zod";
import { getMany, queryAll, queryPages } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { Timestamp } from "../../kernel/record-fields.ts";
import { keys, ranges } from "../../keys.ts";
import * as consentLog from "../audience/contacts/consent-log.ts";
import { Contact, type ContactItem } from "../audience/contacts/contact-schema.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import { sendLogPrefix } from "../audience/contacts/engagement.ts";
import * as mailedContacts from "../audience/mail-counts/mailed-contacts.ts";
import * as scores from "../audience/scoring/lead-scores.ts";
import { ConsentEntry, ContactTopic } from "../audience/topics/contact-topic-schemas.ts";
import * as contactTopics from "../audience/topics/contact-topics.ts";
import * as activities from "../audience/tracking/activities.ts";
import * as history from "../delivery-events/send-history.ts";
import { listUnmatchedAbout, UnmatchedEvent } from "../delivery-events/unmatched-events.ts";
import * as submissions from "../forms/submissions.ts";
import * as reading from "../sending/read-sends.ts";
import { toApi } from "../sending/sends.ts";

const PersonalActivity = z
  .object({
    name: z.string().describe("Name of the event. For a page view: `page_view`."),
    url: z.string().nullable().describe("URL of the page where it happened, or `null`."),
    properties: z.record(z.string(), z.unknown()).describe("Your own data given with the event."),
    source: z.string().describe("`api`, or `tracking` for the tracking script."),
    createdAt: Timestamp.describe("When it happened."),
  })
  .meta({ id: "PersonalActivity" });

export const PersonalData = z
  .object({
    contact: Contact,
    scoreLog: z.array(scores.ScoreEntry).describe("Changes of the lead score, newest first."),
    customEvents: z.array(PersonalActivity).describe("Custom events of the contact, newest first."),
    pageViews: z.array(PersonalActivity).describe("Page views of the contact, newest first."),
    sends: z.array(history.SendDetail).describe("Sends to the contact, with their events."),
    unmatchedEvents: z
      .array(UnmatchedEvent)
      .describe(
        "Events about the address whose send was not found, of the last 7 days. Empty for " +
          "callers that are limited to sites.",
      ),
    topics: z
      .array(ContactTopic)
      .describe("Topics of the site, and whether the contact is subscribed to each."),
    consents: z
      .array(ConsentEntry)
      .describe("Choices about email, by the contact or by requests, newest first."),
    submissions: z.array(submissions.Submission).describe("Form submissions of the contact."),
    complete: z
      .boolean()
      .describe(
        "false if there are more than 2,000 records of a kind; only 2,000 of each are returned.",
      ),
  })
  .meta({ id: "Person" });
export type PersonalData = z.output<typeof PersonalData>;

const maxPerKind = 2000;

/** Newest first, at most 2,000 of each kind. Throws 404. */
export async function getPersonalData(caller: CallerScope, id: number): Promise<PersonalData> {
  const { orgId } = caller;
  const contact = await contacts.findItem(caller, id);
  const [contactForApi, topics, unmatched, scored, consents, events, views, sendIds, submitted] =
    await Promise.all([
      contacts.toApi(orgId, contact),
      contactTopics.listOfContact(contact),
      caller.siteIds ? [] : listUnmatchedAbout(orgId, contact.sk),
      readLog<scores.ScoreLogItem>(orgId, id, scores.logPrefix),
      readLog<consentLog.ConsentItem>(orgId, id, consentLog.logPrefix),
      readLog<activities.ActivityItem>(orgId, id, activities.customEventLogPrefix),
      readLog<activities.ActivityItem>(orgId, id, activities.pageViewLogPrefix),
      getSendIds(orgId, contact),
      getSubmissions(orgId, id),
    ]);
  const wanted = sendIds.toReversed().slice(0, maxPerKind);
  const items = await reading.getSends(orgId, wanted);
  const sends = await Promise.all(
    items
      .flatMap((item) => (item ? [item] : []))
      .map(async (item) => ({
        ...toApi(item),
        events: await history.listEventsOfSend(orgId, { v: 0, ...item }),
      })),
  );
  return {
    contact: contactForApi,
    scoreLog: scored.slice(0, maxPerKind).map(scores.toApi),
    customEvents: events.slice(0, maxPerKind).map(toActivity),
    pageViews: views.slice(0, maxPerKind).map(toActivity),
    sends: sends.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1)),
    unmatchedEvents: unmatched.slice(0, maxPerKind),
    topics,
    consents: consents.slice(0, maxPerKind).map(consentLog.toConsentEntry),
    submissions: submitted.slice(0, maxPerKind).map(submissions.toApi),
    complete: [scored, unmatched, consents, events, views, sendIds, submitted].every(
      ({ length }) => length <= maxPerKind,
    ),
  };
}

const toActivity = ({
  name,
  url,
  properties,
  source,
  at,
}: activities.ActivityItem): z.output<typeof PersonalActivity> => ({
  name,
  url: url ?? null,
  properties: properties ? (JSON.parse(properties) as Record<string, unknown>) : {},
  source,
  createdAt: at,
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
export async function getSendIds(
  orgId: number,
  { id, siteId, sendIds = [] }: ContactItem,
): Promise<number[]> {
  const [older, ofBroadcasts] = await Promise.all([
    queryAll<{ ids: number[] }>(ranges.contactLog(orgId, id, sendLogPrefix)),
    mailedContacts.listSendIds({ orgId, siteId }, id),
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
