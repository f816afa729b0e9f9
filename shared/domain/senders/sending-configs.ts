// Sending configs: the organization's own accounts at mail providers.
import {
  absent,
  all,
  any,
  type Condition,
  equals,
  present,
} from "../../adapters/dynamodb/conditions.ts";
import {
  put,
  remove as removeItem,
  transact,
  update as updateItem,
  write,
} from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { config as settings } from "../../config.ts";
import { conflict, invalid } from "../../errors.ts";
import * as leases from "../../kernel/leases.ts";
import type { PageRequest } from "../../kernel/paging.ts";
import * as records from "../../kernel/records.ts";
import { queueNotice } from "../../kernel/security-notices.ts";
import { keys } from "../../keys.ts";
import { getProvider } from "../../providers/registry.ts";
import { encryptCredentials, encryptWebhookSecret, parseCredentials } from "./config-secrets.ts";
import type {
  NewSendingConfig,
  SendingConfig,
  SendingConfigChanges,
} from "./sending-config-schema.ts";
import type { StartedWarmUp, WarmUp } from "./warm-up.ts";

/** Creates a config. It is not verified until the provider accepts a test mail. */
export async function create(
  caller: CallerScope,
  { apiKey, webhookSecret, ...input }: NewSendingConfig,
): Promise<SendingConfig> {
  const checked = parseCredentials(input.provider, {
    ...(apiKey !== undefined && { apiKey }),
    ...input.credentials,
  });
  await requireOthers(caller, input);
  const stamped = await records.newRecordFields("CONFIG");
  const record: SendingConfig = {
    ...stamped,
    provider: input.provider,
    fromEmail: input.fromEmail ?? null,
    fromName: input.fromName ?? null,
    replyTo: input.replyTo ?? null,
    ratePerSecond: input.ratePerSecond ?? null,
    warmUp: startWarmUp(input.warmUp) ?? null,
    fallbackConfigId: input.fallbackConfigId ?? null,
    share: input.share ?? null,
    ...(input.tracking && { tracking: input.tracking }),
    accountLimits: null,
    isByok: true,
    firstEventAt: null,
    ...notVerified,
    ...(await encryptCredentials(caller.orgId, stamped.id, checked)),
    ...(webhookSecret && {
      sealedWebhookSecret: await encryptWebhookSecret(caller.orgId, stamped.id, webhookSecret),
    }),
    revision: 1,
  };
  const stored = await records.insert("CONFIG", caller, {
    record,
    extraWrites: [inboundPointerWrite(caller.orgId, record.id, record.provider)],
  });
  await queueNotice("sender_created", { orgId: caller.orgId, recordId: stored.id });
  return stored;
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
  if (changes.share?.sendingConfigId === id)
    throw fieldError("share.sendingConfigId", "must name another sending config");
  await requireOthers(caller, changes);
  const providerChanged = changes.provider !== undefined && changes.provider !== config.provider;
  if (providerChanged && !credentials)
    throw fieldError("credentials", "is required when the provider changes");
  const checked = credentials && parseCredentials(changes.provider ?? config.provider, credentials);
  const fromEmailChanged =
    changes.fromEmail !== undefined && changes.fromEmail !== config.fromEmail;
  const set = {
    ...changes,
    ...(warmUp !== undefined && { warmUp: startWarmUp(warmUp) }),
    ...(providerChanged && { firstEventAt: null }),
    ...(checked && {
      accountLimits: null,
      ...(await encryptCredentials(caller.orgId, id, checked)),
    }),
    ...(webhookSecret && {
      sealedWebhookSecret: await encryptWebhookSecret(caller.orgId, id, webhookSecret),
    }),
    ...((checked || fromEmailChanged) && { ...notVerified, revision: config.revision + 1 }),
  };
  const removed = webhookSecret === null ? ["sealedWebhookSecret"] : [];
  await write(
    changeWrite(caller.orgId, config, { set, remove: removed }),
    ...(providerChanged ? [inboundPointerWrite(caller.orgId, id, changes.provider!)] : []),
  );
  if (checked || fromEmailChanged)
    await queueNotice("sender_changed", { orgId: caller.orgId, recordId: id });
  return find(caller, id);
}

/** Throws 404 if one of the named configs does not exist. */
async function requireOthers(
  caller: CallerScope,
  { fallbackConfigId, share }: Pick<SendingConfigChanges, "fallbackConfigId" | "share">,
): Promise<void> {
  if (fallbackConfigId) await find(caller, fallbackConfigId);
  if (share) await find(caller, share.sendingConfigId);
}

const startWarmUp = (warmUp: WarmUp | null | undefined): StartedWarmUp | null | undefined =>
  warmUp && { ...warmUp, startedAt: now().toISOString() };

/** Deletes a config. Mail that waits to be sent with it fails when its turn comes. */
export async function remove(caller: CallerScope, id: number): Promise<void> {
  await write(
    ...records.removeWrites("CONFIG", caller, { id }),
    removeItem(keys.inboundConfig(id)),
    removeItem(keys.bounceMailbox(caller.orgId, id)),
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
 * Stores what the owner of the lease has made at the provider: its secret, or credentials with a
 * further name. The config stays verified. 409 if another request has changed the config.
 */
export async function storeConnection(
  { orgId }: CallerScope,
  config: SendingConfig,
  {
    lease,
    webhookSecret,
    credentials,
  }: Pick<SendingConfigChanges, "webhookSecret" | "credentials"> & { lease: leases.Lease },
): Promise<void> {
  const { id } = config;
  const set = {
    ...(credentials && (await encryptCredentials(orgId, id, credentials))),
    ...(webhookSecret && {
      sealedWebhookSecret: await encryptWebhookSecret(orgId, id, webhookSecret),
    }),
  };
  await write(changeWrite(orgId, config, { set, condition: leases.isOwnerCondition(lease) }));
}

/** Stores that the provider reports events, unless that is stored already. */
export async function setReporting({ orgId }: CallerScope, id: number): Promise<void> {
  const isFirst = any(absent("firstEventAt"), equals("firstEventAt", null));
  await transact(
    updateItem(
      keys.record(orgId, "CONFIG", id),
      { set: { firstEventAt: now().toISOString() } },
      { if: all(present("id"), isFirst) },
    ),
  );
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

/**
 * The URL to enter at the provider. Contains a placeholder for the secret, which is never returned.
 * Null: the provider has no webhooks.
 */
export function webhookUrl({
  id,
  provider: providerKey,
}: Pick<SendingConfig, "id" | "provider">): string | null {
  const provider = getProvider(providerKey);
  if (provider && !provider.webhookProof) return null;
  const secret = provider?.webhookProof === "secret" ? "&secret=YOUR_SECRET" : "";
  return `${settings.publicUrl}/api/v1/webhooks/${providerKey}?config_id=${id}${secret}`;
}

export const unverifiedWarning = (configId: number): string =>
  `Sending config ${configId} is not verified, so the provider may reject this mail`;

const notVerified = { verified: false, verifiedAt: null };

/** An inbound webhook contains only the config id, so this item maps it to the organization. */
const inboundPointerWrite = (orgId: number, id: number, providerKey: string) =>
  put(keys.inboundConfig(id), { orgId, provider: providerKey });

const changeWrite = (
  orgId: number,
  { id, revision }: SendingConfig,
  {
    set,
    remove: removed = [],
    condition,
  }: { set: object; remove?: string[]; condition?: Condition },
) =>
  updateItem(
    keys.record(orgId, "CONFIG", id),
    { set: { ...set, updatedAt: now().toISOString() }, remove: removed },
    {
      if: condition ? all(equals("revision", revision), condition) : equals("revision", revision),
      orThrow: conflict(
        "The sending config was changed or deleted by another request: read it again, then retry",
      ),
    },
  );

const fieldError = (path: string, message: string) =>
  invalid(`${path} ${message}`, { details: [{ path, message: `${path} ${message}` }] });
