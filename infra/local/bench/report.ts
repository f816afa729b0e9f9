// The output of a bench: one line of progress while it runs, and one table at the end.
import { styleText } from "node:util";

export interface BenchRow {
  what: string;
  value: string;
  /** The target, and whether the value meets it. */
  aim?: { text: string; met: boolean };
  /** A missed target means a bug, and not only a slow run. */
  mustHold?: true;
  /** Small print. */
  note?: string;
}
export interface BenchSection {
  title: string;
  rows: BenchRow[];
}

export const atMost = (limit: number, value: number, unit = ""): NonNullable<BenchRow["aim"]> => ({
  text: `at most ${formatNumber(limit)}${unit && ` ${unit}`}`,
  met: value <= limit,
});

export const atLeast = (limit: number, value: number, unit = ""): NonNullable<BenchRow["aim"]> => ({
  text: `at least ${formatNumber(limit)}${unit && ` ${unit}`}`,
  met: value >= limit,
});

/** A figure that must be equal to one from another source. */
export const equalRow = (
  what: string,
  { value, expected }: { value: number; expected: number },
  note = "",
): BenchRow => ({
  what,
  value: formatNumber(value),
  aim: { text: `must be ${formatNumber(expected)}`, met: value === expected },
  mustHold: true,
  note,
});

/** At least three significant digits, with thousands separators. */
export function formatNumber(value: number): string {
  const significantFractionDigits = value >= 10 ? 1 : 2;
  const maximumFractionDigits = value >= 100 ? 0 : significantFractionDigits;
  return value.toLocaleString("en-US", { maximumFractionDigits });
}

export const formatMs = (value: number): string => `${formatNumber(value)} ms`;
export const formatPerSecond = (value: number): string => `${formatNumber(value)} /s`;

/** The smallest value that at least this share of all values does not exceed. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
export const median = (values: number[]): number => percentile(values, 0.5);

let lastProgress = "";

/**
 * Overwrites one line on a terminal; elsewhere writes a line for each new text. Writes to stderr,
 * because stdout receives only the table.
 */
export function showProgress(what: string, done = 0, of = 0): void {
  const bar = of
    ? ` ${"█".repeat(Math.round((done / of) * 20)).padEnd(20, "░")} ` +
      `${formatNumber(done)} of ${formatNumber(of)}`
    : "";
  if (process.stderr.isTTY)
    process.stderr.write(`\r\x1b[2K${styleText("dim", what + bar, { stream: process.stderr })}`);
  else if (what !== lastProgress) process.stderr.write(`${what}\n`);
  lastProgress = what;
}

export const clearProgress = (): void => {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[2K");
};

/** Formats all sections as one table. */
export function formatTable(sections: BenchSection[]): string {
  const rows = sections.flatMap((section) => section.rows);
  const columnWidth = (cell: (row: BenchRow) => string) =>
    Math.max(...rows.map((row) => cell(row).length));
  const [what, value, aim] = [
    columnWidth((row) => row.what),
    columnWidth((row) => row.value),
    columnWidth((row) => row.aim?.text ?? ""),
  ];
  const line = (row: BenchRow) => {
    const aimText = (row.aim?.text ?? "").padEnd(aim);
    const shown = row.value.padStart(value);
    const figure = row.aim ? styleText(row.aim.met ? "green" : "red", shown) : shown;
    const details = styleText("dim", `${aimText}  ${row.note ?? ""}`);
    return `  ${row.what.padEnd(what)}  ${figure}  ${details}`.trimEnd();
  };
  return sections
    .map((section) => [styleText("bold", section.title), ...section.rows.map(line), ""].join("\n"))
    .join("\n");
}
