// How a domain comes to be verified, and to be lost again. Pure.
import { after } from "../../clock.ts";
import type { Sight } from "./seen.ts";

export const statuses = ["pending", "verified", "lost", "failed"] as const;
export type Status = (typeof statuses)[number];

export interface Standing {
  status: Status;
  statusReason: string | null;
  /** Since when we look for its record (ISO 8601). */
  pendingSince: string;
  verifiedAt: string | null;
  lostAt: string | null;
  /** null: not any more. */
  nextCheckAt: string | null;
}

const [minute, hour, day] = [60, 3600, 86_400];
export const patienceDays = 30;
export const graceDays = 3;

/** Whether the organization holds the domain: nobody else may, and its mail goes. One that is lost is held for a few days more. */
export const holds = ({ status }: Pick<Standing, "status">): boolean => status === "verified" || status === "lost";

/** What it is after its ownership record was looked for at `at`, and nothing else of whatever has this standing. */
export function next(domain: Standing, ownership: Sight, at: Date): Standing {
  const was = standingOf(domain);
  if (was.status === "failed" && ownership?.state !== "found") return was;
  if (!ownership) return { ...was, nextCheckAt: inSeconds(holds(was) ? hour : waiting(was.pendingSince, at), at) };
  if (ownership.state === "found") return verified(was, at);
  return holds(was) ? lost(was, at) : pending(was, at);
}

const standingOf = ({ status, statusReason, pendingSince, verifiedAt, lostAt, nextCheckAt }: Standing): Standing => ({
  status,
  statusReason,
  pendingSince,
  verifiedAt,
  lostAt,
  nextCheckAt,
});

const inSeconds = (seconds: number, at: Date): string => after(seconds, at).toISOString();

/** The longer it has been, the longer until the next look: from a minute to six hours. */
const waiting = (since: string, at: Date): number => Math.min(Math.max((at.getTime() - Date.parse(since)) / 2000, minute), 6 * hour);

const verified = (was: Standing, at: Date): Standing => ({
  ...was,
  status: "verified",
  statusReason: null,
  verifiedAt: holds(was) ? was.verifiedAt : at.toISOString(),
  lostAt: null,
  nextCheckAt: inSeconds(day, at),
});

function lost(was: Standing, at: Date): Standing {
  const lostAt = was.lostAt ?? at.toISOString();
  const end = after(graceDays * day, new Date(lostAt));
  if (at >= end)
    return { ...was, status: "failed", statusReason: `Its ownership record has been gone for ${graceDays} days`, nextCheckAt: null };
  const statusReason = `Its ownership record is gone: without it the domain is yours until ${end.toISOString()}`;
  return { ...was, status: "lost", statusReason, lostAt, nextCheckAt: inSeconds(hour, at) };
}

function pending(was: Standing, at: Date): Standing {
  if (at >= after(patienceDays * day, new Date(was.pendingSince)))
    return { ...was, status: "failed", statusReason: `Its ownership record did not appear within ${patienceDays} days`, nextCheckAt: null };
  return { ...was, nextCheckAt: inSeconds(waiting(was.pendingSince, at), at) };
}
