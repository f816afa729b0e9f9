import * as z from "zod";
import * as providers from "../../shared/domain/providers.ts";
import * as verification from "../../shared/domain/sending/verify.ts";
import * as config from "../../shared/domain/sending-configs.ts";
import { EmailAddress } from "../../shared/email.ts";
import { Deleted, type Extra, PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

const SendingConfig = config.SendingConfig.extend({
  webhookSecretSet: z.boolean(),
  webhookUrl: z.string().describe("To be entered at the provider; where it ends in secret=YOUR_SECRET, put the webhookSecret in"),
}).meta({ id: "SendingConfig" });

const shown = (one: config.SendingConfig) => ({
  ...one,
  webhookSecretSet: one.sealedWebhookSecret !== undefined,
  webhookUrl: config.webhookUrl(one),
});

/** The provider's schema leaves out what it does not know: whoever gave it should hear of it. */
function tellIgnored(given: Record<string, unknown> = {}, { credentialsSet }: config.SendingConfig, reply: Extra) {
  const ignored = Object.keys(given).filter((name) => !credentialsSet.includes(name));
  if (ignored.length) reply.warnings.push(`Ignored fields: ${ignored.map((name) => `credentials.${name}`).join(", ")}`);
}

export const sendingConfigs = group("sending-configs", [
  route("GET /providers", "The ten mail providers, and what each needs to be configured", {
    level: "site",
    returns: z.object({ providers: z.array(providers.Provider) }),
    handle: async () => ({ providers: providers.list() }),
  }),
  route("GET /sending-configs", "List sending configs", {
    level: "site",
    query: PageQuery,
    returns: paged("sendingConfigs", SendingConfig),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await config.list(caller, query);
      return { sendingConfigs: items.map(shown), pagination };
    },
  }),
  route("POST /sending-configs", "Add a provider account to send through", {
    body: config.NewSendingConfig,
    returns: SendingConfig,
    status: 201,
    handle: async ({ caller, body, reply }) => {
      const made = await config.create(caller, body);
      tellIgnored(body.credentials, made, reply);
      return shown(made);
    },
  }),
  route("GET /sending-configs/:id", "One sending config", {
    level: "site",
    returns: SendingConfig,
    handle: async ({ caller, params }) => shown(await config.find(caller, params.id)),
  }),
  route(
    "PUT /sending-configs/:id",
    "Change a sending config; another provider, other credentials or another fromEmail must be verified again",
    {
      body: config.SendingConfigChanges,
      returns: SendingConfig,
      errors: { 409: "It was changed by someone else meanwhile" },
      handle: async ({ caller, params, body, reply }) => {
        const changed = await config.update(caller, params.id, body);
        tellIgnored(body.credentials, changed, reply);
        return shown(changed);
      },
    },
  ),
  route("DELETE /sending-configs/:id", "Remove a sending config", {
    returns: Deleted,
    errors: { 409: "Mail is waiting to be sent through it" },
    handle: async ({ caller, params: { id } }) => {
      await config.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("POST /sending-configs/:id/verify", "Send a test mail through it, and note that it works", {
    limit: "send",
    body: z.object({ to: EmailAddress.optional().describe("Absent: your own address") }),
    returns: SendingConfig.extend({ sentTo: z.string() }),
    errors: { 400: "The provider refused, in its own words", 502: "The provider has trouble, or did not answer" },
    handle: async ({ caller, params, body }) => {
      const { config: verified, sentTo } = await verification.verify(caller, params.id, body.to);
      return { ...shown(verified), sentTo };
    },
  }),
]);
export const { handler } = sendingConfigs;
