// The verification states of a domain. Pure functions.
import { addSeconds } from "../../../clock.ts";
import type { RecordResult } from "./look-up-records.ts";

export const domainStatuses = ["pending", "verified", "lost", "failed"] as const;
export type DomainStatus = (typeof domainStatuses)[number];

export interface VerificationState {
  status: DomainStatus;
  statusReason: string | null;
  /** When the verification was started (ISO 8601). */
  pendingSince: string;
  verifiedAt: string | null;
  lostAt: string | null;
  /** Null: DNS is no longer checked. */
  nextCheckAt: string | null;
}

const [minute, hour, day] = [60, 3600, 86_400];
export const pendingDays = 30;
export const graceDays = 3;

/**
 * Whether the organization holds the domain, so that no other can verify it. A lost domain stays
 * held for a few days.
 */
export const isHeld = ({ status }: Pick<VerificationState, "status">): boolean =>
  status === "verified" || status === "lost";

/**
 * Returns the verification state after a look-up of the ownership record at `now`, without the
 * other fields of the domain. `ownership` is undefined if DNS did not answer.
 */
export function nextState(
  domain: VerificationState,
  ownership: RecordResult | undefined,
  now: Date,
): VerificationState {
  const current = stateOf(domain);
  if (current.status === "failed" && ownership?.state !== "found") return current;
  if (!ownership)
    return {
      ...current,
      nextCheckAt: timeAfter(
        isHeld(current) ? hour : checkInterval(current.pendingSince, now),
        now,
      ),
    };
  if (ownership.state === "found") return toVerified(current, now);
  return isHeld(current) ? toLost(current, now) : toPending(current, now);
}

const stateOf = ({
  status,
  statusReason,
  pendingSince,
  verifiedAt,
  lostAt,
  nextCheckAt,
}: VerificationState): VerificationState => ({
  status,
  statusReason,
  pendingSince,
  verifiedAt,
  lostAt,
  nextCheckAt,
});

const timeAfter = (seconds: number, now: Date): string => addSeconds(seconds, now).toISOString();

/** Grows with the time since the start: from a minute to six hours. */
const checkInterval = (since: string, now: Date): number =>
  Math.min(Math.max((now.getTime() - Date.parse(since)) / 2000, minute), 6 * hour);

const toVerified = (current: VerificationState, now: Date): VerificationState => ({
  ...current,
  status: "verified",
  statusReason: null,
  verifiedAt: isHeld(current) ? current.verifiedAt : now.toISOString(),
  lostAt: null,
  nextCheckAt: timeAfter(day, now),
});

function toLost(current: VerificationState, now: Date): VerificationState {
  const lostAt = current.lostAt ?? now.toISOString();
  const end = addSeconds(graceDays * day, new Date(lostAt));
  if (now >= end)
    return {
      ...current,
      status: "failed",
      statusReason:
        `The ownership record has been missing for ${graceDays} days: publish it and restart ` +
        "verification with POST /domains",
      nextCheckAt: null,
    };
  const statusReason =
    "The ownership record is missing: publish it again, or the domain stops being verified at " +
    `${end.toISOString()}`;
  return { ...current, status: "lost", statusReason, lostAt, nextCheckAt: timeAfter(hour, now) };
}

function toPending(current: VerificationState, now: Date): VerificationState {
  if (now >= addSeconds(pendingDays * day, new Date(current.pendingSince)))
    return {
      ...current,
      status: "failed",
      statusReason:
        `The ownership record did not appear within ${pendingDays} days: publish it and ` +
        "restart verification with POST /domains",
      nextCheckAt: null,
    };
  return { ...current, nextCheckAt: timeAfter(checkInterval(current.pendingSince, now), now) };
}
