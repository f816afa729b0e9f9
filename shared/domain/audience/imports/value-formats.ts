// How a file writes numbers and dates: the decimal mark, and the order of day and month. It is
// detected from all cells of the columns whose fields are declared as numbers or dates.
import { dateOrders, decimalMarks, type ValueFormat } from "../contacts/parse-field-value.ts";
import type { ImportColumn } from "./import-options.ts";

export type FileFormat = Omit<ValueFormat, "timezone">;

/** What the cells of one column show. */
export interface FormatEvidence {
  /** Numbers whose decimal mark this must be. */
  point?: true;
  comma?: true;
  /** Dates such as 20/11/2026. */
  dayFirst?: true;
  /** Dates such as 11/20/2026. */
  monthFirst?: true;
  /** Dates such as 3/4/2026. */
  unclear?: true;
}

const maxCellLength = 60;

/** Adds what the cells of a row show to the evidence, which is by index of the column. */
export function addFormatEvidence(evidence: FormatEvidence[], cells: string[]): void {
  for (const [i, cell] of cells.entries()) {
    const fact = cell.length <= maxCellLength ? factOf(cell.trim()) : undefined;
    if (!fact) continue;
    // A stored list has no gaps.
    while (evidence.length <= i) evidence.push({});
    evidence[i]![fact] = true;
  }
}

const factOf = (cell: string): keyof FormatEvidence | undefined =>
  /^[+-]?[\d.]/.test(cell) ? (dateFact(cell) ?? numberFact(cell)) : undefined;

function dateFact(cell: string): keyof FormatEvidence | undefined {
  const found = /^(\d{1,2})([-/])(\d{1,2})\2\d{4}\b/.exec(cell);
  const [first, second] = [Number(found?.[1]), Number(found?.[3])];
  if (!found || first === second) return undefined;
  if (first > 12) return "dayFirst";
  return second > 12 ? "monthFirst" : "unclear";
}

function numberFact(cell: string): keyof FormatEvidence | undefined {
  const marks = /^[+-]?\d*(?:[.,' \u00a0\u202f\u2019]\d+)+$/.test(cell)
    ? cell.replace(/[^.,]/g, "")
    : "";
  const last = marks.at(-1);
  if (!last) return undefined;
  const [name, other] =
    last === "." ? (["point", "comma"] as const) : (["comma", "point"] as const);
  // A mark that comes twice groups thousands.
  if (marks.length > 1) return marks.at(-2) === last ? other : name;
  const [whole = "", rest = ""] = cell.split(last);
  const mayGroup = rest.length === 3 && /^[+-]?[1-9]\d{0,2}$/.test(whole);
  return mayGroup ? undefined : name;
}

/** The given format, and what the evidence adds to it. The decimal mark is a point by default. */
export function detectValueFormat(
  { decimalMark, dateOrder }: FileFormat,
  columns: ImportColumn[],
  evidence: FormatEvidence[],
): FileFormat {
  const shows = (fact: keyof FormatEvidence, types: ImportColumn["type"][]) =>
    columns.some(({ type }, i) => types.includes(type) && evidence[i]?.[fact]);
  const [point, comma] = [shows("point", ["number"]), shows("comma", ["number"])];
  const isDayFirst = shows("dayFirst", dateTypes);
  const isMonthFirst = shows("monthFirst", dateTypes);
  const [dmy, mdy] = dateOrders;
  const [pointMark, commaMark] = decimalMarks;
  const detectedOrder = isDayFirst ? dmy : mdy;
  return {
    decimalMark: decimalMark ?? (comma && !point ? commaMark : pointMark),
    dateOrder: dateOrder ?? (isDayFirst === isMonthFirst ? undefined : detectedOrder),
  };
}

const dateTypes: ImportColumn["type"][] = ["date", "datetime"];

/** Why the file cannot be imported with this format, or undefined. */
export function findFormatProblem(
  { dateOrder }: FileFormat,
  columns: ImportColumn[],
  evidence: FormatEvidence[],
): string | undefined {
  if (dateOrder) return undefined;
  const unclear = columns.filter(({ type }, i) => dateTypes.includes(type) && evidence[i]?.unclear);
  if (!unclear.length) return undefined;
  const names = unclear.slice(0, 10).map(({ header }) => `"${header.slice(0, 100)}"`);
  return (
    `Dates in ${names.join(", ")}, such as 03/04/2026, can begin with the day or with the month: ` +
    "set dateOrder to dmy (day first) or mdy (month first)"
  );
}
