// Mail to the users of the service, through the operator's system sender. Suppressions do not
// apply.

import { get } from "../../adapters/dynamodb/table.ts";
import * as encryption from "../../adapters/kms/encryption.ts";
import { config as settings } from "../../config.ts";
import { unavailable, upstream } from "../../errors.ts";
import { parseJson } from "../../kernel/json.ts";
import * as log from "../../kernel/log.ts";
import { queueSystemMail } from "../../kernel/system-mail-queue.ts";
import { keys } from "../../keys.ts";
import type {
  HandOverOutcome,
  Mailbox,
  ProviderAdapter,
} from "../../providers/provider-adapter.ts";
import { getProvider as providerOf } from "../../providers/registry.ts";
import { parseSystemSender, systemSenderRule } from "../../providers/system-sender.ts";
import type { SystemMail } from "../../queues.ts";
import * as accounts from "../identity/accounts.ts";
import * as attemptLimits from "../identity/attempt-limits.ts";
import * as emailVerification from "../identity/email-verification.ts";
import * as invitationLinks from "../identity/invitation-links.ts";
import * as loginChallenges from "../identity/mfa/login-challenges.ts";
import * as passwordChanges from "../identity/password-changes.ts";
import { isNearQuota } from "../senders/account-limits.ts";
import { sendDirectMail } from "../senders/direct-mail.ts";
import type { SendingConfig } from "../senders/sending-config-schema.ts";
import type { Webhook } from "../webhooks/webhooks.ts";
import {
  buildInvitationMail,
  buildLoginCodeMail,
  buildMfaDisabledMail,
  buildNoticeMail,
  buildPasswordResetMail,
  buildQuotaMail,
  buildVerificationMail,
  buildWebhookDisabledMail,
  productName,
  type SystemMailContent,
} from "./system-mail-texts.ts";

type MessageOf<M extends SystemMail["mail"]> = Extract<SystemMail, { mail: M }>;

/** Each builds one kind of mail; undefined if there is no recipient or no longer a reason. */
const mailBuilders: {
  [M in SystemMail["mail"]]: (message: MessageOf<M>) => Promise<SystemMailContent | undefined>;
} = {
  password_reset: async ({ email }) => {
    const reset = await passwordChanges.createResetToken(email);
    return reset && buildPasswordResetMail(reset, reset.token);
  },
  verify_email: async ({ email }) => {
    const verification = await emailVerification.createToken(email);
    return verification && buildVerificationMail(verification, verification.token);
  },
  login_code: async ({ challenge, code }) => {
    const asked = await loginChallenges.getMailedCode(challenge, code);
    const user = asked && (await get<accounts.User>(keys.member(asked.orgId, asked.userId)));
    return user && buildLoginCodeMail(user, asked.code);
  },
  mfa_off: async ({ orgId, userId }) => {
    const user = await get<accounts.User>(keys.member(orgId, userId));
    return user && buildMfaDisabledMail(user);
  },
  invitation: async ({ orgId, invitationId }) => {
    const invitation = await invitationLinks.createToken(orgId, invitationId);
    return invitation && buildInvitationMail(invitation);
  },
  webhook_inactive: async ({ orgId, webhookId }) => {
    const [webhook, owner] = await Promise.all([
      get<Webhook>(keys.record(orgId, "WEBHOOK", webhookId)),
      accounts.getOwner(orgId),
    ]);
    return webhook?.inactiveReason && owner
      ? buildWebhookDisabledMail(owner, webhook, webhook.inactiveReason)
      : undefined;
  },
  sending_quota: async ({ orgId, configId }) => {
    const [config, owner] = await Promise.all([
      get<SendingConfig>(keys.record(orgId, "CONFIG", configId)),
      accounts.getOwner(orgId),
    ]);
    return config && owner && isNearQuota(config) ? buildQuotaMail(owner, config) : undefined;
  },
  notice: async ({ mail, userId, ...rest }) => {
    const { event, orgId } = rest;
    if (userId === undefined) {
      const owners = (await accounts.listOwners(orgId)).slice(0, maxNotifiedOwners);
      await Promise.all(owners.map(({ id }) => queueSystemMail({ ...rest, mail, userId: id })));
      return undefined;
    }
    const user = await get<accounts.User>(keys.member(orgId, userId));
    if (!user || !(await attemptLimits.tryCountNotice(event, user.email))) return undefined;
    return buildNoticeMail(user, rest);
  },
};

const maxNotifiedOwners = 20;

/**
 * Builds and sends one mail. Throws if a retry can help. Only logs a refused mail, and one that may
 * have been sent.
 */
export async function sendSystemMail(message: SystemMail): Promise<void> {
  const { mail } = message;
  // Checked first, because a mail can create a token.
  const { provider, credentials, from } = await getSystemSender();
  const parts = await mailBuilders[mail](message as never);
  if (!parts) return;
  const outcome = await sendDirectMail(provider, credentials, { ...parts, from, tracked: false });
  outcomeHandlers[outcome.status](mail, provider, outcome as never);
}

type OutcomeHandler<S extends HandOverOutcome["status"]> = (
  mail: string,
  provider: ProviderAdapter,
  outcome: Extract<HandOverOutcome, { status: S }>,
) => void;

const outcomeHandlers: { [S in HandOverOutcome["status"]]: OutcomeHandler<S> } = {
  accepted: (mail, { key }) => log.info("system mail sent", { mail, provider: key }),
  // An error about a mail can contain its recipient, so only errors about the account are logged.
  refused: (mail, { key, name }, { config: accountAtFault, error }) =>
    log.error(
      "system mail failed",
      new Error(`${name} rejected a system mail${accountAtFault ? `: ${error}` : ""}`),
      {
        mail,
        provider: key,
      },
    ),
  uncertain: (mail, { key, name }) =>
    log.error(
      "system mail uncertain",
      new Error(`It is unknown whether ${name} accepted a system mail`),
      { mail, provider: key },
    ),
  held: (_, { name }) => {
    throw upstream(`${name} did not accept a system mail: it will be retried`);
  },
};

interface SystemSender {
  provider: ProviderAdapter;
  credentials: Record<string, unknown>;
  from: Mailbox;
}

/** Reads SYSTEM_SENDER and the secret with the credentials as JSON. */
async function getSystemSender(): Promise<SystemSender> {
  const setting = settings.systemSender;
  if (!setting)
    throw unavailable(
      "The setting SYSTEM_SENDER is missing, so no reset, login or notice mail can be sent",
    );
  const parsed = parseSystemSender(setting);
  if (!parsed) throw unavailable(`SYSTEM_SENDER ${systemSenderRule}`);
  const provider = providerOf(parsed.provider)!;
  // The error of the parser would contain a part of the secret.
  const { success, data } = provider.credentials.safeParse(
    parseJson(await encryption.getSecret(settings.systemSenderSecret)),
  );
  if (!success)
    throw unavailable(
      "The secret named by SYSTEM_SENDER_SECRET does not contain the credentials of " +
        `${provider.name} as JSON`,
    );
  return { provider, credentials: data, from: { email: parsed.fromEmail, name: productName } };
}
