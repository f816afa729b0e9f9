// The jobs of an organization: long work such as imports. Each job is an item with its own
// progress. An index lists these items, running ones first, then newest first. It costs one write
// when a job starts and two when it ends.
import type { Caller } from "../caller.ts";
import { indexAttributes, indexes, type Key, zeroPad } from "../keys.ts";
import { positionParts } from "./paging.ts";

export const jobTypes = [
  "import",
  "export",
  "contact_action",
  "campaign_audit",
  "field_conversion",
  "site_erasure",
] as const;
export type JobType = (typeof jobTypes)[number];

export const jobStatuses = ["running", "completed", "failed", "cancelled"] as const;
/** A job that waits for a worker is running, too. */
export type JobStatus = (typeof jobStatuses)[number];

export const jobStarterTypes = ["user", "api_key"] as const;
export interface JobStarter {
  type: (typeof jobStarterTypes)[number];
  id: number;
}

/** Attributes of the item of a listed job. */
export interface JobAttributes {
  /** Position in the index. */
  newsk: string;
  /** Absent if the service started it. */
  startedBy?: JobStarter;
  finishedAt?: string;
}

export interface JobRef {
  type: JobType;
  /** Id of the record that the job belongs to: unique for the type. */
  id: number;
  /** Null for a job of the organization. */
  siteId: number | null;
  createdAt: string;
}

export interface JobEntry extends Key {
  newsk: string;
}

const [endedRank, runningRank] = ["0", "1"];
/** All ended jobs sort below it, and all running ones above. */
export const belowRunning = runningRank;
export const jobPositionPattern = new RegExp(
  `^[01]#${positionParts.time}#[a-z_]+#${positionParts.id}#${positionParts.id}(#[a-z]+)?$`,
);

/** The attributes that list a job from its start on. */
export function startedJobAttributes(
  orgId: number,
  { type, id, siteId, createdAt }: JobRef,
): IndexPosition {
  const newsk = [runningRank, createdAt, type, zeroPad(siteId ?? 0), zeroPad(id)].join("#");
  return { ...indexAttributes(indexes.jobs(orgId), newsk), newsk };
}

/** The attributes of a running job that ends. */
export function endedJobAttributes({ newsk }: IndexPosition, status: JobStatus): IndexPosition {
  const [, ...position] = newsk.split("#");
  return { newsk: [endedRank, ...position, status].join("#") };
}

type IndexPosition = Pick<JobAttributes, "newsk">;

export function parseJobEntry({ newsk }: JobEntry): JobRef & { status: JobStatus } {
  const [, createdAt, type, siteId, id, status = "running"] = newsk.split("#");
  return {
    type: type as JobType,
    id: Number(id),
    siteId: Number(siteId) || null,
    createdAt: createdAt!,
    status: status as JobStatus,
  };
}

export const toStarter = ({ kind, userId, keyId }: Caller): JobStarter =>
  kind === "api_key" ? { type: kind, id: keyId! } : { type: "user", id: userId };
