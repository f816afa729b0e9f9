// Reads what is stored about a contact as events of its timeline.
import { getMany, queryPages } from "../../adapters/dynamodb/table.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { inGroups, inParallel } from "../../kernel/parallel.ts";
import { type GroupKind, type Key, keys, ranges } from "../../keys.ts";
import * as consentLog from "../audience/contacts/consent-log.ts";
import { idsOf } from "../audience/contacts/contact-lookups.ts";
import { type ContactItem, groupAttribute } from "../audience/contacts/contact-schema.ts";
import { type MembershipItem, membershipShardOf } from "../audience/groups/membership-writes.ts";
import * as leadScores from "../audience/scoring/lead-scores.ts";
import * as suppressions from "../audience/suppressions/suppressions.ts";
import * as activities from "../audience/tracking/activities.ts";
import * as enrollmentSchema from "../automation/enrollment-schema.ts";
import { listEventsOfSend } from "../delivery-events/send-history.ts";
import * as submissions from "../forms/submissions.ts";
import { getAcceptedSends } from "../sending/list-sends.ts";
import { readSendsTo } from "../sending/recipient-index/sends-to-address.ts";
import type { SendItem } from "../sending/send-schema.ts";
import {
  type TimelineEvent,
  type TimelineRecord,
  type TimelineType,
  toConsentDetails,
} from "./timeline-event.ts";
import { toReplyEvent } from "./timeline-replies.ts";

// Bounds the reads of one page.
const maxPerKind = 200;

/** What the contact is now, with the time when it came about. */
export async function readRecords(contact: ContactItem): Promise<TimelineEvent[]> {
  const { orgId, email, createdAt, source, merged = [] } = contact;
  const [joined, entered, suppression] = await Promise.all([
    Promise.all([readMemberships(contact, "TAG"), readMemberships(contact, "LIST")]),
    readActiveEnrollments(contact),
    suppressions.find(orgId, email),
  ]);
  const blocked: TimelineEvent[] = suppression
    ? [
        {
          type: "suppressed",
          at: suppression.createdAt,
          key: "suppressed",
          details: {
            reason: suppression.detail ?? suppression.reason,
            ...(suppression.source && { source: suppression.source }),
          },
        },
      ]
    : [];
  const created: TimelineEvent = {
    type: "created",
    at: createdAt,
    key: "!created",
    details: source ? { source } : {},
  };
  const mergers = merged.map(
    (one): TimelineEvent => ({
      type: "contact_merged",
      at: one.at,
      key: `merged${one.id}`,
      details: { contactId: one.id, email: one.email },
    }),
  );
  return [created, ...joined.flat(), ...entered, ...blocked, ...mergers];
}

/** The groups that it is in. */
async function readMemberships(contact: ContactItem, kind: GroupKind): Promise<TimelineEvent[]> {
  const groupIds = [...(contact[groupAttribute(kind)] ?? [])].slice(-maxPerKind);
  const member = { shard: membershipShardOf(contact), contactId: contact.id };
  const items = await getMany<MembershipItem>(
    groupIds.map((id) => keys.membership(contact.orgId, { kind, id }, member)),
  );
  const type = kind === "TAG" ? "tag_added" : "list_joined";
  const recordType = kind === "TAG" ? "tag" : "list";
  return groupIds.flatMap((id, i) => {
    const at = items[i]?.at;
    return at ? [{ type, at, key: `${recordType}${id}`, record: { type: recordType, id } }] : [];
  });
}

async function readActiveEnrollments(contact: ContactItem): Promise<TimelineEvent[]> {
  const member = { shard: membershipShardOf(contact), contactId: contact.id };
  const items = await getMany<enrollmentSchema.EnrollmentItem>(
    [...(contact.sequences ?? [])].map((id) => keys.enrollment(contact.orgId, id, member)),
  );
  return items.flatMap((item) => (item ? [toSequenceEntry(item)] : []));
}

const toSequenceEntry = ({
  id,
  sequenceId,
  createdAt,
}: Pick<enrollmentSchema.EnrollmentItem, "id" | "sequenceId" | "createdAt">): TimelineEvent => ({
  type: "sequence_entered",
  at: createdAt,
  key: `enrollment${id}`,
  record: { type: "sequence", id: sequenceId },
});

interface PageOfLog {
  /** Only entries until this time (ISO 8601). */
  before: string | undefined;
  isWanted(event: TimelineEvent): boolean;
  /** How many wanted events of each kind suffice. */
  limit: number;
}

/** What the log of the contact holds. */
export async function readLogEntries(
  { orgId, id }: ContactItem,
  page: PageOfLog,
): Promise<TimelineEvent[]> {
  const read = <T>(prefix: string, convert: (item: T & Key) => TimelineEvent[]) =>
    readLogOfKind<T>({ orgId, contactId: id, prefix }, page, convert);
  const found = await Promise.all([
    read<leadScores.ScoreLogItem>(leadScores.logPrefix, toScoreEvent),
    read<consentLog.ConsentItem>(consentLog.logPrefix, toConsentEvent),
    read<activities.ActivityItem>(activities.customEventLogPrefix, toActivityEvent),
    read<activities.ActivityItem>(activities.pageViewLogPrefix, toActivityEvent),
    readSubmissions({ orgId, contactId: id }, page.before),
    readEndedEnrollments({ orgId, contactId: id }),
  ]);
  return found.flat();
}

interface LogRange {
  orgId: number;
  contactId: number;
  prefix: string;
}

const rangeOfLog = ({ orgId, contactId, prefix }: LogRange) =>
  ranges.contactLog(orgId, contactId, prefix);

/** The time of an entry is in its sort key, so the log is read from there backwards. */
async function readLogOfKind<T>(
  log: LogRange,
  { before, isWanted, limit }: PageOfLog,
  convert: (item: T & Key) => TimelineEvent[],
): Promise<TimelineEvent[]> {
  const after = before && `${log.prefix}${before}~`;
  const found: TimelineEvent[] = [];
  const options = { newestFirst: true, limit, after };
  for await (const { items } of queryPages<T & Key>(rangeOfLog(log), options)) {
    found.push(...items.flatMap(convert).filter(isWanted));
    if (found.length >= limit) break;
  }
  return found;
}

const toScoreEvent = ({ sk, at, delta, reason, rule }: leadScores.ScoreLogItem & Key) => [
  {
    type: "score_changed" as const,
    at,
    key: sk,
    record: rule && { type: "scoring_rule" as const, id: rule.id },
    details: { points: delta, ...(reason && { reason }) },
  },
];

const toConsentEvent = ({ sk, at, source, ...choice }: consentLog.ConsentItem & Key) => [
  {
    type: "consent_changed" as const,
    at,
    key: sk,
    details: { source, ...toConsentDetails(choice) },
  },
];

const toActivityEvent = ({
  sk,
  at,
  type,
  name,
  url,
  properties,
  source,
}: activities.ActivityItem & Key): TimelineEvent[] => [
  source === "inbound"
    ? toReplyEvent({ sk, at, properties })
    : {
        type: type === "custom" ? ("custom_event" as const) : ("page_view" as const),
        at,
        key: sk,
        details: {
          source,
          ...(type === "custom" && { name }),
          ...(url && { url }),
          ...(properties && { properties: JSON.parse(properties) as Record<string, unknown> }),
        },
      },
];

type ContactRef = Omit<LogRange, "prefix">;

/** A confirmation can be much later than its submission: the newest 200 are read. */
async function readSubmissions(
  contact: ContactRef,
  before: string | undefined,
): Promise<TimelineEvent[]> {
  const prefix = submissions.logPrefix;
  const logged = await readNewest<submissions.SubmissionLogItem>(
    { ...contact, prefix },
    before && `${prefix}${before}~`,
  );
  const items = await getMany<submissions.SubmissionItem>(
    logged.map(({ formId, place }) => keys.submission(contact.orgId, formId, place)),
  );
  return items.flatMap((item) => (item ? toSubmissionEvents(item) : []));
}

function toSubmissionEvents(item: submissions.SubmissionItem): TimelineEvent[] {
  const { id, formId, createdAt, confirmedAt, page, ip, confirmedIp } = item;
  const record = { type: "form" as const, id: formId };
  const submitted: TimelineEvent = {
    type: "form_submitted",
    at: createdAt,
    key: `submission${id}`,
    record,
    details: { ...(page && { url: page }), ...(ip && { ipAddress: ip }) },
  };
  if (!confirmedAt) return [submitted];
  const confirmed: TimelineEvent = {
    type: "form_confirmed",
    at: confirmedAt,
    key: `submission${id}`,
    record,
    details: confirmedIp ? { ipAddress: confirmedIp } : {},
  };
  return [submitted, confirmed];
}

async function readEndedEnrollments(contact: ContactRef): Promise<TimelineEvent[]> {
  const ended = await readNewest<enrollmentSchema.FinishedEnrollmentItem>({
    ...contact,
    prefix: enrollmentSchema.logPrefix,
  });
  return ended.flatMap((item) => [
    toSequenceEntry(item),
    {
      type: "sequence_left",
      at: item.finishedAt,
      key: `enrollment${item.id}`,
      record: { type: "sequence", id: item.sequenceId },
      details: { status: item.status, ...(item.reason && { reason: item.reason }) },
    } satisfies TimelineEvent,
  ]);
}

/** At most 200. */
async function readNewest<T>(log: LogRange, after?: string): Promise<T[]> {
  const options = { newestFirst: true, limit: maxPerKind, after };
  for await (const { items } of queryPages<T>(rangeOfLog(log), options)) return items;
  return [];
}

const sendsPerRead = 25;

/**
 * The newest 200 sends to its address until a time, with their events, and as many to the address
 * of each contact that was merged into it. An event can be much later than its send, so all of them
 * are read for each page.
 */
export async function readEmails(
  contact: ContactItem,
  before: string | undefined,
): Promise<TimelineEvent[]> {
  const own = new Set(idsOf(contact));
  const former = (contact.merged ?? []).filter(({ email }) => email !== contact.sk);
  const events = await readEmailsTo(contact, { email: contact.sk, before });
  // Another contact may have the address by now.
  for (const { email, at } of former)
    events.push(
      ...(await readEmailsTo(contact, {
        email,
        before,
        isOwn: ({ contactId, createdAt }) => (contactId ? own.has(contactId) : createdAt <= at),
      })),
    );
  return events;
}

async function readEmailsTo(
  { orgId, siteId }: ContactItem,
  {
    email,
    before,
    isOwn = () => true,
  }: { email: string; before: string | undefined; isOwn?(send: SendItem): boolean },
): Promise<TimelineEvent[]> {
  const positions = readSendsTo({ orgId, email, before: before && `${before}~` });
  const events: TimelineEvent[] = [];
  let scanned = 0;
  for await (const some of inGroups(positions, sendsPerRead)) {
    const sends = (await getAcceptedSends(orgId, some)).filter(
      (send) => send?.siteId === siteId && normalizeEmail(send.toEmail) === email && isOwn(send),
    );
    const found = await inParallel(8, sends, (send) => toEmailEvents(orgId, send!));
    events.push(...found.flat());
    scanned += some.length;
    if (scanned >= maxPerKind) break;
  }
  return events;
}

async function toEmailEvents(orgId: number, send: SendItem): Promise<TimelineEvent[]> {
  const { id, subject, status, error, createdAt, sentAt } = send;
  const about = { record: sourceOf(send), send: { id, subject, status } };
  const events = await listEventsOfSend(orgId, send);
  return [
    {
      type: sentAt ? "email_sent" : (typesBeforeSending[status] ?? "email_accepted"),
      at: sentAt ?? createdAt,
      key: `send${id}`,
      ...about,
      details: !sentAt && error ? { reason: error } : {},
    },
    ...events.map(
      (event): TimelineEvent => ({
        type: `email_${event.type}`,
        at: new Date(event.timestamp).toISOString(),
        key: `send${id}-${event.id}`,
        ...about,
        details: {
          ...(event.data.url && { url: event.data.url }),
          ...(event.data.reason && { reason: event.data.reason }),
          ...(event.ipAddress && { ipAddress: event.ipAddress }),
          ...(event.automated && { automated: true }),
        },
      }),
    ),
  ];
}

const typesBeforeSending: Partial<Record<SendItem["status"], TimelineType>> = {
  failed: "email_failed",
  cancelled: "email_cancelled",
};

function sourceOf({ campaignId, sequenceId, holidayId }: SendItem): TimelineRecord | undefined {
  if (campaignId) return { type: "campaign", id: campaignId };
  if (sequenceId) return { type: "sequence", id: sequenceId };
  return holidayId ? { type: "holiday", id: holidayId } : undefined;
}
