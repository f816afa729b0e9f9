// An import: what was asked for, what is told of it, and how it is stored.
import * as z from "zod";
import { oneLine } from "../../email.ts";
import { GroupName } from "../contacts/contact.ts";
import type * as records from "../records.ts";
import type { Place } from "./rows.ts";
import { type Column, delimiters, encodings, Field, fields, modes } from "./wishes.ts";

const Id = z.int().positive();
const contactStatus = z.enum(["subscribed", "unsubscribed", "pending"]);

export const NewImport = z.object({
  siteId: Id.optional(),
  mapping: z
    .record(z.string().trim().min(1).max(200), Field)
    .refine((mapping) => Object.keys(mapping).length <= 1000, "may have at most 1,000 columns")
    .default({})
    .describe(
      `What a column is, by its header: ${fields.join(", ")} or customFields.<key>. A column that is not named here is guessed by its header (in English, German, French, Spanish, Italian, Portuguese or Dutch); one that is nothing we know becomes a custom field of its name, in the case that contacts of the site have it in already. Numbers, true and false in custom fields are taken as such where they are written plainly: 42, -1.5, not 007`,
    ),
  tags: z.array(GroupName).max(20).default([]).describe("Names; for every contact of the file. They give no points and start no sequences"),
  lists: z.array(Id).max(20).default([]).describe("Ids; for every contact of the file. They give no points and start no sequences"),
  mode: z
    .enum(modes)
    .default("upsert")
    .describe("create: addresses that are there already are skipped; update: those that are not are; upsert: neither"),
  resubscribe: z
    .boolean()
    .default(false)
    .describe("Subscribes again who unsubscribed, and takes addresses off the suppression list; without it nobody who left comes back"),
  status: contactStatus
    .default("subscribed")
    .describe("Of contacts that are made, where the file has no status for them; who is there keeps what it has"),
  delimiter: z.enum(delimiters).optional().describe("Detected where it is not given"),
  encoding: z.enum(encodings).optional().describe("Detected where it is not given"),
  filename: oneLine(200).optional(),
});
export type NewImport = z.output<typeof NewImport>;

export const RowError = z.object({
  row: z.int().describe("As a spreadsheet counts: the header is row 1, empty rows count"),
  email: z.string(),
  message: z.string(),
});
export type RowError = z.output<typeof RowError>;

export const Import = z
  .object({
    id: z.int(),
    siteId: z.int(),
    filename: z.string().nullable(),
    size: z.int().describe("Bytes"),
    status: z.enum(["queued", "running", "completed", "failed"]),
    error: z.string().nullable().describe("Why it failed as a whole. What is counted below was done nonetheless"),
    progress: z.int().describe("Per cent"),
    total: z.int().nullable().describe("Rows below the header, blank ones apart; null until they are counted"),
    processed: z.int().describe("created + updated + skipped + failed"),
    created: z.int(),
    updated: z.int().describe("An address that comes again in the file is updated again: the last row wins"),
    skipped: z.int().describe("By the mode"),
    failed: z.int().describe("Rows that something is wrong with"),
    mode: z.enum(modes),
    resubscribe: z.boolean(),
    contactStatus,
    tags: z.array(z.string()),
    lists: z.array(z.int()),
    delimiter: z.enum(delimiters).nullable(),
    encoding: z.enum(encodings).nullable(),
    mapping: z
      .record(z.string(), z.string())
      .nullable()
      .describe("What each column was taken for, once the header is read. Given back as mapping it does the same again"),
    errors: z.array(RowError).describe("The first 100; all of them by GET /imports/:id/errors"),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "Import" });
export type Import = z.output<typeof Import>;

/** What does not change any more, but for the columns, which are told once. */
export interface Stored extends records.Stored {
  orgId: number;
  siteId: number;
  filename: string | null;
  /** Key of the blob. */
  blob: string;
  size: number;
  wish: Omit<NewImport, "siteId" | "filename">;
  /** Asked for by a key of this site alone. */
  bound: boolean;
  columns?: Column[];
}

/** How far it is: small, because it is written again and again. */
export interface Run extends Counts {
  orgId: number;
  id: number;
  status: Import["status"];
  error?: string;
  updatedAt: string;
  /** Who is at work, until when (Unix seconds). */
  run?: string;
  lease?: number;
  look?: {
    tag: string;
    encoding?: Stored["wish"]["encoding"];
    delimiter: NonNullable<Stored["wish"]["delimiter"]>;
    cr: boolean;
    start: Place;
  };
  /** How far it is counted, and where the first row begins. */
  survey?: { place: Place; rows: number; utf8: boolean; body?: Place };
  total?: number;
  /** Of the contact that the first row would make; those of the others follow. */
  firstId?: number;
  /** How far it is stored. */
  place?: Place;
}
export interface Counts {
  processed: number;
  created: number;
  updated: number;
  skipped: number;
  failed: number;
}

export const none: Counts = { processed: 0, created: 0, updated: 0, skipped: 0, failed: 0 };
