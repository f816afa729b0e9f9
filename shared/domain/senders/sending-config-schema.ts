import * as z from "zod";
import { EmailAddress, singleLineText } from "../../kernel/email-fields.ts";
import { Count, CreatedAt, RecordId, Timestamp, UpdatedAt } from "../../kernel/record-fields.ts";
import { storedObject } from "../../kernel/stored-json.ts";
import type { StepOutcome } from "../../providers/connect/outcomes.ts";
import { providerKeys } from "../../providers/provider-keys.ts";
import { type TrackingMode, trackingModes } from "./tracking-modes.ts";
import { StartedWarmUp, WarmUp } from "./warm-up.ts";

const AccountLimits = z
  .object({
    emailsPerSecond: z.number().describe("Largest number of recipients per second."),
    emailsPer24Hours: Count.nullable().describe(
      "Largest number of recipients in any 24 hours. `null`: no limit. The owner gets an " +
        "email when 80 % of it is used up; email beyond it waits.",
    ),
    sentLast24Hours: Count.describe(
      "Recipients of the last 24 hours, also of email that other systems sent.",
    ),
    readAt: Timestamp.describe("When the limits were read."),
  })
  .meta({ id: "AccountLimits" });

const Share = z
  .object({
    sendingConfigId: z.int().positive().describe("Id of the other sending config."),
    percent: z.int().min(1).max(100).describe("Its part of the email, from 1 to 100 percent."),
  })
  .meta({ id: "SendingShare" });

/** The record without its secrets. */
export const SendingConfig = z.object({
  id: RecordId.describe(
    "Id of the config, for GET /sending-configs/:id and `sendingConfigId` of other requests.",
  ),
  provider: z.string().describe("Key of the provider, as in GET /providers."),
  fromEmail: z
    .string()
    .nullable()
    .describe(
      "Email address of the sender. Emails that name this address are sent with this config. " +
        "`null`: each email must name its sender.",
    ),
  fromName: z.string().nullable().describe("Name of the sender, or `null`."),
  replyTo: z
    .string()
    .nullable()
    .describe(
      "Email address that replies go to, unless the email, its campaign, sequence or holiday, or " +
        "its site has one. `null`: replies go to the sender.",
    ),
  ratePerSecond: z
    .number()
    .nullable()
    .describe("Largest number of emails per second handed to the provider. `null`: no limit."),
  warmUp: StartedWarmUp.nullable().describe(
    "Daily limit for bulk email of a new account or address, by days in UTC. Bulk email " +
      "beyond the limit waits for the next day. Single sends count, and always go. Setting " +
      "it again restarts it. `null`: no limit.",
  ),
  fallbackConfigId: RecordId.nullable().describe(
    "Sending config that takes new emails of POST /send and POST /send/batch, confirmation " +
      "emails of forms, and waiting emails of campaigns and sequences, while this one is paused " +
      "because its provider failed five times in a row. `null`: they wait. See PUT " +
      "/sending-configs/:id.",
  ),
  share: Share.nullable().describe(
    "Another sending config that takes a part of the email of campaigns, sequences and holidays. " +
      "`null`: this one sends all of it. See PUT /sending-configs/:id.",
  ),
  tracking: z
    .enum(trackingModes)
    .describe(
      "Who records opens and clicks. `provider`: the email provider, as set in its account and " +
        "by `trackOpens` and `trackClicks`. `own`: the service. The web links of the HTML part " +
        "lead through it, and an invisible picture reports opens. The provider is told not to " +
        "track. `off`: nobody, whatever `trackOpens` and `trackClicks` say.",
    ),
  accountLimits: AccountLimits.nullable().describe(
    "Limits that the provider reports for the account: only of `ses`, whose credentials " +
      "need the permission ses:GetAccount. They are read when the config is verified, and " +
      "every hour while email is sent. Email is handed over at this rate, or at " +
      "`ratePerSecond` if that is lower. `null`: not read yet.",
  ),
  isByok: z
    .literal(true)
    .describe(
      "Always true: each config is the organization's own provider account (\"bring your own " +
        'key").',
    ),
  verified: z
    .boolean()
    .describe(
      "Whether the provider accepted a test email since `provider`, `credentials` or " +
        "`fromEmail` last changed.",
    ),
  verifiedAt: Timestamp.nullable().describe("When the config was verified, or `null`."),
  firstEventAt: Timestamp.nullable().describe(
    "When the provider first reported to `webhookUrl`, events of test emails included. `null`: " +
      "it never has since `provider` last changed, so deliveries, opens, clicks and bounces are " +
      "not known.",
  ),
  credentialsSet: z
    .array(z.string())
    .describe("Names of the stored credentials. Their values are never returned."),
  createdAt: CreatedAt,
  updatedAt: UpdatedAt,
});
interface SendingConfigSecrets {
  sealedCredentials: string;
  sealedWebhookSecret?: string | undefined;
  /**
   * Grows with every change of provider, credentials or fromEmail. A test of an older revision does
   * not count.
   */
  revision: number;
}
/** What account-limits.ts stores with the config. */
interface QuotaWarning {
  /** ISO 8601 */
  quotaWarnedAt?: string;
  /** The mail to the owner is not queued yet. */
  ownerUntold?: true;
}
/** How far a pull has come. Without `cursor`, it is complete, or begins again after a failure. */
export interface SuppressionPull {
  cursor: string | null;
  /** When the last page was asked for (ISO 8601). */
  readAt: string;
  /** Why the provider did not return it. */
  failure?: StepOutcome;
}

/** What suppression-pull-times.ts stores with the config. */
interface PulledList {
  /** `revision`: that of the config. Other credentials are another list. */
  suppressionPull?: SuppressionPull & { revision: number };
}
export type SendingConfig = Omit<z.output<typeof SendingConfig>, "tracking"> &
  SendingConfigSecrets &
  PulledList &
  QuotaWarning & {
    /** Absent: the default of the provider, see `trackingOf`. */
    tracking?: TrackingMode | undefined;
  };

const maxSecretLength = 500;
const changeFields = {
  provider: z
    .enum(providerKeys as readonly string[] as [string, ...string[]])
    .describe("Key of the provider. A change makes the config unverified."),
  credentials: storedObject(20_000).describe(
    "Credentials as listed in `configFields` of GET /providers. They are stored encrypted.",
  ),
  fromEmail: EmailAddress.describe(
    "Email address of the sender. A change makes the config unverified.",
  ),
  fromName: singleLineText(100)
    .nullable()
    .optional()
    .describe(
      "Name of the sender. `null`: emails without `fromName` name only the address. Brevo gets " +
        "its first 70 characters.",
    ),
  replyTo: EmailAddress.nullable()
    .optional()
    .describe(
      "Email address that replies go to, unless the email, its campaign, sequence or holiday, or " +
        "its site has one. Omitted or `null`: replies go to the sender.",
    ),
  ratePerSecond: z
    .number()
    .min(1 / 3600, "must be at least 1 an hour (1/3600)")
    .max(100_000)
    .nullable()
    .optional()
    .describe(
      "Largest number of emails per second handed to the provider, from 1 an hour (1/3600 = " +
        "0.000278) to 100,000. Omitted or `null`: no limit.",
    ),
  warmUp: WarmUp.nullable()
    .optional()
    .describe(
      "Daily limit for bulk email of a new account or address. Omitted or `null`: no limit.",
    ),
  fallbackConfigId: z
    .int()
    .positive()
    .nullable()
    .optional()
    .describe(
      "Another sending config, which takes new emails of POST /send and POST /send/batch, " +
        "and confirmation emails of forms, while this one is paused because its provider " +
        "failed five times in a row. The sender is the `fromEmail` of the fallback, unless the " +
        "request names one. Waiting emails of campaigns, sequences and holidays move to it too, " +
        "in groups of up to 500, if the provider certainly has none of the group. Emails wait " +
        "for this config if the fallback is not verified, is paused too, or cannot send them. " +
        "Single emails and batches that are already accepted, and scheduled emails, do not " +
        "move. A deleted fallback is ignored. Omitted or `null`: no fallback.",
    ),
  share: Share.nullable()
    .optional()
    .describe(
      "Another sending config that takes a part of the email of campaigns, sequences and " +
        "holidays, such as to try another provider. The part is chosen by groups of up to 500 " +
        "emails, so it is exact for large campaigns only. The sender is the `fromEmail` of that " +
        "config, unless the campaign or sequence names one. A group stays with this config while " +
        "the other is not verified, is paused or cannot send it. Its own `fallbackConfigId`, " +
        "`ratePerSecond` and `warmUp` apply. Single emails and batches do not take part. Omitted " +
        "or `null`: no share.",
    ),
  tracking: z
    .enum(trackingModes)
    .optional()
    .describe(
      "Who records opens and clicks: `provider`, the service (`own`), or nobody (`off`). " +
        "Defaults to `provider`, and to `own` for `smtp`, which reports nothing. Email that is " +
        "already accepted keeps what it was accepted with, unless it moves as a `share` or to " +
        "the fallback: then that config decides, and links of our own stay. For `own` and " +
        "`off`, also turn " +
        "tracking off in the account at `brevo`, `resend` and `smtp2go`, which cannot be told " +
        "for each email.",
    ),
  webhookSecret: z
    .string()
    .min(1)
    .max(maxSecretLength)
    .nullable()
    .optional()
    .describe(
      "Secret that verifies the provider's webhooks: its signing key, or for `ses`, " +
        "`postmark`, `brevo`, `mailjet` and `smtp2go` a secret of your choice that is also " +
        "part of `webhookUrl`; use 12 characters or more. `null` removes it. A change takes " +
        "effect at once.",
    ),
};

export const NewSendingConfig = z
  .object({
    ...changeFields,
    provider: changeFields.provider
      .default(providerKeys[0])
      .describe("Key of the provider. Defaults to `sendgrid`."),
    fromEmail: changeFields.fromEmail
      .optional()
      .describe(
        "Email address of the sender. If omitted, each email must name its sender; campaigns " +
          "and sequences need it.",
      ),
    credentials: changeFields.credentials.default({}),
    apiKey: z.string().max(2048).optional().describe("Deprecated: use `credentials.apiKey`."),
  })
  .meta({
    examples: [
      {
        provider: "sendgrid",
        fromEmail: "hello@shop.example",
        fromName: "My shop",
        credentials: { apiKey: "SG...." },
      },
    ],
  });
export type NewSendingConfig = z.output<typeof NewSendingConfig>;

export const SendingConfigChanges = z
  .object(changeFields)
  .partial()
  .meta({ examples: [{ fromName: "My shop", ratePerSecond: 20 }] });
export type SendingConfigChanges = z.output<typeof SendingConfigChanges>;
