// The documented requests about delivery events: one schema for each type.
import * as z from "zod";
import { RecordId, RecordSiteId, Timestamp } from "../../kernel/record-fields.ts";
import type { EventType } from "../../providers/inbound/inbound-adapter.ts";
import { bounceReasons } from "../sending/bounce-reasons.ts";

const commonFields = {
  sendId: RecordId.describe("Id of the send."),
  contactId: RecordId.nullable().describe("Id of the contact, or `null` without a contact."),
  email: z.string().describe("Email address of the recipient."),
  timestamp: Timestamp.describe("When it happened, as reported by the provider."),
  eventId: RecordId.describe("Id of the event, as in GET /events."),
  siteId: RecordSiteId,
  provider: z.string().describe("Email provider that reported the event."),
  providerMessageId: z.string().nullable().describe("Id of the email at the provider, or `null`."),
  campaignId: RecordId.nullable().describe("Campaign that sent the email, or `null`."),
  variantId: RecordId.nullable().describe("Variant of the campaign, or `null`."),
  sequenceId: RecordId.nullable().describe("Sequence that sent the email, or `null`."),
  stepId: RecordId.nullable().describe("Step of the sequence, or `null`."),
  holidayId: RecordId.nullable().describe("Holiday email that the send belongs to, or `null`."),
  batchId: RecordId.nullable().describe("Batch that the send belongs to, or `null`."),
  tags: z.array(z.string()).describe("Tags given with the send."),
  metadata: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe("Your own data given with the send, or `null`."),
};

const clientFields = {
  ipAddress: z
    .string()
    .nullable()
    .describe("IP address of the recipient's program, if the provider reports it, or `null`."),
  automated: z
    .boolean()
    .describe(
      "Whether a machine did it, such as a link scanner or a proxy that prefetches images.",
    ),
};
const userAgent = z.string().optional().describe("User agent of the recipient's program.");
const reason = z.string().optional().describe("Reason given by the other server.");

const NoData = z.object({}).describe("This type has no further data.");
const DroppedData = z
  .object({
    cause: z
      .enum(["message", "sender", "suppressed"])
      .optional()
      .describe(
        "`message`: content, size or an attachment was refused. `sender`: reputation, " +
          "authentication or a limit. `suppressed`: the address is on the list of the provider.",
      ),
    reason,
  })
  .meta({ id: "WebhookDroppedData" });
const DeferredData = z
  .object({
    cause: z
      .enum(["auto_reply"])
      .optional()
      .describe("`auto_reply`: the recipient's system answered by itself."),
    reason,
  })
  .meta({ id: "WebhookDeferredData" });
const BounceData = z.object({
  bounceType: z
    .enum(["hard", "soft"])
    .describe("`hard`: the address is bad. `soft`: the mailbox takes no email for now."),
  bounceClass: z
    .enum(bounceReasons)
    .describe("Why the email bounced, by the status code or the words of `reason`."),
  reason,
});
const ClickData = z.object({
  url: z.string().optional().describe("URL of the link."),
  userAgent,
});
const UnsubscribeData = z.object({
  topicId: RecordId.optional().describe(
    "Topic that the recipient left. Absent: the recipient left all email of the site.",
  ),
  topicName: z.string().optional().describe("Name of that topic."),
});

/** Fields that only some types have. */
const ownFields = {
  delivered: { data: NoData },
  open: { ...clientFields, data: z.object({ userAgent }) },
  click: { ...clientFields, data: ClickData },
  bounce: { data: BounceData },
  spam_report: { data: NoData },
  unsubscribe: { ipAddress: clientFields.ipAddress, data: UnsubscribeData },
  dropped: { data: DroppedData },
  deferred: { data: DeferredData },
} satisfies Record<EventType, z.ZodRawShape>;

const payloadSchema = <Type extends EventType>(type: Type) =>
  z.object({
    event: z.literal(type).describe("Type of the event."),
    ...commonFields,
    ...ownFields[type],
  });

/** The body of the request for each type of delivery event. */
export const emailEventPayloads = {
  delivered: payloadSchema("delivered").meta({ id: "DeliveredWebhookEvent" }),
  open: payloadSchema("open").meta({ id: "OpenWebhookEvent" }),
  click: payloadSchema("click").meta({ id: "ClickWebhookEvent" }),
  bounce: payloadSchema("bounce").meta({ id: "BounceWebhookEvent" }),
  spam_report: payloadSchema("spam_report").meta({ id: "SpamReportWebhookEvent" }),
  unsubscribe: payloadSchema("unsubscribe").meta({ id: "UnsubscribeWebhookEvent" }),
  dropped: payloadSchema("dropped").meta({ id: "DroppedWebhookEvent" }),
  deferred: payloadSchema("deferred").meta({ id: "DeferredWebhookEvent" }),
} satisfies Record<EventType, z.ZodType>;
