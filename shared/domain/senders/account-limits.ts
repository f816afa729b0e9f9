// Rate and 24-hour quota that the provider reports for the account of a sending config. They are
// read when the config is verified, and every hour while email is sent. The owner gets a mail when
// 80 % of the quota is used up.
import { absent, all, equals } from "../../adapters/dynamodb/conditions.ts";
import { transact, update, write } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import * as log from "../../kernel/log.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { queueSystemMail } from "../../kernel/system-mail-queue.ts";
import { keys } from "../../keys.ts";
import { getProvider } from "../../providers/registry.ts";
import { decryptCredentials } from "./config-secrets.ts";
import type { SendingConfig } from "./sending-config-schema.ts";

const refreshMs = 3600 * 1000;
const warnAgainMs = 24 * 3600 * 1000;
const warnAtShare = 0.8;

/**
 * The config with its current limits. Reads them if the last reading is an hour old, at most once
 * an hour in this process.
 */
export async function withCurrentLimits(
  orgId: number,
  config: SendingConfig,
): Promise<SendingConfig> {
  if (!getProvider(config.provider)?.readLimits || isRecent(config)) return config;
  lastReadings.set(String(config.id), now().getTime(), 1);
  return { ...config, accountLimits: (await refresh(orgId, config)) ?? config.accountLimits };
}

const lastReadings = createLruCache<number>(10_000);

function isRecent({ id, accountLimits }: SendingConfig): boolean {
  const readAt = accountLimits ? Date.parse(accountLimits.readAt) : 0;
  const lastReading = Math.max(readAt, lastReadings.get(String(id)) ?? 0);
  return now().getTime() - lastReading < refreshMs;
}

/** Reads and stores the limits. Undefined if the provider does not report them. */
export async function refresh(
  orgId: number,
  config: SendingConfig,
): Promise<SendingConfig["accountLimits"] | undefined> {
  const { readLimits } = getProvider(config.provider) ?? {};
  if (!readLimits) return undefined;
  const limits = await readLimits(await decryptCredentials(orgId, config));
  if (!limits) {
    log.warn("account limits could not be read", { orgId, configId: config.id });
    return undefined;
  }
  const accountLimits = { ...limits, readAt: now().toISOString() };
  await store(orgId, config, accountLimits);
  return accountLimits;
}

async function store(
  orgId: number,
  config: SendingConfig,
  accountLimits: NonNullable<SendingConfig["accountLimits"]>,
): Promise<void> {
  const warns = isNearQuota({ accountLimits }) && !wasWarned(config);
  const warning = warns && { quotaWarnedAt: accountLimits.readAt, ownerUntold: true };
  const isStored = await transact(
    update(
      keys.record(orgId, "CONFIG", config.id),
      { set: { accountLimits, ...warning } },
      { if: unchangedCondition(config) },
    ),
  );
  if (isStored && (warns || config.ownerUntold)) await notifyOwner(orgId, config.id);
}

/** Whether 80 % of the 24-hour quota is used up. */
export function isNearQuota({ accountLimits }: Pick<SendingConfig, "accountLimits">): boolean {
  const quota = accountLimits?.emailsPer24Hours ?? null;
  return quota !== null && accountLimits!.sentLast24Hours >= warnAtShare * quota;
}

const wasWarned = ({ quotaWarnedAt }: SendingConfig): boolean =>
  quotaWarnedAt !== undefined && now().getTime() - Date.parse(quotaWarnedAt) < warnAgainMs;

/** Other credentials are another account, and of two workers only one warns. */
const unchangedCondition = ({ revision, quotaWarnedAt }: SendingConfig) =>
  all(
    equals("revision", revision),
    quotaWarnedAt === undefined ? absent("quotaWarnedAt") : equals("quotaWarnedAt", quotaWarnedAt),
  );

/** Queues the mail to the owner. After a crash, the next reading queues it. */
async function notifyOwner(orgId: number, configId: number): Promise<void> {
  await queueSystemMail({ mail: "sending_quota", orgId, configId });
  await write(update(keys.record(orgId, "CONFIG", configId), { remove: ["ownerUntold"] }));
}
