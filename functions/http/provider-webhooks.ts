import * as z from "zod";
import { config } from "../../shared/config.ts";
import { receiveWebhook } from "../../shared/domain/delivery-events/receive-webhook.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { maxBytes } from "../../shared/http/request-body.ts";
import { type ApiRequest, ReceivedWebhook, route } from "../../shared/http/route.ts";
import { QueryId } from "../../shared/kernel/digits.ts";
import type { InboundRequest } from "../../shared/providers/inbound/inbound-adapter.ts";
import { providerKeys } from "../../shared/providers/provider-keys.ts";
import { traits } from "../../shared/providers/traits.ts";

// Providers add fields and types of events without notice, so a body may have any content.
const json = z.unknown().describe("Events in the format of the provider.");
const bodyTypes: Partial<Record<string, Record<string, z.ZodType>>> = {
  ses: {
    "text/plain": z
      .string()
      .max(maxBytes.signed)
      .describe("Notification of Amazon SNS: JSON with the event as text in `Message`."),
  },
  mandrill: {
    "application/x-www-form-urlencoded": z.looseObject({
      mandrill_events: z
        .string()
        .max(maxBytes.signed)
        .describe("Events in the format of the provider, as JSON."),
    }),
  },
  smtp2go: {
    "application/json": json,
    "application/x-www-form-urlencoded": z
      .looseObject({})
      .describe("Event in the format of the provider."),
  },
};

// Public at the edge: each provider authenticates with its own signature or secret.
export const providerWebhooks = routeGroup(
  "provider-webhooks",
  providerKeys.map((key) =>
    route(`POST /webhooks/${key}`, `Receive events from ${traits[key].name}`, {
      operationId: `receive${key.charAt(0).toUpperCase()}${key.slice(1)}Events`,
      description: "Called by the provider. `config_id` names the sending config.",
      auth: "public",
      answersHead: true,
      signed: true,
      rawBodyTypes: bodyTypes[key] ?? { "application/json": json },
      query: z.object({
        config_id: QueryId.describe("Id of the sending config."),
        secret: z
          .string()
          .max(500)
          .optional()
          .describe(
            "`webhookSecret` of the sending config, for providers that do not sign their webhooks.",
          ),
      }),
      returns: ReceivedWebhook,
      errors: {
        401:
          "The signature or the secret is not valid. Some providers get another status, " +
          "because they retry after 401.",
        404: "No sending config of this provider has this `config_id`.",
      },
      handle: async ({ query, request }) => {
        await receiveWebhook(key, query.config_id, toInboundRequest(request, query.secret));
        return { received: true as const };
      },
    }),
  ),
);
export const { handler } = providerWebhooks;

const toInboundRequest = (
  { headers, rawBody, path, queryString }: ApiRequest,
  secret: string | undefined,
): InboundRequest => ({
  headers,
  rawBody,
  url: `${config.publicUrl}${path}${queryString && `?${queryString}`}`,
  querySecret: secret,
});
