// The cells of a row as what is to be known of a contact.
import { asOneLine } from "../../email.ts";
import { faults } from "../../faults.ts";
import { ContactRow, isStorable } from "../contacts/contact.ts";
import type { Column } from "./wishes.ts";

export type Read = { row: ContactRow; error?: undefined } | { email: string; error: string };

/** An empty cell says nothing: what is known stays. */
export function contactOf(cells: string[], columns: Column[]): Read {
  const given: Given = { tags: [] };
  for (const [i, { field }] of columns.entries()) {
    const cell = unguarded(cells[i]?.trim() ?? "");
    if (cell !== "" && field !== "ignore") tell(given, field, cell);
  }
  const email = typeof given.email === "string" ? given.email : "";
  const beyond = cells.slice(columns.length).some((cell) => cell.trim() !== "");
  if (beyond)
    return { email, error: `has ${cells.length} cells, and the header ${columns.length}: a cell with a delimiter in it needs quotes` };
  const { data, error } = ContactRow.safeParse(given, { error: faults });
  return data ? { row: data } : { email, error: sentence(error.issues[0]!, email) };
}

interface Given {
  tags: string[];
  customFields?: Record<string, string | number | boolean>;
  [field: string]: unknown;
}

function tell(given: Given, field: Column["field"], cell: string): void {
  if (field.startsWith("customFields.")) {
    given.customFields ??= {};
    given.customFields[field.slice("customFields.".length)] = plainValue(cell);
  } else (readers[field as keyof typeof readers] ?? plain(field))(given, cell);
}

const plain = (field: string) => (given: Given, cell: string) => {
  given[field] = asOneLine(cell);
};

const readers: Record<string, (given: Given, cell: string) => void> = {
  email: (given, cell) => {
    // "Ann <ann@example.com>", as address books write it.
    given.email = (/<([^<>]+)>$/.exec(cell)?.[1] ?? cell).trim().replace(/^mailto:/i, "");
  },
  tags: (given, cell) => {
    given.tags.push(
      ...new Set(
        cell
          .split(/[;,|\n]/)
          .map((name) => name.trim())
          .filter(Boolean),
      ),
    );
  },
  status: (given, cell) => {
    given.status = statuses[cell.toLowerCase().replace(/[^a-z]/g, "")] ?? cell;
  },
  fullName: (given, cell) => {
    const words = asOneLine(cell).trim().split(/\s+/);
    if (words.length > 1) given.lastName = words.pop();
    given.firstName = words.join(" ");
  },
};

const statuses: Record<string, string> = {
  subscribed: "subscribed",
  active: "subscribed",
  confirmed: "subscribed",
  optin: "subscribed",
  optedin: "subscribed",
  unsubscribed: "unsubscribed",
  optout: "unsubscribed",
  optedout: "unsubscribed",
  inactive: "unsubscribed",
  pending: "pending",
  unconfirmed: "pending",
};

/** An export puts an apostrophe before what a spreadsheet would take for a formula. */
const unguarded = (cell: string): string => cell.replace(/^'(?=[=+\-@\t\r\uFF0B\uFF0D\uFF1D\uFF20])/, "");

/** A number or truth value where it is written as we would write it; 007 and +1 stay texts. */
function plainValue(cell: string): string | number | boolean {
  if (cell === "true" || cell === "false") return cell === "true";
  const number = Number(cell);
  return /^-?\d/.test(cell) && isStorable(number) && String(number) === cell ? number : cell;
}

function sentence({ path, message, code }: { path: PropertyKey[]; message: string; code?: string }, email: string): string {
  const [field] = path;
  if (field === "email" && email === "") return "email: is missing";
  if (field === "status" && code === "invalid_value") return "status: must be subscribed, unsubscribed or pending";
  return `${path.map(String).join(".")}: ${message}`.slice(0, 200);
}
