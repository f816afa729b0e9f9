// What the ten stand-ins share: how a request comes in, what a captured mail is, how an event goes out.
import type { Attachment, Mailbox } from "../../../shared/providers/provider.ts";

export type { Attachment, Mailbox };

/** A sandbox account at one of the ten providers. All its keys and secrets follow from `id` and this installation's root key. */
export interface Account {
  /** 16 hex digits */
  id: string;
  /** Lower-case hex, `length` digits, the same each time for one purpose. */
  hex(purpose: string, length: number): string;
  bytes(purpose: string, length: number): Buffer;
}

export interface Request {
  method: string;
  path: string;
  query: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Buffer;
}

/** A string body goes out as it is, anything else as JSON. */
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Thrown by a provider's code when its real counterpart would answer with an error. */
export class Refused extends Error {
  readonly answer: Answer;
  constructor(answer: Answer) {
    super(`Refused with ${answer.status}`);
    this.answer = answer;
  }
}

/** Content as handed over: shared by all recipients of one call, so a batch keeps it once. */
export interface Content {
  subject: string;
  html?: string | undefined;
  text?: string | undefined;
  attachments: Attachment[];
  /** Too old to be kept: html, text and attachments are gone. */
  forgotten?: true;
}

export type Part = "subject" | "html" | "text";

/** A mail as a provider takes it over for one recipient. */
export interface Draft {
  /** As the provider's events name it. */
  messageId: string;
  from: Mailbox;
  to: Mailbox;
  /** It is a blind copy: this is whom the mail says it is to. */
  copyOf?: Mailbox | undefined;
  replyTo?: string | undefined;
  content: Content;
  /** Puts the recipient's values into the content; absent: the content is final. */
  fill?: ((text: string, part: Part) => string) | undefined;
  headers: Record<string, string>;
  tags: string[];
  /** What the provider gives back in its events. */
  metadata: Record<string, unknown>;
  tracksOpens: boolean;
  tracksClicks: boolean;
  /** The account never hears of this mail: SES without a configuration set, as an example. */
  silent?: boolean;
  /** Accepted, but cannot be rendered: why. */
  unrenderable?: string | undefined;
}

/** What may happen to a mail after it was accepted. */
export type Kind =
  | "accepted"
  | "delivered"
  | "deferred"
  | "bounced"
  | "softbounced"
  | "dropped"
  | "opened"
  | "clicked"
  | "complained"
  | "unsubscribed"
  | "unrenderable";

/** A webhook call about a mail: `status` is our answer to it, 0 before there was one. */
export interface Posted {
  kind: Kind;
  at: string;
  status: number;
}

export interface Mail extends Draft {
  id: number;
  at: Date;
  provider: string;
  account: string;
  posted: Posted[];
}

export interface Happening {
  kind: Kind;
  mail: Mail;
  at: Date;
  /** Random, for the event ids of providers that have them. */
  id: string;
  /** What was clicked. */
  url: string;
}

/** Where an account's events go: one sending config's webhook URL, with its secret put in. */
export interface Hook {
  configId: number;
  provider: string;
  account: string;
  url: string;
  /** SNS only: the receiving side has confirmed its subscription. */
  confirmed?: boolean;
}

export interface Parcel {
  body: string;
  /** Made anew for each try: some providers sign each one, or count. */
  headers(attempt: number): Record<string, string>;
}

/** A request whose credentials were good. */
export interface Call {
  request: Request;
  account: Account;
  /** What the path's pattern caught. */
  params: string[];
  /** The body as JSON; refuses the call as the provider does if it is none. */
  json(): unknown;
  /** The sandbox refuses this recipient for good. */
  rejects(email: string): boolean;
  /** The account may send from this address: any but those of unverified.pennymail.test. */
  mayUse(from: string): boolean;
  /** Puts mails into the inbox; refuses the whole call if one of the recipients is `flaky@` and new. */
  submit(drafts: Draft[]): void;
}

/** How a provider tells what happened: its webhook. */
export interface Webhook {
  /** What proves its calls, for the sending config's `webhookSecret`. */
  secret(account: Account): string;
  /** Its events; a kind it does not have is absent. */
  notices: Partial<Record<Kind, (happening: Happening) => Record<string, unknown>>>;
  /** How many events one call carries at most. */
  perPost: number;
  pack(events: Record<string, unknown>[], hook: Hook, account: Account): Parcel | Promise<Parcel>;
  /** It tries again after this answer; 0 is no answer. */
  retries(status: number): boolean;
}

export interface MailProvider {
  key: string;
  name: string;
  /** Finds the account id (16 hex digits, perhaps in several groups) in an API key. */
  keyPattern: RegExp;
  credentials(account: Account): Record<string, string>;
  /** The account whose credentials the request carries; throws Refused. `owner` finds the account of a key. */
  authenticate(request: Request, owner: (key: string | undefined) => Account | undefined): Account;
  /** Patterns of "POST /path", and what they do. Answers throw Refused. */
  routes: [pattern: RegExp, answer: (call: Call) => Answer | Promise<Answer>][];
  maxBytes: number;
  errors: {
    notFound: Answer;
    malformed: Answer;
    tooLarge: Answer;
    /** 429: too fast. 500: trouble of its own. */
    busy(status: 429 | 500): Answer;
  };
  webhook: Webhook;
}
