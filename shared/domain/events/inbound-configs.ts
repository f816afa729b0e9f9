// Whose webhook a call is: found by the config's id alone, before any organization is known.
import { get } from "../../doors/table.ts";
import { keys } from "../../keys.ts";
import * as sendingConfigs from "../sending-configs.ts";

export interface InboundConfig {
  orgId: number;
  provider: string;
  /** Decrypted; absent when none is set. */
  secret?: string | undefined;
  /** Where its events come from, once it has heard from there (an SNS topic). */
  source?: string;
}

// Kept so briefly that a changed secret works at once for whoever changes it, and long enough for a burst of single events.
const keepMs = 3000;
const known = new Map<number, { config: InboundConfig; until: number }>();

export async function inboundConfig(configId: number): Promise<InboundConfig | undefined> {
  const kept = known.get(configId);
  if (kept && kept.until > performance.now()) return kept.config;
  const pointer = await get<InboundConfig>(keys.inboundConfig(configId));
  if (!pointer) return undefined;
  const record = await sendingConfigs.find({ orgId: pointer.orgId }, configId);
  const config = { ...pointer, secret: await sendingConfigs.webhookSecret(pointer.orgId, record) };
  if (known.size > 1000) known.clear();
  known.set(configId, { config, until: performance.now() + keepMs });
  return config;
}
