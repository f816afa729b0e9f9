// Mail to the users of the service, through the operator's system sender. Suppressions do not
// apply.

import { get } from "../../adapters/dynamodb/table.ts";
import * as vault from "../../adapters/kms/encryption.ts";
import { config as settings } from "../../config.ts";
import { type EmailBlock, renderSimpleEmail } from "../../email/simple-email.ts";
import { unavailable, upstream } from "../../errors.ts";
import { EmailAddress } from "../../kernel/email-fields.ts";
import { parseJson } from "../../kernel/json.ts";
import * as log from "../../kernel/log.ts";
import { keys } from "../../keys.ts";
import type {
  HandOverOutcome,
  Mailbox,
  ProviderAdapter,
} from "../../providers/provider-adapter.ts";
import { getProvider as providerOf } from "../../providers/registry.ts";
import type { SystemMail } from "../../queues.ts";
import * as accounts from "../identity/accounts.ts";
import * as emailVerification from "../identity/email-verification.ts";
import * as invitations from "../identity/invitations.ts";
import * as challenges from "../identity/mfa/login-challenges.ts";
import { isNearQuota } from "../senders/account-limits.ts";
import { type DirectMail, sendDirectMail } from "../senders/direct-mail.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import type { Webhook } from "../webhooks/webhooks.ts";

type SystemMailContent = Pick<DirectMail, "to" | "subject" | "html" | "text">;

type MessageOf<M extends SystemMail["mail"]> = Extract<SystemMail, { mail: M }>;

/** Each builds one kind of mail; undefined if there is no recipient or no longer a reason. */
const mailBuilders: {
  [M in SystemMail["mail"]]: (message: MessageOf<M>) => Promise<SystemMailContent | undefined>;
} = {
  password_reset: async ({ email }) => {
    const reset = await accounts.createResetToken(email);
    return reset && buildPasswordResetMail(reset, reset.token);
  },
  verify_email: async ({ email }) => {
    const verification = await emailVerification.createToken(email);
    return verification && buildVerificationMail(verification, verification.token);
  },
  login_code: async ({ challenge, code }) => {
    const asked = await challenges.getMailedCode(challenge, code);
    const user = asked && (await get<accounts.User>(keys.member(asked.orgId, asked.userId)));
    return user && buildLoginCodeMail(user, asked.code);
  },
  mfa_off: async ({ orgId, userId }) => {
    const user = await get<accounts.User>(keys.member(orgId, userId));
    return user && buildMfaDisabledMail(user);
  },
  invitation: async ({ orgId, invitationId }) => {
    const invitation = await invitations.createToken(orgId, invitationId);
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
      get<sendingConfigs.SendingConfig>(keys.record(orgId, "CONFIG", configId)),
      accounts.getOwner(orgId),
    ]);
    return config && owner && isNearQuota(config) ? buildQuotaMail(owner, config) : undefined;
  },
};

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

/**
 * Reads SYSTEM_SENDER: the id of a sending config, or `<provider>:<from address>` with the
 * credentials as JSON in a secret.
 */
function getSystemSender(): Promise<SystemSender> {
  const setting = settings.systemSender;
  if (!setting)
    throw unavailable(
      "The setting SYSTEM_SENDER is missing, so no reset, login or notice mail can be sent",
    );
  return /^\d+$/.test(setting) ? senderFromConfig(Number(setting)) : senderFromSecret(setting);
}

async function senderFromConfig(id: number): Promise<SystemSender> {
  const pointer = await get<{ orgId: number }>(keys.inboundConfig(id));
  if (!pointer)
    throw unavailable(`SYSTEM_SENDER names the sending config ${id}, which does not exist`);
  const config = await sendingConfigs.find({ orgId: pointer.orgId }, id);
  const credentials = await sendingConfigs.decryptCredentials(pointer.orgId, config);
  return {
    provider: providerOf(config.provider)!,
    credentials,
    from: { ...sendingConfigs.senderOf(config), name: config.fromName ?? productName },
  };
}

const productName = "Pennymail";

async function senderFromSecret(setting: string): Promise<SystemSender> {
  const [, key = "", email = ""] = /^([^:]*):(.*)$/.exec(setting) ?? [];
  const provider = providerOf(key);
  if (!provider || !EmailAddress.safeParse(email).success)
    throw unavailable("SYSTEM_SENDER must be a sending config id, or <provider>:<from address>");
  // The error of the parser would contain a part of the secret.
  const { success, data } = provider.credentials.safeParse(
    parseJson(await vault.getSecret(settings.systemSenderSecret)),
  );
  if (!success)
    throw unavailable(
      "The secret named by SYSTEM_SENDER_SECRET does not contain the credentials of " +
        `${provider.name} as JSON`,
    );
  return { provider, credentials: data, from: { email, name: productName } };
}

const greeting = (name: string | undefined): string => (name ? `Hello ${name},` : "Hello,");

const maxShownCharacters = 60;
/**
 * The name to show. Anybody can sign up with the address of somebody else and any name, so a name
 * with a link and a long text are left out.
 */
const shownName = (name: string | null): string | undefined =>
  name === null || name.length > maxShownCharacters || /[:/@]|\.\p{L}{2}/u.test(name)
    ? undefined
    : name;

interface SystemMailRecipient {
  email: string;
  name: string | null;
}
/** The layout of all system mail. `blocks` follow the greeting. */
const composeMail = (
  { email, name }: SystemMailRecipient,
  subject: string,
  ...blocks: EmailBlock[]
): SystemMailContent => ({
  to: { email, name: shownName(name) },
  subject,
  ...renderSimpleEmail({ sender: productName, blocks: [greeting(shownName(name)), ...blocks] }),
});

const buildWebhookDisabledMail = (
  owner: SystemMailRecipient,
  { id, url }: Webhook,
  reason: string,
): SystemMailContent =>
  composeMail(
    owner,
    "Your webhook endpoint was deactivated",
    `Your webhook endpoint ${id} no longer receives events. ${reason}, so it was deactivated:`,
    url,
    {
      note:
        `To reactivate it, send PUT ${settings.publicUrl}/api/v1/webhooks/${id} with ` +
        `{"active": true}. GET ${settings.publicUrl}/api/v1/webhooks/${id}/deliveries lists ` +
        "the missed deliveries, which can then be delivered again.",
    },
  );

function buildQuotaMail(
  owner: SystemMailRecipient,
  { id, provider, accountLimits }: sendingConfigs.SendingConfig,
): SystemMailContent {
  const { sentLast24Hours, emailsPer24Hours } = accountLimits!;
  const { name } = providerOf(provider)!;
  const format = (n: number) => n.toLocaleString("en-US");
  return composeMail(
    owner,
    `Your ${name} account has used 80 % of its quota`,
    `The ${name} account of your sending config ${id} sent ${format(sentLast24Hours)} emails in ` +
      `the last 24 hours. It may send ${format(emailsPer24Hours!)}.`,
    {
      note:
        `Email beyond the quota waits until ${name} accepts it, and fails after 24 hours. If you ` +
        `need a higher quota, request it from ${name}.`,
    },
  );
}

const buildPasswordResetMail = (user: SystemMailRecipient, token: string): SystemMailContent =>
  composeMail(
    user,
    `Reset your ${productName} password`,
    `Someone requested a new password for ${user.email}. If it was you, open this link ` +
      "within one hour:",
    { link: `${settings.publicUrl}/reset-password?token=${token}`, label: "Set a new password" },
    "If it was not you, ignore this email. Your password stays the same.",
    {
      note:
        "If the link does not open, send the token in it to POST " +
        `${settings.publicUrl}/api/v1/auth/reset-password.`,
    },
  );

const buildVerificationMail = (user: SystemMailRecipient, token: string): SystemMailContent =>
  composeMail(
    user,
    `Verify your email address for ${productName}`,
    `Someone signed up with ${user.email}. If it was you, open this link within 24 hours. You ` +
      "can then send email:",
    { link: `${settings.publicUrl}/verify-email?token=${token}`, label: "Verify the address" },
    "If it was not you, ignore this email. Nothing can be sent in your name.",
    {
      note:
        "If the link does not open, send the token in it to POST " +
        `${settings.publicUrl}/api/v1/auth/verify-email.`,
    },
  );

const buildInvitationMail = ({
  email,
  organizationName,
  invitedBy,
  token,
}: invitations.InvitationView & { token: string }): SystemMailContent =>
  composeMail(
    { email, name: null },
    `Join ${organizationName} on ${productName}`,
    `${invitedBy} invites you to join the organization ${organizationName} on ${productName}. ` +
      "The link works for seven days and once:",
    { link: `${settings.publicUrl}/accept-invitation?token=${token}`, label: "Join" },
    "If you do not expect this invitation, ignore this email.",
  );

const buildLoginCodeMail = (user: SystemMailRecipient, code: string): SystemMailContent =>
  composeMail(
    user,
    `${code} is your ${productName} login code`,
    `Someone is logging in as ${user.email} with the correct password. If it is you, enter ` +
      "this code within ten minutes:",
    { code: code, label: "Code" },
    "If it is not you, someone knows your password. Change it now, and do not share this " +
      "code with anyone.",
  );

const buildMfaDisabledMail = (user: SystemMailRecipient): SystemMailContent =>
  composeMail(
    user,
    "Two-factor login was turned off",
    `The last second factor of ${user.email} was turned off. From now on, the password alone ` +
      "is enough to log in.",
    "If it was not you, set a new password now:",
    { link: `${settings.publicUrl}/reset-password`, label: "Set a new password" },
  );
