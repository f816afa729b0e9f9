// What a bench says: one line of progress while it runs, one table at the end.
import { styleText } from "node:util";

export interface Row {
  what: string;
  value: string;
  /** What is aimed for, and whether the value is that good. */
  aim?: { said: string; met: boolean };
  /** Without it something is wrong, and not only slow. */
  must?: true;
  /** Small print. */
  note?: string;
}
export interface Section {
  title: string;
  rows: Row[];
}

export const atMost = (limit: number, value: number, unit = ""): NonNullable<Row["aim"]> => ({
  said: `at most ${number(limit)}${unit && ` ${unit}`}`,
  met: value <= limit,
});

/** A figure that comes from two sides, and must be the same on both. */
export const balance = (what: string, value: number, other: number, note = ""): Row => ({
  what,
  value: number(value),
  aim: { said: `must be ${number(other)}`, met: value === other },
  must: true,
  note,
});

/** Three digits that count, with thousands apart. */
export const number = (value: number): string =>
  value.toLocaleString("en-US", { maximumFractionDigits: value >= 100 ? 0 : value >= 10 ? 1 : 2 });

export const milliseconds = (value: number): string => `${number(value)} ms`;
export const perSecond = (value: number): string => `${number(value)} /s`;

/** The smallest value that at least this share of all values does not pass. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
export const median = (values: number[]): number => percentile(values, 0.5);

let last = "";

/** One line that is written over on a terminal; elsewhere a line for each new thing. Goes to stderr: the table alone is the result. */
export function progress(what: string, done = 0, of = 0): void {
  const bar = of ? ` ${"█".repeat(Math.round((done / of) * 20)).padEnd(20, "░")} ${number(done)} of ${number(of)}` : "";
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${styleText("dim", what + bar, { stream: process.stderr })}`);
  else if (what !== last) process.stderr.write(`${what}\n`);
  last = what;
}

export const progressDone = (): void => {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[2K");
};

/** All sections as one table, its columns as wide as they need be. */
export function table(sections: Section[]): string {
  const rows = sections.flatMap((section) => section.rows);
  const wide = (cell: (row: Row) => string) => Math.max(...rows.map((row) => cell(row).length));
  const [what, value, aim] = [wide((row) => row.what), wide((row) => row.value), wide((row) => row.aim?.said ?? "")];
  const line = (row: Row) => {
    const said = (row.aim?.said ?? "").padEnd(aim);
    const shown = row.value.padStart(value);
    const figure = row.aim ? styleText(row.aim.met ? "green" : "red", shown) : shown;
    return `  ${row.what.padEnd(what)}  ${figure}  ${styleText("dim", `${said}  ${row.note ?? ""}`)}`.trimEnd();
  };
  return sections.map((section) => [styleText("bold", section.title), ...section.rows.map(line), ""].join("\n")).join("\n");
}
