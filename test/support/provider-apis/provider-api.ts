// What the conformance suite (test/unit/provider-conformance.test.ts) knows of each provider's API:
// one file per provider reads its requests back into mails, as the provider itself would deliver
// them, and says its answers.
import type { Attachment, Mailbox } from "../../../shared/providers/provider-adapter.ts";
import type { CannedReply, RecordedRequest } from "./recording-server.ts";

/** A mail as its recipient gets it: the provider's template engine has run. */
export interface DeliveredMail {
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

export interface ProviderApi {
  /**
   * Credentials the schema takes, each secret at least 12 characters long and like nothing else.
   */
  credentials: Record<string, string>;
  /** Which of them must never show. */
  secrets: string[];
  /** Of a call for one recipient. */
  path: string;
  /** How many tags one mail can have. */
  maxTags: number;
  /**
   * The mails of a request in the order of their recipients. Throws (by `expect` or by itself) on
   * what the provider would refuse.
   */
  readMails(request: RecordedRequest): DeliveredMail[] | Promise<DeliveredMail[]>;
  /** The answer to a request for so many mails, all of them taken. */
  success(count: number): CannedReply;
  /** The id our outcome must have for the n-th (from 0) of so many mails after `success`. */
  messageId(n: number, count: number): string | undefined;
  /**
   * The refusal of a whole call for a fault of the mail, with these words where the provider puts
   * them.
   */
  invalidMailReply(message: string): CannedReply;
  /** Every shape in which the provider says that the account is at fault, beside a plain 401. */
  accountErrors: CannedReply[];
  /**
   * Every shape of "slow down" or "quota used up", beside a plain 429 with Retry-After. `seconds`:
   * what our outcome must tell.
   */
  rateLimits: { reply: CannedReply; seconds?: number | undefined }[];
  /** Every shape of "we have trouble and accepted nothing", besides a 503 with Retry-After. */
  outages: CannedReply[];
  /**
   * Answers of its own that leave open whether the mail was accepted, besides 408, 500, 502, 503
   * and 504.
   */
  doubtful: CannedReply[];
  /**
   * The answer to a batch of three whose second mail alone is refused, with these words; absent:
   * the provider tells nothing of single mails.
   */
  partialRefusal?(message: string): CannedReply;
}

/** `"Ada, L" <ada@example.net>`, `Ada <...>` or a bare address, read back. */
export function parseMailbox(line: string): Mailbox {
  const [, quoted, plain, email] =
    /^(?:"((?:[^"\\]|\\.)*)"|([^"<]*?))\s*<([^<>]+)>$/u.exec(line) ?? [];
  if (!email) return { email: line };
  const name = quoted?.replace(/\\(.)/gu, "$1") ?? plain ?? "";
  return { email, ...(name && { name }) };
}

export const jsonReply = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): CannedReply => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});
