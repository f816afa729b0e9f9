// Log of the mails that campaigns and holidays handed over to contacts of a site: one entry for
// each settled provider call. The transaction that settles the call stores the entry, so each mail
// is in the log exactly once. fold-mail-log.ts moves the entries into buckets of counts and lists
// of who got what. Counting on each contact would cost a write per mail.
// An entry has no address, so it need not change when a person is erased.
import { put, queryAll, update, type Write, write } from "../../../adapters/dynamodb/table.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import type { SiteRef } from "../../../caller.ts";
import { addSeconds, now } from "../../../clock.ts";
import { type CompressedValue, compress, decompress } from "../../../kernel/compressed-values.ts";
import type { Leased } from "../../../kernel/leases.ts";
import {
  type CallKey,
  dueShardOf,
  indexAttributes,
  indexes,
  keys,
  ranges,
  zeroPad,
} from "../../../keys.ts";
import { queues } from "../../../queues.ts";

/** The kinds of mail sources that reach an audience once. Sequences count on the contact. */
export interface BroadcastSource {
  kind: "campaign" | "holiday";
  id: number;
}

/** One mail that the provider accepted. */
export interface LoggedMail {
  sendId: number;
  contactId: number;
}

/** The accepted mails of one call. */
export interface LoggedCall {
  source: BroadcastSource;
  /** When the provider responded (ISO 8601). */
  at: string;
  mails: LoggedMail[];
}

/** As stored: the contact id of each send from `first` on. 0: not accepted, or not of a contact. */
interface StoredCall {
  source: BroadcastSource;
  at: string;
  first: number;
  contactIds: number[];
}

/** The item before the entries. */
export interface MailLogState extends Leased {
  orgId: number;
  siteId: number;
  /** Number of the last fold that began. */
  fold?: number;
  /** Sort keys of the entries of that fold, until it is done. */
  folding?: string[];
  /** When a runner last announced entries (ISO 8601). */
  markedAt?: string;
}

export interface MailLogEntry extends LoggedCall {
  sk: string;
}

export interface MailLog {
  state: MailLogState | undefined;
  entries: MailLogEntry[];
}

/** Stores the entry of a call. Only for the transaction that settles the call. */
export async function logCallWrite(
  { orgId, siteId }: SiteRef,
  call: CallKey,
  { source, at, mails }: LoggedCall,
): Promise<Write> {
  const key = keys.mailLogEntry(orgId, siteId, call);
  const first = Math.min(...mails.map(({ sendId }) => sendId));
  const contactIds: number[] = [];
  for (const { sendId, contactId } of mails) contactIds[sendId - first] = contactId;
  const stored: StoredCall = {
    source: { kind: source.kind, id: source.id },
    at,
    first,
    contactIds: Array.from(contactIds, (id) => id ?? 0),
  };
  return put(key, await compress(key, stored));
}

/**
 * The whole log. The state is read before the entries, so an entry that is missing was folded by
 * the fold that the state names, or by a later one.
 */
export async function readMailLog(
  { orgId, siteId }: SiteRef,
  { consistent = true } = {},
): Promise<MailLog> {
  const items = await queryAll<{ sk: string } & CompressedValue>(ranges.mailLog(orgId, siteId), {
    consistent,
  });
  const stateKey = keys.mailLogState(orgId, siteId).sk;
  const [state] = items.filter(({ sk }) => sk === stateKey);
  const entries = items.filter(({ sk }) => sk !== stateKey);
  return {
    state: state as MailLogState | undefined,
    entries: await Promise.all(entries.map(toEntry)),
  };
}

async function toEntry({ sk, ...item }: { sk: string } & CompressedValue): Promise<MailLogEntry> {
  const { source, at, first, contactIds } = await decompress<StoredCall>(item);
  const mails = contactIds.flatMap((contactId, i) =>
    contactId ? [{ sendId: first + i, contactId }] : [],
  );
  return { sk, source, at, mails };
}

/** Identifies a broadcast in the sort keys of what is stored about its mails. */
export const positionOfSource = ({ kind, id }: BroadcastSource): string =>
  `${kind}#${zeroPad(id)}#`;

const markSeconds = 60;
/** If no runner has marked the log for this time, no call adds entries. */
export const idleSeconds = 3 * markSeconds;
/** How long the due index waits before it starts a fold. */
const foldDelaySeconds = 2 * markSeconds;
const mailsPerFoldMessage = 5_000;
const maxAnnounced = 1000;

/** What this process announced for each site. */
const announced = new Map<string, { markedAt: Date; mails: number }>();

/**
 * Makes sure that the log is folded. Runners call it before they add `mails` to the log. Without it
 * answers are the same, but cost more to read.
 */
export async function announceMails(site: SiteRef, mails: number): Promise<void> {
  const name = `${site.orgId}/${site.siteId}`;
  const known = announced.get(name);
  const time = now();
  if (announced.size >= maxAnnounced) announced.clear();
  if (!known || known.markedAt < addSeconds(-markSeconds, time)) {
    announced.set(name, { markedAt: time, mails: (known?.mails ?? 0) + mails });
    await markLog(site);
  } else known.mails += mails;
  const current = announced.get(name);
  if (!current || current.mails < mailsPerFoldMessage) return;
  current.mails = 0;
  await enqueueFold(site);
}

/** A log that waits for its fold keeps its due time: a slow campaign marks it every minute. */
const markLog = ({ orgId, siteId }: SiteRef): Promise<void> =>
  write(
    update(keys.mailLogState(orgId, siteId), {
      set: { orgId, siteId, markedAt: now().toISOString() },
      setIfAbsent: foldDueAttributes(siteId),
    }),
  );

export const foldDueAttributes = (siteId: number) =>
  indexAttributes(
    indexes.due("MAILLOG", dueShardOf(siteId)),
    addSeconds(foldDelaySeconds).toISOString(),
  );

export const enqueueFold = ({ orgId, siteId }: SiteRef): Promise<void> =>
  enqueue(queues.jobs, [{ job: "fold-mail-log", orgId, siteId }], { group: orgId });
