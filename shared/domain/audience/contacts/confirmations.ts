// The confirmation that a `pending` contact is asked for by email (double opt-in). One item in the
// log of the contact holds the latest request and what became of it, so it ends with the contact.
// Forms keep their confirmations with the submissions.
import { any, equals, isNew, not } from "../../../adapters/dynamodb/conditions.ts";
import { get, put, transact, type Write } from "../../../adapters/dynamodb/table.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import type { CallerScope } from "../../../caller.ts";
import { addSeconds, now } from "../../../clock.ts";
import { conflict } from "../../../errors.ts";
import * as ids from "../../../ids.ts";
import { dueShardOf, indexAttributes, indexes, type Key, keys } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import { findDefault } from "../../senders/choose-config.ts";
import type { Confirmation, confirmationSources } from "./confirmation-schema.ts";
import { findSurvivor } from "./contact-lookups.ts";
import type { ContactItem } from "./contact-schema.ts";

/** What the mails of a confirmation leave in it. Submissions of forms have the same fields. */
export interface ConfirmationMails {
  confirmationSendId?: number;
  /** Absent: the text of the service. */
  templateId?: number;
  templateVersion?: number;
  /** The language of the mail (BCP 47). */
  mailLocale?: string;
  error?: string;
  /** When the reminder is due (ISO 8601). Absent: there is none. */
  remindAt?: string;
  reminderSendId?: number;
  /** Reserved ids, so that a retry uses the same ones. */
  taken?: Record<string, number[]>;
}

export interface ConfirmationItem extends Key, ConfirmationMails {
  orgId: number;
  siteId: number;
  contactId: number;
  /** Changes with each request. */
  request: string;
  /** The address that was asked. A link does not confirm another one. */
  email: string;
  source: (typeof confirmationSources)[number];
  requestedAt: string;
  confirmedAt?: string;
  confirmedIp?: string;
  confirmedUserAgent?: string;
  /** Set while something is left to do. */
  duesk?: string;
}

/** Sort key in the log of the contact. */
export const logKey = "CONFIRMATION";

const keyOf = (orgId: number, contactId: number): Key => keys.contactLog(orgId, contactId, logKey);

export const find = (orgId: number, contactId: number): Promise<ConfirmationItem | undefined> =>
  get<ConfirmationItem>(keyOf(orgId, contactId));

export const sourceOf = (caller: CallerScope & { kind?: string }): ConfirmationItem["source"] =>
  caller.kind === "session" ? "console" : "api";

interface ConfirmationRequest {
  /** Names the request. A repeated one has the same name. */
  request: string;
  source: ConfirmationItem["source"];
}

type Asked = Pick<ContactItem, "orgId" | "siteId" | "id" | "email">;

/** For the transaction that creates the contact. */
export const requestWrite = (contact: Asked, request: ConfirmationRequest): Write => {
  const item = toItem(contact, request);
  return put(item, item);
};

/** Asks a contact that exists. Does nothing for a request that is stored already. */
export async function request(contact: Asked, wanted: ConfirmationRequest): Promise<void> {
  const item = toItem(contact, wanted);
  await transact(put(item, item, { if: any(isNew, not(equals("request", wanted.request))) }));
}

const toItem = (
  { orgId, siteId, id, email }: Asked,
  wanted: ConfirmationRequest,
): ConfirmationItem => ({
  ...keyOf(orgId, id),
  orgId,
  siteId,
  contactId: id,
  email,
  ...wanted,
  requestedAt: now().toISOString(),
  ...dueAttributes(id),
});

const retryAfterSeconds = 90;

/** Due a little later, in case the process dies before it enqueues the message. */
export const dueAttributes = (contactId: number, at = addSeconds(retryAfterSeconds)) =>
  indexAttributes(indexes.due("SUBMISSION", dueShardOf(contactId)), at.toISOString());

/** Enqueues the mails of contacts that were just asked. */
export const enqueueMails = (orgId: number, contactIds: number[]): Promise<void> =>
  enqueue(
    queues.submission,
    contactIds.map((contactId) => ({ orgId, contactId })),
    { group: orgId },
  );

/** Throws 400 `no_sending_config` if no confirmation can be sent. */
export async function requireSender(orgId: number): Promise<void> {
  await findDefault(orgId);
}

const notPending = () =>
  conflict("Only a contact with the status pending can be asked to confirm", {
    code: "not_pending",
  });

/** Asks a pending contact again. 409 `not_pending` for any other. */
export async function requestAgain(
  contact: ContactItem,
  source: ConfirmationItem["source"],
): Promise<Confirmation> {
  if (contact.status !== "pending") throw notPending();
  const { orgId, id } = contact;
  await requireSender(orgId);
  await request(contact, { request: `call ${await ids.nextActivityId()}`, source });
  await enqueueMails(orgId, [id]);
  return toApi((await find(orgId, id))!);
}

export async function findOfContact(contact: ContactItem): Promise<Confirmation | null> {
  const item = await find(contact.orgId, contact.id);
  return item ? toApi(item) : null;
}

/** The contact that was asked, with its current address. Undefined if it was deleted. */
export const findContact = ({
  orgId,
  contactId,
}: ConfirmationItem): Promise<ContactItem | undefined> => findSurvivor(orgId, contactId);

const toApi = (item: ConfirmationItem): Confirmation => ({
  status: statusOf(item),
  source: item.source,
  requestedAt: item.requestedAt,
  sendId: item.confirmationSendId ?? null,
  reminderSendId: item.reminderSendId ?? null,
  templateId: item.templateId ?? null,
  templateVersion: item.templateVersion ?? null,
  locale: item.mailLocale ?? null,
  error: item.error ?? null,
  confirmedAt: item.confirmedAt ?? null,
  confirmedIp: item.confirmedIp ?? null,
  confirmedUserAgent: item.confirmedUserAgent ?? null,
});

function statusOf(item: ConfirmationItem): Confirmation["status"] {
  if (item.confirmedAt) return "confirmed";
  if (item.confirmationSendId !== undefined) return "sent";
  return item.error === undefined ? "queued" : "not_sent";
}
