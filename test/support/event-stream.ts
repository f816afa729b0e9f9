// Stand-ins for the bucket with event files and for the event bus.
import { gunzipSync } from "node:zlib";
import type { PutObjectCommandInput } from "@aws-sdk/client-s3";
import { interceptCalls } from "./aws-calls.ts";

export interface FiledEvent {
  eventId: number;
  organizationId: number;
  siteId?: number;
  event: string;
  email: string | null;
  /** The name of its file. */
  file: string;
}

const bucket = "event-files-of-tests";

export interface EventFiles {
  /** By name. */
  files: Map<string, Uint8Array>;
  /** The events of the files of an organization, by the names of the files. */
  read(orgId: number): FiledEvent[];
  stop(): void;
}

/**
 * Turns event files on. Call it before `useVirtualQueues`, so that each write of a file is a step
 * at which a worker can crash.
 */
export function startEventFiles(): EventFiles {
  process.env.EVENT_FILES_BUCKET = bucket;
  const files = new Map<string, Uint8Array>();
  const restore = interceptCalls("s3", async ({ operation, input }, passThrough) => {
    const { Bucket, Key, Body } = input as unknown as PutObjectCommandInput;
    if (Bucket !== bucket) return passThrough();
    if (operation !== "PutObject") throw new Error(`Event files need no ${operation}`);
    files.set(Key!, Body as Uint8Array);
    return {};
  });
  return {
    files,
    read: (orgId) =>
      [...files]
        .filter(([name]) => name.startsWith(`events/organization=${orgId}/`))
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([file, bytes]) =>
          gunzipSync(bytes)
            .toString("utf8")
            .split("\n")
            .slice(0, -1)
            .map((line) => ({ ...(JSON.parse(line) as FiledEvent), file })),
        ),
    stop() {
      restore();
      delete process.env.EVENT_FILES_BUCKET;
    },
  };
}
