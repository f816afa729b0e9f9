// The ten mail providers as callers see them.
import * as z from "zod";
import { providers } from "../providers/index.ts";
import type { Provider as Adapter } from "../providers/provider.ts";

export const Provider = z
  .object({
    key: z.string(),
    name: z.string(),
    supportsWebhooks: z.boolean(),
    webhookProof: z
      .enum(["signature", "secret"])
      .describe("How its webhooks are proven: signed with the webhookSecret, or by secret= in the webhook URL"),
    capabilities: z.object({
      supportsWebhooks: z.boolean(),
      openTracking: z.boolean().describe("trackOpens of a mail is heeded"),
      clickTracking: z.boolean(),
      batch: z.boolean().describe("Several recipients go out in one call"),
      maxAttachmentBytes: z.int().describe("Of all attachments of a mail together, decoded"),
    }),
    configFields: z.array(
      z.object({
        name: z.string(),
        description: z.string(),
        required: z.boolean(),
        options: z.array(z.string()).nullable().describe("The only values it takes; null: any text"),
      }),
    ),
  })
  .meta({ id: "Provider" });
export type Provider = z.output<typeof Provider>;

/** In the order of the contract: the first is the default. */
export const list = (): Provider[] => providers.map(described);

const described = ({ key, name, webhookProof, tracking, batch, maxAttachmentBytes, credentials }: Adapter): Provider => ({
  key,
  name,
  supportsWebhooks: true,
  webhookProof,
  capabilities: {
    supportsWebhooks: true,
    openTracking: tracking.opens,
    clickTracking: tracking.clicks,
    batch: batch !== undefined,
    maxAttachmentBytes,
  },
  configFields: configFields(credentials),
});

interface Fields {
  properties?: Record<string, { description?: string; enum?: string[] }>;
  required?: string[];
}

function configFields(credentials: z.ZodObject): Provider["configFields"] {
  const { properties = {}, required = [] } = z.toJSONSchema(credentials, { io: "input", unrepresentable: "any" }) as Fields;
  return Object.entries(properties).map(([name, { description = "", enum: options }]) => ({
    name,
    description,
    required: required.includes(name),
    options: options ?? null,
  }));
}
