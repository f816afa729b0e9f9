// The timeline of a contact: what is stored about it, with its times, merged newest first. A page
// costs about 10 read units, and 0.5 to 4 for each email of the last 90 days.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { type PageRequest, positionOf, positionParts } from "../../kernel/paging.ts";
import { RecordId, Timestamp } from "../../kernel/record-fields.ts";
import { permits } from "../../rights.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import { type TimelineEvent, timelineTypes } from "./timeline-event.ts";
import { getRecordNames } from "./timeline-names.ts";
import { readReceivedEmails } from "./timeline-replies.ts";
import { summarize } from "./timeline-sentences.ts";
import { readEmails, readLogEntries, readRecords } from "./timeline-sources.ts";

export const TimelineEntry = z
  .object({
    type: z
      .enum(timelineTypes)
      .describe(
        "What happened. `consent_changed`: the status or topics changed. `contact_merged`: " +
          "another contact was merged into it. `email_replied`: the contact replied to an email. " +
          "`email_received`: another email came from its address, such as an answer of a " +
          "machine. `email_sent`: handed to " +
          "the provider; `email_accepted`: not yet. `email_` and a type of event: reported by " +
          "the provider.",
      ),
    at: Timestamp.describe("When it happened."),
    summary: z.string().describe("What happened, in one sentence."),
    record: z
      .object({
        type: z
          .enum(["tag", "list", "form", "sequence", "campaign", "holiday", "scoring_rule"])
          .describe("Kind of the record."),
        id: RecordId.describe("Id of the record."),
        name: z.string().nullable().describe("Name of the record. `null` if it was deleted."),
      })
      .nullable()
      .describe("Record that it is about, or that sent the email, or `null`."),
    send: z
      .object({
        id: RecordId.describe("Id of the send, for GET /sends/:id."),
        subject: z.string().describe("Subject line of the email."),
        status: z.string().describe("Status of the send now, as in GET /sends/:id."),
      })
      .nullable()
      .describe("Email that it is about, or `null`."),
    details: z
      .object({
        name: z.string().optional().describe("Name of the custom event."),
        url: z.string().optional().describe("URL of the page or link."),
        reason: z.string().optional().describe("Why, such as the answer of the other server."),
        source: z.string().optional().describe("Where it came from."),
        status: z.string().optional().describe("New status of the contact or the enrollment."),
        points: z.int().optional().describe("Points added to the score. Negative: subtracted."),
        contactId: RecordId.optional().describe("Id of the contact that was merged into it."),
        email: z.string().optional().describe("Email address of that contact."),
        ipAddress: z.string().optional().describe("IP address of the person."),
        snoozedUntil: z.string().optional().describe("Until when marketing email is paused."),
        comment: z.string().optional().describe("Words of the contact who unsubscribed."),
        subject: z.string().optional().describe("Subject line of the email of the contact."),
        inboundEmailId: RecordId.optional().describe(
          "Id of the email of the contact, for GET /inbound-emails/:id.",
        ),
        automated: z.boolean().optional().describe("true: a machine opened or clicked."),
        topics: z
          .array(
            z.object({
              id: RecordId.describe("Id of the topic."),
              name: z.string().describe("Name of the topic at that time."),
              subscribed: z.boolean().describe("Whether the contact joined or left it."),
            }),
          )
          .optional()
          .describe("Topics that the contact joined or left."),
        properties: z
          .record(z.string(), z.unknown())
          .optional()
          .describe("Your own data given with the custom event."),
      })
      .describe("Further data, by type. Only what is known is present.")
      .meta({ id: "TimelineDetails" }),
  })
  .meta({ id: "TimelineEntry" });
export type TimelineEntry = z.output<typeof TimelineEntry>;

const positionPattern = new RegExp(`^${positionParts.time}\\|[\\w|:.#-]{1,150}$`);
const positionOfEvent = ({ at, key }: TimelineEvent): string => `${at}|${key}`;

/** Newest first. Throws 404. Without the right to read sends, emails are left out. */
export async function listTimeline(
  caller: Caller,
  contactId: number,
  request: Pick<PageRequest, "limit" | "cursor">,
): Promise<{ entries: TimelineEntry[]; nextCursor: string | null }> {
  const position = positionOf(request, positionPattern);
  const contact = await contacts.findItem(caller, contactId);
  const before = position?.slice(0, position.indexOf("|"));
  const isOlder = (event: TimelineEvent): boolean =>
    position === undefined || positionOfEvent(event) < position;
  const maySeeEmails = permits(caller.scopes, { right: "sending:read", scope: "sends:read" });
  const sources = await Promise.all([
    readRecords(contact),
    readLogEntries(contact, { before, isWanted: isOlder, limit: request.limit + 1 }),
    maySeeEmails ? readEmails(contact, before) : [],
    maySeeEmails ? readReceivedEmails(contact) : [],
  ]);
  const found = sources
    .flat()
    .filter(isOlder)
    .toSorted((a, b) => (positionOfEvent(a) < positionOfEvent(b) ? 1 : -1));
  const page = found.slice(0, request.limit);
  const names = await getRecordNames(
    caller.orgId,
    page.flatMap(({ record }) => record ?? []),
  );
  return {
    entries: page.map((event) => toApi(event, names)),
    nextCursor: found.length > page.length ? positionOfEvent(page.at(-1)!) : null,
  };
}

function toApi(
  { type, at, record, send, details = {} }: TimelineEvent,
  names: Awaited<ReturnType<typeof getRecordNames>>,
): TimelineEntry {
  const named = record && { ...record, name: names(record) };
  const entry = { type, at, record: named ?? null, send: send ?? null, details };
  return { ...entry, summary: summarize(entry) };
}
