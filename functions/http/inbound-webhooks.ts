import * as z from "zod";
import { config } from "../../shared/config.ts";
import { receiveInbound } from "../../shared/domain/inbound/receive-inbound.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { ReceivedWebhook, route } from "../../shared/http/route.ts";
import {
  type InboundMailProvider,
  inboundMailProviders,
} from "../../shared/providers/inbound-mail/provider-keys.ts";
import { getInboundMailAdapter } from "../../shared/providers/inbound-mail/registry.ts";
import { traits } from "../../shared/providers/traits.ts";

/** An email has up to 25 MB. On AWS, a request has up to 6 MB. */
const maxMailBytes = 36 * 1024 * 1024;

// Providers add fields without notice, so a body may have any content.
const json = { "application/json": z.unknown().describe("Email in the format of the provider.") };
const form = {
  "multipart/form-data": z.looseObject({}).describe("Email in the format of the provider."),
};
const bodyTypes: Record<InboundMailProvider, Record<string, z.ZodType>> = {
  sendgrid: form,
  ses: {
    "text/plain": z
      .string()
      .max(maxMailBytes)
      .describe("Notification of Amazon SNS: JSON with the email as text in `Message`."),
  },
  postmark: json,
  mailgun: form,
  sparkpost: json,
  brevo: json,
  mailjet: json,
  mandrill: {
    "application/x-www-form-urlencoded": z.looseObject({
      mandrill_events: z
        .string()
        .max(maxMailBytes)
        .describe("Emails in the format of the provider, as JSON."),
    }),
  },
  resend: json,
  mime: { "message/rfc822": z.string().max(maxMailBytes).describe("The email as it is.") },
};

const nameOf = (key: InboundMailProvider): string =>
  key === "mime" ? "a program" : traits[key].name;

// Public at the edge: the secret in the URL authenticates, and the signature of the provider if the
// site has its key.
export const inboundWebhooks = routeGroup(
  "inbound-webhooks",
  inboundMailProviders.map((key) =>
    route(`POST /inbound/${key}`, `Receive email from ${nameOf(key)}`, {
      operationId: `receive${key.charAt(0).toUpperCase()}${key.slice(1)}Inbound`,
      description:
        "Called by the provider with email that people sent to the site. The email is stored " +
        "once, also if the request is repeated.",
      auth: "public",
      answersHead: true,
      maxSignedBytes: maxMailBytes,
      rawBodyTypes: bodyTypes[key],
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
  ),
);
export const { handler } = inboundWebhooks;
