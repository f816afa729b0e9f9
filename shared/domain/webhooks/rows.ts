// What has become of one event at one endpoint. Pure.
import { randomInt } from "node:crypto";
import { after, now } from "../../clock.ts";
import type { OutgoingEvent } from "../../queues.ts";
import type { Outcome } from "./calls.ts";

export const deliveryStatuses = ["pending", "delivered", "dead"] as const;

export interface Row {
  event: OutgoingEvent;
  status: (typeof deliveryStatuses)[number];
  /** Calls made. */
  attempts: number;
  /** Failures since it was announced, or was last to be delivered again: the place in the schedule. */
  tries: number;
  /** When the next call is due (ISO 8601), while pending. */
  nextAt?: string;
  /** Of the last call. */
  attemptedAt?: string;
  responseStatus?: number | null;
  latencyMs?: number;
  error?: string | null;
}

const [minute, hour] = [60, 3600];
/** How long after each failure it is tried again; after the last it is dead. */
export const retrySeconds = [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];

/** Between 0.9 and 1.1: one draw for all rows of a page, so that they stay together. */
export const jitter = (): number => 0.9 + randomInt(200_001) / 1_000_000;

export const fresh = (event: OutgoingEvent): Row => ({ event, status: "pending", attempts: 0, tries: 0, nextAt: now().toISOString() });

// Clocks of two machines differ a little, and a message may be a little early.
const slackSeconds = 1;
export const isDue = ({ status, nextAt }: Row, at: Date): boolean =>
  status === "pending" && nextAt! <= after(slackSeconds, at).toISOString();

/** A row after a call. */
export function attempted(row: Row, { delivered, responseStatus, latencyMs, error }: Outcome, factor: number): Row {
  const { nextAt: _, ...rest } = row;
  const called = { ...rest, attempts: row.attempts + 1, attemptedAt: now().toISOString(), responseStatus, latencyMs, error };
  if (delivered) return { ...called, status: "delivered" };
  const seconds = retrySeconds[row.tries];
  const tries = row.tries + 1;
  if (seconds === undefined) return { ...called, tries, status: "dead" };
  return { ...called, tries, status: "pending", nextAt: after(seconds * factor).toISOString() };
}

/** Nothing was tried, and nothing counts as tried. */
export const waiting = (row: Row, until: Date): Row => ({ ...row, nextAt: until.toISOString() });

export function ended({ nextAt: _, ...row }: Row, error: string): Row {
  return { ...row, status: "dead", error };
}

/** To be told again, with the whole schedule before it. */
export const again = (row: Row): Row => ({ ...row, status: "pending", tries: 0, nextAt: now().toISOString() });
