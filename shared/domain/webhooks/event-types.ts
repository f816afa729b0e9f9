// What a webhook endpoint can subscribe to.
import { eventTypes } from "../../providers/inbound/inbound-adapter.ts";

/** Events about records. The other events are about emails. */
export const recordEventTypes = [
  "contact.created",
  "contact.updated",
  "contact.unsubscribed",
  "contact.deleted",
  "campaign.sent",
  "campaign.paused",
  "sequence.enrolled",
  "sequence.completed",
  "form.submitted",
  "email.replied",
  "domain.verified",
  "sending_config.paused",
] as const;
export type RecordEventType = (typeof recordEventTypes)[number];

export const webhookEventTypes = [...eventTypes, ...recordEventTypes] as const;
export type WebhookEventType = (typeof webhookEventTypes)[number];
