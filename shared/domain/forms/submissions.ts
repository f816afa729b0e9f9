// Submissions of forms, with the evidence of consent. A submission and its count are stored before
// it is processed.
import * as z from "zod";
import { all, any, atMost, equals, exists, isNew } from "../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  get,
  put,
  query,
  remove as removeWrite,
  transact,
  update,
  type Write,
  write,
} from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds, epochSeconds, now } from "../../clock.ts";
import * as ids from "../../ids.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import {
  countSkipped,
  type PageRequest,
  positionOf,
  positionParts,
  toPagination,
} from "../../kernel/paging.ts";
import { Count, RecordId, Timestamp } from "../../kernel/record-fields.ts";
import * as shardedCounters from "../../kernel/sharded-counters.ts";
import {
  dueShardOf,
  emailShardOf,
  indexAttributeNames,
  indexAttributes,
  indexes,
  type Key,
  keys,
  ranges,
  zeroPad,
} from "../../keys.ts";
import { queues } from "../../queues.ts";
import { mailLocale } from "../audience/contacts/confirmation-schema.ts";
import type { ConfirmationMails } from "../audience/contacts/confirmations.ts";
import { type PreparedEvents, prepareEvents } from "../webhooks/record-events.ts";
import type { FormEntry, FormValue } from "./form-entry.ts";

const Consent = z.object({
  at: Timestamp.describe("When the form was submitted."),
  ip: z.string().nullable().describe("IP address that submitted the form, or `null`."),
  userAgent: z
    .string()
    .nullable()
    .describe("Browser that submitted the form, as its `User-Agent` says, or `null`."),
  page: z
    .string()
    .nullable()
    .describe("URL of the page that the form was on, as sent by the browser."),
  formVersion: Count.describe("Version of the form that was shown: see GET /forms/:id?version=."),
  confirmedAt: Timestamp.nullable().describe("When the submission was confirmed, or `null`."),
  confirmedIp: z.string().nullable().describe("IP address that confirmed, or `null`."),
  confirmedUserAgent: z.string().nullable().describe("Browser that confirmed, or `null`."),
  templateId: RecordId.nullable().describe(
    "Template of the confirmation email. `null`: none was sent, or it had the text of the service.",
  ),
  templateVersion: Count.nullable().describe("Version of the template, or `null`."),
  locale: mailLocale,
});

export const Submission = z
  .object({
    id: RecordId.describe("Id of the submission. Higher ids are newer."),
    formId: RecordId.describe("Form that was submitted."),
    contactId: RecordId.nullable().describe(
      "Contact of the submission. `null` until there is one.",
    ),
    email: z.string().describe("Email address that was given."),
    fields: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .describe("Values that were given, by the name of the field."),
    status: z
      .enum(["pending", "accepted"])
      .describe(
        "`pending`: waits for confirmation by email; nothing has been applied yet. " +
          "`accepted`: applied.",
      ),
    consent: Consent.describe("Evidence of consent: when, where and to what the visitor agreed."),
    confirmationSendId: RecordId.nullable().describe("Send of the confirmation email, or `null`."),
    reminderSendId: RecordId.nullable().describe("Send of the reminder, or `null`."),
    error: z.string().nullable().describe("Why no confirmation email was sent, or `null`."),
    createdAt: Timestamp.describe("When the form was submitted."),
  })
  .meta({ id: "FormSubmission" });
export type Submission = z.output<typeof Submission>;

/** Fields of a contact. They are accepted even if the form does not ask for them. */
export const contactFields = ["firstName", "lastName", "phone", "company"] as const;

export interface SubmissionItem extends Key, ConfirmationMails {
  id: number;
  orgId: number;
  siteId: number;
  formId: number;
  email: string;
  fields: Record<string, FormValue>;
  extra: Record<string, string>;
  status: Submission["status"];
  createdAt: string;
  ip?: string | undefined;
  userAgent?: string | undefined;
  page?: string | undefined;
  formVersion: number;
  /** Language of the form as shown, used for the response and the confirmation email. */
  language: string;
  /** The visitor's language (BCP 47). Absent: `language`. */
  locale?: string | undefined;
  confirmedAt?: string;
  confirmedIp?: string;
  confirmedUserAgent?: string;
  contactId?: number;
  /** Contact id reserved in case the contact does not exist yet. */
  freshContactId: number;
  /** The contact was written. */
  applied?: boolean;
  /** When the mail of an expired link was asked for again (ISO 8601). */
  renewedAt?: string;
  /** Set while something is left to do. */
  duesk?: string;
}

/** Evidence of consent from the request. */
export interface SubmissionContext {
  ip: string;
  userAgent?: string | undefined;
  page?: string | undefined;
  language: string;
  locale?: string | undefined;
}

interface SubmittedForm {
  orgId: number;
  id: number;
  siteId: number;
  version: number;
  doubleOptIn: boolean;
}

/** An identical submission within this time is a duplicate, such as a double click or a reload. */
const duplicateSeconds = 300;
const retryAfterSeconds = 90;
const maxUserAgent = 300;
const maxPage = 500;

/**
 * Stores and counts the submission in one transaction. Returns the earlier submission for a
 * duplicate.
 */
export async function storeSubmission(
  form: SubmittedForm,
  { email, fields, extra }: FormEntry,
  context: SubmissionContext,
): Promise<SubmissionItem> {
  const { orgId, id: formId, siteId, version: formVersion, doubleOptIn } = form;
  const id = await ids.nextActivityId();
  const [freshContactId = 0] = await ids.nextContactIds(1);
  const createdAt = now().toISOString();
  const sortKey = `${createdAt}#${zeroPad(id)}`;
  const item: SubmissionItem = {
    ...keys.submission(orgId, formId, sortKey),
    id,
    orgId,
    siteId,
    formId,
    email,
    fields,
    extra,
    formVersion,
    freshContactId,
    createdAt,
    status: doubleOptIn ? "pending" : "accepted",
    ip: context.ip,
    userAgent: context.userAgent?.slice(0, maxUserAgent),
    page: context.page?.slice(0, maxPage),
    language: context.language,
    locale: context.locale,
    ...dueIndexAttributes(id),
  };
  const latestKey = keys.latestSubmission(
    orgId,
    formId,
    JSON.stringify([normalizeEmail(email), fields, extra, formVersion, doubleOptIn]),
  );
  const until = epochSeconds() + duplicateSeconds;
  const events = await prepareSubmittedEvent(item);
  try {
    await write(
      put(
        latestKey,
        { place: sortKey, until, expires: until },
        { if: any(isNew, atMost("until", epochSeconds())) },
      ),
      put(item, item, { ifAbsent: true }),
      countWrite(item, 1),
      ...events.writes,
    );
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    const earlier = await get<{ place: string }>(latestKey);
    return (earlier && (await find(orgId, formId, earlier.place))) ?? item;
  }
  await events.afterCommit();
  return item;
}

const prepareSubmittedEvent = ({ orgId, ...submission }: SubmissionItem): Promise<PreparedEvents> =>
  prepareEvents(orgId, () => {
    const { id: submissionId, siteId, formId, email, status, fields, extra } = submission;
    const data = { submissionId, status, fields: { ...extra, ...fields } };
    return [{ event: "form.submitted", email, details: { siteId, formId, data } }];
  });

/** Due a little later, in case the request that stored the submission crashes. */
export const dueIndexAttributes = (id: number, at = addSeconds(retryAfterSeconds)) =>
  indexAttributes(indexes.due("SUBMISSION", dueShardOf(id)), at.toISOString());

/**
 * Removes the submission from the due index, or lets it wait for its reminder. Fails if its status
 * has changed in between.
 */
export function finish(
  submission: SubmissionItem,
  set: Partial<SubmissionItem> = {},
): Promise<boolean> {
  const { remindAt } = set;
  const due = remindAt && dueIndexAttributes(submission.id, new Date(remindAt));
  return transact(
    update(
      submission,
      {
        set: { ...set, ...(due || {}) },
        remove: [...(due ? [] : indexAttributeNames("due")), "taken"],
      },
      { if: all(exists, equals("status", submission.status)) },
    ),
  );
}

const countWrite = ({ orgId, formId, email }: SubmissionItem, by: number): Write =>
  update(keys.submissionCount(orgId, formId, emailShardOf(email)), { add: { count: by } });

export const find = (
  orgId: number,
  formId: number,
  sortKey: string,
): Promise<SubmissionItem | undefined> =>
  get<SubmissionItem>(keys.submission(orgId, formId, sortKey));

export const enqueueSubmission = (orgId: number, formId: number, sortKey: string): Promise<void> =>
  enqueue(queues.submission, [{ orgId, formId, place: sortKey }], { group: orgId });

export const count = (orgId: number, formId: number): Promise<number> =>
  shardedCounters.sumShards(ranges.submissionCounts(orgId, formId));

const positionPattern = new RegExp(`^${positionParts.time}#${positionParts.id}$`);

/** Newest first. */
export async function list(orgId: number, formId: number, request: PageRequest) {
  const skip = countSkipped(request);
  const [page, total] = await Promise.all([
    query<SubmissionItem>(ranges.submissions(orgId, formId), {
      newestFirst: true,
      limit: skip + request.limit,
      after: positionOf(request, positionPattern),
    }),
    count(orgId, formId),
  ]);
  const items = page.items.slice(skip);
  return {
    items: items.map(toApi),
    pagination: toPagination(request, total, items.length ? page.next : undefined),
  };
}

export const toApi = (item: SubmissionItem): Submission => ({
  id: item.id,
  formId: item.formId,
  contactId: item.contactId ?? null,
  email: item.email,
  fields: { ...item.extra, ...item.fields },
  status: item.status,
  consent: {
    at: item.createdAt,
    ip: item.ip ?? null,
    userAgent: item.userAgent ?? null,
    page: item.page ?? null,
    formVersion: item.formVersion,
    confirmedAt: item.confirmedAt ?? null,
    confirmedIp: item.confirmedIp ?? null,
    confirmedUserAgent: item.confirmedUserAgent ?? null,
    templateId: item.templateId ?? null,
    templateVersion: item.templateVersion ?? null,
    locale: item.mailLocale ?? null,
  },
  confirmationSendId: item.confirmationSendId ?? null,
  reminderSendId: item.reminderSendId ?? null,
  error: item.error ?? null,
  createdAt: item.createdAt,
});

/** Deletes a submission and its count. Does nothing if it is already deleted. */
export async function remove(item: SubmissionItem): Promise<void> {
  try {
    await write(removeWrite(item, { if: exists }), countWrite(item, -1));
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

/** Sort key prefix of submissions in the contact log. */
export const logPrefix = "FORM|";
export interface SubmissionLogItem {
  formId: number;
  place: string;
}
/** Names the submission in the log of its contact. Idempotent. */
export const logWrite = (
  { orgId, formId, sk: sortKey }: SubmissionItem,
  contactId: number,
): Write =>
  put(keys.contactLog(orgId, contactId, `${logPrefix}${sortKey}|${formId}`), {
    formId,
    place: sortKey,
  } satisfies SubmissionLogItem);
