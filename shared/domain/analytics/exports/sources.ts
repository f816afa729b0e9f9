// The sources of exports: contacts by any filter, suppressions by reason, and reports.
import { equals } from "../../../adapters/dynamodb/conditions.ts";
import { type QueryPage, queryPages } from "../../../adapters/dynamodb/table.ts";
import type { ExportTable } from "../../../kernel/table-export.ts";
import { ranges } from "../../../keys.ts";
import * as contactReader from "../../audience/contacts/contact-reader.ts";
import type { ContactItem } from "../../audience/contacts/contact-schema.ts";
import { createMailReader } from "../../audience/mail-counts/mail-counts.ts";
import { columns as suppressionColumns } from "../../audience/suppressions/suppression-exports.ts";
import type { Suppression } from "../../audience/suppressions/suppressions.ts";
import {
  type ContactReport,
  contactQueryFor,
  contactReportColumns,
  contactReports,
  toReportedContacts,
} from "../contact-reports.ts";
import * as sequenceReports from "../sequence-reports.ts";
import { contactSource, joinNames } from "./contact-source.ts";
import {
  compareByEmail,
  type ExportFilter,
  type ExportType,
  type PageOptions,
  type SourceFactory,
} from "./export-source.ts";

const contactReportSource =
  (report: ContactReport): SourceFactory =>
  async (orgId, { siteId }) => {
    const contactFilter = await contactQueryFor(orgId, siteId!, report);
    const readMails = createMailReader({ orgId, siteId: siteId! });
    return {
      readPages: (shard, { after, limit } = {}) =>
        contactReader.readShard({ orgId, siteId: siteId! }, shard, {
          ...contactFilter,
          after,
          limit,
        }),
      toRows: async (items) => toReportedContacts(orgId, await readMails(items as ContactItem[])),
      customFieldsOf: () => [],
      tableFor: () => tableOf("contacts", contactReportColumns),
      compare: compareByEmail,
    };
  };

/** Without audits of campaigns, because they would make the bundle of the reports too large. */
export const exportSources: Record<Exclude<ExportType, "campaign-audit">, SourceFactory> = {
  contacts: contactSource,
  suppressions: async (orgId, { reason }) => ({
    readPages: (shard, options) => readSuppressionPages(orgId, shard, { reason, ...options }),
    toRows: async (items) =>
      (items as Suppression[]).map((suppression) =>
        Object.fromEntries(
          suppressionColumns.map((column) => [column, suppression[column] ?? null]),
        ),
      ),
    customFieldsOf: () => [],
    tableFor: () => ({
      jsonName: "suppressions",
      columns: [...suppressionColumns],
      cells: (row) => suppressionColumns.map((column) => row[column] as string),
    }),
    compare: compareByEmail,
  }),
  ...(Object.fromEntries(
    contactReports.map((report) => [report, contactReportSource(report)]),
  ) as Record<ContactReport, SourceFactory>),
  "stalled-enrollments": async (orgId, { siteId }) => ({
    readPages: (shard, { after } = {}) =>
      sequenceReports.readStalledPages({ orgId, siteId: siteId! }, shard, after),
    toRows: async (items) =>
      (items as sequenceReports.StalledItem[]).map(sequenceReports.toStalledEnrollment),
    customFieldsOf: () => [],
    tableFor: () => tableOf("enrollments", sequenceReports.stalledColumns),
    compare: (a, b) =>
      sequenceReports.compareNewestFirst(
        a as sequenceReports.StalledItem,
        b as sequenceReports.StalledItem,
      ),
  }),
};

/** Lists of named records, such as tags, become their names. */
const tableOf = (jsonName: string, columns: readonly string[]): ExportTable => ({
  jsonName,
  columns: [...columns],
  cells: (row) =>
    columns.map((column) =>
      Array.isArray(row[column]) ? joinNames(row[column]) : (row[column] as string),
    ),
});

const readSuppressionPages = (
  orgId: number,
  shard: string,
  { reason, after, limit = 5000 }: Pick<ExportFilter, "reason"> & PageOptions,
): AsyncGenerator<QueryPage<Suppression>> =>
  queryPages<Suppression>(ranges.suppressions(orgId, shard), {
    limit,
    after,
    filter: reason && equals("reason", reason),
  });
