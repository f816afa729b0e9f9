// The outcomes of the candidates of a campaign by its counters. They are independent of the rows of
// the audit: they change in the transactions of the fan-out, the hand-over and the events.
import { exclusionReasons, type SourceTotals } from "../../sending/mail-sources.ts";
import { countHandedOver } from "../../sending/mailing-stats.ts";
import { type CandidateOutcome, candidateOutcomes } from "./audit-rows.ts";

export type AuditCounts = Partial<Record<CandidateOutcome, number>>;

export function countByTotals(totals: SourceTotals): AuditCounts {
  const { sent, delivered, failed, uncertain, cancelled, queued, sending } = totals;
  const mailed = countHandedOver(totals) - uncertain;
  return {
    mailed,
    failed: sent + delivered + failed - mailed,
    uncertain,
    waiting: queued + sending,
    cancelled,
    ...Object.fromEntries(exclusionReasons.map((reason) => [reason, totals[reason]])),
  };
}

export const sumOf = (counts: AuditCounts): number =>
  Object.values(counts).reduce((sum, n) => sum + n, 0);

/** One sentence for each contradiction between the rows and the counters. */
export function compareWithTotals(counts: AuditCounts, totals: SourceTotals): string[] {
  const byTotals = countByTotals(totals);
  const figures: [what: string, rows: number, counters: number][] = [
    ["candidates", sumOf(counts), totals.candidates],
    // The counters cannot tell every mail that bounced from one that the provider refused.
    [
      "mailed and failed",
      (counts.mailed ?? 0) + (counts.failed ?? 0),
      byTotals.mailed! + byTotals.failed!,
    ],
    ...candidateOutcomes
      .filter((outcome) => outcome !== "mailed" && outcome !== "failed")
      .map((outcome): [string, number, number] => [
        outcome,
        counts[outcome] ?? 0,
        byTotals[outcome] ?? 0,
      ]),
  ];
  return figures.flatMap(([what, rows, counters]) =>
    rows === counters ? [] : [`${what}: ${rows} in the rows, ${counters} by the counters`],
  );
}
