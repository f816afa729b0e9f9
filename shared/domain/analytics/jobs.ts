// The jobs of an organization: long work, with its progress. Reading a page costs about 0.5 read
// units for the index and 0.5 for each job.
import * as z from "zod";
import { getMany, queryPages } from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import {
  belowRunning,
  type JobEntry,
  type JobStatus,
  type JobType,
  jobPositionPattern,
  jobStarterTypes,
  jobStatuses,
  jobTypes,
  parseJobEntry,
} from "../../kernel/job-index.ts";
import { type PageRequest, type Pagination, positionOf, readPage } from "../../kernel/paging.ts";
import { Count, RecordId, Timestamp } from "../../kernel/record-fields.ts";
import { deletedSites } from "../../kernel/site-access.ts";
import { indexes } from "../../keys.ts";
import { permits } from "../../rights.ts";
import * as sites from "../identity/sites.ts";
import { describeState, type JobItem, type JobProgress, jobKinds } from "./job-kinds.ts";

export const ListedJob = z
  .object({
    type: z
      .enum(jobTypes)
      .describe(
        "`import`: contacts from a file. `export`: rows into a file. `contact_action`: a change " +
          "of many contacts. `campaign_audit`: the check of an ended campaign. `site_erasure`: " +
          "the data of a deleted site is erased. `field_conversion`: contacts get values of the " +
          "new type of a custom field.",
      ),
    id: RecordId.describe(
      "Id of the import, export or action; of the campaign for `campaign_audit`; of the deleted " +
        "site for `site_erasure`. Unique for its `type`.",
    ),
    siteId: RecordId.nullable().describe("Its site. `null`: it is about the whole organization."),
    path: z
      .string()
      .describe("Path of the endpoint that returns the job itself, such as `/imports/1`."),
    name: z.string().describe("What the job does, in words."),
    status: z
      .enum(jobStatuses)
      .describe(
        "`running`: it waits for a worker or is at work. `completed`: done; see `failed`. " +
          "`failed`: stopped by an error. `cancelled`: stopped by a user. What was done stays.",
      ),
    state: z.string().describe("How far it is or how it ended, in words."),
    progress: Count.nullable().describe("Progress in per cent. `null` if it is not known."),
    done: Count.describe("Rows or contacts that were processed."),
    total: Count.nullable().describe("Rows or contacts in all. `null` if they are not known."),
    failed: Count.nullable().describe(
      "Rows or contacts of `done` that were not possible. `null` for types that do not count them.",
    ),
    startedBy: z
      .object({
        type: z.enum(jobStarterTypes).describe("Whether a user or an API key started it."),
        id: RecordId.describe("Id of the user or API key."),
      })
      .nullable()
      .describe("Who started it. `null`: the service."),
    createdAt: Timestamp.describe("When it started."),
    finishedAt: Timestamp.nullable().describe("When it ended. `null` while it runs."),
  })
  .meta({ id: "Job" });
export type ListedJob = z.output<typeof ListedJob>;

interface JobFilter {
  siteId?: number | undefined;
  status?: JobStatus | undefined;
}

/**
 * Running jobs first, then newest first. Leaves out what the caller may not read by the endpoint of
 * the job itself.
 */
export async function list(
  caller: Caller,
  { siteId, status, ...request }: PageRequest & JobFilter,
): Promise<{ items: ListedJob[]; pagination: Pagination }> {
  const { orgId } = caller;
  const [siteIds, deleted] = await Promise.all([
    sites.siteFilter(caller, siteId),
    deletedSites(orgId),
  ]);
  const types = visibleTypes(caller);
  const isWanted = (entry: JobEntry) => {
    const job = parseJobEntry(entry);
    if (status && job.status !== status) return false;
    if (!types.includes(job.type)) return false;
    if (job.siteId === null) return siteId === undefined;
    return !deleted.has(job.siteId) && (siteIds?.includes(job.siteId) ?? true);
  };
  const cursor = positionOf(request, jobPositionPattern);
  const range: EntryRange = {
    below: cursor ?? (status && status !== "running" ? belowRunning : undefined),
    runningOnly: status === "running",
  };
  return readPage(request, {
    read: (needed) => readEntries(orgId, range, { needed, isWanted }),
    toApi: (entries) => readJobs(entries),
  });
}

const visibleTypes = ({ scopes, siteIds }: Caller): JobType[] =>
  jobTypes.filter((type) => {
    const { right, scope, ofOrganization } = jobKinds[type];
    return permits(scopes, { right, scope }) && !(ofOrganization && siteIds);
  });

interface EntryRange {
  /** Only smaller positions. */
  below: string | undefined;
  runningOnly: boolean;
}

/** Index entries beside those of the page that one call reads. Then the page ends short. */
const maxOtherEntries = 2000;

async function readEntries(
  orgId: number,
  { below, runningOnly }: EntryRange,
  { needed, isWanted }: { needed: number; isWanted(entry: JobEntry): boolean },
): Promise<{ found: JobEntry[]; next: string | undefined }> {
  const found: JobEntry[] = [];
  const options = { newestFirst: true, limit: Math.min(needed + 1, 1000), below };
  let left = maxOtherEntries;
  for await (const { items } of queryPages<JobEntry>(indexes.jobs(orgId), options))
    for (const entry of items) {
      if (runningOnly && entry.newsk < belowRunning) return { found, next: undefined };
      if (isWanted(entry)) {
        if (found.length === needed) return { found, next: found.at(-1)!.newsk };
        found.push(entry);
      } else if (--left === 0) return { found, next: entry.newsk };
    }
  return { found, next: undefined };
}

/** The index lags behind: it may still list erased jobs. */
async function readJobs(entries: JobEntry[]): Promise<ListedJob[]> {
  const items = await getMany<JobItem>(entries.map(({ pk, sk }) => ({ pk, sk })));
  return items.flatMap((item, i) => (item ? [toApi(entries[i]!, item)] : []));
}

function toApi(entry: JobEntry, item: JobItem): ListedJob {
  const { type, id, siteId, createdAt } = parseJobEntry(entry);
  const kind = jobKinds[type];
  const { status = "running", startedBy = null, finishedAt = null } = item;
  const measured = kind.measure(item);
  return {
    type,
    id,
    siteId,
    path: kind.pathOf(id, item),
    name: kind.describe(item),
    status: status === "queued" ? "running" : status,
    state: describeState(type, item),
    ...measured,
    progress: toPercent(status, measured),
    startedBy,
    createdAt,
    finishedAt,
  };
}

function toPercent(
  status: JobItem["status"],
  { done, total, progress }: JobProgress,
): number | null {
  if (status === "completed") return 100;
  const percent = total ? Math.floor((100 * done) / total) : progress;
  return percent === undefined ? null : Math.min(99, percent);
}
