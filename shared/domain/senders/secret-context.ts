// What the secrets of a sending config are encrypted with. Kept apart so that those who only
// decrypt do not load the provider adapters.
import * as encryption from "../../adapters/kms/encryption.ts";
import type { SendingConfig } from "./sending-config-schema.ts";

export const encryptionContext = (
  orgId: number,
  configId: number,
): encryption.EncryptionContext => ({
  orgId: String(orgId),
  configId: String(configId),
});

/** Returns the credentials in the shape of the provider's `credentials` schema. */
export const openCredentials = async (
  orgId: number,
  { id, sealedCredentials }: SendingConfig,
): Promise<Record<string, unknown>> =>
  JSON.parse(await encryption.decrypt(sealedCredentials, encryptionContext(orgId, id)));
