// Departure log: contacts and addresses that became unreachable for marketing email, by time. Each
// entry is written in the transaction of the change. A lane runner reads the end of the log before
// a call, instead of reading all recipients again.
import { put, queryPages, type Write, write } from "../../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds, now } from "../../../clock.ts";
import { randomBase62 } from "../../../ids.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { createSharedReads } from "../../../kernel/shared-reads.ts";
import { keys, ranges, sha256 } from "../../../keys.ts";

export interface Departures {
  contactIds?: number[];
  emails?: string[];
}

interface DepartureEntry {
  sk: string;
  contactIds?: number[];
  /** Start of the hash of each address. */
  addresses?: string[];
}

const daySeconds = 24 * 3600;
const keptSeconds = 8 * daySeconds;
/** What was read longer ago than this has to be read again. */
const maxAgeSeconds = 7 * daySeconds;
/** More than the time that a transaction takes, and a difference between clocks. */
const marginSeconds = 60;
const maxCommitSeconds = 30;

/**
 * Every change that makes addresses unreachable is committed here, and every one of contacts, by
 * `commitContactChanges`. `commit` adds the given writes to its transaction, and is called once.
 */
export async function commitDepartures<T>(
  orgId: number,
  departures: Departures,
  commit: (logWrites: Write[]) => Promise<T>,
): Promise<T> {
  if (!departures.contactIds?.length && !departures.emails?.length) return commit([]);
  const at = now();
  const result = await commit([departureWrite(orgId, departures, at)]);
  // Runners read the end of the log only. A process that was frozen during the commit has put its
  // entry too far back.
  if (isSlow(at)) await logDepartures(orgId, departures);
  return result;
}

/** For a change that an earlier request may have committed without finishing. */
export async function logDepartures(orgId: number, departures: Departures): Promise<void> {
  let at: Date;
  do {
    at = now();
    await write(departureWrite(orgId, departures, at));
  } while (isSlow(at));
}

const isSlow = (since: Date): boolean =>
  now().getTime() - since.getTime() > maxCommitSeconds * 1000;

const departureWrite = (
  orgId: number,
  { contactIds = [], emails = [] }: Departures,
  at: Date,
): Write =>
  put(keys.departure(orgId, `${at.toISOString()}#${randomBase62(8)}`), {
    ...(contactIds.length && { contactIds }),
    ...(emails.length && { addresses: emails.map(toAddressHash) }),
    expires: epochSeconds() + keptSeconds,
  });

const toAddressHash = (email: string): string => sha256(normalizeEmail(email)).slice(0, 16);

interface Recipient {
  to: string;
  contactId?: number | undefined;
}

export interface DepartureReader {
  /**
   * Returns the recipients that may have become unreachable since they were read at `readAt`. The
   * log is read after this call, so it has every change that was answered before.
   */
  filterDeparted<R extends Recipient>(recipients: R[], readAt: string): Promise<R[]>;
}

// A reader with more entries takes every recipient as departed.
const maxEntries = 100_000;
const pageSize = 1000;

/** `readAt` is recent enough for the log. */
export const isCovered = (readAt: string): boolean =>
  readAt > addSeconds(-maxAgeSeconds).toISOString();

const withMargin = (time: string): string =>
  addSeconds(-marginSeconds, new Date(time)).toISOString();

/** Calls that wait for the log at the same time share one read, which starts after all of them. */
export function createDepartureReader(orgId: number): DepartureReader {
  const lastByContact = new Map<number, string>();
  const lastByAddress = new Map<string, string>();
  const isFull = () => lastByContact.size + lastByAddress.size >= maxEntries;
  let coveredFrom: string | undefined;
  let readUntil = "";
  let wantedFrom: string | undefined;
  const readTogether = createSharedReads<void>();

  const addEntry = ({ sk, contactIds = [], addresses = [] }: DepartureEntry) => {
    for (const id of contactIds) lastByContact.set(id, maxOf(lastByContact.get(id), sk));
    for (const hash of addresses) lastByAddress.set(hash, maxOf(lastByAddress.get(hash), sk));
  };
  const readLog = async (): Promise<void> => {
    const startedAt = now().toISOString();
    const from = wantedFrom!;
    const isEarlier = coveredFrom === undefined || from < coveredFrom;
    const after = isEarlier ? from : withMargin(readUntil);
    const options = { limit: pageSize, after, consistent: true };
    for await (const page of queryPages<DepartureEntry>(ranges.departures(orgId), options)) {
      page.items.forEach(addEntry);
      if (isFull()) break;
    }
    if (isEarlier) coveredFrom = from;
    readUntil = startedAt;
  };
  const readAfterNow = (from: string): Promise<void> => {
    wantedFrom = wantedFrom === undefined || from < wantedFrom ? from : wantedFrom;
    return readTogether("log", readLog);
  };
  return {
    async filterDeparted(recipients, readAt) {
      const from = withMargin(readAt);
      await readAfterNow(from);
      if (isFull()) return recipients;
      // An erased recipient has no contact any more.
      return recipients.filter(
        ({ to, contactId }) =>
          contactId === undefined ||
          (lastByContact.get(contactId) ?? "") > from ||
          (lastByAddress.size > 0 && (lastByAddress.get(toAddressHash(to)) ?? "") > from),
      );
    },
  };
}

const maxOf = (a: string | undefined, b: string): string => (a !== undefined && a > b ? a : b);
