// Adds DMARC and TLS reports to the days of the domains that they are about. A mark of each report
// is written together with the days, so a report counts once, however often it comes.
import { equals, isNew } from "../../../adapters/dynamodb/conditions.ts";
import { get, getMany, put, type Write, write } from "../../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds } from "../../../clock.ts";
import { type CompressedValue, compress, decompress } from "../../../kernel/compressed-values.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { keys } from "../../../keys.ts";
import type { DmarcReport } from "../../../providers/mailbox-reports/dmarc-report.ts";
import type { MailboxReport } from "../../../providers/mailbox-reports/mailbox-report.ts";
import type { TlsReport } from "../../../providers/mailbox-reports/tls-report.ts";
import type { DomainByName } from "../domains/domains-by-name.ts";
import { addDmarcRows, addTlsResult, type DmarcDay, type TlsDay } from "./report-days.ts";

/** Ids of sender domains by name. */
export type ReportedDomains = ReadonlyMap<string, number>;

/** The stored day of a domain. */
export interface ReportDayItem extends CompressedValue {
  /** Grows with every report. A write needs the revision it was based on. */
  revision: number;
  reports: number;
  /** Epoch seconds. */
  expires: number;
}

const keptDays = 100;
const daySeconds = 86_400;
const maxDomains = 10;
const maxLookUps = 100;

/**
 * The domains of the organization that the report is about, at most 10. None for a report about a
 * time that is over 100 days ago or has not come yet.
 */
export async function findReportedDomains(
  orgId: number,
  report: MailboxReport,
): Promise<ReportedDomains> {
  const [oldest, newest] = [addSeconds(-keptDays * daySeconds), addSeconds(2 * daySeconds)];
  if (report.from < oldest.getTime() || report.to > newest.getTime()) return new Map();
  const names = [...new Set(listNames(report))].slice(0, maxLookUps);
  const found = await getMany<DomainByName>(names.map((name) => keys.domainName(orgId, name)));
  const known = names.flatMap((name, i): [string, number][] =>
    found[i] ? [[name, found[i].domainId]] : [],
  );
  return new Map(known.slice(0, maxDomains));
}

const listNames = (report: MailboxReport): string[] =>
  report.kind === "dmarc"
    ? [report.domain, ...report.rows.map(({ fromDomain }) => fromDomain)]
    : report.domains.map(({ domain }) => domain);

/** Safe to repeat. */
export async function storeReport(
  orgId: number,
  report: MailboxReport,
  domains: ReportedDomains,
): Promise<void> {
  const identity = JSON.stringify([report.kind, report.reporter.toLowerCase(), report.reportId]);
  const markKey = keys.countedReport(orgId, identity);
  const day = { orgId, date: dateOf(report) };
  const expires = epochSeconds(addSeconds(keptDays * daySeconds));
  await retryOnConflict("The report", async () => {
    if (await get(markKey)) return;
    const writes =
      report.kind === "dmarc"
        ? await dmarcWrites(day, report, domains)
        : await tlsWrites(day, report, domains);
    await write(put(markKey, { expires }, { if: isNew }), ...writes);
  });
}

/** The day (UTC) of the middle of the time, because some reports begin before midnight. */
const dateOf = ({ from, to }: MailboxReport): string =>
  new Date((from + to) / 2).toISOString().slice(0, 10);

interface ReportDay {
  orgId: number;
  date: string;
}

/** A row counts for the domain in From, or for the one with the policy. */
async function dmarcWrites(
  day: ReportDay,
  { reporter, domain, rows }: DmarcReport,
  domains: ReportedDomains,
): Promise<Write[]> {
  const byDomain = Map.groupBy(
    rows,
    ({ fromDomain }) => domains.get(fromDomain) ?? domains.get(domain),
  );
  const own = [...byDomain].flatMap(([id, ofDomain]) =>
    id === undefined ? [] : [{ id, ofDomain }],
  );
  return inParallel(4, own, ({ id, ofDomain }) =>
    dayWrite<DmarcDay>(keys.domainReportDay(day.orgId, id, { kind: "DMARC", date: day.date }), {
      date: day.date,
      add: (before) => addDmarcRows(before, reporter, ofDomain),
    }),
  );
}

async function tlsWrites(
  day: ReportDay,
  { reporter, domains: results }: TlsReport,
  domains: ReportedDomains,
): Promise<Write[]> {
  const byDomain = [...Map.groupBy(results, ({ domain }) => domains.get(domain))];
  const own = byDomain.flatMap(([id, ofDomain]) => (id === undefined ? [] : [{ id, ofDomain }]));
  return inParallel(4, own, ({ id, ofDomain }) =>
    dayWrite<TlsDay>(keys.domainReportDay(day.orgId, id, { kind: "TLS", date: day.date }), {
      date: day.date,
      add: (before) =>
        ofDomain.reduce<TlsDay | undefined>(
          (sum, result) => addTlsResult(sum, reporter, result),
          before,
        )!,
    }),
  );
}

async function dayWrite<T>(
  key: ReturnType<typeof keys.domainReportDay>,
  { date, add }: { date: string; add: (before: T | undefined) => T },
): Promise<Write> {
  const before = await get<ReportDayItem>(key);
  const value = add(before && (await decompress<T>(before)));
  const expires = addSeconds(keptDays * daySeconds, new Date(`${date}T00:00:00Z`));
  const item: ReportDayItem = {
    revision: (before?.revision ?? 0) + 1,
    reports: (before?.reports ?? 0) + 1,
    expires: epochSeconds(expires),
    ...(await compress(key, value)),
  };
  return put(key, item, { if: before ? equals("revision", before.revision) : isNew });
}
