import * as z from "zod";
import { config } from "../../shared/config.ts";
import { receiveWebhook } from "../../shared/domain/delivery-events/receive-webhook.ts";
import { receiveInbound } from "../../shared/domain/inbound/receive-inbound.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { type ApiRequest, ReceivedWebhook, route } from "../../shared/http/route.ts";
import { QueryId } from "../../shared/kernel/digits.ts";
import type { InboundRequest } from "../../shared/providers/inbound/inbound-adapter.ts";
import { getInboundAdapter } from "../../shared/providers/inbound/registry.ts";
import {
  type InboundMailProvider,
  inboundMailProviders,
} from "../../shared/providers/inbound-mail/provider-keys.ts";
import { getInboundMailAdapter } from "../../shared/providers/inbound-mail/registry.ts";
import { webhookProviderKeys } from "../../shared/providers/provider-keys.ts";
import { traits } from "../../shared/providers/traits.ts";

// Providers add fields and types of events without notice, so a body may have any content.
const json = z.unknown().describe("Events in the format of the provider.");
const maxBytesOf = (key: string): number => getInboundAdapter(key)!.maxBodyBytes;
const bodyTypes: Partial<Record<string, Record<string, z.ZodType>>> = {
  ses: {
    "text/plain": z
      .string()
      .max(maxBytesOf("ses"))
      .describe("Notification of Amazon SNS: JSON with the event as text in `Message`."),
  },
  mandrill: {
    "application/x-www-form-urlencoded": z.looseObject({
      mandrill_events: z
        .string()
        .max(maxBytesOf("mandrill"))
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

const signs = (key: string): boolean => getInboundAdapter(key)!.claimedConfigIds !== undefined;

const describe = (key: string): string =>
  signs(key)
    ? "Called by the provider. Without `config_id`, the events name the sending config: email " +
      "that the service sent has its id. Events of other email, such as test events, are refused " +
      "then."
    : "Called by the provider. `config_id` names the sending config.";

function describeConfigId(key: string) {
  const id = QueryId.describe("Id of the sending config.");
  return signs(key)
    ? id.optional().describe("Id of the sending config. Defaults to the one that the events name.")
    : id;
}

// Public at the edge: each provider authenticates with its own signature or secret.
const eventRoutes = webhookProviderKeys.map((key) =>
  route(`POST /webhooks/${key}`, `Receive events from ${traits[key].name}`, {
    operationId: `receive${key.charAt(0).toUpperCase()}${key.slice(1)}Events`,
    description: describe(key),
    auth: "public",
    answersHead: true,
    maxSignedBytes: maxBytesOf(key),
    rawBodyTypes: bodyTypes[key] ?? { "application/json": json },
    query: z.object({
      config_id: describeConfigId(key),
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
      // Some providers get another status than 401, because they retry after that.
      [getInboundAdapter(key)!.statuses.rejected]:
        "The signature or the secret is not valid, or no sending config of this provider has " +
        "this `config_id`.",
      413: "The body is larger than those of the provider.",
      429:
        "50 requests from the client address were not valid for the sending config within 15 " +
        "minutes.",
    },
    handle: async ({ query, request }) => {
      const { clientIp } = request;
      const inbound = toInboundRequest(request, query.secret);
      await receiveWebhook(key, { configId: query.config_id, clientIp }, inbound);
      return { received: true as const };
    },
  }),
);

/** An email has up to 25 MB. On AWS, a request has up to 6 MB. */
const maxMailBytes = 36 * 1024 * 1024;

const mailAsJson = {
  "application/json": z.unknown().describe("Email in the format of the provider."),
};
const mailAsForm = {
  "multipart/form-data": z.looseObject({}).describe("Email in the format of the provider."),
};
const mailTypes: Record<InboundMailProvider, Record<string, z.ZodType>> = {
  sendgrid: mailAsForm,
  ses: {
    "text/plain": z
      .string()
      .max(maxMailBytes)
      .describe("Notification of Amazon SNS: JSON with the email as text in `Message`."),
  },
  postmark: mailAsJson,
  mailgun: mailAsForm,
  sparkpost: mailAsJson,
  brevo: mailAsJson,
  mailjet: mailAsJson,
  mandrill: {
    "application/x-www-form-urlencoded": z.looseObject({
      mandrill_events: z
        .string()
        .max(maxMailBytes)
        .describe("Emails in the format of the provider, as JSON."),
    }),
  },
  resend: mailAsJson,
  // Generators of clients know text, but not message/rfc822.
  mime: {
    "text/plain": z
      .string()
      .max(maxMailBytes)
      .describe("The email as it is. Any content type is accepted, also `message/rfc822`."),
  },
};

const nameOf = (key: InboundMailProvider): string =>
  key === "mime" ? "a program" : traits[key].name;

// Public at the edge: the secret in the URL authenticates, and the signature of the provider if the
// site has its key.
const mailRoutes = inboundMailProviders.map((key) =>
  route(`POST /inbound/${key}`, `Receive email from ${nameOf(key)}`, {
    operationId: `receive${key.charAt(0).toUpperCase()}${key.slice(1)}Inbound`,
    description:
      "Called by the provider with email that people sent to the site. The email is stored " +
      "once, also if the request is repeated.",
    auth: "public",
    answersHead: true,
    maxSignedBytes: maxMailBytes,
    rawBodyTypes: mailTypes[key],
    query: z.object({
      token: z
        .string()
        .max(500)
        .describe("Secret of the site, from GET /inbound-settings/:siteId."),
    }),
    returns: ReceivedWebhook,
    errors: {
      [getInboundMailAdapter(key).rejectedStatus]:
        "The token is not that of a site, or the signature is not valid.",
      413: "The body is larger than 36 MB. On AWS, requests have at most 6 MB.",
    },
    handle: async ({ query, request: { headers, rawBody, path, queryString } }) => {
      const url = `${config.publicUrl}${path}?${queryString}`;
      const inbound = { headers, rawBody, url, querySecret: undefined };
      await receiveInbound(key, query.token, inbound);
      return { received: true as const };
    },
  }),
);

export const providerWebhooks = routeGroup("provider-webhooks", [...eventRoutes, ...mailRoutes]);
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
