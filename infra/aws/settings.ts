import * as z from "zod";
import { readPublicUrl } from "../../shared/kernel/service-address.ts";
import { planKeys } from "../../shared/plans.ts";
import { providerKeys } from "../../shared/providers/provider-keys.ts";
import { parseSystemSender, systemSenderRule } from "../../shared/providers/system-sender.ts";

const text = z.string().min(1);

/** A JSON text, or the value itself, which cdk.json can contain. */
const jsonObject = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (typeof value === "string" ? parseJson(value) : value), schema);

/** `true` or `false`; cdk.json can contain the value itself. */
const flag = z.preprocess(
  (value) => (typeof value === "boolean" ? String(value) : value),
  z.stringbool(),
);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The settings that `npm run synth` and `npm run deploy` accept as `-c name=value`. */
const SettingsSchema = z.object({
  stage: z
    .string()
    .regex(
      /^[a-z][a-z0-9]{0,19}$/,
      "must be 1 to 20 lower-case letters and digits, beginning with a letter",
    )
    .default("dev"),
  publicUrl: z
    .url({ protocol: /^https$/ })
    .transform((given, context) => {
      const { url, fault } = readPublicUrl(given);
      if (fault) context.issues.push({ code: "custom", message: fault, input: given });
      return url ?? z.NEVER;
    })
    .optional(),
  domainName: z.hostname().optional(),
  certificateArn: z.string().startsWith("arn:").optional(),
  alarmEmail: z.email().optional(),
  signup: z.enum(["open", "first", "off"]).default("first"),
  /** Default: `on` if `signup` is `open` and there is a system sender. */
  emailVerification: z.enum(["on", "off"]).optional(),
  /** Default: `unlimited` if `signup` is `first` and there is no Stripe secret, else `free`. */
  defaultPlan: z.enum(planKeys).optional(),
  allowedOrigins: text.optional(),
  operators: text.optional(),
  /** `<provider>:<from address>`. Requires `systemSenderSecret`. */
  systemSender: z
    // cdk.json can contain a number.
    .preprocess(
      (value) => (typeof value === "number" ? String(value) : value),
      z.string().refine((value) => parseSystemSender(value) !== undefined, systemSenderRule),
    )
    .optional(),
  /** Name of the secret with the system sender's credentials as JSON. */
  systemSenderSecret: text.optional(),
  pexelsApiKey: text.optional(),
  /** Name of the secret with the Stripe keys. */
  stripeSecret: text.optional(),
  brandingUrl: z.url({ protocol: /^https$/ }).optional(),
  /** The concurrency limit of the account. `npm run deploy` reads it. */
  accountConcurrency: z.coerce.number().int().min(10).default(1000),
  /** Gives the table high capacity from the start, for a one-time charge. */
  warmThroughput: flag.default(false),
  /** Keeps table, bucket and key when the stack is deleted, and refuses to delete the stack. */
  protect: flag.default(true),
  /** An EventBridge bus that gets every event. */
  eventBus: flag.default(false),
  /** A bucket with every event, in hourly files. */
  eventFiles: flag.default(false),
  /** Days after which an event file is deleted. */
  eventFilesDays: z.coerce.number().int().min(1).max(36_500).default(400),
  /** Name of an existing table to use, such as a restored one. */
  tableName: z
    .string()
    .regex(/^[\w.-]{3,255}$/, "must be the name of a DynamoDB table")
    .optional(),
  /** Name of an existing bucket to use. */
  bucketName: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be the name of an S3 bucket")
    .optional(),
  /** ARN of the existing KMS key that encrypted the secrets in the table. */
  keyArn: z
    .string()
    .regex(/^arn:[\w-]+:kms:[\w-]+:\d{12}:key\/[\w-]+$/, "must be the ARN of a KMS key")
    .optional(),
  /**
   * Rate limit of API Gateway for all organizations together. Bursts may have twice as many
   * requests.
   */
  requestsPerSecond: z.coerce.number().int().min(1).default(1000),
  /**
   * Replaces the origins of provider APIs, as JSON: `{"sendgrid": "https://sandbox.example"}`.
   * That of smtp is `smtp://host:port`, or `smtps://host:port` with TLS.
   */
  providerUrls: jsonObject(
    z.record(z.string(), z.url({ protocol: /^(https?|smtps?|imap)$/ })),
  ).optional(),
});

export type StackSettings = z.output<typeof SettingsSchema>;

export const settingNames = Object.keys(SettingsSchema.shape);

/** Throws an error that names every invalid setting. */
export function parseSettings(context: (name: string) => unknown): StackSettings {
  const values = Object.fromEntries(settingNames.map((name) => [name, context(name)]));
  const { data, error } = SettingsSchema.safeParse(values);
  if (error)
    throw new Error(
      error.issues
        .map(({ path, message }) => `The setting ${path.join(".")}: ${message}`)
        .join("\n"),
    );
  if (data.domainName && !data.certificateArn)
    throw new Error(
      "The setting certificateArn is missing: domainName requires a certificate in its region",
    );
  if (data.emailVerification === "on" && !data.systemSender)
    throw new Error(
      "The setting systemSender is missing: emailVerification mails a link to each sign-up",
    );
  if (data.systemSender && !data.systemSenderSecret)
    throw new Error(
      "The setting systemSenderSecret is missing: it names the secret with the credentials of " +
        "systemSender's provider",
    );
  for (const key of Object.keys(data.providerUrls ?? {}))
    if (![...providerKeys, "imap", "google"].some((known) => known === key))
      throw new Error(
        `The setting providerUrls: ${key} is not a provider (${providerKeys.join(", ")})`,
      );
  return data;
}
