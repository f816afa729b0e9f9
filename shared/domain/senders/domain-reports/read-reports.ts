// What mailbox providers reported about a domain in a period.
import * as z from "zod";
import { queryAll } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { epochSeconds } from "../../../clock.ts";
import { type DateRange, listDates } from "../../../kernel/calendar-dates.ts";
import { decompress } from "../../../kernel/compressed-values.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { rate } from "../../../kernel/rates.ts";
import { Count, Day } from "../../../kernel/record-fields.ts";
import * as records from "../../../kernel/records.ts";
import { type Key, ranges } from "../../../keys.ts";
import type { DomainRecord } from "../domains/check-domain.ts";
import type { DmarcDay, DmarcDayRow, TlsDay, TlsDayFailure } from "./report-days.ts";
import type { ReportDayItem } from "./store-report.ts";

const periodFields = {
  from: Day.describe("First day of the period (UTC)."),
  to: Day.describe("Last day of the period."),
  reports: Count.describe("Number of reports that were received."),
};

const messageFields = {
  messages: Count.describe("Emails that receivers reported."),
  passed: Count.describe("Emails that passed DMARC: DKIM or SPF was aligned."),
  passRate: z.number().describe("passed / messages, 0 to 1"),
};

const resultFields = {
  ...messageFields,
  dkimAligned: Count.describe("Emails whose DKIM signature passed for the domain in From."),
  spfAligned: Count.describe("Emails whose return address passed SPF for the domain in From."),
  quarantined: Count.describe("Emails that went to spam because of the policy."),
  rejected: Count.describe("Emails that were refused because of the policy."),
};

const DmarcSource = z
  .object({
    ip: z
      .string()
      .nullable()
      .describe("IP address of the server. `null`: those beyond 3,000 on one day, together."),
    dkimDomain: z
      .string()
      .nullable()
      .describe("Domain that signed the email, such as that of a provider. `null`: none."),
    spfDomain: z.string().nullable().describe("Domain of the return address, or `null`."),
    ...resultFields,
    reporters: z.array(z.string()).describe("Who reported it, at most 5."),
    lastDay: Day.describe("Last day on which it was reported."),
  })
  .meta({ id: "DmarcSource" });

export const DmarcReports = z
  .object({
    ...periodFields,
    ...resultFields,
    sourceCount: Count.describe("Number of sources, also of those that are not listed."),
    sources: z
      .array(DmarcSource)
      .describe(
        "Servers that sent email with the domain in From, at most 200. Those with the most email " +
          "that did not pass come first, then those with the most email.",
      ),
    reporters: z
      .array(
        z
          .object({ reporter: z.string().describe("Name of the receiver."), ...messageFields })
          .meta({ id: "DmarcReporter" }),
      )
      .describe("The 50 receivers with the most email."),
    days: z
      .array(
        z
          .object({ date: Day.describe("The day (UTC)."), ...messageFields })
          .meta({ id: "DmarcDay" }),
      )
      .describe("Figures of each day, oldest first."),
  })
  .meta({ id: "DmarcReports" });
export type DmarcReports = z.output<typeof DmarcReports>;

const sessionFields = {
  successful: Count.describe("Connections that were encrypted as the policy asks."),
  failed: Count.describe("Connections that were not, so that email may not have arrived."),
};

export const TlsReports = z
  .object({
    ...periodFields,
    ...sessionFields,
    failureRate: z.number().describe("failed / all connections, 0 to 1"),
    failures: z
      .array(
        z
          .object({
            result: z
              .string()
              .describe("Reason, in the words of RFC 8460, such as `certificate-expired`."),
            host: z.string().nullable().describe("Your mail server, or `null` if unknown."),
            sessions: Count.describe("Connections that failed."),
            reporters: z.array(z.string()).describe("Who reported it, at most 5."),
            lastDay: Day.describe("Last day on which it was reported."),
          })
          .meta({ id: "TlsFailure" }),
      )
      .describe("Failures by reason and mail server, most frequent first, at most 200."),
    days: z
      .array(
        z.object({ date: Day.describe("The day (UTC)."), ...sessionFields }).meta({ id: "TlsDay" }),
      )
      .describe("Figures of each day, oldest first."),
  })
  .meta({ id: "TlsReports" });
export type TlsReports = z.output<typeof TlsReports>;

const maxShown = 200;
const maxReporters = 50;
const maxReportersOfRow = 5;

/** Throws 404. */
export async function getDmarcReports(
  caller: CallerScope,
  id: number,
  span: DateRange,
): Promise<DmarcReports> {
  const days = await readDays<DmarcDay>(caller, { id, kind: "DMARC", span });
  const rows = days.flatMap(({ date, value }) => value.rows.map((row) => ({ ...row, date })));
  const sources = [...Map.groupBy(rows, ({ ip }) => ip)].map(([ip, ofSource]) =>
    toSource(ip, ofSource),
  );
  const reporters = [...Map.groupBy(rows, ({ reporter }) => reporter)].flatMap(
    ([reporter, ofReporter]) =>
      reporter === null ? [] : [{ reporter, ...countMessages(ofReporter) }],
  );
  const byDate = Map.groupBy(rows, ({ date }) => date);
  return {
    ...span,
    reports: days.reduce((sum, { reports }) => sum + reports, 0),
    ...countResults(rows),
    sourceCount: sources.length,
    sources: sources
      .toSorted((a, b) => failedOf(b) - failedOf(a) || b.messages - a.messages)
      .slice(0, maxShown),
    reporters: reporters.toSorted((a, b) => b.messages - a.messages).slice(0, maxReporters),
    days: listDates(span).map((date) => ({ date, ...countMessages(byDate.get(date) ?? []) })),
  };
}

const failedOf = ({ messages, passed }: { messages: number; passed: number }): number =>
  messages - passed;

type DatedRow = DmarcDayRow & { date: string };

const toSource = (ip: string | null, rows: DatedRow[]): z.output<typeof DmarcSource> => ({
  ip,
  dkimDomain: rows.find(({ dkimDomain }) => dkimDomain)?.dkimDomain ?? null,
  spfDomain: rows.find(({ spfDomain }) => spfDomain)?.spfDomain ?? null,
  ...countResults(rows),
  ...reportersOf(rows),
});

const reportersOf = (rows: { reporter: string | null; date: string }[]) => ({
  reporters: [...new Set(rows.flatMap(({ reporter }) => reporter ?? []))].slice(
    0,
    maxReportersOfRow,
  ),
  lastDay: rows.reduce((last, { date }) => (date > last ? date : last), ""),
});

const sumOf = <T extends { count: number }>(rows: T[], fits: (row: T) => boolean = () => true) =>
  rows.reduce((sum, row) => sum + (fits(row) ? row.count : 0), 0);

function countMessages(rows: DmarcDayRow[]) {
  const messages = sumOf(rows);
  const passed = sumOf(rows, (row) => row.isDkimAligned || row.isSpfAligned);
  return { messages, passed, passRate: rate(passed, messages) };
}

const countResults = (rows: DmarcDayRow[]) => ({
  ...countMessages(rows),
  dkimAligned: sumOf(rows, ({ isDkimAligned }) => isDkimAligned),
  spfAligned: sumOf(rows, ({ isSpfAligned }) => isSpfAligned),
  quarantined: sumOf(rows, ({ disposition }) => disposition === "quarantine"),
  rejected: sumOf(rows, ({ disposition }) => disposition === "reject"),
});

/** Throws 404. */
export async function getTlsReports(
  caller: CallerScope,
  id: number,
  span: DateRange,
): Promise<TlsReports> {
  const days = await readDays<TlsDay>(caller, { id, kind: "TLS", span });
  const failures = days.flatMap(({ date, value }) =>
    value.failures.map((failure) => ({ ...failure, date })),
  );
  const groups = Map.groupBy(failures, ({ result, host }) => JSON.stringify([result, host]));
  const byDate = new Map(days.map(({ date, value }) => [date, value.rows]));
  const { successful, failed } = countSessions(days.flatMap(({ value }) => value.rows));
  return {
    ...span,
    reports: days.reduce((sum, { reports }) => sum + reports, 0),
    successful,
    failed,
    failureRate: rate(failed, successful + failed),
    failures: [...groups.values()]
      .map(toFailure)
      .toSorted((a, b) => b.sessions - a.sessions)
      .slice(0, maxShown),
    days: listDates(span).map((date) => ({ date, ...countSessions(byDate.get(date) ?? []) })),
  };
}

const toFailure = (group: (TlsDayFailure & { date: string })[]) => ({
  result: group[0]!.result,
  host: group[0]!.host,
  sessions: sumOf(group),
  ...reportersOf(group),
});

const countSessions = (rows: TlsDay["rows"]) => ({
  successful: rows.reduce((sum, row) => sum + row.successful, 0),
  failed: rows.reduce((sum, row) => sum + row.failed, 0),
});

interface DaysRequest {
  id: number;
  kind: "DMARC" | "TLS";
  span: DateRange;
}

async function readDays<T>(caller: CallerScope, { id, kind, span }: DaysRequest) {
  await records.find<DomainRecord>("DOMAIN", caller, id);
  const items = await queryAll<ReportDayItem & Key>(ranges.domainReportDays(caller.orgId, id), {
    between: [`${kind}#${span.from}`, `${kind}#${span.to}`],
  });
  const kept = items.filter(({ expires }) => expires > epochSeconds());
  return inParallel(8, kept, async (item) => ({
    date: item.sk.slice(kind.length + 1),
    reports: item.reports,
    value: await decompress<T>(item),
  }));
}
