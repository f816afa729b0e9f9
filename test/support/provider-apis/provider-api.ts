// The provider APIs for the conformance suite (test/unit/provider-conformance.test.ts). One file
// per provider converts its requests back to mails, as the provider would deliver them, and has its
// responses.
import type { Attachment, Mailbox } from "../../../shared/providers/provider-adapter.ts";
import type { CannedReply, RecordedRequest } from "./recording-server.ts";

/** A mail as its recipient gets it, after the provider's template engine has run. */
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
  /** The send id that the provider's events will contain. */
  sendId: string;
  attachments: Attachment[];
  /** Undefined if the request uses the setting of the account. */
  trackOpens?: boolean | undefined;
  trackClicks?: boolean | undefined;
}

export interface ProviderApi {
  /**
   * Valid credentials. Each secret has at least 12 characters and occurs nowhere else.
   */
  credentials: Record<string, string>;
  /** Names of the credentials that must never be shown. */
  secrets: string[];
  /** The path of a call for one recipient. */
  path: string;
  /** The maximum number of tags of a mail. */
  maxTags: number;
  /**
   * Returns the mails of a request in the order of their recipients. Throws if the provider would
   * refuse the request.
   */
  readMails(request: RecordedRequest): DeliveredMail[] | Promise<DeliveredMail[]>;
  /** The response to a request with this number of mails if all are accepted. */
  success(count: number): CannedReply;
  /** The expected message id of the n-th mail (from 0) after `success`. */
  messageId(n: number, count: number): string | undefined;
  /**
   * The refusal of a whole call because of an invalid mail, with this message.
   */
  invalidMailReply(message: string): CannedReply;
  /** All responses that report an error of the account, besides a plain 401. */
  accountErrors: CannedReply[];
  /**
   * All responses that report a rate limit or a used up quota, besides a plain 429 with
   * Retry-After. `seconds` is the expected pause.
   */
  rateLimits: { reply: CannedReply; seconds?: number | undefined }[];
  /** All responses of an outage without accepted mail, besides a 503 with Retry-After. */
  outages: CannedReply[];
  /**
   * Responses that leave open whether the mail was accepted, besides 408, 500, 502, 503 and 504.
   */
  doubtful: CannedReply[];
  /**
   * The response to a batch of three mails of which the second is refused with this message. Absent
   * if the provider reports nothing about single mails.
   */
  partialRefusal?(message: string): CannedReply;
}

/** Parses `"Ada, L" <ada@example.net>`, `Ada <...>` or a bare address. */
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
