// The mail providers in the API.
import * as z from "zod";
import { Count } from "../../kernel/record-fields.ts";
import type { ProviderAdapter as Adapter } from "../../providers/provider-adapter.ts";
import { providers } from "../../providers/registry.ts";

export const ProviderInfo = z
  .object({
    key: z.string().describe("Key of the provider, as in `provider` of a sending config."),
    name: z.string().describe("Name of the provider, for people."),
    supportsWebhooks: z
      .boolean()
      .describe("Whether the provider reports delivery events by webhooks."),
    webhookProof: z
      .enum(["signature", "secret"])
      .nullable()
      .describe(
        "How the provider's webhooks are verified. `signature`: by a signature with the " +
          "`webhookSecret`. `secret`: by `secret=` in the webhook URL. `null`: it has none.",
      ),
    capabilities: z
      .object({
        supportsWebhooks: z.boolean().describe("As `supportsWebhooks` of the provider."),
        openTracking: z.boolean().describe("Whether `trackOpens` of an email is supported."),
        clickTracking: z.boolean().describe("Whether `trackClicks` of an email is supported."),
        batch: z
          .boolean()
          .describe("Whether one request to the provider can carry several recipients."),
        maxAttachmentBytes: Count.describe(
          "Largest total size of the attachments of one email in bytes, decoded.",
        ),
      })
      .describe("What the provider can do."),
    configFields: z
      .array(
        z.object({
          name: z.string().describe("Name of the field in `credentials`."),
          description: z.string().describe("What the field is and where to find it, in English."),
          required: z.boolean().describe("Whether the field must be given."),
          options: z.array(z.string()).nullable().describe("Allowed values. `null`: any text."),
          isSecret: z.boolean().describe("Whether an input should hide the value."),
        }),
      )
      .describe("Credentials that a sending config of this provider needs."),
  })
  .meta({ id: "Provider" });
export type ProviderInfo = z.output<typeof ProviderInfo>;

/** The first provider is the default. */
export const listProviders = (): ProviderInfo[] => providers.map(toApi);

const toApi = ({
  key,
  name,
  webhookProof,
  tracking,
  batch,
  maxAttachmentBytes,
  credentials,
}: Adapter): ProviderInfo => ({
  key,
  name,
  supportsWebhooks: webhookProof !== undefined,
  webhookProof: webhookProof ?? null,
  capabilities: {
    supportsWebhooks: webhookProof !== undefined,
    openTracking: tracking.opens,
    clickTracking: tracking.clicks,
    batch: batch !== undefined,
    maxAttachmentBytes,
  },
  configFields: configFields(credentials),
});

interface CredentialsSchema {
  properties?: Record<string, { description?: string; enum?: string[]; writeOnly?: boolean }>;
  required?: string[];
}

function configFields(credentials: z.ZodObject): ProviderInfo["configFields"] {
  const { properties = {}, required = [] } = z.toJSONSchema(credentials, {
    io: "input",
    unrepresentable: "any",
  }) as CredentialsSchema;
  return Object.entries(properties).map(
    ([name, { description = "", enum: options, writeOnly: isSecret = false }]) => ({
      name,
      description,
      required: required.includes(name),
      options: options ?? null,
      isSecret,
    }),
  );
}
