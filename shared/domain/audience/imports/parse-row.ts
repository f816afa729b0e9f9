// Converts the cells of a row to a contact.
import { namesIn, typedValue, unguarded } from "../../../kernel/csv-cells.ts";
import { toSingleLine } from "../../../kernel/email-fields.ts";
import { parseJson } from "../../../kernel/json.ts";
import { validationMessages } from "../../../kernel/validation-messages.ts";
import { ContactRow, type ContactStatus } from "../contacts/contact-schema.ts";
import type { TopicChoice } from "../topics/topic-choice-schemas.ts";
import { type ImportColumn, isExported } from "./import-options.ts";

/** `suppress`: the address belongs on the suppression list. */
export type ParsedRow =
  | { row: ContactRow; suppress: boolean; error?: undefined }
  | { email: string; error: string };

/** Empty cells are left out, so they do not change existing values. */
export function parseRow(cells: string[], columns: ImportColumn[]): ParsedRow {
  const raw: RawContact = { tags: [] };
  for (const [i, column] of columns.entries()) {
    // Custom fields of our own export are read exactly; other cells may be padded.
    const cell = unguarded((isExported(column) ? cells[i] : cells[i]?.trim()) ?? "");
    if (cell !== "" && column.field !== "ignore") setField(raw, column, cell);
  }
  const { left, fault, ...contact } = raw;
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
  const suppress = left === "suppressed" || contact.status === "suppressed";
  if (suppress) delete contact.status;
  else if (left) contact.status = left;
  const { data, error } = ContactRow.safeParse(contact, { error: validationMessages });
  return data ? { row: data, suppress } : { email, error: describeIssue(error.issues[0]!, email) };
}

interface RawContact {
  tags: string[];
  topics?: TopicChoice[];
  customFields?: Record<string, unknown>;
  /** From a column with the date of the unsubscribe or bounce. */
  left?: "unsubscribed" | "suppressed";
  fault?: string;
  [field: string]: unknown;
}

function setField(contact: RawContact, column: ImportColumn, cell: string): void {
  const { field, text, topicId } = column;
  if (topicId !== undefined) setTopic(contact, { field, topicId }, cell);
  else if (field.startsWith("customFields.")) {
    setCustomField(contact, field.slice("customFields.".length), text ? cell : typedValue(cell));
  } else (fieldSetters[field as keyof typeof fieldSetters] ?? setText(field))(contact, cell);
}

function setTopic(
  contact: RawContact,
  { field, topicId }: { field: string; topicId: number },
  cell: string,
): void {
  const status = topicAnswers[cell.toLowerCase()] ?? statusOf(cell);
  if (status === "subscribed" || status === "unsubscribed")
    contact.topics = [
      ...(contact.topics ?? []),
      { id: topicId, subscribed: status === "subscribed" },
    ];
  else contact.fault = `${field}: must be subscribed, left, yes or no`;
}

// Further words for a choice, in the languages of the headers.
const wordsForYes = "yes y true 1 x ja oui si sí sim joined".split(" ");
const wordsForNo = "no n false 0 nein non não nee left declined".split(" ");
const topicAnswers: Record<string, ContactStatus> = Object.fromEntries([
  ...wordsForYes.map((word) => [word, "subscribed"]),
  ...wordsForNo.map((word) => [word, "unsubscribed"]),
]);

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
  unsubscribedAt: (contact) => {
    contact.left ??= "unsubscribed";
  },
  bouncedAt: (contact) => {
    contact.left = "suppressed";
  },
  status: (contact, cell) => {
    contact.status = statusOf(cell) ?? cell;
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

const spellings: Record<string, string> = {
  subscribed: "subscribed active confirmed enabled optin optedin",
  unsubscribed:
    "unsubscribed unsub optout optedout inactive disabled archived nonsubscribed " +
    "notsubscribed transactional",
  pending: "pending unconfirmed",
  suppressed:
    "suppressed cleaned bounced hardbounce hardbounced complained spam spamcomplaint " +
    "blocklisted blacklisted blocked",
};
const statusSynonyms: Record<string, string> = Object.fromEntries(
  Object.entries(spellings).flatMap(([status, names]) =>
    names.split(" ").map((name) => [name, status]),
  ),
);

const statusOf = (cell: string): string | undefined =>
  statusSynonyms[cell.toLowerCase().replace(/[^a-z]/g, "")];

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
