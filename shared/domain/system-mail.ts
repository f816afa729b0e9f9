// Mail to our own users, through the operator's system sender. Suppressions do not hold for it.
import { config as settings } from "../config.ts";
import { get } from "../doors/table.ts";
import * as vault from "../doors/vault.ts";
import { EmailAddress } from "../email.ts";
import { unavailable, upstream } from "../errors.ts";
import { parsed } from "../json.ts";
import { keys } from "../keys.ts";
import * as log from "../log.ts";
import { type Block, letter } from "../pages/letters.ts";
import { provider as providerOf } from "../providers/index.ts";
import type { Mailbox, Outcome, Provider } from "../providers/provider.ts";
import type { SystemMail } from "../queues.ts";
import * as accounts from "./accounts.ts";
import * as challenges from "./mfa/challenges.ts";
import { handOver, type SimpleMail } from "./sending/simple-mailing.ts";
import * as sendingConfigs from "./sending-configs.ts";
import type { Webhook } from "./webhooks.ts";

type Words = Pick<SimpleMail, "to" | "subject" | "html" | "text">;

type Of<M extends SystemMail["mail"]> = Extract<SystemMail, { mail: M }>;

/** Every mail that our own users can get; undefined when there is nobody to write to, or nothing to say any more. */
const mails: { [M in SystemMail["mail"]]: (message: Of<M>) => Promise<Words | undefined> } = {
  password_reset: async ({ email }) => {
    const started = await accounts.startReset(email);
    return started && passwordReset({ email, name: started.name }, started.token);
  },
  login_code: async ({ challenge, code }) => {
    const asked = await challenges.mailedCode(challenge, code);
    const user = asked && (await get<accounts.User>(keys.member(asked.orgId, asked.userId)));
    return user && loginCode(user, asked.code);
  },
  mfa_off: async ({ orgId, userId }) => {
    const user = await get<accounts.User>(keys.member(orgId, userId));
    return user && mfaOff(user);
  },
  webhook_inactive: async ({ orgId, webhookId }) => {
    const [webhook, owner] = await Promise.all([get<Webhook>(keys.record(orgId, "WEBHOOK", webhookId)), accounts.owner(orgId)]);
    return webhook?.inactiveReason && owner ? webhookInactive(owner, webhook, webhook.inactiveReason) : undefined;
  },
};

/** Writes and sends one. Throws what a retry may mend; a mail that was refused, or may have gone out, is logged and done with. */
export async function deliver(message: SystemMail): Promise<void> {
  const { mail } = message;
  // First of all: a token that cannot be mailed need not exist.
  const { provider, credentials, from } = await systemSender();
  const words = await mails[mail](message as never);
  if (!words) return;
  const outcome = await handOver(provider, credentials, { ...words, from, tracked: false });
  conclusions[outcome.status](mail, provider, outcome as never);
}

type Conclude<S extends Outcome["status"]> = (mail: string, provider: Provider, outcome: Extract<Outcome, { status: S }>) => void;

const conclusions: { [S in Outcome["status"]]: Conclude<S> } = {
  accepted: (mail, { key }) => log.info("system mail", { mail, provider: key }),
  // What a provider says of a mail may name its recipient; what it says of the account is for the operator.
  refused: (mail, { key, name }, { config: accountAtFault, error }) =>
    log.failure("system mail failed", new Error(`${name} refused a system mail${accountAtFault ? `: ${error}` : ""}`), {
      mail,
      provider: key,
    }),
  uncertain: (mail, { key, name }) =>
    log.failure("system mail uncertain", new Error(`${name} may or may not have taken a system mail`), { mail, provider: key }),
  held: (_, { name }) => {
    throw upstream(`${name} did not take a system mail now`);
  },
};

interface Sender {
  provider: Provider;
  credentials: Record<string, unknown>;
  from: Mailbox;
}

/** As SYSTEM_SENDER says: a sending config's id, or `<provider>:<from address>` with the credentials as JSON in a secret. */
function systemSender(): Promise<Sender> {
  const setting = settings.systemSender;
  if (!setting) throw unavailable("The setting SYSTEM_SENDER is missing: mail to our own users cannot be sent");
  return /^\d+$/.test(setting) ? senderByConfig(Number(setting)) : senderBySecret(setting);
}

async function senderByConfig(id: number): Promise<Sender> {
  const pointer = await get<{ orgId: number }>(keys.inboundConfig(id));
  if (!pointer) throw unavailable(`SYSTEM_SENDER names the sending config ${id}, which does not exist`);
  const config = await sendingConfigs.find({ orgId: pointer.orgId }, id);
  const credentials = await sendingConfigs.credentials(pointer.orgId, config);
  return { provider: providerOf(config.provider)!, credentials, from: { email: config.fromEmail, name: config.fromName ?? productName } };
}

const productName = "Pennymail";

async function senderBySecret(setting: string): Promise<Sender> {
  const [, key = "", email = ""] = /^([^:]*):(.*)$/.exec(setting) ?? [];
  const provider = providerOf(key);
  if (!provider || !EmailAddress.safeParse(email).success)
    throw unavailable("SYSTEM_SENDER must be a sending config id, or <provider>:<from address>");
  // The parser's own error would show a part of the secret.
  const { success, data } = provider.credentials.safeParse(parsed(await vault.secret(settings.systemSenderSecret)));
  if (!success) throw unavailable(`The secret that SYSTEM_SENDER_SECRET names does not hold the credentials of ${provider.name} as JSON`);
  return { provider, credentials: data, from: { email, name: productName } };
}

const greeting = (name: string | null): string => (name ? `Hello ${name},` : "Hello,");

interface Reader {
  email: string;
  name: string | null;
}
/** One look for all of them; `blocks` come after the greeting. */
const written = ({ email, name }: Reader, subject: string, ...blocks: Block[]): Words => ({
  to: { email, name: name ?? undefined },
  subject,
  ...letter({ sender: productName, blocks: [greeting(name), ...blocks] }),
});

const webhookInactive = (owner: Reader, { id, url }: Webhook, reason: string): Words =>
  written(
    owner,
    "A webhook endpoint of yours was set inactive",
    `your webhook endpoint ${id} hears of no further events. ${reason}, so it was set inactive:`,
    url,
    {
      small: `What it missed is listed at GET ${settings.publicUrl}/api/v1/webhooks/${id}/deliveries and can be delivered again once the endpoint is back: PUT ${settings.publicUrl}/api/v1/webhooks/${id} with {"active": true}.`,
    },
  );

const passwordReset = (user: Reader, token: string): Words =>
  written(
    user,
    `Your ${productName} password`,
    `someone asked for a new password for ${user.email}. If it was you, open this link within an hour:`,
    { link: `${settings.publicUrl}/reset-password?token=${token}`, label: "Set a new password" },
    "If it was not you, do nothing: your password stays as it is.",
    { small: `Where the link cannot be opened, the token in it can be sent to POST ${settings.publicUrl}/api/v1/auth/reset-password.` },
  );

const loginCode = (user: Reader, code: string): Words =>
  written(
    user,
    `${code} is your ${productName} code`,
    `someone logs in as ${user.email} with the right password. If it is you, enter this code within ten minutes:`,
    { copy: code, label: "Code" },
    "If it is not you, somebody knows your password: change it, and give the code to nobody.",
  );

const mfaOff = (user: Reader): Words =>
  written(
    user,
    "Logins need no second factor any more",
    `the last second factor of ${user.email} was disabled: from now on the password alone is enough to log in.`,
    "If that was not you, set a new password at once:",
    { link: `${settings.publicUrl}/reset-password`, label: "Set a new password" },
  );
