// Contacts as the source of an export, by the filters of their list.
import { joinedNames, typedCell } from "../../../kernel/csv-cells.ts";
import type { ExportTable } from "../../../kernel/table-export.ts";
import * as contactListing from "../../audience/contacts/contact-listing.ts";
import * as contactReader from "../../audience/contacts/contact-reader.ts";
import type { Contact, ContactItem } from "../../audience/contacts/contact-schema.ts";
import * as contacts from "../../audience/contacts/contacts.ts";
import { createMailReader } from "../../audience/mail-counts/mail-counts.ts";
import { listOfSite } from "../../audience/topics/site-topics.ts";
import type { TopicState } from "../../audience/topics/topic-choice-schemas.ts";
import { compareByEmail, type OwnColumns, type SourceFactory } from "./export-source.ts";

export const contactSource: SourceFactory = async (orgId, filter) => {
  const { siteId, ...contactFilter } = await contactListing.resolveFilter({ orgId }, filter);
  const readMails = createMailReader({ orgId, siteId });
  return {
    topics: (await listOfSite(orgId, siteId)).map(({ id, name }) => ({ id, name })),
    // A filter that runs in code may need any attribute, so all attributes are read.
    readPages: (shard, { after, limit, fieldNamesOnly } = {}) =>
      contactReader.readShard({ orgId, siteId }, shard, {
        ...contactFilter,
        after,
        limit,
        projection: fieldNamesOnly && !contactFilter.test ? ["customFields"] : undefined,
      }),
    toRows: (items) => contacts.toApiAll(orgId, items as ContactItem[], readMails),
    customFieldsOf: (items) =>
      (items as ContactItem[]).flatMap(({ customFields }) => Object.keys(customFields ?? {})),
    tableFor: contactTable,
    compare: compareByEmail,
  };
};

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
  "externalId",
  "locale",
] as const;
/** Lists of named records, such as tags, become their names. */
export const joinNames = (groups: { name: string }[]): string =>
  joinedNames(groups.map(({ name }) => name));

/** An empty cell: the contact is not in the topic and has not left it. */
const choiceCell = ({ subscribed, left }: Partial<TopicState> = {}): string | null => {
  if (subscribed) return "subscribed";
  return left ? "left" : null;
};

/** Further custom fields share a last column, as JSON. */
const maxCustomColumns = 500;

function contactTable({ fields: customFields, topics = [] }: OwnColumns): ExportTable {
  const ownColumns = customFields.toSorted().slice(0, maxCustomColumns);
  const overflowFields = new Set(customFields.toSorted().slice(maxCustomColumns));
  return {
    jsonName: "contacts",
    columns: [
      ...leadingColumns,
      "tags",
      "lists",
      ...trailingColumns,
      ...topics.map(({ name }) => `topics.${name}`),
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
        ...topics.map(({ id }) => choiceCell(contact.topics.find((topic) => topic.id === id))),
        ...ownColumns.map((field) => typedCell(custom[field])),
        ...(overflowFields.size
          ? [overflow.length ? JSON.stringify(Object.fromEntries(overflow)) : null]
          : []),
      ];
    },
  };
}
