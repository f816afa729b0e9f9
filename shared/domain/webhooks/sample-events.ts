// Samples of what endpoints get, for tests of an endpoint and for the API reference.
import type { OutgoingEvent } from "../../queues.ts";
import { recordEventTypes, type WebhookEventType } from "./event-types.ts";

const mailDetails = {
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

const contact = {
  firstName: "Ada",
  lastName: "Lovelace",
  phone: null,
  company: null,
  timezone: "Europe/London",
  locale: "en-GB",
  customFields: { plan: "pro" },
  status: "subscribed",
  source: "api",
  externalId: "user-1815",
  createdAt: "2026-11-30T09:00:00.000Z",
};
const campaign = { name: "December news", status: "sent", statusReason: null };
const enrollment = { siteId: 1, sequenceId: 1, data: { enrollmentId: 1 } };

const detailsByType: Record<WebhookEventType, Record<string, unknown>> = {
  delivered: { ...mailDetails, data: {} },
  open: { ...mailDetails, ...client, data: { userAgent } },
  click: { ...mailDetails, ...client, data: { url: "https://shop.example/offer", userAgent } },
  bounce: {
    ...mailDetails,
    data: {
      bounceType: "hard",
      bounceClass: "unknown_mailbox",
      reason: "550 5.1.1 The mailbox does not exist",
    },
  },
  spam_report: { ...mailDetails, data: {} },
  unsubscribe: { ...mailDetails, ipAddress: "203.0.113.9", data: {} },
  dropped: {
    ...mailDetails,
    data: { cause: "suppressed", reason: "The address is on the suppression list" },
  },
  deferred: { ...mailDetails, data: { reason: "452 4.2.2 The mailbox is full" } },
  "contact.created": { siteId: 1, data: contact },
  "contact.updated": { siteId: 1, data: { ...contact, changed: ["firstName"] } },
  "contact.unsubscribed": { siteId: 1, data: { ...contact, status: "unsubscribed" } },
  "contact.deleted": { siteId: 1, data: { ...contact, mergedInto: null } },
  "campaign.sent": { siteId: 1, campaignId: 1, data: campaign },
  "campaign.paused": {
    siteId: 1,
    campaignId: 1,
    data: { ...campaign, status: "paused", statusReason: "5.2 % of the emails bounced" },
  },
  "sequence.enrolled": enrollment,
  "sequence.completed": enrollment,
  "form.submitted": {
    siteId: 1,
    formId: 1,
    data: { submissionId: 1, status: "accepted", fields: { firstName: "Ada" } },
  },
  "email.replied": {
    siteId: 1,
    campaignId: null,
    sequenceId: 1,
    stepId: 2,
    data: {
      inboundEmailId: 1,
      subject: "Re: Your order",
      matchedBy: "reference",
      attachmentCount: 0,
    },
  },
  "domain.verified": { data: { domainId: 1, name: "shop.example" } },
  "sending_config.paused": {
    data: {
      sendingConfigId: 1,
      reason: "The provider failed 5 times in a row",
      pausedUntil: "2026-12-01T09:01:00.000Z",
    },
  },
};

const withoutContact = new Set<WebhookEventType>([
  "campaign.sent",
  "campaign.paused",
  "domain.verified",
  "sending_config.paused",
]);
const withoutSend: ReadonlySet<string> = new Set(
  recordEventTypes.filter((type) => type !== "email.replied"),
);

/** A sample event. `id` is the id of its send and its contact. */
export function createSample(
  event: WebhookEventType,
  { id, email }: { id: number; email: string },
): Omit<OutgoingEvent, "id" | "timestamp"> {
  const hasContact = !withoutContact.has(event);
  return {
    event,
    sendId: withoutSend.has(event) ? null : id,
    contactId: hasContact && event !== "form.submitted" ? id : null,
    email: hasContact ? email : null,
    details: detailsByType[event],
  };
}
