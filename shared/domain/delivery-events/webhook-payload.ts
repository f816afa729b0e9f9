// What webhook endpoints get about a delivery event. `pennymail listen` sends the same.
import type { EventType } from "../../providers/inbound/inbound-adapter.ts";
import type { OutgoingEvent } from "../../queues.ts";
import { classifyBounce } from "../sending/bounce-reasons.ts";
import type { Send } from "../sending/send-schema.ts";
import { type EmailEvent, toApi } from "./email-event.ts";
import type { SendWithEvents } from "./send-events.ts";
import type { SendEvent } from "./send-outcome.ts";

export const toOutgoingEvent = (send: SendWithEvents, event: SendEvent): OutgoingEvent => ({
  id: event.id,
  event: event.type,
  sendId: send.id,
  contactId: send.contactId ?? null,
  email: send.toEmail,
  timestamp: event.at,
  details: toPayloadDetails(toApi(send, event), send),
});

const nullableFields = [
  "providerMessageId",
  "campaignId",
  "variantId",
  "sequenceId",
  "stepId",
  "holidayId",
  "batchId",
  "metadata",
] as const;

type PayloadSend = Pick<Send, "siteId"> & {
  [Field in "tags" | (typeof nullableFields)[number]]?: Send[Field] | undefined;
};

/** The fields of the body beside `event`, `sendId`, `contactId`, `email` and `timestamp`. */
export const toPayloadDetails = (
  event: EmailEvent,
  send: PayloadSend,
): Record<string, unknown> => ({
  eventId: event.id,
  siteId: send.siteId,
  provider: event.provider,
  ...Object.fromEntries(nullableFields.map((field) => [field, send[field] ?? null])),
  tags: send.tags ?? [],
  ...ownFields[event.type](event),
});

const withoutData = () => ({ data: {} });
const withReason = ({ data: { reason, cause } }: EmailEvent) => ({ data: { reason, cause } });

/** Fields that only some types have. */
const ownFields: Record<EventType, (event: EmailEvent) => object> = {
  delivered: withoutData,
  open: ({ ipAddress, automated, data: { userAgent } }) => ({
    ipAddress,
    automated,
    data: { userAgent },
  }),
  click: ({ ipAddress, automated, data: { url, userAgent } }) => ({
    ipAddress,
    automated,
    data: { url, userAgent },
  }),
  bounce: ({ data: { bounceType = "soft", reason } }) => ({
    data: { bounceType, bounceClass: classifyBounce(reason), reason },
  }),
  spam_report: withoutData,
  unsubscribe: ({ ipAddress, data: { topicId, topicName } }) => ({
    ipAddress,
    data: { topicId, topicName },
  }),
  dropped: withReason,
  deferred: withReason,
};
