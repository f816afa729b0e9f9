// What mailbox providers report about a domain, added up by day. Pure functions.
import type {
  Disposition,
  DmarcReport,
  DmarcRow,
} from "../../../providers/mailbox-reports/dmarc-report.ts";
import type { TlsDomainResult } from "../../../providers/mailbox-reports/tls-report.ts";

/** Emails of one source that a reporter treated alike. */
export interface DmarcDayRow extends Omit<DmarcRow, "ip" | "fromDomain"> {
  /** Null: sources beyond the limit of a day. */
  ip: string | null;
  /** Null: as above. */
  reporter: string | null;
}

export interface TlsDayRow {
  reporter: string | null;
  successful: number;
  failed: number;
}

export interface TlsDayFailure {
  reporter: string | null;
  result: string;
  host: string | null;
  count: number;
}

export interface DmarcDay {
  rows: DmarcDayRow[];
}

export interface TlsDay {
  rows: TlsDayRow[];
  failures: TlsDayFailure[];
}

/** Bounds the size of a day. What exceeds it counts as one row without a source. */
const maxRows = 3000;

/** Adds the rows of a report to those of the day. */
export function addDmarcRows(
  day: DmarcDay | undefined,
  reporter: string,
  rows: DmarcReport["rows"],
): DmarcDay {
  const byKey = new Map((day?.rows ?? []).map((row) => [dmarcKey(row), row]));
  for (const { fromDomain: _, ...row } of rows)
    addCount(byKey, { row: { ...row, reporter }, keyOf: dmarcKey, toRest: toDmarcRest });
  return { rows: [...byKey.values()] };
}

type DmarcKey = [string | null, string | null, Disposition, boolean, boolean];

const dmarcKey = (row: DmarcDayRow): string =>
  JSON.stringify([
    row.ip,
    row.reporter,
    row.disposition,
    row.isDkimAligned,
    row.isSpfAligned,
  ] satisfies DmarcKey);

const toDmarcRest = ({ disposition, isDkimAligned, isSpfAligned, count }: DmarcDayRow) => ({
  ip: null,
  reporter: null,
  disposition,
  isDkimAligned,
  isSpfAligned,
  count,
});

/** Adds the sessions of a report to those of the day. */
export function addTlsResult(
  day: TlsDay | undefined,
  reporter: string,
  { successful, failed, failures }: TlsDomainResult,
): TlsDay {
  const rows = new Map((day?.rows ?? []).map((row) => [row.reporter, { ...row }]));
  const known = rows.has(reporter) || rows.size < maxRows ? reporter : null;
  const before = rows.get(known) ?? { reporter: known, successful: 0, failed: 0 };
  rows.set(known, {
    reporter: known,
    successful: before.successful + successful,
    failed: before.failed + failed,
  });
  const byKey = new Map((day?.failures ?? []).map((row) => [tlsKey(row), row]));
  for (const { result, host = null, count } of failures)
    addCount(byKey, {
      row: { reporter, result, host, count },
      keyOf: tlsKey,
      toRest: toTlsRest,
    });
  return { rows: [...rows.values()], failures: [...byKey.values()] };
}

const tlsKey = ({ reporter, result, host }: TlsDayFailure): string =>
  JSON.stringify([reporter, result, host]);

const toTlsRest = ({ count }: TlsDayFailure): TlsDayFailure => ({
  reporter: null,
  result: "other",
  host: null,
  count,
});

interface AddedRow<T> {
  row: T;
  keyOf: (row: T) => string;
  /** The row that gets the count when the day is full. */
  toRest: (row: T) => T;
}

function addCount<T extends { count: number }>(
  byKey: Map<string, T>,
  { row, keyOf, toRest }: AddedRow<T>,
): void {
  const fits = byKey.has(keyOf(row)) || byKey.size < maxRows;
  const added = fits ? row : toRest(row);
  const key = keyOf(added);
  const before = byKey.get(key);
  byKey.set(key, before ? { ...before, count: before.count + added.count } : added);
}
