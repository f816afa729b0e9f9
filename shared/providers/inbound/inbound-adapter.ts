// The contract of the inbound adapters: each reads the webhooks of one provider. One conformance
// suite tests all ten.
import * as z from "zod";

export const eventTypes = [
  "delivered",
  "open",
  "click",
  "bounce",
  "spam_report",
  "unsubscribe",
  "dropped",
  "deferred",
] as const;
export type EventType = (typeof eventTypes)[number];

/** Why a mail was dropped or deferred, where the provider says so. */
export const eventCauses = ["message", "sender", "suppressed", "auto_reply"] as const;
export type EventCause = (typeof eventCauses)[number];

/** A webhook request of a provider. */
export interface InboundRequest {
  /** Names are lower-case. */
  headers: Record<string, string | undefined>;
  rawBody: Buffer;
  /** Exactly as the customer entered it at the provider: PUBLIC_URL, path and query string. */
  url: string;
  /** The query parameter `secret`, if it occurs exactly once. */
  querySecret: string | undefined;
}

/** One delivery event, normalized. Texts have at most 1,000 characters. */
export const ProviderEvent = z.object({
  type: z.enum(eventTypes),
  email: z.string(),
  /** Our id, which was sent along with the mail. Absent if the provider does not return it. */
  sendId: z.int().positive().optional(),
  /** In the same form as in the outcome of the send. */
  providerMessageId: z.string().optional(),
  /** A hash, unique per provider; the same on every redelivery of the event. */
  providerEventId: z.string(),
  /** ISO 8601, by the provider's clock. */
  timestamp: z.string(),
  data: z.object({
    url: z.string().optional(),
    reason: z.string().optional(),
    bounceType: z.enum(["hard", "soft"]).optional(),
    cause: z.enum(eventCauses).optional(),
    userAgent: z.string().optional(),
  }),
  /** The recipient's IP address, for opens, clicks and unsubscribes. */
  ipAddress: z.string().optional(),
  /** The provider reports that a machine opened or clicked. */
  automated: z.literal(true).optional(),
});
export type ProviderEvent = z.output<typeof ProviderEvent>;

/** The content of a verified request. */
export interface ParsedRequest {
  events: ProviderEvent[];
  /** SNS: the URL to GET, on a checked host, to confirm the subscription of the topic. */
  subscribeUrl?: string;
  /** SNS: a config accepts events only from the first topic that delivers to it. */
  snsTopic?: string;
  /** Mailgun: a token that is valid for one request. */
  nonce?: string;
}

export interface InboundAdapter {
  /**
   * Whether the request comes from the provider: by its signature, by a secret in the URL, or both.
   * `fetchCertificate` fetches a signing certificate from a checked host. Throws only what
   * `fetchCertificate` throws; the request must then be sent again.
   */
  verify(
    request: InboundRequest,
    secret: string,
    verification: { now: Date; fetchCertificate: (url: string) => Promise<string> },
  ): boolean | Promise<boolean>;
  /**
   * Ids of sending configs that the events name, for a URL without `config_id`. They are claims of
   * the sender until the signature is verified with the secret of one of them. Absent if the
   * provider does not authenticate its webhooks itself. Never throws.
   */
  claimedConfigIds?(request: InboundRequest): number[];
  /** Never throws. Leaves out entries that it cannot read. */
  readEvents(request: InboundRequest): ParsedRequest;
  /** Whether the provider only tests the URL. Such a request gets 200 without verification. */
  isProbe?(request: InboundRequest): boolean;
  /**
   * HTTP statuses that make the provider give up (`rejected`) or send the request again
   * (`retryLater`).
   */
  statuses: { rejected: number; retryLater: number };
  /** What to check after a rejection, as sentences. The same whether or not the config exists. */
  rejectionAdvice?: string;
  /** The largest body that the provider sends, with room. Strangers can send as much, too. */
  maxBodyBytes: number;
}

export const megabyte = 1024 * 1024;
