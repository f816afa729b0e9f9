// Addresses as text, as other mail APIs take them: `Ada <ada@example.com>, ben@example.com`.
import { decodeWords } from "postal-mime";

interface NamedAddress {
  email: string;
  name?: string;
}

/** The address and the name of one mailbox. What is not valid is refused later, as an address. */
export function parseMailbox(text: string): NamedAddress {
  const trimmed = text.trim();
  const open = trimmed.lastIndexOf("<");
  if (open < 0 || !trimmed.endsWith(">")) return { email: trimmed };
  const email = trimmed.slice(open + 1, -1).trim();
  const name = readName(trimmed.slice(0, open).trim());
  return name ? { email, name } : { email };
}

/** Some libraries give a name as it stands in a header: in quotes, or encoded (RFC 2047). */
export const readName = (name: string): string =>
  name.length > 1 && name.startsWith('"') && name.endsWith('"')
    ? name.slice(1, -1).replace(/\\(.)/g, "$1")
    : decodeWords(name);

/** The mailboxes of a list with commas. A comma in a quoted name separates nothing. */
export function parseMailboxes(text: string): NamedAddress[] {
  const parts = [""];
  let isQuoted = false;
  let previous = "";
  for (const char of text) {
    if (char === '"' && previous !== "\\") isQuoted = !isQuoted;
    previous = char;
    if (char === "," && !isQuoted) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts.filter((part) => part.trim()).map(parseMailbox);
}
