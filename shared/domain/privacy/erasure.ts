// Erases a person. Its sends and events stay, because statistics count them, but without personal
// data. A hash of the email stays on the suppression list, so that the address gets no more mail.
// The contact is deleted last, so after a crash the request can be repeated.

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
import { type CompressedValue, decompress } from "../../kernel/compressed-values.ts";
import { erasedEmail, normalizeEmail } from "../../kernel/email-fields.ts";
import { inParallel, splitIntoBatches } from "../../kernel/parallel.ts";
import { retryLosers, retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { blockOf, idsPerBlock, type Key, keys, ranges } from "../../keys.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import * as suppressions from "../audience/suppressions/suppressions.ts";
import { eraseAbout } from "../delivery-events/parked-events.ts";
import type { OverflowEvent, SendWithEvents } from "../delivery-events/send-events.ts";
import type { SendEvent } from "../delivery-events/send-outcome.ts";
import * as submissions from "../forms/submissions.ts";
import { isStoredSend } from "../identity/open-charges.ts";
import * as chunks from "../sending/bulk/chunks.ts";
import { exclusionReasons } from "../sending/mail-sources.ts";
import * as reading from "../sending/read-sends.ts";
import { eraseRecipient } from "../sending/recipient-index/erase-recipient.ts";
import * as secureMessages from "../sending/secure-messages/erase-messages.ts";
import { getSendIds } from "./personal-data.ts";

const erasedText = "(erased)";

/** Throws 404. Throws 403 for a key of one site, since the address is suppressed in all sites. */
export async function erase(caller: CallerScope, id: number): Promise<void> {
  requireOrganizationAccess(caller);
  const { orgId } = caller;
  const contact = await contacts.findItem(caller, id);
  await suppressions.suppressByHash(orgId, contact.sk);
  const sendIds = await getSendIds(orgId, contact);
  await eraseRecipient({ orgId, email: contact.sk, isErased: () => true });
  await eraseAbout(orgId, contact.sk);
  for (const some of splitIntoBatches(sendIds, 100)) {
    await eraseFormerAddresses(orgId, contact.sk, some);
    await anonymize(orgId, some);
    await inParallel(4, [...Map.groupBy(some, chunkIdOf).values()], (ids) =>
      eraseChunkLines(orgId, ids),
    );
  }
  await deleteSubmissions(orgId, id);
  await contacts.remove(caller, id);
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
  const sends = (await reading.getSends(orgId, sendIds)).filter((send) => send !== undefined);
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
    const sends = found.flatMap((send) => (send && isStoredSend(send) ? send : []));
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
  const lines = await chunks.getChunkSends(orgId, sendIds, { consistent: true });
  const accepted = lines.filter(({ sentAt }) => sentAt);
  const secure = accepted.filter((send) => send.secure);
  await inParallel(8, secure, ({ id }) => anonymizeSecureMessage(orgId, id));
  const inserted = await insertMany(
    accepted.map((send) => ({
      key: keys.send(orgId, send.id),
      item: { ...send, ...erasedFields({ v: 0, ...send }) },
    })),
  );
  return accepted.map(({ id }, i) => ({ id, inserted: inserted[i]! }));
}

const anonymizeSecureMessage = (orgId: number, id: number): Promise<unknown> =>
  secureMessages.anonymizeMessage(orgId, id, { toEmail: erasedEmail, subject: erasedText });

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
