// The requests to webhook endpoints of customers: the `webhooks` section of the OpenAPI document.
import { emailEventPayloads } from "../../domain/delivery-events/webhook-payload-schemas.ts";
import { sampleDetails } from "../../domain/webhooks/sample-events.ts";
import { type EventType, eventTypes } from "../../providers/inbound/inbound-adapter.ts";
import { capitalize } from "../operation-names.ts";
import type { ToJsonSchema } from "./json-schemas.ts";

const meanings: Record<EventType, string> = {
  delivered: "The mail server of the recipient accepted an email.",
  open: "A recipient opened an email.",
  click: "A recipient clicked a link of an email.",
  bounce: "An email could not be delivered: the mail server of the recipient refused it.",
  spam_report: "A recipient reported an email as spam.",
  unsubscribe: "A recipient unsubscribed at the provider.",
  dropped: "The provider did not try to deliver an email.",
  deferred: "The mail server of the recipient refused an email for now: the provider tries again.",
};

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
  const toWebhook = (type: EventType) => ({
    post: {
      operationId: `handle${type.split("_").map(capitalize).join("")}Event`,
      tags: ["webhooks"],
      summary: `Email event \`${type}\``,
      description: `${meanings[type]} Verify a signature before you use the event.`,
      security: [],
      parameters: signatureHeaders,
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: schemaOf(emailEventPayloads[type], "output"),
            example: exampleOf(type),
          },
        },
      },
      responses,
    },
  });
  return Object.fromEntries(eventTypes.map((type) => [type, toWebhook(type)]));
}

const exampleOf = (event: EventType) => ({
  event,
  sendId: 1,
  contactId: 1,
  email: "ada@example.com",
  timestamp: "2026-12-01T09:00:00.000Z",
  ...sampleDetails[event],
});
