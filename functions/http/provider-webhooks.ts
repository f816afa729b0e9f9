import * as z from "zod";
import { config } from "../../shared/config.ts";
import { receive } from "../../shared/domain/events/receive.ts";
import { invalid } from "../../shared/errors.ts";
import { type Request, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import type { Notice } from "../../shared/providers/inbound/inbound.ts";
import { inboundKeys } from "../../shared/providers/inbound/index.ts";

// Public to the gateway: each provider proves itself with its own signature or secret.
export const providerWebhooks = group(
  "provider-webhooks",
  inboundKeys.map((key) =>
    route(`POST /webhooks/${key}`, `Delivery events from ${key}, for the sending config that config_id names`, {
      auth: "public",
      probed: true,
      raw: { "application/json": z.unknown(), "application/x-www-form-urlencoded": z.looseObject({}), "text/plain": z.string() },
      query: z.object({
        config_id: z.coerce.number().int().positive().optional(),
        secret: z.string().max(500).optional().describe("The config's webhookSecret, for providers that do not sign"),
      }),
      returns: z.object({ received: z.literal(true) }),
      errors: { 401: "Not proven; some providers get another status that they understand", 404: "Unknown config_id" },
      handle: async ({ query, request }) => {
        if (query.config_id === undefined)
          throw invalid("config_id is required", { details: [{ path: "config_id", message: "is required" }] });
        await receive(key, query.config_id, noticeOf(request, query.secret));
        return { received: true as const };
      },
    }),
  ),
);
export const { handler } = providerWebhooks;

const noticeOf = ({ headers, rawBody, path, queryString }: Request, secret: string | undefined): Notice => ({
  headers,
  rawBody,
  url: `${config.publicUrl}${path}${queryString && `?${queryString}`}`,
  querySecret: secret,
});
