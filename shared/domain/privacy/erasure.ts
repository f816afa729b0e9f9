// Erases a person. Its sends and events stay, because statistics count them, but without personal
// data. A hash of the email stays on the suppression list, so that the address gets no more mail.
// The recipient index and then the contact, which find the sends, are deleted last, so after a
// crash the request can be repeated.

import * as z from "zod";
import { equals } from "../../adapters/dynamodb/conditions.ts";
import {
  get,
  getMany,
  insertMany,
  put,
  queryAll,
  queryPages,
  remove,
  updateMany,
  write,
  writeMany,
} from "../../adapters/dynamodb/table.ts";
import { type CallerScope, requireOrganizationAccess } from "../../caller.ts";
import { Problem, undefinedIfMissing } from "../../errors.ts";
import { type CompressedValue, decompress } from "../../kernel/compressed-values.ts";
import { erasedEmail, normalizeEmail } from "../../kernel/email-fields.ts";
import { inParallel, splitIntoBatches } from "../../kernel/parallel.ts";
import { Count } from "../../kernel/record-fields.ts";
import { retryLosers, retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { blockOf, idsPerBlock, type Key, keys, ranges } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as contactStatus from "../audience/contacts/contact-status.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import * as suppressions from "../audience/suppressions/suppressions.ts";
import { eraseAbout } from "../delivery-events/parked-events.ts";
import type { OverflowEvent, SendWithEvents } from "../delivery-events/send-events.ts";
import type { SendEvent } from "../delivery-events/send-outcome.ts";
import * as submissions from "../forms/submissions.ts";
import { eraseInboundFrom } from "../inbound/erase-inbound.ts";
import { getChunkSends } from "../sending/bulk/chunk-sends.ts";
import * as chunks from "../sending/bulk/chunks.ts";
import { cancelSend } from "../sending/cancel-send.ts";
import { exclusionReasons } from "../sending/mail-sources.ts";
import * as readSends from "../sending/read-sends.ts";
import { eraseRecipient } from "../sending/recipient-index/erase-recipient.ts";
import * as eraseMessages from "../sending/secure-messages/erase-messages.ts";
import type { SendItem } from "../sending/send-schema.ts";
import { getSendIds } from "./personal-data.ts";
import { getOtherContacts, readSendsToPerson } from "./sends-of-person.ts";

const erasedText = "(erased)";

/**
 * Erases a contact, with the sends to its address that belong to no other contact. Throws 404.
 * Throws 403 for a key of one site, since the address is suppressed in all sites.
 */
export async function erase(caller: CallerScope, id: number): Promise<void> {
  requireOrganizationAccess(caller);
  const { orgId } = caller;
  const contact = await contacts.findItem(caller, id);
  contacts.checkNotMerging(contact);
  const sendIds = new Set(await getSendIds(orgId, contact));
  for (const email of await getAddresses(contact)) {
    await suppressions.suppressByHash(orgId, email);
    const found = await findSends(caller, email, contact);
    for (const sendId of found.erasable) sendIds.add(sendId);
    await eraseSends(orgId, email, [...sendIds]);
    await eraseAddress(orgId, email, found.kept.difference(sendIds));
  }
  await deleteSubmissions(orgId, id);
  await contacts.remove(caller, id);
}

export const ErasedPerson = z
  .object({
    id: z.string().describe("Email address of the request, in lower case."),
    deleted: z.literal(true).describe("Always true."),
    contacts: Count.describe("Number of contacts with the address that were erased, in all sites."),
    unfinishedSends: Count.describe(
      "Number of sends to the address that are queued, being handed over or uncertain. They keep " +
        "the address: repeat the request when they are finished. Email that was queued less " +
        "than a minute ago may still be sent.",
    ),
  })
  .meta({ id: "ErasedPerson" });
export type ErasedPerson = z.output<typeof ErasedPerson>;

/**
 * Erases all contacts with the address, and all sends to it, with or without a contact. Safe to
 * repeat. Throws 403 for callers that are limited to sites.
 */
export async function erasePerson(caller: CallerScope, email: string): Promise<ErasedPerson> {
  requireOrganizationAccess(caller);
  const { orgId } = caller;
  const address = normalizeEmail(email);
  await suppressions.suppressByHash(orgId, address);
  const own = await contactStatus.getContactsByEmail(orgId, [address]);
  for (const { id } of own) await erase(caller, id).catch(undefinedIfMissing);
  const found = await findSends(caller, address);
  await eraseSends(orgId, address, found.erasable);
  await eraseAddress(orgId, address, found.kept);
  return { id: address, deleted: true, contacts: own.length, unfinishedSends: found.kept.size };
}

interface FoundSends {
  erasable: number[];
  /** Ids of sends that keep the address: those of other contacts, and those under way. */
  kept: Set<number>;
}

/** Its own address, and those of contacts that were merged into it, unless others have them. */
async function getAddresses({ orgId, siteId, sk, merged = [] }: ContactItem): Promise<string[]> {
  const former = [...new Set(merged.map(({ email }) => email))].filter((email) => email !== sk);
  const others = await getMany(
    former.map((email) => keys.contact(orgId, siteId, email)),
    { consistent: true },
  );
  return [sk, ...former.filter((_, i) => !others[i])];
}

/**
 * Finds the sends to the address. With a contact, the sends of other contacts are kept. Cancels
 * scheduled sends.
 */
async function findSends(
  caller: CallerScope,
  email: string,
  contact?: ContactItem,
): Promise<FoundSends> {
  const found: FoundSends = { erasable: [], kept: new Set() };
  for await (const sends of readSendsToPerson(caller.orgId, email, { withErased: true })) {
    const others =
      contact === undefined
        ? new Set<number>()
        : await getOtherContacts(caller.orgId, sends, contact);
    for (const send of sends) {
      const isOthers = send.contactId != null && others.has(send.contactId);
      if (!isOthers && (await isFinished(caller, send))) found.erasable.push(send.id);
      else found.kept.add(send.id);
    }
  }
  return found;
}

const finalStatuses = new Set<SendItem["status"]>(["sent", "delivered", "failed", "cancelled"]);

/** Whether nothing needs the address any more. Cancels a scheduled send. */
async function isFinished(caller: CallerScope, { id, status }: SendItem): Promise<boolean> {
  if (status !== "scheduled") return finalStatuses.has(status);
  try {
    await cancelSend(caller, id);
    return true;
  } catch (error) {
    // It belongs to a campaign, or its hand-over has begun.
    if (error instanceof Problem && error.kind === "conflict") return false;
    throw error;
  }
}

async function eraseSends(orgId: number, email: string, sendIds: number[]): Promise<void> {
  for (const some of splitIntoBatches(sendIds, 100)) {
    await eraseFormerAddresses(orgId, email, some);
    await anonymize(orgId, some);
    await inParallel(4, [...Map.groupBy(some, chunkIdOf).values()], (ids) =>
      eraseChunkLines(orgId, ids),
    );
  }
}

/** The index still finds the sends that are kept, so that a later erasure does too. */
async function eraseAddress(orgId: number, email: string, kept: Set<number>): Promise<void> {
  await eraseInboundFrom(orgId, email);
  await eraseRecipient({ orgId, email, isErased: (id) => !kept.has(id) });
  await eraseAbout(orgId, email);
}

/**
 * Mails before a change of the address are in the recipient index under the former one, which
 * another contact may have now.
 */
async function eraseFormerAddresses(
  orgId: number,
  currentEmail: string,
  sendIds: number[],
): Promise<void> {
  const sends = (await readSends.getSends(orgId, sendIds)).filter((send) => send !== undefined);
  const emails = new Set(sends.map(({ toEmail }) => normalizeEmail(toEmail)));
  const ownIds = new Set(sendIds);
  for (const email of emails.difference(new Set([currentEmail, erasedEmail])))
    await eraseRecipient({ orgId, email, isErased: (id) => ownIds.has(id) });
}

async function deleteSubmissions(orgId: number, contactId: number): Promise<void> {
  const log = ranges.contactLog(orgId, contactId, submissions.logPrefix);
  for await (const page of queryPages<submissions.SubmissionLogItem>(log, { limit: 500 })) {
    const found = await getMany<submissions.SubmissionItem>(
      page.items.map(({ formId, place }) => keys.submission(orgId, formId, place)),
      { consistent: true },
    );
    await inParallel(8, found, async (one) => one && submissions.remove(one));
  }
}

async function anonymize(orgId: number, sendIds: number[]): Promise<void> {
  await retryLosers("A mail of the contact", sendIds, async (pending) => {
    const found = await getMany<SendWithEvents & Key>(
      pending.map((id) => keys.send(orgId, id)),
      { consistent: true },
    );
    const sends = found.filter((send) => send !== undefined);
    const isInserted = await insertErasedSends(
      orgId,
      pending.filter((_, i) => !found[i]),
    );
    await inParallel(8, sends, (send) => eraseOverflowEvents(orgId, send));
    const secure = sends.filter((send) => send.secure);
    await inParallel(8, secure, ({ id }) => anonymizeSecureMessage(orgId, id));
    const made = await updateMany(
      sends.map((send) => ({
        key: keys.send(orgId, send.id),
        set: erasedFields(send),
        ifEquals: { v: send.v },
      })),
    );
    return [
      ...sends.filter((_, i) => !made[i]).map(({ id }) => id),
      ...isInserted.filter(({ inserted }) => !inserted).map(({ id }) => id),
    ];
  });
  await writeMany(sendIds.map((id) => remove(keys.singleContent(orgId, id))));
}

/**
 * Inserts the accepted sends that have no items yet, erased. So an event that arrives during the
 * erasure cannot insert them with the address.
 */
async function insertErasedSends(
  orgId: number,
  sendIds: number[],
): Promise<{ id: number; inserted: boolean }[]> {
  const lines = await getChunkSends(orgId, sendIds, { consistent: true });
  const accepted = lines.filter(({ sentAt }) => sentAt);
  const secure = accepted.filter((send) => send.secure);
  await inParallel(8, secure, ({ id }) => anonymizeSecureMessage(orgId, id));
  const inserted = await insertMany(
    accepted.map((send) => ({
      key: keys.send(orgId, send.id),
      item: { ...send, ...erasedFields(send) },
    })),
  );
  return accepted.map(({ id }, i) => ({ id, inserted: inserted[i]! }));
}

const anonymizeSecureMessage = (orgId: number, id: number): Promise<unknown> =>
  eraseMessages.anonymizeMessage(orgId, id, { toEmail: erasedEmail, subject: erasedText });

const erasedFields = ({
  contactId,
  early,
  metadata,
  error,
  events,
  v,
}: SendWithEvents): Partial<SendWithEvents> => ({
  toEmail: erasedEmail,
  subject: erasedText,
  // The provider's response may name the contact of an early send.
  ...((contactId || early) && { contactId: null }),
  ...(metadata && { metadata: null }),
  // The reason why a recipient was left out says nothing about the person, and is counted.
  ...(error && !exclusionReasons.some((reason) => reason === error) && { error: erasedText }),
  ...(events && { events: events.map(eraseEvent) }),
  v: v + 1,
});

/** Keeps the type and time of the event; removes IP address, user agent and URL. */
const eraseEvent = <E extends SendEvent>({ ip: _, data, ...entry }: E) => ({
  ...entry,
  ...(data?.bounceType && { data: { bounceType: data.bounceType } }),
});

async function eraseOverflowEvents(orgId: number, send: SendWithEvents): Promise<void> {
  const overflow = await queryAll<OverflowEvent & Key>(ranges.overflowEvents(orgId, send.id), {
    consistent: true,
  });
  await writeMany(overflow.map((entry) => put({ pk: entry.pk, sk: entry.sk }, eraseEvent(entry))));
}

const chunkIdOf = (sendId: number): string => `${blockOf(sendId)}/${chunks.chunkNumberOf(sendId)}`;

/** Erases the recipients in a chunk: a bulk send comes from there before it has its own item. */
async function eraseChunkLines(orgId: number, sendIds: number[]): Promise<void> {
  const [block, chunk] = chunkIdOf(sendIds[0]!).split("/").map(Number) as [number, number];
  const address = keys.chunk(orgId, block, chunk);
  await retryOnConflict("A mail of the contact", async () => {
    const item = await get<CompressedValue & Key>(address);
    if (!item) return;
    const value = await decompress<chunks.Chunk>(item);
    const ownIds = new Set(sendIds);
    const lines = value.lines.map((line) =>
      ownIds.has(block * idsPerBlock + line.i) ? eraseLine(line) : line,
    );
    const { gz, blob } = item;
    const unchanged = blob === undefined ? equals("gz", gz) : equals("blob", blob);
    await write(await chunks.replaceChunkWrite(address, { ...value, lines }, unchanged));
  });
}

const eraseLine = ({ i, opens, clicks, error }: chunks.ChunkRecipient): chunks.ChunkRecipient => ({
  i,
  to: erasedEmail,
  opens,
  clicks,
  error,
});
