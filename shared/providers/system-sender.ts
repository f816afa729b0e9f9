// The setting SYSTEM_SENDER. The id of a sending config is refused: members and API keys that can
// change the config could read the password resets of all users.
import { EmailAddress } from "../kernel/email-fields.ts";
import { type ProviderKey, providerKeys } from "./provider-keys.ts";

interface SystemSenderSetting {
  provider: ProviderKey;
  fromEmail: string;
}

/** Returns undefined unless the setting is `<provider>:<from address>`. */
export function parseSystemSender(setting: string): SystemSenderSetting | undefined {
  const [, key, fromEmail = ""] = /^([^:]*):(.*)$/.exec(setting) ?? [];
  const provider = providerKeys.find((known) => known === key);
  return provider && EmailAddress.safeParse(fromEmail).success
    ? { provider, fromEmail }
    : undefined;
}

/** Completes a sentence that begins with the name of the setting. */
export const systemSenderRule =
  "must be <provider>:<from address>, such as postmark:no-reply@example.com, with a secret that " +
  "holds the provider's credentials. The id of a sending config is not accepted, because " +
  "everyone who can change that config could read the password resets of all users";
