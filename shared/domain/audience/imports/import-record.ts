// The schemas and stored items of imports.
import * as z from "zod";
import { singleLineText } from "../../../kernel/email-fields.ts";
import type { JobAttributes } from "../../../kernel/job-index.ts";
import type { Leased } from "../../../kernel/leases.ts";
import {
  Count,
  CreatedAt,
  NewSiteId,
  RecordId,
  RecordSiteId,
  UpdatedAt,
} from "../../../kernel/record-fields.ts";
import type * as records from "../../../kernel/records.ts";
import { isConfirmable, unconfirmable } from "../contacts/confirmation-schema.ts";
import { GroupName } from "../contacts/contact-schema.ts";
import { dateOrders, decimalMarks } from "../contacts/parse-field-value.ts";
import type { ConsentColumn } from "./consent.ts";
import type { FilePosition } from "./csv-rows.ts";
import {
  delimiters,
  encodings,
  type ImportColumn,
  ImportField,
  importFields,
  importModes,
} from "./import-options.ts";
import type { FileFormat, FormatEvidence } from "./value-formats.ts";

const Id = z.int().positive();
const contactStatus = z.enum(["subscribed", "unsubscribed", "pending"]);

const importOptions = z.object({
  siteId: NewSiteId,
  mapping: z
    .record(z.string().trim().min(1).max(200), ImportField)
    .refine((mapping) => Object.keys(mapping).length <= 1000, "must have at most 1,000 columns")
    .default({})
    .describe(
      `Field of each column, by its header: ${importFields.join(", ")}, customFields.<key> or ` +
        "topics.<name of a topic>. " +
        "A column that the file lacks can only be ignore. A column that is not named here is " +
        "recognized by its header (in English, German, French, Spanish, Italian, Portuguese or " +
        "Dutch). Any other column becomes a custom field " +
        "with the name of its header, in the letter case that the site's contacts already use. " +
        "In custom fields, plain numbers, true and false are read as such: 42, -1.5, but not " +
        "007. A column stays text if one of its values has a leading zero, a plus sign or 16 " +
        "digits, or has only text values in the site. If the field is declared " +
        "(PUT /contact-fields/:fieldName), its type decides how the cells are read, and a row " +
        "with a cell that cannot be read fails. customFields reads a JSON " +
        "object. Tags are separated by a comma, semicolon, bar or line break: a row can have 60, " +
        "less the tags and lists for all rows. A column of a topic has subscribed or yes for " +
        "contacts who join it, left or no for those who leave it; an empty cell changes " +
        "nothing. Without resubscribe, nobody joins a topic again who left it. A value in " +
        "unsubscribedAt sets the contact to unsubscribed; one in bouncedAt suppresses the " +
        "address; 0, false, NULL and never are no value there. " +
        "A column of subscribed has yes, no, a date or a status: a new contact whose cell is " +
        "empty is not subscribed. In a column of unsubscribed, yes or a date means " +
        "unsubscribed. Yes and no are read in the languages of the headers, also as 1 and 0, " +
        "true and false. Several columns can have these fields: the strictest cell of a row " +
        "decides. If another column may say who gets email, such as Opt-out or Newsletter type, " +
        "and is not named here, the import fails before it changes a contact: see question in " +
        "the preview.",
    ),
  tags: z
    .array(GroupName)
    .max(20)
    .default([])
    .describe("Names of tags to apply to every contact of the file. They do not change scores."),
  lists: z
    .array(Id)
    .max(20)
    .default([])
    .describe("Ids of lists that every contact of the file joins."),
  startSequences: z
    .boolean()
    .default(false)
    .describe("Whether the applied tags and joined lists start sequences that they trigger."),
  mode: z
    .enum(importModes)
    .default("upsert")
    .describe(
      "`upsert`: creates new contacts and updates existing ones. `create`: skips existing " +
        "contacts. `update`: skips new ones.",
    ),
  resubscribe: z
    .boolean()
    .default(false)
    .describe(
      "Whether to subscribe unsubscribed contacts again, also to topics that they left, and to " +
        "remove their addresses from the suppression list. With false, contacts that " +
        "unsubscribed or left a topic stay so. A key " +
        "that is bound to a site removes no suppressions.",
    ),
  status: contactStatus
    .default("subscribed")
    .describe(
      "Status of created contacts if the file has none. Existing contacts keep theirs. A row " +
        "with the status suppressed (cleaned, bounced, blocklisted) adds its address to the " +
        "suppression list; with a key that is bound to a site, it sets the contact to " +
        "unsubscribed instead.",
    ),
  delimiter: z
    .enum(delimiters)
    .optional()
    .describe("Character between cells. Detected if omitted."),
  encoding: z
    .enum(encodings)
    .optional()
    .describe("Character encoding of the file. Detected if omitted."),
  decimalMark: z
    .enum(decimalMarks)
    .optional()
    .describe(
      "Decimal mark of numbers, for fields that are declared as numbers. Detected from the file " +
        "if omitted; if 1,299 and 1.299 could be both, it is the point.",
    ),
  dateOrder: z
    .enum(dateOrders)
    .optional()
    .describe(
      "Whether dates such as 03/04/2026 begin with the day (`dmy`) or with the month (`mdy`), " +
        "for fields that are declared as dates. Detected from the file if omitted; the import " +
        "fails before it changes a contact if no date of the file shows it. Dates such as " +
        "2026-04-03 and 03.04.2026 need no order.",
    ),
  filename: singleLineText(200).optional().describe("Name of the file, shown with the import."),
  sendConfirmation: z
    .boolean()
    .default(false)
    .describe(
      "Whether to ask the created contacts by email to confirm (double opt-in), each once. " +
        "Needs the `status` `pending`. Contacts that exist are asked if they are pending.",
    ),
});

export const NewImport = importOptions.refine(isConfirmable, unconfirmable);
export type NewImport = z.output<typeof NewImport>;

export const ImportRowError = z.object({
  row: Count.describe("Row number as in a spreadsheet: the header is row 1, and blank rows count."),
  email: z.string().describe("Email address of the row, as in the file."),
  message: z.string().describe("Why the row failed, in one sentence."),
});
export type ImportRowError = z.output<typeof ImportRowError>;

export const Import = z
  .object({
    id: RecordId.describe("Id of the import, for GET /imports/:id."),
    siteId: RecordSiteId,
    filename: z.string().nullable().describe("Name of the file, or `null`."),
    size: Count.describe("Size of the file in bytes."),
    status: z
      .enum(["queued", "running", "completed", "failed"])
      .describe(
        "`queued`: waits for a worker. `running`: rows are being imported. `completed`: every " +
          "row was processed. `failed`: stopped, see `error`.",
      ),
    error: z
      .string()
      .nullable()
      .describe(
        "Why the import as a whole failed, or `null`. Rows that are counted below were imported.",
      ),
    progress: Count.describe("Progress in per cent."),
    total: Count.nullable().describe(
      "Number of rows without the header and blank rows. `null` until they are counted.",
    ),
    processed: Count.describe("created + updated + skipped + failed."),
    created: Count.describe("Rows that created a contact."),
    updated: Count.describe(
      "Rows that updated a contact. If an address is in the file several times, the last " +
        "row wins.",
    ),
    skipped: Count.describe("Rows skipped because of `mode`."),
    failed: Count.describe("Rows that are not valid: see `errors`."),
    mode: z
      .enum(importModes)
      .describe("As in the request: what happens to new and existing contacts."),
    resubscribe: z
      .boolean()
      .describe("As in the request: whether unsubscribed contacts are subscribed again."),
    contactStatus: contactStatus.describe("`status` of the request: status of created contacts."),
    tags: z
      .array(z.string())
      .describe("As in the request: names of the tags that every contact gets."),
    lists: z
      .array(RecordId)
      .describe("As in the request: ids of the lists that every contact joins."),
    startSequences: z
      .boolean()
      .describe("As in the request: whether tags and lists start sequences."),
    sendConfirmation: z
      .boolean()
      .describe("As in the request: whether pending contacts are asked by email to confirm."),
    delimiter: z
      .enum(delimiters)
      .nullable()
      .describe("Character between cells. `null` until it is detected."),
    encoding: z
      .enum(encodings)
      .nullable()
      .describe("Character encoding of the file. `null` until it is detected."),
    decimalMark: z
      .enum(decimalMarks)
      .nullable()
      .describe("Decimal mark of numbers. `null` until the file is read."),
    dateOrder: z
      .enum(dateOrders)
      .nullable()
      .describe("Order of day and month, or `null` if it was not given and no date shows it."),
    mapping: z
      .record(z.string(), z.string())
      .nullable()
      .describe(
        "Field that each column was read as. `null` until the header is read. Pass it as " +
          "`mapping` to import again in the same way.",
      ),
    errors: z
      .array(ImportRowError)
      .describe("The first 100 row errors. For all of them use GET /imports/:id/errors."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "Import" });
export type Import = z.output<typeof Import>;

/** The part that does not change, except for what the scan sets once. */
export interface ImportRecord extends records.StoredRecord {
  orgId: number;
  siteId: number;
  filename: string | null;
  /** Key of the file in S3. */
  blob: string;
  size: number;
  wish: Omit<NewImport, "siteId" | "filename" | "startSequences" | "sendConfirmation"> &
    Partial<Pick<NewImport, "startSequences" | "sendConfirmation">>;
  /** Whether a caller that is limited to sites created the import. */
  bound: boolean;
  columns?: ImportColumn[];
  /** As given or detected. The scan sets it with the columns. */
  format?: FileFormat;
}

/** The part that changes. It is an item of its own, because it is small and written often. */
export interface ImportProgress extends ImportCounts, Leased, JobAttributes {
  orgId: number;
  id: number;
  /** As in the record. */
  filename: string | null;
  status: Import["status"];
  error?: string;
  updatedAt: string;
  /** The format, as detected. */
  look?: {
    tag: string;
    encoding?: ImportRecord["wish"]["encoding"];
    delimiter: NonNullable<ImportRecord["wish"]["delimiter"]>;
    cr: boolean;
    start: FilePosition;
  };
  /** Progress of the scan. */
  survey?: {
    place: FilePosition;
    rows: number;
    utf8: boolean;
    /** Start of the first row below the header. */
    body?: FilePosition;
    /** Indexes of the columns with identifiers, which stay text. */
    identifiers?: number[];
    /** Columns whose header may be about consent. */
    consent?: ConsentColumn[];
    formats?: FormatEvidence[];
  };
  total?: number;
  /** First of the reserved contact ids, one per row. */
  firstId?: number;
  /** End of the stored rows. */
  place?: FilePosition;
}
export interface ImportCounts {
  processed: number;
  created: number;
  updated: number;
  skipped: number;
  failed: number;
}

export const zeroCounts: ImportCounts = {
  processed: 0,
  created: 0,
  updated: 0,
  skipped: 0,
  failed: 0,
};
