// Exports of any size, which a worker writes to S3; see run-export.ts.
import * as z from "zod";
import * as objects from "../../../adapters/s3/objects.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import { type Caller, type CallerScope, requireOrganizationAccess } from "../../../caller.ts";
import { addSeconds, epochSeconds } from "../../../clock.ts";
import { invalid } from "../../../errors.ts";
import { randomBase62 } from "../../../ids.ts";
import { type JobAttributes, startedJobAttributes, toStarter } from "../../../kernel/job-index.ts";
import type { Leased } from "../../../kernel/leases.ts";
import { Count, CreatedAt, RecordId, UpdatedAt } from "../../../kernel/record-fields.ts";
import * as records from "../../../kernel/records.ts";
import { type ExportFormat, exportFormats } from "../../../kernel/table-export.ts";
import { dueShardOf, indexAttributes, indexes } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import * as contactListing from "../../audience/contacts/contact-listing.ts";
import * as sites from "../../identity/sites.ts";
import { type ExportProgress, toPercent } from "./export-progress.ts";
import {
  type ExportFilter,
  type ExportType,
  exportTypes,
  type OwnColumns,
  siteExportTypes,
} from "./export-source.ts";

export const Export = z
  .object({
    id: RecordId.describe("Id of the export, for GET /exports/:id."),
    type: z.enum(exportTypes).describe("What is exported."),
    format: z.enum(exportFormats).describe("Format of the file."),
    status: z
      .enum(["queued", "running", "completed", "failed"])
      .describe(
        "`queued`: waits for a worker. `running`: the file is being written. `completed`: see " +
          "`downloadUrl`. `failed`: see `error`.",
      ),
    progress: Count.describe("Progress in per cent."),
    rows: Count.nullable().describe("Number of rows. `null` until the export is completed."),
    downloadUrl: z
      .string()
      .nullable()
      .describe(
        "URL of the file. Valid for 1 hour; read the export again for a new one. The file is " +
          "kept for 7 days.",
      ),
    error: z.string().nullable().describe("Why the export failed, or `null`."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "Export" });
export type Export = z.output<typeof Export>;

export interface ExportRecord extends records.StoredRecord, Leased, JobAttributes {
  orgId: number;
  /** null for types with records of the organization. */
  siteId: number | null;
  type: ExportType;
  format: ExportFormat;
  filter: ExportFilter;
  bom?: boolean | undefined;
  status: Export["status"];
  error?: string;
  /** Key of the file in S3. */
  blob: string;
  /** The columns of topics and custom fields. */
  columns?: StoredColumns;
  /** Progress of the upload. */
  written?: ExportProgress;
}

export interface StoredColumns extends OwnColumns {
  /** Not all rows were read, so others can have further fields. */
  sampled?: boolean;
}

export interface ExportRequest {
  type: ExportType;
  format: ExportFormat;
  filter: ExportFilter;
  bom?: boolean | undefined;
}

/**
 * Stores the export, then enqueues it. If the process dies in between, the schedule finds it on the
 * due index. Throws 404 or 400 if the filter names something that does not exist.
 */
export async function start(caller: Caller, request: ExportRequest): Promise<Export> {
  const { orgId } = caller;
  const { type, format, filter, bom } = await resolveSite(caller, request);
  const stamp = await records.newRecordFields("EXPORT");
  const blob = `exports/${orgId}/${stamp.id}-${randomBase62(16)}.${format}`;
  const siteId = siteExportTypes.has(type) ? filter.siteId! : null;
  const item: ExportRecord = {
    ...stamp,
    orgId,
    siteId,
    type,
    format,
    filter,
    bom,
    status: "queued",
    blob,
    startedBy: toStarter(caller),
    ...dueAttributes(stamp.id, 60),
    ...startedJobAttributes(orgId, { type: "export", ...stamp, siteId }),
  };
  await records.insert("EXPORT", caller, { record: item });
  await enqueueRun(orgId, item.id);
  return toApi(item);
}

/** Resolves the site of the filter, which the caller must have access to. */
export async function resolveSite(
  caller: CallerScope,
  request: ExportRequest,
): Promise<ExportRequest> {
  const { type, filter } = request;
  if (!siteExportTypes.has(type)) {
    requireOrganizationAccess(caller);
    return request;
  }
  if (type === "campaign-audit") return resolveAudit(caller, request);
  if (type !== "contacts")
    return { ...request, filter: { siteId: await sites.resolveSiteId(caller, filter.siteId) } };
  const { siteId } = await contactListing.resolveFilter(caller, filter);
  return { ...request, filter: { ...filter, siteId } };
}

async function resolveAudit(caller: CallerScope, request: ExportRequest): Promise<ExportRequest> {
  const { campaignId } = request.filter;
  if (campaignId === undefined) {
    const message = "campaignId is required for an audit";
    throw invalid(message, { details: [{ path: "campaignId", message }] });
  }
  const { siteId } = await records.find<SiteRecord>("CAMPAIGN", caller, campaignId);
  return { ...request, filter: { siteId, campaignId } };
}

type SiteRecord = records.StoredRecord & { siteId: number };

export const dueAttributes = (id: number, seconds: number) =>
  indexAttributes(indexes.due("EXPORT", dueShardOf(id)), addSeconds(seconds).toISOString());

export const enqueueRun = (orgId: number, exportId: number): Promise<void> =>
  enqueue(queues.jobs, [{ job: "export", orgId, exportId }], { group: orgId });

/**
 * Throws 404, or 403 for a caller who is limited to other sites, or to any if the export is of the
 * whole organization.
 */
export async function find(caller: CallerScope, id: number): Promise<Export> {
  const record = await records.find<ExportRecord>("EXPORT", caller, id);
  if (record.siteId === null) requireOrganizationAccess(caller);
  return toApi(record);
}

// The lifecycle rule of the bucket deletes the file then.
const fileTtlSeconds = 7 * 24 * 3600;
const urlSeconds = 3600;

async function toApi({
  id,
  type,
  format,
  status,
  written,
  blob,
  error,
  createdAt,
  updatedAt,
}: ExportRecord): Promise<Export> {
  const isStored =
    status === "completed" && epochSeconds() - Date.parse(updatedAt) / 1000 < fileTtlSeconds;
  const downloadUrl = isStored
    ? await objects.presignDownload(blob, `${type}.${format}`, urlSeconds)
    : null;
  const progress = status === "completed" ? 100 : Math.min(99, toPercent(written));
  const rows = status === "completed" ? (written?.rows ?? 0) : null;
  return {
    id,
    type,
    format,
    status,
    progress,
    rows,
    downloadUrl,
    error: error ?? null,
    createdAt,
    updatedAt,
  };
}
