import * as z from "zod";
import {
  BounceMailbox,
  BounceMailboxSettings,
} from "../../shared/domain/inbound/bounce-mailbox.ts";
import * as configureMailbox from "../../shared/domain/inbound/configure-mailbox.ts";
import { secretWarnings } from "../../shared/domain/senders/config-secrets.ts";
import * as connectProvider from "../../shared/domain/senders/connect-provider.ts";
import * as providers from "../../shared/domain/senders/providers.ts";
import {
  NewSendingConfig,
  SendingConfigChanges,
  SendingConfig as StoredConfig,
} from "../../shared/domain/senders/sending-config-schema.ts";
import * as config from "../../shared/domain/senders/sending-configs.ts";
import { trackingOf } from "../../shared/domain/senders/tracking-modes.ts";
import * as verifyConfig from "../../shared/domain/senders/verify-config.ts";
import { deleteWithUses } from "../../shared/http/delete-with-uses.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import {
  type ApiReply,
  Deleted,
  deletesUsed,
  IfUnused,
  inUse,
  PageQuery,
  pagedSchema,
  route,
} from "../../shared/http/route.ts";
import { EmailAddress } from "../../shared/kernel/email-fields.ts";

const SendingConfig = StoredConfig.extend({
  webhookSecretSet: z
    .boolean()
    .describe(
      "Whether a `webhookSecret` is stored. Without one, events of the provider are refused.",
    ),
  webhookUrl: z
    .string()
    .nullable()
    .describe(
      "URL to enter at the provider for its event webhook. If it ends in " +
        "`secret=YOUR_SECRET`, replace YOUR_SECRET with the `webhookSecret`. `null`: it has no " +
        "webhooks.",
    ),
}).meta({ id: "SendingConfig" });

const toApi = (one: StoredConfig) => ({
  ...one,
  // Absent in records of earlier versions of the service.
  replyTo: one.replyTo ?? null,
  firstEventAt: one.firstEventAt ?? null,
  share: one.share ?? null,
  tracking: trackingOf(one),
  webhookSecretSet: one.sealedWebhookSecret !== undefined,
  webhookUrl: config.webhookUrl(one),
});

/** Names the credentials that the provider's schema ignores, for a warning. */
function warnIgnoredCredentials(
  given: Record<string, unknown> = {},
  { credentialsSet }: StoredConfig,
  reply: ApiReply,
) {
  const ignored = Object.keys(given).filter((name) => !credentialsSet.includes(name));
  if (ignored.length)
    reply.warnings.push(
      `Ignored fields: ${ignored.map((name) => `credentials.${name}`).join(", ")}`,
    );
}

export const sendingConfigs = routeGroup("sending-configs", [
  route("GET /providers", "List email providers", {
    description:
      "Returns the ten providers with an API, and `smtp` for any SMTP server, with their " +
      "capabilities and the credentials that each needs.",
    level: "site",
    returns: z.object({
      providers: z.array(providers.ProviderInfo).describe("The providers."),
    }),
    handle: async () => ({ providers: providers.listProviders() }),
  }),
  route("GET /sending-configs", "List sending configs", {
    description: "Returns sending configs, newest first, without credentials.",
    level: "site",
    query: PageQuery,
    returns: pagedSchema("sendingConfigs", SendingConfig),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await config.list(caller, query);
      return { sendingConfigs: items.map(toApi), pagination };
    },
  }),
  route("POST /sending-configs", "Create a sending config", {
    auditedValues: ["provider", "fromEmail", "ratePerSecond", "tracking"],
    description:
      "A sending config is your own account at an email provider. Verify it with POST " +
      "/sending-configs/:id/verify before you send.",
    body: NewSendingConfig,
    returns: SendingConfig,
    status: 201,
    errors: { 404: "The sending config of `fallbackConfigId` or `share` does not exist." },
    handle: async ({ caller, body, reply }) => {
      const made = await config.create(caller, body);
      warnIgnoredCredentials(body.credentials, made, reply);
      reply.warnings.push(...secretWarnings(made.provider, body.webhookSecret));
      return toApi(made);
    },
  }),
  route("POST /sending-configs/check-credentials", "Check credentials of a provider", {
    operationId: "checkCredentials",
    description:
      "Asks the provider whether it knows the credentials, by a request that sends nothing. " +
      "Nothing is stored. Use it before you store credentials that a person has typed.",
    body: NewSendingConfig.pick({ provider: true, credentials: true })
      .required()
      .meta({ examples: [{ provider: "sendgrid", credentials: { apiKey: "SG...." } }] }),
    returns: verifyConfig.CheckedCredentials.meta({ id: "CheckedCredentials" }),
    handle: ({ body }) => verifyConfig.checkNewCredentials(body),
  }),
  route("GET /sending-configs/:id", "Get a sending config", {
    level: "site",
    returns: SendingConfig,
    handle: async ({ caller, params }) => toApi(await config.find(caller, params.id)),
  }),
  route("PUT /sending-configs/:id", "Update a sending config", {
    auditedValues: ["fromEmail", "ratePerSecond", "tracking"],
    description:
      "Updates the given fields. `credentials` are replaced as a whole. A new provider, new " +
      "credentials or a new `fromEmail` must be verified again.",
    body: SendingConfigChanges,
    returns: SendingConfig,
    errors: { 409: "Someone else changed the config at the same time: read it and try again." },
    handle: async ({ caller, params, body, reply }) => {
      const changed = await config.update(caller, params.id, body);
      warnIgnoredCredentials(body.credentials, changed, reply);
      reply.warnings.push(...secretWarnings(changed.provider, body.webhookSecret));
      return toApi(changed);
    },
  }),
  route("DELETE /sending-configs/:id", "Delete a sending config", {
    description:
      `Email that waits to be sent with the config fails when its turn comes. ${deletesUsed} ` +
      "A campaign that is being sent with it fails.",
    query: IfUnused,
    returns: Deleted,
    errors: { 409: inUse },
    handle: (input) => deleteWithUses("CONFIG", input, config.remove),
  }),
  route("POST /sending-configs/:id/connect", "Connect the provider of a sending config", {
    operationId: "connectSendingConfig",
    description:
      "Creates at the provider what the service needs, with the credentials of the config: the " +
      "webhook that reports events, with its secret, and the domain of `fromEmail`. Returns how " +
      "each step ended, and the DNS records to publish. Call it again at any time: it finds what " +
      "exists, creates only what is missing, and checks the DNS records.",
    returns: connectProvider.ConnectedProvider.meta({ id: "ConnectedProvider" }),
    errors: { 409: "Another request connects or changes the config: wait a minute." },
    handle: ({ caller, params }) => connectProvider.connectProvider(caller, params.id),
  }),
  route("POST /sending-configs/:id/verify", "Verify a sending config with a test email", {
    needsVerifiedEmail: true,
    description: "Sends a test email. The config is verified when the provider accepts it.",
    body: z.object({
      to: EmailAddress.optional().describe(
        "Email address that gets the test email. Defaults to the user's own address.",
      ),
    }),
    returns: SendingConfig.extend({
      sentTo: z.string().describe("Email address that the test email was sent to."),
    }),
    errors: {
      400: "The provider refused the test email: `error` has its message (`provider_refused`).",
      502: "The provider failed or did not answer.",
    },
    handle: async ({ caller, params, body }) => {
      const { config: verified, sentTo } = await verifyConfig.verifyConfig(
        caller,
        params.id,
        body.to,
      );
      return { ...toApi(verified), sentTo };
    },
  }),
  route("GET /sending-configs/:id/bounce-mailbox", "Get the bounce mailbox of a sending config", {
    operationId: "getBounceMailbox",
    description: "Returns the mailbox with its state and without its password.",
    returns: z.object({
      mailbox: BounceMailbox.nullable().describe("The mailbox, or `null` if none is set."),
    }),
    handle: async ({ caller, params }) => ({
      mailbox: await configureMailbox.findMailbox(caller, params.id),
    }),
  }),
  route(
    "PUT /sending-configs/:id/bounce-mailbox",
    "Set or change the bounce mailbox of a sending config",
    {
      operationId: "updateBounceMailbox",
      needsVerifiedEmail: true,
      auditedValues: ["host", "user", "folder", "afterReading"],
      description:
        "Logs in to the mailbox by IMAP, opens its folder, and stores the settings if that " +
        "works. New email is then read every 10 minutes, and treated like email that a provider " +
        "posts to a URL of the site: reports of mail servers become events of the sends. The " +
        "first reading is at once, and reads the email of the last 30 days. A mailbox that fails " +
        "is tried again after growing pauses of up to 6 hours. Send the same settings again to " +
        "read at once.",
      body: BounceMailboxSettings,
      returns: BounceMailbox,
      errors: {
        400: "The server cannot be reached or refuses: `details` names the field that is to blame.",
        404: "The sending config or the site does not exist.",
        409: "Someone else changed the mailbox at the same time: read it and try again.",
      },
      handle: ({ caller, params, body }) => configureMailbox.setMailbox(caller, params.id, body),
    },
  ),
  route(
    "DELETE /sending-configs/:id/bounce-mailbox",
    "Remove the bounce mailbox of a sending config",
    {
      operationId: "deleteBounceMailbox",
      description: "Ends the reading. Email in the mailbox stays there.",
      returns: Deleted,
      handle: async ({ caller, params }) => {
        await configureMailbox.removeMailbox(caller, params.id);
        return { id: params.id, deleted: true as const };
      },
    },
  ),
]);
export const { handler } = sendingConfigs;
