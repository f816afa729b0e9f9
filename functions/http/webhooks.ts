import * as z from "zod";
import * as deliveries from "../../shared/domain/webhooks/deliveries.ts";
import { webhookEventTypes } from "../../shared/domain/webhooks/event-types.ts";
import * as webhook from "../../shared/domain/webhooks/webhooks.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";

const { Webhook } = webhook;
const WebhookWithSecret = Webhook.extend({
  secret: z
    .string()
    .describe(
      "Signing secret: 64 hexadecimal characters, returned only here. `X-Webhook-Signature` " +
        "is the HMAC-SHA256 of the raw body in lower-case hexadecimal, keyed with this text. " +
        "For a Standard Webhooks library, use `whsec_` followed by the base64 of this text.",
    ),
}).meta({ id: "WebhookWithSecret" });

export const webhooks = routeGroup("webhooks", [
  route("GET /webhooks", "List webhook endpoints", {
    description: "Returns webhook endpoints, newest first, without their secrets.",
    query: PageQuery,
    returns: pagedSchema("webhooks", Webhook),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await webhook.list(caller, query);
      return { webhooks: items, pagination };
    },
  }),
  route("POST /webhooks", "Create a webhook endpoint", {
    needsVerifiedEmail: true,
    description:
      "Forwards events to your URL. Returns the signing secret once, in `secret`. An " +
      "organization can have up to 100 endpoints.",
    body: webhook.NewWebhook,
    returns: WebhookWithSecret,
    status: 201,
    errors: { 409: "The organization already has an endpoint with this URL (`url_taken`)." },
    fieldsShownOnce: ["secret"],
    handle: ({ caller, body }) => webhook.create(caller, body),
  }),
  route("GET /webhooks/:id", "Get a webhook endpoint", {
    returns: Webhook,
    handle: ({ caller, params }) => webhook.find(caller, params.id),
  }),
  route("PUT /webhooks/:id", "Update a webhook endpoint", {
    needsVerifiedEmail: true,
    description:
      "Updates the given fields. A new `url` or `active: true` clears the record of failures.",
    body: webhook.WebhookChanges,
    returns: Webhook,
    errors: { 409: "Another endpoint of the organization has this URL (`url_taken`)." },
    handle: ({ caller, params, body }) => webhook.change(caller, params.id, body),
  }),
  route("DELETE /webhooks/:id", "Delete a webhook endpoint", {
    description: "Also drops its pending deliveries.",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await webhook.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("GET /webhooks/:id/deliveries", "List webhook deliveries", {
    description: "Returns the deliveries of the last 30 days, newest first.",
    query: PageQuery.extend({
      status: deliveries.DeliveryStatus.optional().describe("Only items with this status."),
    }),
    returns: pagedSchema("deliveries", deliveries.Delivery),
    handle: ({ caller, params, query: { status, ...page } }) =>
      deliveries.list(caller, page, { webhookId: params.id, status }),
  }),
  route("POST /webhooks/:id/deliveries/:deliveryId/redeliver", "Redeliver a webhook event", {
    operationId: "retryWebhookDelivery",
    description:
      "Delivers the event again, whatever its status, with a new set of retries and the same " +
      "`webhook-id`.",
    returns: deliveries.Delivery,
    status: 202,
    errors: { 409: "The endpoint is inactive: activate it first." },
    handle: ({ caller, params }) => deliveries.redeliver(caller, params.id, params.deliveryId),
  }),
  route("POST /webhooks/:id/test", "Test a webhook endpoint", {
    description:
      "Calls the endpoint once with a sample event (`sendId` and `contactId` are 0) and " +
      "returns its response. The call is not listed as a delivery.",
    body: z.object({
      event: z
        .enum(webhookEventTypes)
        .optional()
        .describe("Event type of the sample. Defaults to the first type of the endpoint."),
    }),
    returns: deliveries.WebhookTestResult,
    handle: ({ caller, params, body }) => deliveries.sendTestEvent(caller, params.id, body.event),
  }),
  route("POST /webhooks/:id/rotate-secret", "Rotate the secret of a webhook endpoint", {
    operationId: "rotateWebhookSecret",
    description:
      "Returns the new secret once, in `secret`. For 24 hours, deliveries are signed with " +
      "both secrets.",
    returns: WebhookWithSecret,
    fieldsShownOnce: ["secret"],
    errors: {
      409:
        "Someone else rotated the secret, or removed the endpoint, at the same time: read it " +
        "and try again.",
    },
    handle: ({ caller, params }) => webhook.rotateSecret(caller, params.id),
  }),
]);
export const { handler } = webhooks;
