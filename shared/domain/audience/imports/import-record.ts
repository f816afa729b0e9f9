// The schemas and stored items of imports.
import * as z from "zod";
import { singleLineText } from "../../../kernel/email-fields.ts";
import type { JobAttributes } from "../../../kernel/job-index.ts";
import type { Leased } from "../../../kernel/lease.ts";
import {
  Count,
  CreatedAt,
  NewSiteId,
  RecordId,
  RecordSiteId,
  UpdatedAt,
} from "../../../kernel/record-fields.ts";
import type * as records from "../../../kernel/records.ts";
import { GroupName } from "../contacts/contact-schema.ts";
import type { FilePosition } from "./csv-rows.ts";
import {
  delimiters,
  encodings,
  type ImportColumn,
  ImportField,
  importFields,
  importModes,
} from "./import-options.ts";

const Id = z.int().positive();
const contactStatus = z.enum(["subscribed", "unsubscribed", "pending"]);

export const NewImport = z.object({
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
        "digits, if its field is declared as text (PUT /contact-fields/:fieldName), or if the " +
        "field is not declared and has only text values in the site. customFields reads a JSON " +
        "object. A column of a topic has subscribed or yes for contacts who join it, left or no " +
        "for those who leave it; an empty cell changes nothing. Without resubscribe, nobody " +
        "joins a topic again who left it. A value in unsubscribedAt sets the contact " +
        "to unsubscribed; one in bouncedAt suppresses the address.",
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
  filename: singleLineText(200).optional().describe("Name of the file, shown with the import."),
});
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
    delimiter: z
      .enum(delimiters)
      .nullable()
      .describe("Character between cells. `null` until it is detected."),
    encoding: z
      .enum(encodings)
      .nullable()
      .describe("Character encoding of the file. `null` until it is detected."),
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

/** The part that does not change, except for `columns`, which the scan sets once. */
export interface ImportRecord extends records.StoredRecord {
  orgId: number;
  siteId: number;
  filename: string | null;
  /** Key of the file in S3. */
  blob: string;
  size: number;
  wish: Omit<NewImport, "siteId" | "filename" | "startSequences"> &
    Partial<Pick<NewImport, "startSequences">>;
  /** Whether a caller that is limited to sites created the import. */
  bound: boolean;
  columns?: ImportColumn[];
}

/** The part that changes. It is an item of its own, because it is small and written often. */
export interface ImportProgress extends ImportCounts, Leased, JobAttributes {
  orgId: number;
  id: number;
  /** As in the record. */
  filename?: string | null;
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
