// What was submitted to a form: stored with its count before anything is done about it, and with the evidence of consent.
import * as z from "zod";
import { after, epochSeconds, now } from "../../clock.ts";
import { any, atMost, exists, isNew } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import { get, put, query, remove as removal, Unmet, update, type Write, write } from "../../doors/table.ts";
import { canonical } from "../../email.ts";
import * as ids from "../../ids.ts";
import { type Address, dueShard, emailShard, keys, on, ranges, shelves, sortable } from "../../keys.ts";
import { decodeCursor, type PageRequest, pagination, skipped } from "../../paging.ts";
import { queues } from "../../queues.ts";
import * as counters from "../counters.ts";
import type { Entered, Value } from "./values.ts";

const Consent = z.object({
  at: z.string(),
  ip: z.string().nullable(),
  userAgent: z.string().nullable(),
  page: z.string().nullable().describe("The page that the form was on, as the browser told"),
  formVersion: z.int().describe("What the form said: GET /forms/:id?version="),
  confirmedAt: z.string().nullable().describe("When the button behind the mailed link was pressed"),
  confirmedIp: z.string().nullable(),
  confirmedUserAgent: z.string().nullable(),
});

export const Submission = z
  .object({
    id: z.int(),
    formId: z.int(),
    contactId: z.int().nullable(),
    email: z.string(),
    fields: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    status: z.enum(["pending", "accepted"]).describe("`pending`: waits to be confirmed; nothing was done for it yet"),
    consent: Consent,
    confirmationSendId: z.int().nullable().describe("The mail that asks to confirm"),
    error: z.string().nullable().describe("Why no such mail was sent"),
    createdAt: z.string(),
  })
  .meta({ id: "FormSubmission" });
export type Submission = z.output<typeof Submission>;

/** Of a contact: taken whether or not the form asks for them. */
export const contactFields = ["firstName", "lastName", "phone", "company"] as const;

export interface SubmissionItem extends Address {
  id: number;
  orgId: number;
  siteId: number;
  formId: number;
  email: string;
  fields: Record<string, Value>;
  extra: Record<string, string>;
  status: Submission["status"];
  createdAt: string;
  ip?: string | undefined;
  userAgent?: string | undefined;
  page?: string | undefined;
  formVersion: number;
  /** In which it was read, and so in which it is answered. */
  language: string;
  confirmedAt?: string;
  confirmedIp?: string;
  confirmedUserAgent?: string;
  contactId?: number;
  /** Of the contact that is made if there is none. */
  freshContactId: number;
  /** The contact has it. */
  applied?: boolean;
  confirmationSendId?: number;
  error?: string;
  /** Ids it took on its way, so that who takes it up again takes the same. */
  taken?: Record<string, number[]>;
  /** Something is still to be done. */
  duesk?: string;
}

/** Who submits, and how it was asked. */
export interface Circumstances {
  ip: string;
  userAgent?: string | undefined;
  page?: string | undefined;
  language: string;
}

interface Asked {
  orgId: number;
  id: number;
  siteId: number;
  version: number;
  doubleOptIn: boolean;
}

/** The same from the same person within so long is the same: pressed twice, or loaded again. */
const sameSeconds = 300;
const graceSeconds = 90;
const [maxAgent, maxPage] = [300, 500];

/** Stored and counted, at once or not at all. What was submitted just before is found again. */
export async function store(form: Asked, { email, fields, extra }: Entered, asked: Circumstances): Promise<SubmissionItem> {
  const { orgId, id: formId, siteId, version: formVersion, doubleOptIn } = form;
  const [id, [freshContactId = 0], createdAt] = [await ids.takeActivity(), await ids.takeContacts(1), now().toISOString()];
  const place = `${createdAt}#${sortable(id)}`;
  const item: SubmissionItem = {
    ...keys.submission(orgId, formId, place),
    ...{ id, orgId, siteId, formId, email, fields, extra, formVersion, freshContactId, createdAt },
    status: doubleOptIn ? "pending" : "accepted",
    ip: asked.ip,
    userAgent: asked.userAgent?.slice(0, maxAgent),
    page: asked.page?.slice(0, maxPage),
    language: asked.language,
    ...dueSoon(id),
  };
  const latest = keys.latestSubmission(orgId, formId, JSON.stringify([canonical(email), fields, extra, formVersion, doubleOptIn]));
  const until = epochSeconds() + sameSeconds;
  try {
    await write(
      put(latest, { place, until, expires: until }, { if: any(isNew, atMost("until", epochSeconds())) }),
      put(item, item, { new: true }),
      counted(item, 1),
    );
    return item;
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    const earlier = await get<{ place: string }>(latest);
    return (earlier && (await find(orgId, formId, earlier.place))) ?? item;
  }
}

/** For who is to look after it should nobody else come. */
export const dueSoon = (id: number) => on(shelves.due("SUBMISSION", dueShard(id)), after(graceSeconds).toISOString());

const counted = ({ orgId, formId, email }: SubmissionItem, by: number): Write =>
  update(keys.submissionCount(orgId, formId, emailShard(email)), { add: { count: by } });

export const find = (orgId: number, formId: number, place: string): Promise<SubmissionItem | undefined> =>
  get<SubmissionItem>(keys.submission(orgId, formId, place));

export const takeUpSoon = (orgId: number, formId: number, place: string): Promise<void> =>
  enqueue(queues.submission, [{ orgId, formId, place }], { group: orgId });

export const count = (orgId: number, formId: number): Promise<number> => counters.total(ranges.submissionCounts(orgId, formId));

/** Newest first. */
export async function list(orgId: number, formId: number, request: PageRequest) {
  const skip = skipped(request);
  const [page, total] = await Promise.all([
    query<SubmissionItem>(ranges.submissions(orgId, formId), {
      newestFirst: true,
      limit: skip + request.limit,
      after: decodeCursor(request.cursor),
    }),
    count(orgId, formId),
  ]);
  const items = page.items.slice(skip);
  return { items: items.map(told), pagination: pagination(request, total, items.length ? page.next : undefined) };
}

export const told = (item: SubmissionItem): Submission => ({
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
  },
  confirmationSendId: item.confirmationSendId ?? null,
  error: item.error ?? null,
  createdAt: item.createdAt,
});

/** With its count; one that is gone is left so. */
export async function remove(item: SubmissionItem): Promise<void> {
  try {
    await write(removal(item, { if: exists }), counted(item, -1));
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
  }
}

/** Lines of a contact's log that name what it submitted begin so. */
export const logPrefix = "FORM|";
export interface LogLine {
  formId: number;
  place: string;
}
/** In the log of its contact; safe to repeat. */
export const logging = ({ orgId, formId, sk: place }: SubmissionItem, contactId: number): Write =>
  put(keys.contactLog(orgId, contactId, `${logPrefix}${place}|${formId}`), { formId, place } satisfies LogLine);
