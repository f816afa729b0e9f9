// What can be exported: contacts by any filter, suppressions by reason. Both lie in 16 collections.
import { equals } from "../../conditions.ts";
import { type Page, query } from "../../doors/table.ts";
import { ranges } from "../../keys.ts";
import type { Contact, ContactItem } from "../contacts/contact.ts";
import * as pages from "../contacts/pages.ts";
import * as reader from "../contacts/reader.ts";
import * as contacts from "../contacts.ts";
import * as reportedContacts from "../reports/contacts.ts";
import { type ContactReport, contactReports } from "../reports/contacts.ts";
import * as reportedSequences from "../reports/sequences.ts";
import type { Reason, Suppression } from "../suppressions.ts";
import type { Row, Shape } from "./formats.ts";

export interface Source {
  /** `brief`: it is enough to count them, and for `fieldsOf`. */
  pages(shard: string, after: string | undefined, brief?: boolean): AsyncGenerator<Page<unknown>>;
  /** As they are shown. */
  rows(items: unknown[]): Promise<Row[]>;
  /** Names of custom fields, which become columns of their own. */
  fieldsOf(items: unknown[]): string[];
  shape(fields: string[]): Shape;
  /** As lists have it, where all are at hand. */
  order(a: unknown, b: unknown): number;
}

const reportKinds = [...contactReports, "stalled-enrollments"] as const;
export const kinds = ["contacts", "suppressions", ...reportKinds] as const;
export type Kind = (typeof kinds)[number];
export type Filter = pages.Filter & { reason?: Reason | undefined };

/** What belongs to one site; all else is the organization's. */
export const ofSite: ReadonlySet<Kind> = new Set<Kind>(["contacts", ...reportKinds]);

type SourceOf = (orgId: number, filter: Filter) => Promise<Source>;

const contactReport =
  (report: ContactReport): SourceOf =>
  async (orgId, { siteId }) => ({
    pages: (shard, after) => reader.scan(orgId, siteId!, shard, { filter: reportedContacts.wanted[report], after }),
    rows: (items) => reportedContacts.told(orgId, items as ContactItem[]),
    fieldsOf: () => [],
    shape: () => plainShape("contacts", reportedContacts.columns),
    order: byAddress,
  });

/** The filter is read anew each time: what it names must still be there. */
export const sources: Record<Kind, SourceOf> = {
  contacts: async (orgId, filter) => {
    const { siteId, ...wanted } = await pages.wantedOf({ orgId }, filter);
    return {
      // What is asked of them in code may look at anything.
      pages: (shard, after, brief) =>
        reader.scan(orgId, siteId, shard, { ...wanted, after, only: brief && !wanted.matches ? ["customFields"] : undefined }),
      rows: (items) => contacts.tellAll(orgId, items as ContactItem[]),
      fieldsOf: (items) => (items as ContactItem[]).flatMap(({ customFields }) => Object.keys(customFields ?? {})),
      shape: contactShape,
      order: byAddress,
    };
  },
  suppressions: async (orgId, { reason }) => ({
    pages: (shard, after) => listed(orgId, shard, reason, after),
    rows: async (items) =>
      (items as Suppression[]).map((one) => Object.fromEntries(suppressionColumns.map((column) => [column, one[column]]))),
    fieldsOf: () => [],
    shape: () => ({
      plural: "suppressions",
      columns: [...suppressionColumns],
      cells: (row) => suppressionColumns.map((column) => row[column] as string),
    }),
    order: byAddress,
  }),
  ...(Object.fromEntries(contactReports.map((report) => [report, contactReport(report)])) as Record<ContactReport, SourceOf>),
  "stalled-enrollments": async (orgId, { siteId }) => ({
    pages: (shard, after) => reportedSequences.pagesOf(orgId, siteId!, shard, after),
    rows: async (items) => (items as reportedSequences.Stalled[]).map(reportedSequences.tellStalled),
    fieldsOf: () => [],
    shape: () => plainShape("enrollments", reportedSequences.stalledColumns),
    order: (a, b) => reportedSequences.newestFirst(a as reportedSequences.Stalled, b as reportedSequences.Stalled),
  }),
};

function byAddress(a: unknown, b: unknown): number {
  const [one, other] = [a, b].map((item) => (item as { email: string }).email.toLowerCase());
  return one! < other! ? -1 : 1;
}

/** Columns as they are called, named things by their names. */
const plainShape = (plural: string, columns: readonly string[]): Shape => ({
  plural,
  columns: [...columns],
  cells: (row) => columns.map((column) => (Array.isArray(row[column]) ? names(row[column]) : (row[column] as string))),
});

const suppressionColumns = ["email", "reason", "detail", "source", "createdAt", "updatedAt"] as const;

async function* listed(
  orgId: number,
  shard: string,
  reason: Reason | undefined,
  start: string | undefined,
): AsyncGenerator<Page<Suppression>> {
  let after = start;
  do {
    const page = await query<Suppression>(ranges.suppressions(orgId, shard), {
      limit: 5000,
      after,
      filter: reason && equals("reason", reason),
    });
    yield page;
    after = page.next;
  } while (after !== undefined);
}

const before = ["id", "email", "firstName", "lastName", "phone", "company", "timezone", "status"] as const;
const behind = [
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
const names = (groups: { name: string }[]): string => groups.map(({ name }) => name).join("; ");

/** Custom fields past this many share a last column, as JSON. */
const mostColumns = 500;

function contactShape(fields: string[]): Shape {
  const own = fields.toSorted().slice(0, mostColumns);
  const shared = new Set(fields.toSorted().slice(mostColumns));
  return {
    plural: "contacts",
    columns: [
      ...before,
      "tags",
      "lists",
      ...behind,
      ...own.map((field) => `customFields.${field}`),
      ...(shared.size ? ["customFields"] : []),
    ],
    cells: (row) => {
      const contact = row as Contact;
      const custom = contact.customFields;
      const others = Object.entries(custom).filter(([field]) => shared.has(field));
      return [
        ...before.map((field) => contact[field]),
        names(contact.tags),
        names(contact.lists),
        ...behind.map((field) => contact[field]),
        ...own.map((field) => custom[field]),
        ...(shared.size ? [others.length ? JSON.stringify(Object.fromEntries(others)) : null] : []),
      ];
    },
  };
}
