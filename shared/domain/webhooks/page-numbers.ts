import { now } from "../../clock.ts";
import { mostOutgoing } from "../../queues.ts";

// A page's number tells its time, in sixteenths of a millisecond, so that a page is found by the number of any of its deliveries
// and pages in order are in order of time. Good for 2^53 until the year 2148.
const perMillisecond = 16;
let last = 0;

/** Two processes may give the same number: who puts a page where another one is takes the next. */
export function nextPage(): number {
  last = Math.max(last + 1, now().getTime() * perMillisecond);
  return last;
}

export const timeOf = (page: number): Date => new Date(Math.floor(page / perMillisecond));

export const deliveryId = (page: number, row: number): number => page * mostOutgoing + row;
export const placeOf = (id: number): { page: number; row: number } => ({ page: Math.floor(id / mostOutgoing), row: id % mostOutgoing });
