// The contract that all ten mail providers keep. One file each implements it; one conformance suite proves it.
import type * as z from "zod";

export interface Mailbox {
  email: string;
  name?: string | undefined;
}

export interface Attachment {
  filename: string;
  type: string;
  /** base64, no line breaks */
  content: string;
}

/**
 * Text with holes: a string is said to everyone, a number is an index into each recipient's `values`.
 * Providers that substitute send it in their own template syntax; for all others `filled` makes it plain.
 */
export type Pieces = (string | number)[];

export interface Recipient {
  sendId: number;
  to: Mailbox;
  values: string[];
  /** This recipient's own headers (List-Unsubscribe, ...), beside those of the mailing. */
  headers: Record<string, string>;
}

/** What one provider call carries: one content, one or many recipients, each of whom gets a mail of their own. */
export interface Mailing {
  from: Mailbox;
  replyTo?: string | undefined;
  /** Gets a blind copy of each mail: see `bccOf`. */
  bcc?: string | undefined;
  subject: Pieces;
  html?: Pieces | undefined;
  text?: Pieces | undefined;
  headers: Record<string, string>;
  tags: string[];
  attachments: Attachment[];
  /** undefined: as the provider's account is set */
  trackOpens?: boolean | undefined;
  trackClicks?: boolean | undefined;
  recipients: Recipient[];
}

/**
 * What became of one recipient's mail.
 * - accepted: the provider has it. `messageId` is absent where the provider tells none for this recipient.
 * - refused: it will never be accepted. `config`: the account or credentials are at fault, not this mail.
 * - held: nothing was handed over, asking again later is safe. `pace`: slow down; `fault`: the provider has trouble;
 *   `batch`: it refused the whole call for one recipient or more without saying whose; ask again at once for each alone.
 *   `heard`: it may have been handed over after all, and asking again is safe under the same idempotency key only.
 * - uncertain: it may or may not have been handed over.
 * `error` is the provider's own words, at most 300 characters, without secrets.
 */
export type Outcome =
  | { status: "accepted"; messageId?: string | undefined }
  | { status: "refused"; error: string; config?: true }
  | { status: "held"; why: "pace" | "fault" | "batch"; error: string; retryAfterSeconds?: number | undefined; heard?: true }
  | { status: "uncertain"; error: string };

export interface Call<C> {
  mailing: Mailing;
  credentials: C;
  /** The same for every attempt at the same mailing; goes out as the provider's idempotency key where it has one. */
  idempotencyKey: string;
}

export interface Provider<C extends z.ZodObject = z.ZodObject> {
  key: string;
  name: string;
  /** Shape of a sending config's `credentials`, and the config fields of GET /providers. Every field has a `.describe(...)`. */
  credentials: C;
  /** How its webhooks are proven: by a signature made with `webhookSecret`, or by `secret=` in the URL. */
  webhookProof: "signature" | "secret";
  /** Sum of attachment bytes (decoded) it takes in one mail; our own limit is 25 MB. */
  maxAttachmentBytes: number;
  /** Per-message switches it understands. */
  tracking: { opens: boolean; clicks: boolean };
  /** It answers a repeated call with the same key without sending again, for at least this long. 0: it has no such key. */
  idempotencySeconds: number;
  /** Its batch form. `takes` says whether this mailing survives it unchanged (per-recipient headers, substitution limits). */
  batch?: { max: number; takes(mailing: Mailing): boolean };
  /** One HTTP call. Outcomes are in the order of `mailing.recipients`; more than one recipient only as `batch` allows. Never throws for what the provider does. */
  send(call: Call<z.output<C>>): Promise<Outcome[]>;
}

/** Who gets a blind copy of this recipient's mail. Nobody gets the same mail twice, in whatever case the address is written. */
export const bccOf = ({ bcc }: Mailing, { to }: Recipient): string | undefined =>
  bcc && bcc.toLowerCase() !== to.email.toLowerCase() ? bcc : undefined;

/** The content as this recipient gets it. */
export const filled = (pieces: Pieces, { values }: Recipient): string =>
  pieces.map((piece) => (typeof piece === "string" ? piece : (values[piece] ?? ""))).join("");
