// Types that the ten sandbox providers share: requests, accepted mails, events and webhooks.
import type { Attachment, Mailbox } from "../../../shared/providers/provider-adapter.ts";
import type { AccountResources } from "./resources.ts";

export type { Attachment, Mailbox };

/** An account at the sandbox providers. Its keys and secrets derive from `id` and the root key. */
export interface SandboxAccount {
  /** 16 hex digits */
  id: string;
  /** Returns the same lower-case hex digits at each call with one purpose. */
  deriveHex(purpose: string, length: number): string;
  deriveBytes(purpose: string, length: number): Buffer;
}

export interface SandboxRequest {
  method: string;
  path: string;
  query: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Buffer;
}

/** A string body is sent unchanged, any other body as JSON. */
export interface SandboxResponse {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Thrown where the real provider responds with an error. */
export class SandboxRefusal extends Error {
  readonly response: SandboxResponse;
  constructor(response: SandboxResponse) {
    super(`Refused with ${response.status}`);
    this.response = response;
  }
}

/** The content of a request. All recipients of one call share it, so a batch stores it once. */
export interface CapturedContent {
  subject: string;
  html?: string | undefined;
  text?: string | undefined;
  attachments: Attachment[];
  /** The inbox dropped html, text and attachments because the mail is old. */
  discarded?: true;
}

export type ContentPart = "subject" | "html" | "text";

/** An accepted mail to one recipient. */
export interface AcceptedMail {
  /** The message id in the provider's events. */
  messageId: string;
  from: Mailbox;
  /** The recipient of this copy. */
  to: Mailbox;
  /** The To and Cc headers. Absent: `to` is the only recipient. Bcc recipients are in neither. */
  shown?: { to: Mailbox[]; cc: Mailbox[] } | undefined;
  replyTo?: string | undefined;
  content: CapturedContent;
  /** Inserts the recipient's values. Absent: the content has no variables. */
  fill?: ((text: string, part: ContentPart) => string) | undefined;
  headers: Record<string, string>;
  tags: string[];
  /** Custom data that the provider returns in its events. */
  metadata: Record<string, unknown>;
  tracksOpens: boolean;
  tracksClicks: boolean;
  /** The provider posts no events, such as SES without a configuration set. */
  withoutEvents?: boolean;
  /** The reason why an accepted mail cannot be rendered. */
  renderError?: string | undefined;
}

/** An event after the provider accepted the mail. */
export type MailEventKind =
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

/** A webhook call about a mail. `status` is the status of the response, 0 without one. */
export interface WebhookAttempt {
  kind: MailEventKind;
  at: string;
  status: number;
}

export interface CapturedMail extends AcceptedMail {
  id: number;
  at: Date;
  provider: string;
  account: string;
  webhookAttempts: WebhookAttempt[];
}

export interface SimulatedEvent {
  kind: MailEventKind;
  mail: CapturedMail;
  at: Date;
  /** A random id. */
  id: string;
  /** The clicked link. */
  url: string;
}

/** A destination of an account's events: the webhook URL of a sending config, with its secret. */
export interface WebhookTarget {
  configId: number;
  provider: string;
  account: string;
  url: string;
  /** SNS only: the receiver confirmed the subscription. */
  confirmed?: boolean;
  /** The account created it by the API of the provider, so a saved config does not replace it. */
  isCreated?: true;
  /** SNS only: the topic, if it is not the first one of the account. */
  topicArn?: string;
  /** SparkPost only: the password that it sends, if it is not that of the account. */
  password?: string;
}

export interface WebhookPost {
  body: string;
  /** Called for each attempt, because some providers sign or count attempts. */
  headers(attempt: number): Record<string, string>;
}

/** Scheduled mails of one call. */
export interface Scheduled {
  /** The id in the provider's API. */
  id: string;
  due: Date;
  provider: string;
  account: string;
  drafts: AcceptedMail[];
}

/** An authenticated request. */
export interface SandboxCall {
  request: SandboxRequest;
  account: SandboxAccount;
  /** The values of the path parameters. */
  params: string[];
  /** Parses the body as JSON. Refuses an invalid body with the provider's error. */
  json(): unknown;
  /** Reports whether the simulator rejects this recipient. */
  isRejected(email: string): boolean;
  /** Reports whether the account can send from this address. */
  isVerifiedSender(from: string): boolean;
  /**
   * Adds mails to the inbox, or to the schedule when `due` is in the future. Refuses the call when
   * the simulator does. `id` is the id of the scheduled mails, by default their message id.
   */
  accept(drafts: AcceptedMail[], due?: Date, id?: string): void;
  /** Returns this account's mails in the inbox, by message id or predicate. */
  sent(matches: string | ((mail: CapturedMail) => boolean)): CapturedMail[];
  /** Returns this account's scheduled mails. */
  scheduled(id?: string): Scheduled[];
  /** Removes scheduled mails. Returns false when there are none with this id. */
  cancel(id: string): boolean;
  /** What the account has created. */
  resources: AccountResources;
  /** Posts the events of the account to this URL from now on, if it names a sending config. */
  watch(
    url: string,
    options?: Pick<WebhookTarget, "topicArn" | "password">,
  ): WebhookTarget | undefined;
  /** Posts no more events to this URL. */
  unwatch(url: string): void;
}

export interface WebhookProfile {
  /** The `webhookSecret` of the sending config. */
  deriveSecret(account: SandboxAccount): string;
  /** The provider's name and specific fields of each event. Absent kinds post no webhook. */
  events: Partial<
    Record<MailEventKind, [name: string, fields?: (event: SimulatedEvent) => object]>
  >;
  /** Creates the event from its common fields and `fields`. */
  toEvent(event: SimulatedEvent, name: string, fields: object): object;
  /** The most events in one webhook call. */
  eventsPerPost: number;
  buildPost(
    events: object[],
    target: WebhookTarget,
    account: SandboxAccount,
  ): WebhookPost | Promise<WebhookPost>;
  /** Reports whether the provider retries after this status, 0 without a response. */
  shouldRetry?(status: number): boolean;
}

type RouteHandler = (call: SandboxCall) => SandboxResponse | Promise<SandboxResponse>;

export interface SandboxProvider {
  key: string;
  name: string;
  /** Its groups join to the account id in an API key. */
  accountIdPattern: RegExp;
  credentials(account: SandboxAccount): Record<string, string>;
  /**
   * Returns the API key or its id. Throws SandboxRefusal if the provider has a specific error for a
   * missing key.
   */
  readKey(request: SandboxRequest): string | undefined;
  /** Checks a signature. Throws SandboxRefusal. */
  verify?(request: SandboxRequest, account: SandboxAccount): void;
  /** By method and path: `GET /emails/:id`. */
  routes: Record<string, SandboxResponse | RouteHandler>;
  maxBytes: number;
  errors: {
    unauthorized: SandboxResponse;
    /** `what` is a path or the id of a mail. */
    notFound(what: string): SandboxResponse;
    malformed: SandboxResponse;
    tooLarge: SandboxResponse;
    rateLimited(): SandboxResponse;
    /** 503; the server adds Retry-After. */
    outage: SandboxResponse;
  };
  webhook: WebhookProfile;
}
