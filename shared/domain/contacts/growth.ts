// By how many contacts a site grew on each of its last days, or shrank: attributes of the counters of their number, so that one write
// moves both, and costs no more than the number alone.
import { shifted } from "../insight/spans.ts";

// As far back as a period reaches, and whatever day it is elsewhere.
const keptDays = 92;
// Whoever comes takes away what is past that. What nobody came by for so long stays, and is not read.
const sweptDays = 31;

/** Such as `d261121`: a hundred of them must not make an item of more than 1 KB. */
const attributeOf = (date: string): string => `d${date.slice(2).replaceAll("-", "")}`;

/** For the update of a counter. `date`: of the organization. */
export const growing = (date: string, by: number) => ({
  add: { count: by, [attributeOf(date)]: by },
  remove: Array.from({ length: sweptDays }, (_, i) => attributeOf(shifted(date, -keptDays - i))),
});

export type Counter = { count: number } & Record<string, unknown>;

/** On this day and all that followed. */
export function grownSince(counter: Counter, date: string): number {
  const first = attributeOf(date);
  return Object.entries(counter).reduce((sum, [name, n]) => (/^d\d{6}$/.test(name) && name >= first ? sum + Number(n) : sum), 0);
}
