// The sources of exports: contacts by any filter, suppressions by reason, and reports. Each is
// stored in 16 shards.
import { equals } from "../../../adapters/dynamodb/conditions.ts";
import { type QueryPage, query } from "../../../adapters/dynamodb/table.ts";
import { joinedNames, typedCell } from "../../../kernel/csv-cells.ts";
import type { ExportRow, ExportTable } from "../../../kernel/table-export.ts";
import { ranges } from "../../../keys.ts";
import * as pages from "../../audience/contacts/contact-listing.ts";
import * as reader from "../../audience/contacts/contact-reader.ts";
import type { Contact, ContactItem } from "../../audience/contacts/contact-schema.ts";
import * as contacts from "../../audience/contacts/contacts.ts";
import type { Suppression, SuppressionReason } from "../../audience/suppressions/suppressions.ts";
import * as reportedContacts from "../contact-reports.ts";
import { type ContactReport, contactReports } from "../contact-reports.ts";
import * as reportedSequences from "../sequence-reports.ts";

interface PageOptions {
  after?: string | undefined;
  /** The items are only passed to `customFieldsOf`. */
  fieldNamesOnly?: boolean;
  /** Items that are read for a page, before the filter. */
  limit?: number;
}

export interface ExportSource {
  readPages(shard: string, options?: PageOptions): AsyncGenerator<QueryPage<unknown>>;
  toRows(items: unknown[]): Promise<ExportRow[]>;
  /** Names of custom fields, which become columns of their own. */
  customFieldsOf(items: unknown[]): string[];
  tableFor(customFields: string[]): ExportTable;
  /** The order of the list endpoint. */
  compare(a: unknown, b: unknown): number;
}

const reportTypes = [...contactReports, "stalled-enrollments"] as const;
export const exportTypes = ["contacts", "suppressions", ...reportTypes] as const;
export type ExportType = (typeof exportTypes)[number];
export type ExportFilter = pages.ContactFilter & { reason?: SuppressionReason | undefined };

/** Types with the records of one site. The others have records of the organization. */
export const siteExportTypes: ReadonlySet<ExportType> = new Set<ExportType>([
  "contacts",
  ...reportTypes,
]);

type SourceFactory = (orgId: number, filter: ExportFilter) => Promise<ExportSource>;

const contactReportSource =
  (report: ContactReport): SourceFactory =>
  async (orgId, { siteId }) => {
    const contactFilter = await reportedContacts.contactQueryFor(orgId, siteId!, report);
    return {
      readPages: (shard, { after, limit } = {}) =>
        reader.readShard({ orgId, siteId: siteId! }, shard, { ...contactFilter, after, limit }),
      toRows: (items) => reportedContacts.toReportedContacts(orgId, items as ContactItem[]),
      customFieldsOf: () => [],
      tableFor: () => tableOf("contacts", reportedContacts.contactReportColumns),
      compare: compareByEmail,
    };
  };

/** Each run resolves the filter again, so a filter that names a deleted segment fails. */
export const exportSources: Record<ExportType, SourceFactory> = {
  contacts: async (orgId, filter) => {
    const { siteId, ...contactFilter } = await pages.resolveFilter({ orgId }, filter);
    return {
      // A filter that runs in code may need any attribute, so all attributes are read.
      readPages: (shard, { after, limit, fieldNamesOnly } = {}) =>
        reader.readShard({ orgId, siteId }, shard, {
          ...contactFilter,
          after,
          limit,
          projection: fieldNamesOnly && !contactFilter.test ? ["customFields"] : undefined,
        }),
      toRows: (items) => contacts.toApiAll(orgId, items as ContactItem[]),
      customFieldsOf: (items) =>
        (items as ContactItem[]).flatMap(({ customFields }) => Object.keys(customFields ?? {})),
      tableFor: contactTable,
      compare: compareByEmail,
    };
  },
  suppressions: async (orgId, { reason }) => ({
    readPages: (shard, options) => readSuppressionPages(orgId, shard, { reason, ...options }),
    toRows: async (items) =>
      (items as Suppression[]).map((suppression) =>
        Object.fromEntries(suppressionColumns.map((column) => [column, suppression[column]])),
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
      reportedSequences.readStalledPages({ orgId, siteId: siteId! }, shard, after),
    toRows: async (items) =>
      (items as reportedSequences.StalledItem[]).map(reportedSequences.toStalledEnrollment),
    customFieldsOf: () => [],
    tableFor: () => tableOf("enrollments", reportedSequences.stalledColumns),
    compare: (a, b) =>
      reportedSequences.compareNewestFirst(
        a as reportedSequences.StalledItem,
        b as reportedSequences.StalledItem,
      ),
  }),
};

function compareByEmail(a: unknown, b: unknown): number {
  const [emailA, emailB] = [a, b].map((item) => (item as { email: string }).email.toLowerCase());
  return emailA! < emailB! ? -1 : 1;
}

/** Lists of named records, such as tags, become their names. */
const tableOf = (jsonName: string, columns: readonly string[]): ExportTable => ({
  jsonName,
  columns: [...columns],
  cells: (row) =>
    columns.map((column) =>
      Array.isArray(row[column]) ? joinNames(row[column]) : (row[column] as string),
    ),
});

const suppressionColumns = [
  "email",
  "reason",
  "detail",
  "source",
  "createdAt",
  "updatedAt",
] as const;

async function* readSuppressionPages(
  orgId: number,
  shard: string,
  { reason, after: start, limit = 5000 }: Pick<ExportFilter, "reason"> & PageOptions,
): AsyncGenerator<QueryPage<Suppression>> {
  let after = start;
  do {
    const page = await query<Suppression>(ranges.suppressions(orgId, shard), {
      limit,
      after,
      filter: reason && equals("reason", reason),
    });
    yield page;
    after = page.next;
  } while (after !== undefined);
}

const leadingColumns = [
  "id",
  "email",
  "firstName",
  "lastName",
  "phone",
  "company",
  "timezone",
  "status",
] as const;
const trailingColumns = [
  "score",
  "source",
  "sendCount",
  "openCount",
  "clickCount",
  "lastSentAt",
  "lastOpenedAt",
  "lastClickedAt",
  "createdAt",
  "updatedAt",
] as const;
const joinNames = (groups: { name: string }[]): string =>
  joinedNames(groups.map(({ name }) => name));

/** Further custom fields share a last column, as JSON. */
const maxCustomColumns = 500;

function contactTable(customFields: string[]): ExportTable {
  const ownColumns = customFields.toSorted().slice(0, maxCustomColumns);
  const overflowFields = new Set(customFields.toSorted().slice(maxCustomColumns));
  return {
    jsonName: "contacts",
    columns: [
      ...leadingColumns,
      "tags",
      "lists",
      ...trailingColumns,
      ...ownColumns.map((field) => `customFields.${field}`),
      ...(overflowFields.size ? ["customFields"] : []),
    ],
    cells: (row) => {
      const contact = row as Contact;
      const custom = contact.customFields;
      const overflow = Object.entries(custom).filter(([field]) => overflowFields.has(field));
      return [
        ...leadingColumns.map((field) => contact[field]),
        joinNames(contact.tags),
        joinNames(contact.lists),
        ...trailingColumns.map((field) => contact[field]),
        ...ownColumns.map((field) => typedCell(custom[field])),
        ...(overflowFields.size
          ? [overflow.length ? JSON.stringify(Object.fromEntries(overflow)) : null]
          : []),
      ];
    },
  };
}
