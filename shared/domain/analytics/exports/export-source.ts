// What an export reads: items in 16 shards, their columns and their order.
import type { QueryPage } from "../../../adapters/dynamodb/table.ts";
import type { ExportRow, ExportTable } from "../../../kernel/table-export.ts";
import type { ContactFilter } from "../../audience/contacts/contact-listing.ts";
import type { SuppressionReason } from "../../audience/suppressions/suppressions.ts";
import type { TopicState } from "../../audience/topics/topic-choice-schemas.ts";
import { contactReports } from "../contact-reports.ts";

export interface PageOptions {
  after?: string | undefined;
  /** The items are only passed to `customFieldsOf`. */
  fieldNamesOnly?: boolean;
  /** Items that are read for a page, before the filter. */
  limit?: number;
}

export type TopicColumn = Pick<TopicState, "id" | "name">;

/** Columns that the data decides about. */
export interface OwnColumns {
  /** Names of custom fields. */
  fields: string[];
  topics?: TopicColumn[] | undefined;
}

export interface ExportSource {
  readPages(shard: string, options?: PageOptions): AsyncGenerator<QueryPage<unknown>>;
  toRows(items: unknown[]): Promise<ExportRow[]>;
  /** Names of custom fields, which become columns of their own. */
  customFieldsOf(items: unknown[]): string[];
  /** Topics of the site, which become columns of their own. */
  topics?: TopicColumn[];
  tableFor(columns: OwnColumns): ExportTable;
  /** The order of the list endpoint. */
  compare(a: unknown, b: unknown): number;
}

const reportTypes = [...contactReports, "stalled-enrollments"] as const;
export const exportTypes = ["contacts", "suppressions", ...reportTypes, "campaign-audit"] as const;
export type ExportType = (typeof exportTypes)[number];
export type ExportFilter = ContactFilter & {
  reason?: SuppressionReason | undefined;
  campaignId?: number | undefined;
};

/** Types with the records of one site. The others have records of the organization. */
export const siteExportTypes: ReadonlySet<ExportType> = new Set<ExportType>([
  "contacts",
  ...reportTypes,
  "campaign-audit",
]);

/** Resolves the filter again for each run: a filter that names a deleted segment fails. */
export type SourceFactory = (orgId: number, filter: ExportFilter) => Promise<ExportSource>;

export function compareByEmail(a: unknown, b: unknown): number {
  const [emailA, emailB] = [a, b].map((item) => (item as { email: string }).email.toLowerCase());
  return emailA! < emailB! ? -1 : 1;
}
