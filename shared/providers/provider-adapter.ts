// The contract of the provider adapters. One file implements it for each provider; one conformance
// suite tests those with an API, and another tests smtp.
import type * as z from "zod";

export interface Mailbox {
  email: string;
  name?: string | undefined;
}

export interface Attachment {
  filename: string;
  type: string;
  /** Base64 without line breaks. */
  content: string;
  /** An image that the HTML shows by `cid:<contentId>`. */
  contentId?: string | undefined;
}

/**
 * Text with merge fields: a string is the same for all recipients, a number is an index into each
 * recipient's `values`. Adapters with a template syntax translate it; the others use
 * `fillMergeText`.
 */
export type MergeText = (string | number)[];

export interface Recipient {
  sendId: number;
  to: Mailbox;
  values: string[];
  /** Headers of this recipient, such as List-Unsubscribe, in addition to those of the mailing. */
  headers: Record<string, string>;
}

/** `to` and `cc` are shown in the mail. */
export interface Addressees {
  to: Mailbox[];
  cc: Mailbox[];
  bcc: Mailbox[];
}

/** The content of one provider call: one mail for each of its recipients. */
export interface Mailing {
  from: Mailbox;
  replyTo?: string[] | undefined;
  /** Gets a blind copy of each mail; see `addresseesOf`. */
  bcc?: string | undefined;
  /** Further addressees. Only a mailing to one recipient has them. */
  copies?: Addressees | undefined;
  subject: MergeText;
  html?: MergeText | undefined;
  text?: MergeText | undefined;
  headers: Record<string, string>;
  tags: string[];
  attachments: Attachment[];
  /** Undefined: as set in the account at the provider. */
  trackOpens?: boolean | undefined;
  trackClicks?: boolean | undefined;
  recipients: Recipient[];
  /** Id of the sending config. Absent for mail that is not a send. */
  configId?: number | undefined;
  /**
   * No request is made after this time, because another worker may then ask whether the provider
   * has the mails. Absent: there is no other worker.
   */
  notAfter?: Date | undefined;
}

/**
 * The outcome of handing over one recipient's mail.
 * - accepted: the provider accepted it. `messageId` is absent if the provider returns none.
 *   `pauseSeconds`: this call used up the rate limit of the provider, until the end of this time.
 * - refused: it will never be accepted. `config`: because of the account or credentials.
 * - held: it is safe to retry. `pace`: rate limit or quota; `fault`: provider error; `recipient`:
 *   only this recipient cannot get mail now; `batch`: the provider refused the whole call without
 *   naming the recipient at fault, so retry each one alone at once. `heard`: it may have been
 *   handed over, so retry only with the same idempotency key and the same bytes; without `heard` it
 *   was not handed over.
 * - uncertain: it may or may not have been handed over.
 * `error` is the provider's message, at most 300 characters, without secrets.
 */
export type HandOverOutcome =
  | { status: "accepted"; messageId?: string | undefined; pauseSeconds?: number | undefined }
  | { status: "refused"; error: string; config?: true }
  | {
      status: "held";
      why: "pace" | "fault" | "recipient" | "batch";
      error: string;
      retryAfterSeconds?: number | undefined;
      heard?: true;
    }
  | { status: "uncertain"; error: string };

export interface ProviderCall<C> {
  mailing: Mailing;
  credentials: C;
  /** The same for every attempt of a mailing. Sent to providers that support idempotency keys. */
  idempotencyKey: string;
  /**
   * An earlier attempt with this key may have reached the provider. Only then "duplicate" is a
   * success.
   */
  repeated?: boolean;
}

/** A mail that the provider may have. */
export interface SoughtMail {
  sendId: number;
  /** Address of the recipient. */
  to: string;
}

/**
 * What the provider knows of a mail.
 * - found: it has the mail. `messageId` is absent if it does not tell one.
 * - refused: it took the mail over, and then refused to send it. `error` is its message, at most
 *   300 characters.
 * - missing: its search is complete and does not have the mail. See `LookUp.missing`.
 * - unknown: the search failed, is not permitted, or found too many other mails.
 */
export type LookUpOutcome =
  | { status: "found"; messageId?: string | undefined }
  | { status: "refused"; error: string }
  | { status: "missing" }
  | { status: "unknown"; error: string; retryAfterSeconds?: number | undefined };

/** How to ask a provider for mails by our send ids. */
export interface LookUp<C extends z.ZodObject = z.ZodObject> {
  /** The most mails in one request. */
  max: number;
  /**
   * When a missing mail counts as not accepted. `afterSeconds`: by its documentation, the search
   * has all mails that were accepted so long ago. `withinSeconds`: and none of those is deleted
   * yet. Absent: the search may lack mails, because its delay is not documented or the plan limits
   * it, so that only a found mail counts.
   */
  missing?: { afterSeconds: number; withinSeconds: number };
  /**
   * Makes one request, and those for further pages. Returns outcomes in the order of `mails`, and
   * provider errors as outcomes too. `since`: the mails were handed over at this time or later, by
   * any clock that is at most an hour wrong.
   */
  find(request: {
    mails: SoughtMail[];
    since: Date;
    credentials: z.output<C>;
  }): Promise<LookUpOutcome[]>;
}

export interface Limits {
  /** Largest number of headers, without those that have a field of their own. */
  headers?: number;
  /** Characters of one header value, encoded. */
  headerCharacters?: number;
  /** Total bytes of header names and values. */
  headerBytes?: number;
  /** Header values must be ASCII. */
  asciiHeaders?: true;
  /** Further header names that a mail may not set, in lower case. */
  forbiddenHeaders?: Set<string>;
  subjectCharacters?: number;
  /** Characters of the sender's name and address together, encoded. */
  fromCharacters?: number;
  /** Largest number of addresses that replies go to. */
  replyTos?: number;
  /** Images cannot be shown inside the HTML. */
  noInlineImages?: true;
  filenameBytes?: number;
  /** Allowed file extensions in lower case. Absent: any. */
  filenameEndings?: Set<string>;
}

/** What a provider reports about an account. */
export interface ReportedLimits {
  emailsPerSecond: number;
  /** Null: no limit. */
  emailsPer24Hours: number | null;
  sentLast24Hours: number;
}

/**
 * - accepted: the provider knows the credentials. They may still lack a permission.
 * - refused: it does not. `error` is its message.
 * - unknown: it did not respond, or has a problem.
 */
export type CredentialCheck =
  | { status: "accepted" }
  | { status: "refused"; error: string }
  | { status: "unknown" };

export interface CredentialRequest {
  url: string;
  headers: Record<string, string>;
  /** With a body, the method is POST. */
  body?: object;
  /** Whether the response says that the credentials are wrong. Absent: it has status 401. */
  isRefusal?(response: { status: number; json: unknown; headers: Headers }): boolean;
}

export interface ProviderAdapter<C extends z.ZodObject = z.ZodObject> {
  key: string;
  name: string;
  /**
   * Schema of a sending config's `credentials`; GET /providers lists its fields with their
   * descriptions.
   */
  credentials: C;
  /**
   * How its webhooks are verified: by a signature with `webhookSecret`, or by `secret=` in the URL.
   * Absent: it has no webhooks.
   */
  webhookProof?: "signature" | "secret";
  /** Largest total size of the attachments of one mail, decoded. Our own limit is 25 MB. */
  maxAttachmentBytes: number;
  /** Other limits of the provider, checked before a mail is accepted. */
  limits?: Limits;
  /** Its mail has a Feedback-ID of its own, so Gmail does not count by one of ours. */
  setsFeedbackId?: true;
  /** Whether tracking can be set per mail. */
  tracking: { opens: boolean; clicks: boolean };
  /** How long the provider recognizes an idempotency key. 0: it does not support them. */
  idempotencySeconds: number;
  /**
   * Sending to several recipients in one call. `supports` tells whether this mailing can be sent so
   * without changes.
   */
  batch?: { max: number; supports(mailing: Mailing): boolean };
  /**
   * Makes one HTTP request; smtp sends each mail of the call. Returns outcomes in the order of
   * `mailing.recipients`, and provider errors as outcomes too. More than one recipient needs
   * `batch`.
   */
  send(call: ProviderCall<z.output<C>>): Promise<HandOverOutcome[]>;
  /** A request that changes nothing and needs valid credentials. Absent: see `checkLogin`. */
  credentialRequest?(credentials: z.output<C>): CredentialRequest | Promise<CredentialRequest>;
  /** Logs in without sending anything. Of providers without `credentialRequest`. */
  checkLogin?(credentials: z.output<C>): Promise<CredentialCheck>;
  /** Absent if the provider has no search, or none that knows our ids. */
  lookUp?: LookUp<C>;
  /** Undefined if the provider does not respond, or the credentials do not permit it. */
  readLimits?(credentials: z.output<C>): Promise<ReportedLimits | undefined>;
}

/**
 * Everyone who gets this recipient's mail, the recipient first. The blind copy of the mailing is
 * left out if its address is among the others.
 */
export function addresseesOf({ bcc, copies }: Mailing, { to }: Recipient): Addressees {
  const named = { to: [to, ...(copies?.to ?? [])], cc: copies?.cc ?? [], bcc: copies?.bcc ?? [] };
  const isNamed = Object.values(named)
    .flat()
    .some(({ email }) => email.toLowerCase() === bcc?.toLowerCase());
  return bcc && !isNamed ? { ...named, bcc: [...named.bcc, { email: bcc }] } : named;
}

/** Attachments that are listed below the mail, and those that its HTML shows. */
export function splitAttachments({ attachments }: Pick<Mailing, "attachments">) {
  const isImage = ({ contentId }: Attachment) => contentId !== undefined;
  return {
    files: attachments.filter((file) => !isImage(file)),
    images: attachments.filter(isImage).map((image) => ({ ...image, contentId: image.contentId! })),
  };
}

/** Fills the merge fields with the values of a recipient. */
export const fillMergeText = (mergeText: MergeText, { values }: Recipient): string =>
  mergeText.map((part) => (typeof part === "string" ? part : (values[part] ?? ""))).join("");

/** Our ids of a mail. Providers return them with its events. */
export const idsOf = (
  { configId }: Pick<Mailing, "configId">,
  { sendId }: { sendId: number | string },
): Record<string, string> => ({
  sendId: String(sendId),
  ...(configId !== undefined && { configId: String(configId) }),
});
