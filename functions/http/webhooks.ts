import * as z from "zod";
import * as deliveries from "../../shared/domain/webhooks/deliveries.ts";
import * as webhook from "../../shared/domain/webhooks.ts";
import { Deleted, PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import { eventTypes } from "../../shared/providers/inbound/inbound.ts";

const { Webhook } = webhook;
const WithSecret = Webhook.extend({
  secret: z
    .string()
    .describe(
      "64 hexadecimal characters, shown this once. Its text keys X-Webhook-Signature: the lower-case hexadecimal HMAC-SHA256 of the raw body. For a Standard Webhooks library it is `whsec_` and the base64 of that text",
    ),
}).meta({ id: "WebhookWithSecret" });

export const webhooks = group("webhooks", [
  route("GET /webhooks", "List webhook endpoints", {
    query: PageQuery,
    returns: paged("webhooks", Webhook),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await webhook.list(caller, query);
      return { webhooks: items, pagination };
    },
  }),
  route("POST /webhooks", "Have events forwarded to a URL of yours; the secret that proves them is shown this once", {
    body: webhook.NewWebhook,
    returns: WithSecret,
    status: 201,
    once: ["secret"],
    handle: ({ caller, body }) => webhook.create(caller, body),
  }),
  route("GET /webhooks/:id", "One webhook endpoint", {
    returns: Webhook,
    handle: ({ caller, params }) => webhook.find(caller, params.id),
  }),
  route("PUT /webhooks/:id", "Change a webhook endpoint; fields that are not given stay", {
    body: webhook.WebhookChanges,
    returns: Webhook,
    handle: ({ caller, params, body }) => webhook.change(caller, params.id, body),
  }),
  route("DELETE /webhooks/:id", "Delete a webhook endpoint; what it was still to hear is dropped", {
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await webhook.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("GET /webhooks/:id/deliveries", "What became of each event at this endpoint in the last 30 days, newest first", {
    query: PageQuery.extend({ status: deliveries.Status.optional() }),
    returns: paged("deliveries", deliveries.Delivery),
    handle: ({ caller, params, query: { status, ...page } }) => deliveries.list(caller, params.id, page, status),
  }),
  route("POST /webhooks/:id/deliveries/:deliveryId/redeliver", "Deliver an event again, whatever became of it; its webhook-id stays", {
    returns: deliveries.Delivery,
    status: 202,
    errors: { 409: "The endpoint is inactive" },
    handle: ({ caller, params }) => deliveries.redeliver(caller, params.id, params.deliveryId),
  }),
  route("POST /webhooks/:id/test", "Call the endpoint once with a made-up event (sendId and contactId 0), and tell how it answered", {
    body: z.object({ event: z.enum(eventTypes).optional().describe("Absent: the first that the endpoint hears of") }),
    returns: deliveries.Tested,
    handle: ({ caller, params, body }) => deliveries.test(caller, params.id, body.event),
  }),
  route("POST /webhooks/:id/rotate-secret", "A new secret, shown this once; for 24 hours both sign", {
    returns: WithSecret,
    once: ["secret"],
    errors: { 409: "It was rotated by someone else meanwhile" },
    handle: ({ caller, params }) => webhook.rotateSecret(caller, params.id),
  }),
]);
export const { handler } = webhooks;
