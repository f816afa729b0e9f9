// Sending configs: the organization's own accounts at mail providers. Credentials and webhook
// secret are encrypted with the config and organization as context, and no response contains them.
import * as z from "zod";
import { equals } from "../../adapters/dynamodb/conditions.ts";
import {
  put,
  query,
  queryAll,
  remove as removeItem,
  update as updateItem,
  write,
} from "../../adapters/dynamodb/table.ts";
import * as vault from "../../adapters/kms/encryption.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { config as settings } from "../../config.ts";
import { conflict, invalid, limitExceeded } from "../../errors.ts";
import {
  domainOf,
  EmailAddress,
  normalizeEmail,
  singleLineText,
} from "../../kernel/email-fields.ts";
import type { PageRequest } from "../../kernel/paging.ts";
import { Count, CreatedAt, RecordId, Timestamp, UpdatedAt } from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import { storedObject } from "../../kernel/stored-json.ts";
import { validationMessages } from "../../kernel/validation-messages.ts";
import { keys, ranges } from "../../keys.ts";
import { verificationKey } from "../../providers/inbound/sendgrid.ts";
import { providerKeys } from "../../providers/provider-keys.ts";
import { getProvider } from "../../providers/registry.ts";
import * as domainNames from "./domains/domains-by-name.ts";
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
  ratePerSecond: z
    .number()
    .nullable()
    .describe("Largest number of emails per second handed to the provider. `null`: no limit."),
  warmUp: StartedWarmUp.nullable()
    .default(null)
    .describe(
      "Daily limit for bulk email of a new account or address, by days in UTC. Bulk email " +
        "beyond the limit waits for the next day. Single sends count, and always go. Setting " +
        "it again restarts it. `null`: no limit.",
    ),
  fallbackConfigId: RecordId.nullable()
    .default(null)
    .describe(
      "Sending config that takes new emails of POST /send and POST /send/batch, and " +
        "confirmation emails of forms, while this one is paused because its provider failed " +
        "five times in a row. `null`: they wait. See PUT /sending-configs/:id.",
    ),
  accountLimits: AccountLimits.nullable()
    .default(null)
    .describe(
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
export type SendingConfig = z.output<typeof SendingConfig> & SendingConfigSecrets & QuotaWarning;

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
    .describe("Name of the sender. `null`: emails without `fromName` name only the address."),
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
        "request names one. Emails wait for this config if the fallback is not verified, is " +
        "paused too, or cannot send them. Emails that are already accepted, scheduled emails, " +
        "campaigns and sequences do not move. A deleted fallback is ignored. Omitted or " +
        "`null`: no fallback.",
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

/** Creates a config. It is not verified until the provider accepts a test mail. */
export async function create(
  caller: CallerScope,
  { apiKey, webhookSecret, ...input }: NewSendingConfig,
): Promise<SendingConfig> {
  const checked = parseCredentials(input.provider, {
    ...(apiKey !== undefined && { apiKey }),
    ...input.credentials,
  });
  await requireFallback(caller, input.fallbackConfigId);
  const stamped = await records.newRecordFields("CONFIG");
  const record: SendingConfig = {
    ...stamped,
    provider: input.provider,
    fromEmail: input.fromEmail ?? null,
    fromName: input.fromName ?? null,
    ratePerSecond: input.ratePerSecond ?? null,
    warmUp: startWarmUp(input.warmUp) ?? null,
    fallbackConfigId: input.fallbackConfigId ?? null,
    accountLimits: null,
    isByok: true,
    ...notVerified,
    ...(await encryptCredentials(caller.orgId, stamped.id, checked)),
    ...(webhookSecret && {
      sealedWebhookSecret: await vault.encrypt(
        webhookSecret,
        encryptionContext(caller.orgId, stamped.id),
      ),
    }),
    revision: 1,
  };
  return records.insert("CONFIG", caller, {
    record,
    extraWrites: [inboundPointerWrite(caller.orgId, record.id, record.provider)],
  });
}

export const find = (caller: CallerScope, id: number): Promise<SendingConfig> =>
  records.find<SendingConfig>("CONFIG", caller, id);

/** Like `find`, for half a read unit. May miss the changes of the last second. */
export const findEventually = (caller: CallerScope, id: number): Promise<SendingConfig> =>
  records.findEventually<SendingConfig>("CONFIG", caller, id);

export const list = (caller: CallerScope, request: PageRequest) =>
  records.list<SendingConfig>("CONFIG", caller, request);

/**
 * Updates the given fields and replaces all credentials if given. 409 if another request changed
 * provider, credentials or fromEmail at the same time.
 */
export async function update(
  caller: CallerScope,
  id: number,
  { credentials, webhookSecret, warmUp, ...changes }: SendingConfigChanges,
) {
  const config = await find(caller, id);
  if (changes.fallbackConfigId === id)
    throw fieldError("fallbackConfigId", "must name another sending config");
  await requireFallback(caller, changes.fallbackConfigId);
  const providerChanged = changes.provider !== undefined && changes.provider !== config.provider;
  if (providerChanged && !credentials)
    throw fieldError("credentials", "is required when the provider changes");
  const checked = credentials && parseCredentials(changes.provider ?? config.provider, credentials);
  const fromEmailChanged =
    changes.fromEmail !== undefined && changes.fromEmail !== config.fromEmail;
  const set = {
    ...changes,
    ...(warmUp !== undefined && { warmUp: startWarmUp(warmUp) }),
    ...(checked && {
      accountLimits: null,
      ...(await encryptCredentials(caller.orgId, id, checked)),
    }),
    ...(webhookSecret && {
      sealedWebhookSecret: await vault.encrypt(webhookSecret, encryptionContext(caller.orgId, id)),
    }),
    ...((checked || fromEmailChanged) && { ...notVerified, revision: config.revision + 1 }),
  };
  const removed = webhookSecret === null ? ["sealedWebhookSecret"] : [];
  await write(
    changeWrite(caller.orgId, config, { set, remove: removed }),
    ...(providerChanged ? [inboundPointerWrite(caller.orgId, id, changes.provider!)] : []),
  );
  return find(caller, id);
}

/** Throws 404 if the fallback does not exist. */
async function requireFallback(caller: CallerScope, id: number | null | undefined): Promise<void> {
  if (id) await find(caller, id);
}

const startWarmUp = (warmUp: WarmUp | null | undefined): StartedWarmUp | null | undefined =>
  warmUp && { ...warmUp, startedAt: now().toISOString() };

/** Deletes a config. 409 while mail is waiting to be sent through it. */
export async function remove(caller: CallerScope, id: number): Promise<void> {
  const { items } = await query(ranges.queuedChunks(caller.orgId, id), {
    limit: 1,
    consistent: true,
  });
  if (items.length)
    throw conflict(
      "Mail is waiting to be sent through this sending config: cancel it, or wait until it is sent",
    );
  await write(
    ...records.removeWrites("CONFIG", caller, { id }),
    removeItem(keys.inboundConfig(id)),
  );
}

/** Stores the result of a test mail, unless the config has changed since it was read. */
export async function setVerified(
  { orgId }: CallerScope,
  config: SendingConfig,
  verified: boolean,
): Promise<void> {
  await write(
    changeWrite(orgId, config, {
      set: verified ? { verified, verifiedAt: now().toISOString() } : notVerified,
    }),
  );
}

/**
 * Finds the config with this address, otherwise one of the same domain if the config or the domain
 * is verified. Prefers verified configs, then the newest. 400 `no_sending_config` if there is none.
 */
export async function findForSender(
  { orgId }: CallerScope,
  fromEmail: string,
): Promise<SendingConfig> {
  const match = selectForSender(await listAll(orgId), fromEmail);
  if (match) return match;
  const [configs, domain] = await Promise.all([
    listAll(orgId, true),
    domainNames.getByName(orgId, domainOf(fromEmail)),
  ]);
  const config = selectForSender(configs, fromEmail, domain?.verified);
  if (config) return config;
  throw noSendingConfig(
    "No sending config has this fromEmail, and no verified one has its domain: add one for " +
      `${fromEmail}, or give a sendingConfigId`,
  );
}

/** Finds the oldest verified config. 400 `no_sending_config` if no config is verified. */
export async function findDefault(orgId: number): Promise<SendingConfig> {
  const config = (await listAll(orgId, true)).find(({ verified }) => verified);
  if (config) return config;
  throw noSendingConfig("The organization has no verified sending config: add one and verify it");
}

/** The rate of the config, or of its account if that is lower. Null: no limit. */
export function handOverRate({
  ratePerSecond,
  accountLimits,
}: Pick<SendingConfig, "ratePerSecond" | "accountLimits">): number | null {
  const rates = [ratePerSecond, accountLimits?.emailsPerSecond].flatMap((rate) => rate ?? []);
  return rates.length ? Math.min(...rates) : null;
}

/** The default sender of a config. 400 if the config has none. */
export function senderOf({
  id,
  fromEmail,
  fromName,
}: Pick<SendingConfig, "id" | "fromEmail" | "fromName">): Sender {
  if (fromEmail === null)
    throw fieldError("fromEmail", `is required, as sending config ${id} has none`);
  return { email: fromEmail, name: fromName ?? undefined };
}

/** Finds the config for mail that cannot set a sender itself. 400 if the config has none. */
export async function findWithSender(caller: CallerScope, id: number): Promise<SendingConfig> {
  const config = await find(caller, id);
  if (config.fromEmail === null)
    throw fieldError(
      "sendingConfigId",
      "names a sending config without fromEmail, which this mail needs",
    );
  return config;
}

/** Name and address in one line, or null without an address. */
export const labelOf = ({
  fromEmail,
  fromName,
}: Pick<SendingConfig, "fromEmail" | "fromName">): string | null =>
  fromEmail && fromName ? `${fromName} <${fromEmail}>` : fromEmail;

interface Sender {
  email: string;
  name: string | undefined;
}

/** Warnings about an accepted webhookSecret. */
export function secretWarnings(providerKey: string, secret: string | null | undefined): string[] {
  if (!secret) return [];
  if (providerKey === "sendgrid" && !verificationKey(secret))
    return ["webhookSecret is not a verification key of SendGrid, so no webhook can be verified"];
  return secret.length < 12
    ? ["webhookSecret has fewer than 12 characters and can be guessed"]
    : [];
}

/** Returns the credentials in the shape of the provider's `credentials` schema. */
export const decryptCredentials = async (
  orgId: number,
  { id, sealedCredentials }: SendingConfig,
): Promise<Record<string, unknown>> =>
  JSON.parse(await vault.decrypt(sealedCredentials, encryptionContext(orgId, id)));

/** Returns the secret that verifies the provider's webhooks, or undefined if none is set. */
export const decryptWebhookSecret = async (
  orgId: number,
  { id, sealedWebhookSecret }: SendingConfig,
): Promise<string | undefined> =>
  sealedWebhookSecret && vault.decrypt(sealedWebhookSecret, encryptionContext(orgId, id));

/**
 * The URL to enter at the provider. Contains a placeholder for the secret, which is never returned.
 */
export function webhookUrl({
  id,
  provider: providerKey,
}: Pick<SendingConfig, "id" | "provider">): string {
  const secret = getProvider(providerKey)?.webhookProof === "secret" ? "&secret=YOUR_SECRET" : "";
  return `${settings.publicUrl}/api/v1/webhooks/${providerKey}?config_id=${id}${secret}`;
}

export const unverifiedWarning = (configId: number): string =>
  `Sending config ${configId} is not verified, so the provider may reject this mail`;

const notVerified = { verified: false, verifiedAt: null };

const encryptionContext = (orgId: number, configId: number): vault.EncryptionContext => ({
  orgId: String(orgId),
  configId: String(configId),
});

/** An inbound webhook contains only the config id, so this item maps it to the organization. */
const inboundPointerWrite = (orgId: number, id: number, providerKey: string) =>
  put(keys.inboundConfig(id), { orgId, provider: providerKey });

const changeWrite = (
  orgId: number,
  { id, revision }: SendingConfig,
  { set, remove: removed = [] }: { set: object; remove?: string[] },
) =>
  updateItem(
    keys.record(orgId, "CONFIG", id),
    { set: { ...set, updatedAt: now().toISOString() }, remove: removed },
    {
      if: equals("revision", revision),
      orThrow: conflict(
        "The sending config was changed or deleted by another request: read it again, then retry",
      ),
    },
  );

// KMS encrypts at most 4 KB.
const maxCredentialsBytes = 4096;

async function encryptCredentials(orgId: number, id: number, parsed: Record<string, unknown>) {
  const text = JSON.stringify(parsed);
  if (Buffer.byteLength(text) > maxCredentialsBytes)
    throw limitExceeded(
      "credentials",
      `credentials can have at most ${maxCredentialsBytes} bytes as JSON`,
    );
  return {
    credentialsSet: Object.keys(parsed),
    sealedCredentials: await vault.encrypt(text, encryptionContext(orgId, id)),
  };
}

/** Validates credentials by the provider's schema. Drops unknown fields. */
function parseCredentials(
  providerKey: string,
  credentials: Record<string, unknown>,
): Record<string, unknown> {
  const { success, data, error } = getProvider(providerKey)!.credentials.safeParse(credentials, {
    error: validationMessages,
  });
  if (success) return data;
  const details = error.issues.map(({ path, message }) => {
    const field = ["credentials", ...path].join(".");
    const isMissing = credentials[String(path[0])] === undefined;
    const reason = isMissing ? `is required for ${providerKey}` : message;
    return { path: field, message: `${field}: ${reason}` };
  });
  throw invalid(details[0]!.message, { details });
}

const fieldError = (path: string, message: string) =>
  invalid(`${path} ${message}`, { details: [{ path, message: `${path} ${message}` }] });

const noSendingConfig = (message: string) => invalid(message, { code: "no_sending_config" });

/** Oldest first. */
const listAll = (orgId: number, consistent = false): Promise<SendingConfig[]> =>
  queryAll(ranges.records(orgId, "CONFIG"), { consistent });

function selectForSender(
  oldestFirst: SendingConfig[],
  fromEmail: string,
  domainVerified = false,
): SendingConfig | undefined {
  const [address, domain] = [normalizeEmail(fromEmail), domainOf(fromEmail)];
  const ofDomain = oldestFirst
    .toReversed()
    .filter((config) => config.fromEmail !== null && domainOf(config.fromEmail) === domain);
  const ofAddress = ofDomain.filter((config) => normalizeEmail(config.fromEmail ?? "") === address);
  return (
    ofAddress.find(({ verified }) => verified) ??
    ofAddress[0] ??
    ofDomain.find(({ verified }) => verified) ??
    (domainVerified ? ofDomain[0] : undefined)
  );
}
