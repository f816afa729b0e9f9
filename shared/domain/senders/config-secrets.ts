// Credentials and webhook secret of a sending config. They are encrypted with the config and the
// organization as context, and no response contains them.
import * as encryption from "../../adapters/kms/encryption.ts";
import { invalid, limitExceeded } from "../../errors.ts";
import { validationMessages } from "../../kernel/validation-messages.ts";
import { verificationKey } from "../../providers/inbound/sendgrid.ts";
import { getProvider } from "../../providers/registry.ts";
import { encryptionContext, openCredentials } from "./secret-context.ts";
import type { SendingConfig } from "./sending-config-schema.ts";

/** Warnings about an accepted webhookSecret. */
export function secretWarnings(providerKey: string, secret: string | null | undefined): string[] {
  if (!secret) return [];
  if (!getProvider(providerKey)?.webhookProof)
    return [
      `Providers of the kind ${providerKey} have no webhooks, so webhookSecret has no effect`,
    ];
  if (providerKey === "sendgrid" && !verificationKey(secret))
    return ["webhookSecret is not a verification key of SendGrid, so no webhook can be verified"];
  return secret.length < 12
    ? ["webhookSecret has fewer than 12 characters and can be guessed"]
    : [];
}

export const decryptCredentials = openCredentials;

/** Returns the secret that verifies the provider's webhooks, or undefined if none is set. */
export const decryptWebhookSecret = async (
  orgId: number,
  { id, sealedWebhookSecret }: SendingConfig,
): Promise<string | undefined> =>
  sealedWebhookSecret && encryption.decrypt(sealedWebhookSecret, encryptionContext(orgId, id));

export const encryptWebhookSecret = (
  orgId: number,
  configId: number,
  secret: string,
): Promise<string> => encryption.encrypt(secret, encryptionContext(orgId, configId));

// KMS encrypts at most 4 KB.
const maxCredentialsBytes = 4096;

export async function encryptCredentials(
  orgId: number,
  id: number,
  parsed: Record<string, unknown>,
) {
  const text = JSON.stringify(parsed);
  if (Buffer.byteLength(text) > maxCredentialsBytes)
    throw limitExceeded(
      "credentials",
      `credentials can have at most ${maxCredentialsBytes} bytes as JSON`,
    );
  return {
    credentialsSet: Object.keys(parsed),
    sealedCredentials: await encryption.encrypt(text, encryptionContext(orgId, id)),
  };
}

/** Validates credentials by the provider's schema. Drops unknown fields. */
export function parseCredentials(
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
