// The other half of a provider: what it tells us afterwards. One file each; one conformance suite over all ten.

export const eventTypes = ["delivered", "open", "click", "bounce", "spam_report", "unsubscribe", "dropped", "deferred"] as const;
export type EventType = (typeof eventTypes)[number];

/** A provider's webhook call, as received. */
export interface Notice {
  /** Lower-case names. */
  headers: Record<string, string | undefined>;
  rawBody: Buffer;
  /** As the customer pasted it at the provider: PUBLIC_URL, path and query string, to the byte. */
  url: string;
  /** `secret=` of the query, where it was given exactly once. */
  querySecret: string | undefined;
}

/** One event in our words. Bounded: texts at most 1,000 characters, so that no provider can make an event large. */
export interface ProviderEvent {
  type: EventType;
  email: string;
  /** Ours, which travelled with the mail; absent when the provider does not echo it. */
  sendId?: number | undefined;
  /** As the send's outcome named it, in the same form. */
  providerMessageId?: string | undefined;
  /** The same on every redelivery of this event, and of no other event of this provider. */
  providerEventId: string;
  /** ISO 8601, the provider's clock. */
  timestamp: string;
  data: { url?: string; reason?: string; bounceType?: "hard" | "soft"; userAgent?: string };
  /** The recipient's, on opens, clicks and unsubscribes. */
  ipAddress?: string | undefined;
  /** The provider itself says that a machine did it. */
  automated?: true | undefined;
}

/** What a genuine call means. `confirm`: a URL to GET before answering (SNS topic subscriptions), on a host that was checked. */
export interface Reading {
  events: ProviderEvent[];
  confirm?: string;
  /** Where the events come from; a config remembers the first and refuses others (SNS topic). */
  source?: string;
  /** Good for one use: the call is refused when it was seen before within the window (Mailgun's token). */
  onceToken?: string;
}

export interface Inbound {
  /** "signature": proven on the raw bytes with the config's webhookSecret; "secret": by `secret=` in the URL, compared by the caller. */
  proof: "signature" | "secret";
  /**
   * Whether the call is the provider's. For "secret" providers the query secret has been compared already; SES also proves the
   * SNS signature here. `certificate` fetches a signing certificate from a host that was checked. Throws nothing but what
   * `certificate` throws: then nobody knows yet, and the call must come again.
   */
  genuine(notice: Notice, secret: string, now: Date, certificate: (url: string) => Promise<string>): boolean | Promise<boolean>;
  /** Never throws: rows that make no sense are left out, the others kept. */
  read(notice: Notice): Reading;
  /** A call that the provider makes to try the URL: answered 200 without proof, and nothing is processed. */
  probe?(notice: Notice): boolean;
  /** What to answer so that it does not come again (`forged`), and so that it does (`busy`: we could not store it). */
  statuses: { forged: number; busy: number };
}
