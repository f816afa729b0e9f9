// Samples of what endpoints get, for tests of an endpoint and for the API reference.
import type { EventType } from "../../providers/inbound/inbound-adapter.ts";

const commonDetails = {
  eventId: 1,
  siteId: 1,
  provider: "sendgrid",
  providerMessageId: "b7f3c2d8e1a94f60",
  campaignId: null,
  variantId: null,
  sequenceId: null,
  stepId: null,
  holidayId: null,
  batchId: null,
  metadata: { orderId: "A-1042" },
  tags: ["receipt"],
};
const client = { ipAddress: "203.0.113.9", automated: false };
const userAgent = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15";

/** The fields of a sample body beside the five that each event has. */
export const sampleDetails: Record<EventType, Record<string, unknown>> = {
  delivered: { ...commonDetails, data: {} },
  open: { ...commonDetails, ...client, data: { userAgent } },
  click: { ...commonDetails, ...client, data: { url: "https://shop.example/offer", userAgent } },
  bounce: {
    ...commonDetails,
    data: {
      bounceType: "hard",
      bounceClass: "unknown_mailbox",
      reason: "550 5.1.1 The mailbox does not exist",
    },
  },
  spam_report: { ...commonDetails, data: {} },
  unsubscribe: { ...commonDetails, ipAddress: "203.0.113.9", data: {} },
  dropped: { ...commonDetails, data: { reason: "The address is on the suppression list" } },
  deferred: { ...commonDetails, data: { reason: "452 4.2.2 The mailbox is full" } },
};
