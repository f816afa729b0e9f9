// Records what the RESULTs of a call say, before the call is settled: inserts the sends that were
// not accepted, and adds accepted mails to their contacts. Each write is safe to repeat.

import { getMany, insertMany, updateMany } from "../../../adapters/dynamodb/table.ts";
import * as log from "../../../kernel/log.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { keys } from "../../../keys.ts";
import type { HandOverOutcome } from "../../../providers/provider-adapter.ts";
import * as engagement from "../../audience/contacts/engagement.ts";
import type { LoggedCall } from "../../audience/mail-counts/mail-log.ts";
import * as mailSources from "../mail-sources.ts";
import { toSendFields } from "../provider-calls/provider-call.ts";
import type { SendItem } from "../send-schema.ts";
import { lookUpAttributes } from "../single/single-send-item.ts";
import { type CallResult, listFinalOutcomes } from "./call-results.ts";
import { toSendItem } from "./chunk-sends.ts";
import type { ChunkRecipient } from "./chunks.ts";
import * as chunks from "./chunks.ts";
import type { PreparedChunk } from "./prepared-chunk.ts";
import { type SettledAttempts, settledAttemptsOf } from "./queued-chunk.ts";

/** A call whose outcomes are recorded, and which is to be settled. */
export interface RecordedCall {
  call: number;
  /** The number of mails that have an outcome and were not counted yet. */
  mails: number;
  counts: mailSources.SourceCounts;
  loggedCall: LoggedCall | undefined;
  /** Absent when the call is done. */
  attempts?: SettledAttempts;
}

/** `isDone`: all mails of the call have an outcome. */
export async function recordCall(
  prepared: PreparedChunk,
  { recipients, call, isDone }: { recipients: ChunkRecipient[]; call: number; isDone: boolean },
  allResults: CallResult[],
): Promise<RecordedCall> {
  const { lastAttempt, recipients: settled } = settledAttemptsOf(prepared.queued, call);
  const results = allResults.filter(({ attempt }) => !attempt || attempt > lastAttempt);
  const loggedCall = isDone ? toLoggedCall(prepared, recipients, allResults) : undefined;
  const { mails, counts } = await recordMails(prepared, recipients, { results, loggedCall });
  const attempts = { lastAttempt: allResults.at(-1)?.attempt ?? 0, recipients: settled + mails };
  return { call, mails, counts, loggedCall, ...(!isDone && { attempts }) };
}

/** An entry of the mail log costs as much as counting 4 mails on their contacts. */
const minLoggedRecipients = 5;

/**
 * The accepted mails for the mail log of the site. Undefined when they are counted on their
 * contacts: mails of other sources, of small calls, and of the rare calls that took several
 * attempts. The decision depends on the stored chunk and results only, so it is the same after a
 * crash.
 */
function toLoggedCall(
  { source, head, queued }: PreparedChunk,
  recipients: ChunkRecipient[],
  results: CallResult[],
): LoggedCall | undefined {
  const [result, ...others] = results;
  if (!head.isLogged || !source || source.kind === "sequence") return undefined;
  if (!result?.at || others.length) return undefined;
  if (recipients.length < minLoggedRecipients) return undefined;
  const accepted = new Set(
    result.outcomes.flatMap(([i, { status }]) => (status === "accepted" ? i : [])),
  );
  const mails = recipients.flatMap((recipient) =>
    recipient.contactId && accepted.has(recipient.i)
      ? { sendId: chunks.sendIdOf(queued.block, recipient), contactId: recipient.contactId }
      : [],
  );
  return { source: { kind: source.kind, id: source.id }, at: result.at, mails };
}

interface MailOutcome {
  recipient: ChunkRecipient;
  outcome: HandOverOutcome;
  result: CallResult;
}

/**
 * Adds accepted mails to their contacts, unless the mail log counts them. Inserts the sends that
 * were not accepted. Returns the number of all of them, and what they count for the mail source.
 */
async function recordMails(
  prepared: PreparedChunk,
  recipients: ChunkRecipient[],
  { results, loggedCall }: Pick<RecordedCall, "loggedCall"> & { results: CallResult[] },
): Promise<Pick<RecordedCall, "mails" | "counts">> {
  const byIndex = new Map(recipients.map((recipient) => [recipient.i, recipient]));
  const mails = results.flatMap((result) =>
    listFinalOutcomes(result).map(
      ([i, outcome]): MailOutcome => ({ recipient: byIndex.get(i)!, outcome, result }),
    ),
  );
  const isInResult = ({ outcome, result }: MailOutcome) =>
    outcome.status === "accepted" && result.at !== undefined;
  const accepted = mails.filter(isInResult);
  const others = mails.filter((mail) => !isInResult(mail));
  const [counts] = await Promise.all([
    recordSends(prepared, others),
    loggedCall ? undefined : addToContacts(prepared, accepted),
  ]);
  return { mails: mails.length, counts: { ...counts, sent: (counts.sent ?? 0) + accepted.length } };
}

async function addToContacts(
  { orgId, queued, head, source }: PreparedChunk,
  mails: MailOutcome[],
): Promise<void> {
  const sends = mails.flatMap(({ recipient, result: { at, contactIds = {} } }) => {
    const contactId = recipient.contactId ?? contactIds[recipient.i];
    if (contactId === undefined) return [];
    return {
      id: chunks.sendIdOf(queued.block, recipient),
      siteId: head.siteId,
      toEmail: recipient.to,
      contactId,
      sentAt: at,
      ...(source && mailSources.toSourceFields(source)),
    };
  });
  const contacts = await engagement.getAddressees(orgId, sends, { consistent: false });
  await engagement.recordSends(orgId, sends, contacts);
}

/** Inserts the sends of these mails, and returns what they count for the mail source. */
async function recordSends(
  prepared: PreparedChunk,
  mails: MailOutcome[],
): Promise<mailSources.SourceCounts> {
  const { orgId } = prepared;
  const sendsWithoutContact = mails.map((mail) => toSend(prepared, mail));
  const contacts = await engagement.getAddressees(orgId, sendsWithoutContact);
  const sends = sendsWithoutContact.map((send, i) => ({
    ...send,
    contactId: send.contactId ?? contacts[i]?.id,
  }));
  const sentSends = sends.filter(({ status }) => status === "sent");
  const sentContacts = contacts.filter((_, i) => sends[i]!.status === "sent");
  const [isNew] = await Promise.all([
    insertSends(orgId, sends),
    engagement.recordSends(orgId, sentSends, sentContacts),
  ]);
  const existing = await completeExisting(
    orgId,
    sends.filter((_, i) => !isNew[i]),
  );
  return addUp(mails.map(({ outcome }, k) => toSourceCounts(outcome, existing.get(sends[k]!.id))));
}

/**
 * For sends that an event or an earlier try inserted first: keeps the state from the event and adds
 * the fields from the provider's response. Returns the sends as they were, by id.
 */
async function completeExisting(orgId: number, sends: SendItem[]): Promise<Map<number, SendItem>> {
  const stored = await getMany<SendItem>(
    sends.map(({ id }) => keys.send(orgId, id)),
    { consistent: true },
  );
  const storedById = new Map(stored.flatMap((send) => (send ? [[send.id, send]] : [])));
  const incomplete = sends.filter(
    ({ id, status }) => status === "sent" && storedById.has(id) && !storedById.get(id)!.sentAt,
  );
  await updateMany(
    incomplete.map(({ id, contactId, provider, providerMessageId, sentAt }) => ({
      key: keys.send(orgId, id),
      set: { contactId, provider, providerMessageId, sentAt },
      ifEquals: { id },
    })),
  );
  return storedById;
}

/** The send of a mail, with its outcome. */
function toSend(
  { orgId, queued, head, transport }: PreparedChunk,
  { recipient, outcome, result }: MailOutcome,
): SendItem {
  const { revision, storedAt } = result;
  const send = toSendItem(head, queued.block, recipient);
  return {
    ...send,
    ...(transport && { provider: transport.provider.key }),
    ...toSendFields(outcome, storedAt),
    ...(transport &&
      outcome.status === "uncertain" &&
      lookUpAttributes(orgId, send.id, { provider: transport.provider, revision })),
  };
}

/**
 * Returns which sends are new. A send that cannot be stored is stored without its metadata, so that
 * it does not block the others.
 */
async function insertSends(orgId: number, sends: SendItem[]): Promise<boolean[]> {
  const insert = (some: SendItem[]) =>
    insertMany(some.map((send) => ({ key: keys.send(orgId, send.id), item: send })));
  try {
    return await insert(sends);
  } catch (error) {
    const each = await inParallel(4, sends, (send) =>
      insert([send]).catch((reason: unknown) => {
        log.error("send stored without its metadata", reason, { orgId, sendId: send.id });
        return insert([{ ...send, metadata: undefined }]);
      }),
    );
    log.error("sends stored one by one", error, { orgId, sends: sends.length });
    return each.flat();
  }
}

/** The lines of a chunk that were refused at its acceptance, such as invalid addresses. */
export const insertRefusedSends = ({ orgId, queued, head, recipients }: PreparedChunk) =>
  insertSends(
    orgId,
    recipients
      .filter(({ error }) => error)
      .map((recipient) => toSendItem(head, queued.block, recipient)),
  );

/** An event that arrived first proves that the mail was sent, whatever the response said. */
const toSourceCounts = (
  outcome: HandOverOutcome,
  existing: SendItem | undefined,
): mailSources.SourceCounts =>
  existing?.early
    ? { sent: 1 }
    : mailSources.countsOfSettled({ status: "failed", ...toSendFields(outcome, "") });

function addUp(changes: mailSources.SourceCounts[]): mailSources.SourceCounts {
  const counts: mailSources.SourceCounts = {};
  for (const [name, n] of changes.flatMap((change) => Object.entries(change)))
    counts[name as mailSources.SourceCounter] =
      (counts[name as mailSources.SourceCounter] ?? 0) + n;
  return counts;
}
