// The reasons that an email did not arrive, and what an answer says.

export const whyReasons = [
  "suppressed",
  "unsubscribed",
  "unconfirmed",
  "not_in_topic",
  "snoozed",
  "capped",
  "scheduled",
  "paused",
  "held_by_provider",
  "held_by_warm_up",
  "held_by_domain",
  "queued",
  "cancelled",
  "refused",
  "bounced",
  "uncertain",
  "deferred",
  "sent",
  "delivered",
  "opened",
  "not_sent",
  "unknown_address",
  "duplicate",
  "invalid_address",
  "held_out",
  "not_in_audience",
] as const;
export type WhyReason = (typeof whyReasons)[number];

export interface DeliveryAnswer {
  reason: WhyReason;
  answer: string;
  /** For people. */
  nextStep: string;
  /** The request of the API that does it. */
  nextRequest?: string;
}
