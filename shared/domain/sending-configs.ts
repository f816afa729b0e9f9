// Sending configs: the organization's own accounts at mail providers. Credentials and webhook secret are sealed for one config of
// one organization, and no answer ever holds them.
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { now } from "../clock.ts";
import { equals } from "../conditions.ts";
import { config as settings } from "../config.ts";
import { put, query, queryAll, remove as removeItem, update as updateItem, write } from "../doors/table.ts";
import * as vault from "../doors/vault.ts";
import { canonical, domainOf, EmailAddress, oneLine } from "../email.ts";
import { conflict, invalid, overLimit } from "../errors.ts";
import { faults } from "../faults.ts";
import { keys, ranges } from "../keys.ts";
import type { PageRequest } from "../paging.ts";
import { provider } from "../providers/index.ts";
import { providerKeys } from "../providers/keys.ts";
import * as domainNames from "./domains/names.ts";
import * as records from "./records.ts";
import { Warming, WarmUp } from "./sending/warm-up.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

/** The record without its secrets. */
export const SendingConfig = z.object({
  id: z.int(),
  provider: z.string(),
  fromEmail: z.string(),
  fromName: z.string().nullable(),
  ratePerSecond: z.number().nullable().describe("Mails per second that are handed over at most; null: as fast as the provider takes them"),
  warmUp: Warming.nullable()
    .default(null)
    .describe(
      "Bulk mail of a day beyond the limit is held for the next (days of UTC). Single sends always go, and count. Set again it begins again",
    ),
  isByok: z.literal(true).describe("Always true: every config is the organization's own provider account"),
  verified: z.boolean().describe("A test mail was accepted since credentials, provider and fromEmail are what they are"),
  verifiedAt: z.string().nullable(),
  credentialsSet: z.array(z.string()).describe("Names of the credentials that are stored; their values are never answered"),
  createdAt: z.string(),
  updatedAt: z.string(),
});
interface Sealed {
  sealedCredentials: string;
  sealedWebhookSecret?: string | undefined;
  /** Counts changes of provider, credentials and fromEmail: what was found out about an older revision holds no more. */
  revision: number;
}
export type SendingConfig = z.output<typeof SendingConfig> & Sealed;

const maxSecretLength = 500;
const Changes = {
  provider: z.enum(providerKeys as readonly string[] as [string, ...string[]]),
  credentials: z.record(z.string().max(100), z.unknown()).describe("As `configFields` of GET /providers says"),
  fromEmail: EmailAddress,
  fromName: oneLine(100).nullable().optional(),
  ratePerSecond: z.number().positive().max(100_000).nullable().optional(),
  warmUp: WarmUp.nullable().optional(),
  webhookSecret: z
    .string()
    .min(12)
    .max(maxSecretLength)
    .nullable()
    .optional()
    .describe(
      "What proves the provider's webhooks: its signing key, or for ses, postmark, brevo, mailjet and smtp2go a word of your choice that the webhookUrl carries too; null removes it",
    ),
};

export const NewSendingConfig = z
  .object({
    ...Changes,
    provider: Changes.provider.default(providerKeys[0]),
    credentials: Changes.credentials.default({}),
    apiKey: z.string().max(2048).optional().describe("Legacy: the same as credentials.apiKey"),
  })
  .meta({ examples: [{ provider: "sendgrid", fromEmail: "hello@shop.example", fromName: "My shop", credentials: { apiKey: "SG...." } }] });
export type NewSendingConfig = z.output<typeof NewSendingConfig>;

export const SendingConfigChanges = z
  .object(Changes)
  .partial()
  .meta({ examples: [{ fromName: "My shop", ratePerSecond: 20 }] });
export type SendingConfigChanges = z.output<typeof SendingConfigChanges>;

/** `fromEmail` becomes the config's address; it is not verified until a test mail was accepted. */
export async function create(who: Who, { apiKey, webhookSecret, ...input }: NewSendingConfig): Promise<SendingConfig> {
  const checked = credentialsOf(input.provider, { ...(apiKey !== undefined && { apiKey }), ...input.credentials });
  const stamped = await records.stamp("CONFIG");
  const record: SendingConfig = {
    ...stamped,
    provider: input.provider,
    fromEmail: input.fromEmail,
    fromName: input.fromName ?? null,
    ratePerSecond: input.ratePerSecond ?? null,
    warmUp: begun(input.warmUp) ?? null,
    isByok: true,
    ...unverified,
    ...(await sealedCredentials(who.orgId, stamped.id, checked)),
    ...(webhookSecret && { sealedWebhookSecret: await vault.seal(webhookSecret, contextOf(who.orgId, stamped.id)) }),
    revision: 1,
  };
  return records.insert("CONFIG", who, record, pointing(who.orgId, record.id, record.provider));
}

export const find = (who: Who, id: number, options?: { consistent?: boolean }): Promise<SendingConfig> =>
  records.find<SendingConfig>("CONFIG", who, id, options);

export const list = (who: Who, request: PageRequest) => records.list<SendingConfig>("CONFIG", who, request);

/** Changes what is given; credentials are replaced as a whole. 409 when provider, credentials or fromEmail changed meanwhile. */
export async function update(who: Who, id: number, { credentials, webhookSecret, warmUp, ...changes }: SendingConfigChanges) {
  const config = await find(who, id);
  const moved = changes.provider !== undefined && changes.provider !== config.provider;
  if (moved && !credentials) throw wrong("credentials", "is required when the provider changes");
  const checked = credentials && credentialsOf(changes.provider ?? config.provider, credentials);
  const renamed = changes.fromEmail !== undefined && changes.fromEmail !== config.fromEmail;
  const set = {
    ...changes,
    ...(warmUp !== undefined && { warmUp: begun(warmUp) }),
    ...(checked && (await sealedCredentials(who.orgId, id, checked))),
    ...(webhookSecret && { sealedWebhookSecret: await vault.seal(webhookSecret, contextOf(who.orgId, id)) }),
    ...((checked || renamed) && { ...unverified, revision: config.revision + 1 }),
  };
  const drop = webhookSecret === null ? ["sealedWebhookSecret"] : [];
  await write(changing(who.orgId, config, set, drop), ...(moved ? [pointing(who.orgId, id, changes.provider!)] : []));
  return find(who, id);
}

const begun = (wanted: WarmUp | null | undefined): Warming | null | undefined => wanted && { ...wanted, startedAt: now().toISOString() };

/** 409 while mail waits to be sent through it. */
export async function remove(who: Who, id: number): Promise<void> {
  const { items } = await query(ranges.waiting(who.orgId, id), { limit: 1, consistent: true });
  if (items.length) throw conflict("Mail is still waiting to be sent through this sending config: cancel it, or wait until it is sent");
  await write(...records.removing("CONFIG", who, id), removeItem(keys.inboundConfig(id)));
}

/** Notes what a test mail showed about the config as it was read. */
export async function noteVerified({ orgId }: Who, config: SendingConfig, verified: boolean): Promise<void> {
  await write(changing(orgId, config, verified ? { verified, verifiedAt: now().toISOString() } : unverified));
}

/**
 * The config that owns this address; else one of its domain, where the config or the domain is verified. Verified ones first, then the
 * newest; 400 `no_sending_config` when there is none.
 */
export async function forSender({ orgId }: Who, fromEmail: string): Promise<SendingConfig> {
  const known = ownerOf(await all(orgId), fromEmail);
  if (known) return known;
  const [configs, domain] = await Promise.all([all(orgId, true), domainNames.find(orgId, domainOf(fromEmail))]);
  const owner = ownerOf(configs, fromEmail, domain?.verified);
  if (owner) return owner;
  throw noConfig(
    `No sending config owns ${fromEmail}, and no verified one its domain: add one with this fromEmail, or name a sendingConfigId`,
  );
}

/** The oldest verified one, for mail that names none; 400 `no_sending_config` when nothing is verified. */
export async function defaultConfig(orgId: number): Promise<SendingConfig> {
  const config = (await all(orgId, true)).find(({ verified }) => verified);
  if (config) return config;
  throw noConfig("The organization has no verified sending config: add one and verify it");
}

/** In the shape of the provider's own `credentials` schema. */
export const credentials = async (orgId: number, { id, sealedCredentials }: SendingConfig): Promise<Record<string, unknown>> =>
  JSON.parse(await vault.open(sealedCredentials, contextOf(orgId, id)));

/** What proves the provider's webhooks; undefined when none was set. */
export const webhookSecret = async (orgId: number, { id, sealedWebhookSecret }: SendingConfig): Promise<string | undefined> =>
  sealedWebhookSecret && vault.open(sealedWebhookSecret, contextOf(orgId, id));

/** Where the provider is to report events. The secret is for whoever sets it up to fill in: we do not tell it. */
export function webhookUrl({ id, provider: key }: Pick<SendingConfig, "id" | "provider">): string {
  const secret = provider(key)?.webhookProof === "secret" ? "&secret=YOUR_SECRET" : "";
  return `${settings.publicUrl}/api/v1/webhooks/${key}?config_id=${id}${secret}`;
}

const unverified = { verified: false, verifiedAt: null };

const contextOf = (orgId: number, configId: number): vault.Context => ({ orgId: String(orgId), configId: String(configId) });

/** Found from outside: an inbound webhook names nothing but the config. */
const pointing = (orgId: number, id: number, key: string) => put(keys.inboundConfig(id), { orgId, provider: key });

const changing = (orgId: number, { id, revision }: SendingConfig, changes: object, drop: string[] = []) =>
  updateItem(
    keys.record(orgId, "CONFIG", id),
    { set: { ...changes, updatedAt: now().toISOString() }, remove: drop },
    { if: equals("revision", revision), otherwise: conflict("The sending config was changed or removed meanwhile: read it and try again") },
  );

// KMS seals no more at once.
const maxSealedBytes = 4096;

async function sealedCredentials(orgId: number, id: number, checked: Record<string, unknown>) {
  const text = JSON.stringify(checked);
  if (Buffer.byteLength(text) > maxSealedBytes)
    throw overLimit("credentials", `credentials may have at most ${maxSealedBytes} bytes as JSON`);
  return { credentialsSet: Object.keys(checked), sealedCredentials: await vault.seal(text, contextOf(orgId, id)) };
}

/** The provider's own schema decides; fields that it does not know are left out. */
function credentialsOf(key: string, given: Record<string, unknown>): Record<string, unknown> {
  const { success, data, error } = provider(key)!.credentials.safeParse(given, { error: faults });
  if (success) return data;
  const details = error.issues.map(({ path, message }) => {
    const field = ["credentials", ...path].join(".");
    return { path: field, message: `${field}: ${given[String(path[0])] === undefined ? `is required for ${key}` : message}` };
  });
  throw invalid(details[0]!.message, { details });
}

const wrong = (path: string, message: string) => invalid(`${path} ${message}`, { details: [{ path, message: `${path} ${message}` }] });

const noConfig = (message: string) => invalid(message, { code: "no_sending_config" });

/** Oldest first. */
const all = (orgId: number, consistent = false): Promise<SendingConfig[]> => queryAll(ranges.records(orgId, "CONFIG"), { consistent });

function ownerOf(oldestFirst: SendingConfig[], fromEmail: string, proven = false): SendingConfig | undefined {
  const [address, domain] = [canonical(fromEmail), domainOf(fromEmail)];
  const newestFirst = oldestFirst.toReversed();
  const ofDomain = newestFirst.filter((config) => domainOf(config.fromEmail) === domain);
  const owners = newestFirst.filter((config) => canonical(config.fromEmail) === address);
  return (
    owners.find(({ verified }) => verified) ?? owners[0] ?? ofDomain.find(({ verified }) => verified) ?? (proven ? ofDomain[0] : undefined)
  );
}
