// The state of one delivery: one event for one endpoint. Pure functions.
import { randomInt } from "node:crypto";
import { addSeconds, now } from "../../clock.ts";
import type { OutgoingEvent } from "../../queues.ts";
import type { DeliveryAttempt } from "./deliver-event.ts";

export const deliveryStatuses = ["pending", "delivered", "dead"] as const;

export interface DeliveryRow {
  event: OutgoingEvent;
  status: (typeof deliveryStatuses)[number];
  /** Number of calls. */
  attempts: number;
  /** Position in the retry schedule: failed calls since the event was queued or redelivered. */
  tries: number;
  /** Time of the next call (ISO 8601), while pending. */
  nextAt?: string;
  /** Time of the last call; the fields below are its result. */
  attemptedAt?: string;
  responseStatus?: number | null;
  latencyMs?: number;
  responseBody?: string | null;
  error?: string | null;
}

const [minute, hour] = [60, 3600];
/** Delay after each failed call. After the last one the delivery is dead. */
export const retrySeconds = [
  5,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

/**
 * A factor between 0.9 and 1.1. All rows of a batch use the same one, so that they stay together.
 */
export const jitter = (): number => 0.9 + randomInt(200_001) / 1_000_000;

export const newRow = (event: OutgoingEvent): DeliveryRow => ({
  event,
  status: "pending",
  attempts: 0,
  tries: 0,
  nextAt: now().toISOString(),
});

// Two machines' clocks differ a little, and a message may arrive a little early.
const clockToleranceSeconds = 1;
export const isDue = ({ status, nextAt }: DeliveryRow, at: Date): boolean =>
  status === "pending" && nextAt! <= addSeconds(clockToleranceSeconds, at).toISOString();

/** Returns the row after a call: delivered, dead, or pending with the time of the next call. */
export function withAttempt(
  row: DeliveryRow,
  { delivered, responseStatus, responseBody, latencyMs, error }: DeliveryAttempt,
  jitterFactor: number,
): DeliveryRow {
  const { nextAt: _, ...rest } = row;
  const attempted = {
    ...rest,
    attempts: row.attempts + 1,
    attemptedAt: now().toISOString(),
    responseStatus,
    responseBody,
    latencyMs,
    error,
  };
  if (delivered) return { ...attempted, status: "delivered" };
  const seconds = retrySeconds[row.tries];
  const tries = row.tries + 1;
  if (seconds === undefined) return { ...attempted, tries, status: "dead" };
  return {
    ...attempted,
    tries,
    status: "pending",
    nextAt: addSeconds(seconds * jitterFactor).toISOString(),
  };
}

/** Returns the row with a later next call. Does not count as an attempt. */
export const postponed = (row: DeliveryRow, until: Date): DeliveryRow => ({
  ...row,
  nextAt: until.toISOString(),
});

export function markDead({ nextAt: _, ...row }: DeliveryRow, error: string): DeliveryRow {
  return { ...row, status: "dead", error };
}

/** Returns the row pending and due now, with all retries ahead. */
export const resetSchedule = (row: DeliveryRow): DeliveryRow => ({
  ...row,
  status: "pending",
  tries: 0,
  nextAt: now().toISOString(),
});
