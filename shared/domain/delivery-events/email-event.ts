// A delivery event as the API returns it.
import * as z from "zod";
import { RecordId, Timestamp } from "../../kernel/record-fields.ts";
import { eventCauses, eventTypes } from "../../providers/inbound/inbound-adapter.ts";
import { isAutomatedEvent, type SendWithEvents } from "./send-events.ts";
import type { SendEvent } from "./send-outcome.ts";

export const EmailEvent = z
  .object({
    id: RecordId.describe("Id of the event. Higher ids are newer."),
    sendId: RecordId.describe("Send that the event belongs to."),
    toEmail: z.string().describe("Email address of the recipient."),
    subject: z.string().describe("Subject line of the send."),
    type: z.enum(eventTypes).describe("Type of the event."),
    data: z
      .object({
        url: z.string().optional().describe("For `click`: URL of the link."),
        reason: z
          .string()
          .optional()
          .describe("For `bounce`, `dropped` and `deferred`: reason given by the other server."),
        bounceType: z
          .enum(["hard", "soft"])
          .optional()
          .describe(
            "For `bounce`. `hard`: the address is bad. `soft`: the mailbox takes no email for now.",
          ),
        cause: z
          .enum(eventCauses)
          .optional()
          .describe(
            "For `dropped` and `deferred`, if the provider names it. `message`: content, size or " +
              "an attachment was refused. `sender`: reputation, authentication or a limit. " +
              "`suppressed`: the address is on the list of the provider. `auto_reply`: the " +
              "recipient's system answered by itself. None of them suppresses the address.",
          ),
        userAgent: z
          .string()
          .optional()
          .describe("For `open` and `click`: user agent of the recipient's program."),
        topicId: RecordId.optional().describe(
          "For `unsubscribe`: the recipient left only this topic.",
        ),
        topicName: z.string().optional().describe("Name of that topic."),
      })
      .meta({ id: "EmailEventData", description: "Further data, by type." }),
    ipAddress: z
      .string()
      .nullable()
      .describe(
        "IP address that opened, clicked or unsubscribed, if the provider reports it, or `null`.",
      ),
    timestamp: Timestamp.describe("When the event happened, as reported by the provider."),
    provider: z.string().describe("Email provider that reported the event."),
    providerEventId: z
      .string()
      .describe(
        "Hash of what identifies the event at the provider. An event that is reported twice is " +
          "stored once.",
      ),
    automated: z
      .boolean()
      .describe(
        "Whether a machine opened or clicked: the provider says so, the user agent is a " +
          "known scanner or prefetcher, or the click came within 10 seconds of delivery, or " +
          "within a second of a click on another link of the email. With `tracking` `own` also " +
          "HEAD requests, and clicks within a minute of clicks on two other links. Such events " +
          "are left out of unique counts.",
      ),
  })
  .meta({ id: "EmailEvent" });
export type EmailEvent = z.output<typeof EmailEvent>;

export const toApi = (send: SendWithEvents, event: SendEvent): EmailEvent => ({
  id: event.id,
  sendId: send.id,
  toEmail: send.toEmail,
  subject: send.subject,
  type: event.type,
  data: { ...event.data, ...event.topic },
  ipAddress: event.ip ?? null,
  timestamp: event.at,
  provider: send.provider,
  providerEventId: event.providerEventId,
  automated: (event.type === "open" || event.type === "click") && isAutomatedEvent(event, send),
});
