// The requests to webhook endpoints of customers: the `webhooks` section of the OpenAPI document.
import { emailEventPayloads } from "../../domain/delivery-events/webhook-payload-schemas.ts";
import { type WebhookEventType, webhookEventTypes } from "../../domain/webhooks/event-types.ts";
import { recordEventPayloads } from "../../domain/webhooks/record-event-schemas.ts";
import { createSample } from "../../domain/webhooks/sample-events.ts";
import { capitalize } from "../operation-id.ts";
import type { ToJsonSchema } from "./json-schemas.ts";

const meanings: Record<WebhookEventType, string> = {
  delivered: "The mail server of the recipient accepted an email.",
  open: "A recipient opened an email.",
  click: "A recipient clicked a link of an email.",
  bounce: "An email could not be delivered: the mail server of the recipient refused it.",
  spam_report: "A recipient reported an email as spam.",
  unsubscribe: "A recipient unsubscribed at the provider.",
  dropped: "The provider did not try to deliver an email.",
  deferred: "The mail server of the recipient refused an email for now: the provider tries again.",
  "contact.created": "A contact was created.",
  "contact.updated":
    "The address, a field or the status of a contact changed. Tags, lists and scores do not count.",
  "contact.unsubscribed": "A contact became unsubscribed, by a link, the API, a form or an import.",
  "contact.deleted": "A contact was deleted or merged into another one. `data` is its last state.",
  "campaign.sent": "All emails of a campaign were handed over.",
  "campaign.paused": "A user, or the service because of too many bounces, paused a campaign.",
  "sequence.enrolled": "A contact was enrolled in a sequence.",
  "sequence.completed": "A contact reached the end of a sequence.",
  "form.submitted": "A form was submitted. With double opt-in it is not confirmed yet.",
  "email.replied": "A person replied to an email. Answers of machines send no event.",
  "domain.verified": "The ownership record of a sender domain was found.",
  "sending_config.paused":
    "A sending config is paused because its provider failed five times in a row. Sent once until " +
    "the provider accepts email again.",
};

const payloads = { ...emailEventPayloads, ...recordEventPayloads };

const header = (name: string, description: string, required = true) => ({
  in: "header" as const,
  name,
  required,
  description,
  schema: { type: "string" },
});
const signatureHeaders = [
  header("X-Webhook-Signature", "HMAC-SHA256 of the raw body in hex, keyed by the secret."),
  header(
    "X-Webhook-Signature-Previous",
    "The same, keyed by the previous secret. Sent for 24 hours after a rotation.",
    false,
  ),
  header("webhook-id", "Id of the event for this endpoint, the same on every attempt."),
  header("webhook-timestamp", "Time of this attempt in Unix seconds."),
  header(
    "webhook-signature",
    "Signatures by Standard Webhooks, separated by spaces: `v1,` and the base64 of the " +
      "HMAC-SHA256 of `id.timestamp.body`.",
  ),
];

/** One webhook per event type, by name. */
export function createWebhooks(schemaOf: ToJsonSchema) {
  const responses = {
    "2XX": { description: "Confirms the event." },
    410: { description: "Ends the delivery, and sets the endpoint inactive." },
    default: { description: "The delivery is retried for about three days." },
  };
  const toWebhook = (type: WebhookEventType) => ({
    post: {
      operationId: `handle${type.split(/[._]/).map(capitalize).join("")}Event`,
      tags: ["webhooks"],
      summary: `${type.includes(".") ? "Event" : "Email event"} \`${type}\``,
      description: `${meanings[type]} Verify a signature before you use the event.`,
      security: [],
      parameters: signatureHeaders,
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: schemaOf(payloads[type], "output"),
            example: exampleOf(type),
          },
        },
      },
      responses,
    },
  });
  return Object.fromEntries(webhookEventTypes.map((type) => [type, toWebhook(type)]));
}

function exampleOf(type: WebhookEventType) {
  const { details, ...fields } = createSample(type, { id: 1, email: "ada@example.com" });
  return { ...fields, timestamp: "2026-12-01T09:00:00.000Z", ...details };
}
