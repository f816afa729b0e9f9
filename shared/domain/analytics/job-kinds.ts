// What each kind of job is, who may see it, and how far it is, in words.
import type { JobAttributes, JobStatus, JobType } from "../../kernel/job-index.ts";
import type { Right } from "../../rights.ts";
import { type FieldConversionItem, percentOf } from "../audience/contacts/field-conversions.ts";
import type { ImportProgress } from "../audience/imports/import-record.ts";
import type { ContactActionItem } from "../automation/contact-actions/action-schema.ts";
import { describeAction } from "../automation/contact-actions/describe-action.ts";
import type { AuditJob } from "../campaigns/audit/audit-job.ts";
import type { SiteErasure } from "../identity/site-erasure-job.ts";
import { toPercent } from "./exports/export-progress.ts";
import type { ExportType } from "./exports/export-source.ts";
import type { ExportRecord } from "./exports/exports.ts";

/** What the items of all jobs have in common. */
export interface JobItem extends JobAttributes {
  /** An erasure has none: it runs until its item is deleted. */
  status?: JobStatus | "queued";
  cancelRequested?: boolean;
  error?: string;
}

export interface JobProgress {
  /** Rows or contacts that were processed. */
  done: number;
  /** Null if it is not known. */
  total: number | null;
  /** Those of `done` that were not possible. Null for jobs that do not count them. */
  failed: number | null;
  /** Given if `total` is not known. */
  progress?: number;
}

interface JobKind<Item> {
  /** A caller without the right does not see jobs of this kind. */
  right: Right;
  scope: string;
  /** Callers who are limited to sites do not see them. */
  ofOrganization?: true;
  /** What `done` and `total` count. */
  unit: "row" | "contact";
  /** Path of the endpoint that returns the job itself. */
  pathOf(id: number, item: Item): string;
  describe(item: Item): string;
  measure(item: Item): JobProgress;
  /** What the completed job has done, in words. */
  describeResult(item: Item): string;
}

const exportNames: Record<ExportType, string> = {
  contacts: "contacts",
  suppressions: "suppressions",
  "unengaged-contacts": "contacts who open nothing",
  "multi-sequence": "contacts in several sequences",
  "no-sequences": "contacts in no sequence",
  "stalled-enrollments": "contacts who stay in a sequence",
  "campaign-audit": "the audit of a campaign",
};

const imports: JobKind<ImportProgress> = {
  right: "audience:read",
  scope: "imports:read",
  unit: "row",
  pathOf: (id) => `/imports/${id}`,
  describe: ({ filename }) => `Import of ${filename ?? "contacts"}`,
  measure: ({ processed, total = null, failed }) => ({ done: processed, total, failed }),
  describeResult: ({ processed, created, updated, skipped, failed }) =>
    listCounts(countOf(processed, "row"), {
      added: created,
      changed: updated,
      skipped,
      refused: failed,
    }),
};

const exports: JobKind<ExportRecord> = {
  right: "audience:export",
  scope: "exports:read",
  unit: "row",
  pathOf: (id) => `/exports/${id}`,
  describe: ({ type }) => `Export of ${exportNames[type]}`,
  measure: ({ written }) => ({
    done: written?.rows ?? 0,
    total: null,
    failed: null,
    progress: toPercent(written),
  }),
  describeResult: ({ written }) => countOf(written?.rows ?? 0, "row"),
};

const contactActions: JobKind<ContactActionItem> = {
  right: "audience:read",
  scope: "contact-actions:read",
  unit: "contact",
  pathOf: (id) => `/contact-actions/${id}`,
  describe: ({ action, target, selected, total }) =>
    describeAction({ action, name: target?.name, count: selected ? total : undefined }),
  measure: ({ processed, selected, total, failed }) => ({
    done: processed,
    total: selected ? total : null,
    failed,
  }),
  describeResult: ({ processed, failed }) =>
    listCounts(countOf(processed, "contact"), {
      done: failed && processed - failed,
      "not possible": failed,
    }),
};

const campaignAudits: JobKind<AuditJob> = {
  right: "marketing:read",
  scope: "campaigns:read",
  unit: "contact",
  pathOf: (id) => `/campaigns/${id}/audit`,
  describe: ({ name = "" }) => `Audit of the campaign “${name}”`,
  measure: ({ status, progress, latest }) => {
    const { counts } = status === "completed" && latest ? latest : progress;
    const done = Object.values(counts).reduce((sum, n) => sum + n, 0);
    return { done, total: null, failed: null };
  },
  describeResult: ({ latest }) =>
    latest?.problems.length
      ? "The stored emails do not fit together"
      : "Every contact has exactly one outcome",
};

const siteErasures: JobKind<SiteErasure> = {
  right: "organization:read",
  scope: "sites:read",
  ofOrganization: true,
  unit: "contact",
  pathOf: (id) => `/sites/${id}`,
  describe: ({ name = "" }) => `Erasure of the site “${name}”`,
  measure: ({ contacts, contactsErased }) => ({
    done: contactsErased,
    total: contacts,
    failed: null,
  }),
  describeResult: ({ contacts }) => countOf(contacts, "contact"),
};

const fieldConversions: JobKind<FieldConversionItem> = {
  right: "audience:read",
  scope: "contact-fields:read",
  unit: "contact",
  pathOf: (_, { name, siteId }) =>
    `/contact-fields/${encodeURIComponent(name)}/conversion?siteId=${siteId}`,
  describe: ({ name, type }) => `Conversion of the field “${name}” to ${type}`,
  measure: (item) => ({
    done: item.processed,
    total: null,
    failed: item.failed,
    progress: percentOf(item),
  }),
  describeResult: ({ processed, failed }) =>
    listCounts(countOf(processed, "contact"), {
      converted: failed && processed - failed,
      "not possible": failed,
    }),
};

export const jobKinds: Record<JobType, JobKind<JobItem>> = {
  import: imports,
  export: exports,
  contact_action: contactActions,
  campaign_audit: campaignAudits,
  site_erasure: siteErasures,
  field_conversion: fieldConversions,
};

/** How far the job is, or how it ended, in words. */
export function describeState(type: JobType, item: JobItem): string {
  const { measure, unit, describeResult } = jobKinds[type];
  const { done, total } = measure(item);
  const processed =
    total === null
      ? countOf(done, unit)
      : `${done.toLocaleString("en")} of ${countOf(total, unit)}`;
  if (item.status === "completed") return describeResult(item);
  if (item.status === "failed") return item.error ?? "Failed";
  if (item.status === "cancelled") return `Stopped after ${processed}`;
  if (item.cancelRequested) return "Stopping";
  if (item.status === "queued") return "Waiting to start";
  return done || total !== null ? processed : "Getting ready";
}

const countOf = (n: number, unit: string): string =>
  `${n.toLocaleString("en")} ${unit}${n === 1 ? "" : "s"}`;

/** The counts that are not zero, such as `5 rows: 4 added, 1 refused`. */
function listCounts(all: string, counts: Record<string, number>): string {
  const parts = Object.entries(counts)
    .filter(([, n]) => n > 0)
    .map(([name, n]) => `${n.toLocaleString("en")} ${name}`);
  return parts.length ? `${all}: ${parts.join(", ")}` : all;
}
