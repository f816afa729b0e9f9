// Reading addresses the way providers do: `Ada <ada@x>`, `"Lovelace, Ada" <ada@x>`, RFC 2047 encoded names, lists.
import type { Mailbox } from "./contract.ts";

/** Undefined when it is not an address. */
export function mailbox(text: string): Mailbox | undefined {
  const [, quoted, bare, inside] = /^\s*(?:"((?:[^"\\\r\n]|\\[^\r\n])*)"|([^<>"\r\n]*?))\s*<([^<>\s]+)>\s*$/.exec(text) ?? [];
  const email = inside ?? text.trim();
  if (!valid(email)) return undefined;
  const name = decoded(quoted?.replace(/\\(.)/g, "$1") ?? bare ?? "");
  return name ? { email, name } : { email };
}

/** `Ada <ada@x>, ben@x`; undefined when one of them is not an address. */
export function mailboxes(text: string): Mailbox[] | undefined {
  const all = (text.match(/(?:"(?:[^"\\]|\\.)*"|[^",])+/g) ?? []).map(mailbox);
  return all.length && all.every((one) => one !== undefined) ? all : undefined;
}

export function valid(email: string): boolean {
  const at = email.lastIndexOf("@");
  const [local, domain] = [email.slice(0, at), email.slice(at + 1)];
  return (
    at > 0 && local.length <= 64 && email.length <= 320 && !/[\s<>,;:"()[\]\\\p{Cc}]/u.test(email) && !local.includes("@") && host(domain)
  );
}

const host = (domain: string) => /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62})\.)+[\p{L}\p{N}-]{2,}$/u.test(domain);

/** Undoes RFC 2047 encoded words; adjoining ones belong together. */
function decoded(text: string): string {
  const whole = text.replace(/(=\?[^?]+\?[bq]\?[^?]*\?=)\s+(?==\?)/gi, "$1");
  const parts = whole.split(/(=\?utf-?8\?[bq]\?[^?]*\?=)/i);
  const bytes = parts.map((part) => {
    const [, encoding, content] = /^=\?utf-?8\?([bq])\?([^?]*)\?=$/i.exec(part) ?? [];
    return encoding ? (encoding.toLowerCase() === "b" ? Buffer.from(content!, "base64") : quotedBytes(content!)) : Buffer.from(part);
  });
  return Buffer.concat(bytes).toString("utf8").trim();
}

const quotedBytes = (text: string) =>
  Buffer.from(
    text.replaceAll("_", " ").replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
