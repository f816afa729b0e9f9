// Chooses a sending config for mail that names none.
import { queryAll } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { invalid } from "../../errors.ts";
import { domainOf, normalizeEmail } from "../../kernel/email-fields.ts";
import { ranges } from "../../keys.ts";
import * as domainsByName from "./domains/domains-by-name.ts";
import type { SendingConfig } from "./sending-config-schema.ts";

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
    domainsByName.getByName(orgId, domainOf(fromEmail)),
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

export const hasDefault = async (orgId: number): Promise<boolean> =>
  (await listAll(orgId, true)).some(({ verified }) => verified);

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
