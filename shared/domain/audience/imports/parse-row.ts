// Converts the cells of a row to a contact.
import * as z from "zod";
import { namesIn, typedValue, unguarded } from "../../../kernel/csv-cells.ts";
import { toSingleLine } from "../../../kernel/email-fields.ts";
import { parseJson } from "../../../kernel/json.ts";
import { validationMessages } from "../../../kernel/validation-messages.ts";
import { ContactRow, GroupName } from "../contacts/contact-schema.ts";
import type { TopicChoice } from "../topics/topic-choice-schemas.ts";
import { isDate, readAnswer, readStatus } from "./consent.ts";
import { type ImportColumn, isExported } from "./import-options.ts";
import type { NewImport } from "./import-record.ts";

export type ParsedRow =
  | {
      row: ContactRow;
      /** The address belongs on the suppression list. */
      suppress: boolean;
      /** The file has a column with consent, and the cell of this row is empty. */
      lacksConsent: boolean;
      error?: undefined;
    }
  | { email: string; error: string };

/** The transaction that stores a contact has room for this many new tags and lists. */
const maxRowGroups = 60;

/** The number of tags that a row can have besides the tags and lists of the whole import. */
export const maxTagsOf = ({ tags, lists }: Pick<NewImport, "tags" | "lists">): number =>
  maxRowGroups - tags.length - lists.length;

const ImportRow = ContactRow.safeExtend({ tags: z.array(GroupName).max(maxRowGroups) });

/** Empty cells are left out, so they do not change existing values. */
export function parseRow(
  cells: string[],
  columns: ImportColumn[],
  { maxTags = maxRowGroups }: { maxTags?: number } = {},
): ParsedRow {
  const raw: RawContact = { tags: [], consent: [] };
  for (const [i, column] of columns.entries()) {
    // Custom fields of our own export are read exactly; other cells may be padded.
    const cell = unguarded((isExported(column) ? cells[i] : cells[i]?.trim()) ?? "");
    if (cell !== "" && column.field !== "ignore") setField(raw, column, cell);
  }
  const { consent, fault, ...contact } = raw;
  contact.tags = [...new Set(raw.tags)];
  const email = typeof raw.email === "string" ? raw.email : "";
  const hasExtraCells = cells.slice(columns.length).some((cell) => cell.trim() !== "");
  if (hasExtraCells)
    return {
      email,
      error:
        `the row has ${cells.length} cells, but the header has ${columns.length}: put quotes ` +
        "around cells that contain the delimiter",
    };
  if (fault !== undefined) return { email, error: fault };
  if (contact.tags.length > maxTags) return { email, error: describeExcess(contact.tags, maxTags) };
  const status = strictestFirst.find((one) => consent.includes(one));
  const suppress = status === "suppressed";
  if (status && !suppress) contact.status = status;
  const { data, error } = ImportRow.safeParse(contact, { error: validationMessages });
  if (!data) return { email, error: describeIssue(error.issues[0]!, email) };
  const hasConsentColumn = columns.some(({ field }) => field === "subscribed");
  return { row: data, suppress, lacksConsent: hasConsentColumn && status === undefined };
}

// Several columns can say whether the contact gets email.
const strictestFirst = ["suppressed", "unsubscribed", "pending", "subscribed"] as const;

interface RawContact {
  tags: string[];
  topics?: TopicChoice[];
  customFields?: Record<string, unknown>;
  /** What each column says. */
  consent: (typeof strictestFirst)[number][];
  fault?: string;
  [field: string]: unknown;
}

function setField(contact: RawContact, column: ImportColumn, cell: string): void {
  const { field, text, type, topicId } = column;
  if (topicId !== undefined) setTopic(contact, { field, topicId }, cell);
  else if (field.startsWith("customFields.")) {
    // The declared type decides how its text is read.
    const isText = text || (type && !isExported(column));
    setCustomField(contact, field.slice("customFields.".length), isText ? cell : typedValue(cell));
  } else (fieldSetters[field as keyof typeof fieldSetters] ?? setText(field))(contact, cell);
}

function setTopic(
  contact: RawContact,
  { field, topicId }: { field: string; topicId: number },
  cell: string,
): void {
  const status = statusOf(cell);
  if (status === "subscribed" || status === "unsubscribed")
    contact.topics = [
      ...(contact.topics ?? []),
      { id: topicId, subscribed: status === "subscribed" },
    ];
  else if (status !== "none") contact.fault = `${field}: must be subscribed, left, yes or no`;
}

const statusOfAnswer = { yes: "subscribed", no: "unsubscribed", none: "none" } as const;

/** A status, or yes or no. `none`: the cell has no value. Undefined: it says something else. */
function statusOf(cell: string) {
  const answer = readAnswer(cell);
  return answer ? statusOfAnswer[answer] : readStatus(cell);
}

function setCustomField(contact: RawContact, key: string, value: unknown): void {
  contact.customFields ??= {};
  contact.customFields[key] = value;
}

const setText = (field: string) => (contact: RawContact, cell: string) => {
  contact[field] = toSingleLine(cell);
};

const fieldSetters: Record<string, (contact: RawContact, cell: string) => void> = {
  email: (contact, cell) => {
    // Accepts "Ann <ann@example.com>".
    contact.email = (/<([^<>]+)>$/.exec(cell)?.[1] ?? cell).trim().replace(/^mailto:/i, "");
  },
  tags: (contact, cell) => {
    contact.tags.push(...namesIn(cell));
  },
  customFields: (contact, cell) => {
    const fields = parseJson(cell);
    const isObject = typeof fields === "object" && fields !== null && !Array.isArray(fields);
    if (!isObject) contact.fault = "customFields: must be a JSON object";
    else
      for (const [key, value] of Object.entries(fields))
        setCustomField(contact, key, scalar(value));
  },
  unsubscribedAt: (contact, cell) => {
    if (isGiven(cell)) contact.consent.push("unsubscribed");
  },
  bouncedAt: (contact, cell) => {
    if (isGiven(cell)) contact.consent.push("suppressed");
  },
  status: (contact, cell) => {
    const status = statusOf(cell);
    // Not a status: the check of the row refuses it.
    if (status === undefined) contact.status = cell;
    else if (status !== "none") contact.consent.push(status);
  },
  subscribed: (contact, cell) => {
    const status = isDate(cell) ? "subscribed" : statusOf(cell);
    if (status === undefined) contact.fault = "subscribed: must be yes, no or a date";
    else if (status !== "none") contact.consent.push(status);
  },
  unsubscribed: (contact, cell) => {
    const status = readStatus(cell);
    if (isDate(cell) || readAnswer(cell) === "yes") contact.consent.push("unsubscribed");
    else if (status === "unsubscribed" || status === "suppressed") contact.consent.push(status);
    else if (readAnswer(cell) === undefined && status === undefined)
      contact.fault = "unsubscribed: must be yes, no or a date";
  },
  fullName: (contact, cell) => {
    const words = toSingleLine(cell).trim().split(/\s+/);
    if (words.length > 1) contact.lastName = words.pop();
    contact.firstName = words.join(" ");
  },
};

/** Nested lists and objects become JSON text. */
const scalar = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : value;

/** Whether a column with the date of an unsubscription or bounce has one. */
const isGiven = (cell: string): boolean => {
  const answer = readAnswer(cell);
  return answer !== "no" && answer !== "none";
};

/** Names the tags that are too many. */
function describeExcess(tags: string[], maxTags: number): string {
  const excess = tags.slice(maxTags).join(", ");
  return `tags: has ${tags.length}, but at most ${maxTags} are possible, without ${excess}`;
}

function describeIssue(
  { path, message, code }: { path: PropertyKey[]; message: string; code?: string },
  email: string,
): string {
  const [field] = path;
  if (field === "email" && email === "") return "email is required";
  if (field === "status" && code === "invalid_value")
    return "status: must be subscribed, unsubscribed, pending or suppressed";
  return `${path.map(String).join(".")}: ${message}`.slice(0, 200);
}
