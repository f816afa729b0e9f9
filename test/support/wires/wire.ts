// What the conformance suite (test/unit/providers.test.ts) knows of each provider's API: one file per provider reads its
// requests back into mails, as the provider itself would deliver them, and says its answers.
import type { Attachment, Mailbox } from "../../../shared/providers/provider.ts";
import type { Reply, Request } from "./server.ts";

/** A mail as its recipient gets it: the provider's template engine has run. */
export interface Delivered {
  from: Mailbox;
  to: Mailbox;
  replyTo?: string | undefined;
  bcc?: string | undefined;
  subject: string;
  html?: string | undefined;
  text?: string | undefined;
  /** Without Reply-To, and without headers that only carry our id. */
  headers: Record<string, string>;
  tags: string[];
  /** What the provider's events will bring back. */
  sendId: string;
  attachments: Attachment[];
  /** undefined: the request leaves it to the account. */
  trackOpens?: boolean | undefined;
  trackClicks?: boolean | undefined;
}

export interface Wire {
  /** Credentials the schema takes, each secret at least 12 characters long and like nothing else. */
  credentials: Record<string, string>;
  /** Which of them must never show. */
  secrets: string[];
  /** Of a call for one recipient. */
  path: string;
  /** How many tags one mail can have. */
  maxTags: number;
  /** The mails of a request in the order of their recipients. Throws (by `expect` or by itself) on what the provider would refuse. */
  delivered(request: Request): Delivered[] | Promise<Delivered[]>;
  /** The answer to a request for so many mails, all of them taken. */
  success(count: number): Reply;
  /** The id our outcome must have for the n-th (from 0) of so many mails after `success`. */
  messageId(n: number, count: number): string | undefined;
  /** The refusal of a whole call for a fault of the mail, with these words where the provider puts them. */
  refusal(words: string): Reply;
  /** Every shape in which the provider says that the account is at fault, beside a plain 401. */
  config: Reply[];
  /** Every shape of "slow down" or "quota used up", beside a plain 429 with Retry-After. `seconds`: what our outcome must tell. */
  pace: { reply: Reply; seconds?: number | undefined }[];
  /** Every shape of "we have trouble", beside a plain 503. */
  fault: Reply[];
  /** The answer to a batch of three whose second mail alone is refused, with these words; absent: the provider tells nothing of single mails. */
  partial?(words: string): Reply;
}

/** `"Ada, L" <ada@example.net>`, `Ada <...>` or a bare address, read back. */
export function mailboxOf(line: string): Mailbox {
  const [, quoted, plain, email] = /^(?:"((?:[^"\\]|\\.)*)"|([^"<]*?))\s*<([^<>]+)>$/u.exec(line) ?? [];
  if (!email) return { email: line };
  const name = quoted?.replace(/\\(.)/gu, "$1") ?? plain ?? "";
  return { email, ...(name && { name }) };
}

export const json = (status: number, body: unknown, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});
