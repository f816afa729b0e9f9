// The texts of the mail to the users of the service.
import { config as settings } from "../../config.ts";
import { type EmailBlock, renderSimpleEmail } from "../../email/simple-email.ts";
import { getProvider as providerOf } from "../../providers/registry.ts";
import type { NoticeEvent } from "../../queues.ts";
import type * as invitationLinks from "../identity/invitation-links.ts";
import type { DirectMail } from "../senders/direct-mail.ts";
import type { SendingConfig } from "../senders/sending-config-schema.ts";
import type { Webhook } from "../webhooks/webhooks.ts";

export type SystemMailContent = Pick<DirectMail, "to" | "subject" | "html" | "text">;

export const productName = "Pennymail";

const greeting = (name: string | undefined): string => (name ? `Hello ${name},` : "Hello,");

const maxShownCharacters = 60;
/** URLs, domains and addresses, phone numbers, and characters that reorder or hide text. */
const hostileText =
  /[:/@\\\p{Cc}\u202A-\u202E\u2066-\u2069]|\.[\p{L}\d]{2}|(\d[^\p{L}\d]{0,3}){7}/u;
/**
 * The name to show. Anybody can sign up with any name, and can have mail sent to the address of
 * somebody else, so names with a link or a phone number and long texts are left out. Builders pass
 * every text through it that a user chose.
 */
function shownName(name: string | null | undefined): string | undefined {
  if (!name || name.length > maxShownCharacters) return undefined;
  const plain = name.normalize("NFKC").replaceAll(/[\u3002\uFF0E\uFF61]/g, ".");
  return hostileText.test(plain) ? undefined : name;
}

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

export function buildWebhookDisabledMail(
  owner: SystemMailRecipient,
  { id }: Webhook,
  reason: string,
): SystemMailContent {
  const url = `${settings.publicUrl}/api/v1/webhooks/${id}`;
  return composeMail(
    owner,
    "Your webhook endpoint was deactivated",
    `Your webhook endpoint ${id} no longer receives events. ${reason}, so it was deactivated.`,
    {
      note:
        `GET ${url} returns its URL. To reactivate it, send PUT ${url} with {"active": true}. ` +
        `GET ${url}/deliveries lists the missed deliveries, which can then be delivered again.`,
    },
  );
}

export function buildQuotaMail(
  owner: SystemMailRecipient,
  { id, provider, accountLimits }: SendingConfig,
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

export const buildPasswordResetMail = (
  user: SystemMailRecipient,
  token: string,
): SystemMailContent =>
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

export const buildVerificationMail = (
  user: SystemMailRecipient,
  token: string,
): SystemMailContent =>
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

/** Leaves out the inviter's address, because its part before the @ can be any text. */
export function buildInvitationMail({
  email,
  organizationName,
  inviterName,
  token,
}: invitationLinks.MailedInvitation): SystemMailContent {
  const organization = shownName(organizationName);
  const named = organization === undefined ? "an organization" : `the organization ${organization}`;
  return composeMail(
    { email, name: null },
    `Join ${organization ?? "an organization"} on ${productName}`,
    `${shownName(inviterName) ?? "A member"} invites you to join ${named} on ${productName}. ` +
      "The link works for seven days and once:",
    { link: `${settings.publicUrl}/accept-invitation?token=${token}`, label: "Join" },
    "If you do not expect this invitation, ignore this email.",
  );
}

export const buildLoginCodeMail = (user: SystemMailRecipient, code: string): SystemMailContent =>
  composeMail(
    user,
    `${code} is your ${productName} login code`,
    `Someone is logging in as ${user.email} with the correct password. If it is you, enter ` +
      "this code within ten minutes:",
    { code: code, label: "Code" },
    "If it is not you, someone knows your password. Change it now, and do not share this " +
      "code with anyone.",
  );

/** Subjects and sentences by event. `id` is that of the record; nothing that a user chose. */
const notices: Record<NoticeEvent, { subject: string; text(id: number): string; path: string }> = {
  api_key_created: {
    subject: "An API key was created",
    text: (id) => `The API key ${id} was created in your organization.`,
    path: "/app/settings/keys",
  },
  sender_created: {
    subject: "A sender was added",
    text: (id) => `The sending config ${id} was added to your organization.`,
    path: "/app/settings/senders",
  },
  sender_changed: {
    subject: "A sender was changed",
    text: (id) => `The credentials or the address of the sending config ${id} were changed.`,
    path: "/app/settings/senders",
  },
  member_joined: {
    subject: "A member joined",
    text: (id) => `The user ${id} joined your organization.`,
    path: "/app/settings/members",
  },
  role_changed: {
    subject: "The role of a member was changed",
    text: (id) => `The user ${id} has another role in your organization.`,
    path: "/app/settings/members",
  },
  sso_changed: {
    subject: "Single sign-on was changed",
    text: () => "The settings of single sign-on of your organization were changed.",
    path: "/app/settings/single-sign-on",
  },
  sso_removed: {
    subject: "Single sign-on was turned off",
    text: () => "Single sign-on of your organization was turned off.",
    path: "/app/settings/single-sign-on",
  },
  password_changed: {
    subject: "Your password was changed",
    text: () => "The password of your account was changed, and your other sessions have ended.",
    path: "/reset-password",
  },
  second_factor_on: {
    subject: "A second factor was turned on",
    text: () => "A second factor was turned on. From now on, logins of your account ask for it.",
    path: "/app/settings/security",
  },
};

export function buildNoticeMail(
  user: SystemMailRecipient,
  { event, recordId = 0 }: { event: NoticeEvent; recordId?: number | undefined },
): SystemMailContent {
  const { subject, text, path } = notices[event];
  return composeMail(
    user,
    `Security notice: ${subject}`,
    text(recordId),
    "If you or a colleague did this, you can ignore this email. If not, check it now:",
    { link: `${settings.publicUrl}${path}`, label: "Check" },
    { note: "The audit log of your organization shows who did what, and from which address." },
  );
}

export const buildMfaDisabledMail = (user: SystemMailRecipient): SystemMailContent =>
  composeMail(
    user,
    "Two-factor login was turned off",
    `The last second factor of ${user.email} was turned off. From now on, the password alone ` +
      "is enough to log in.",
    "If it was not you, set a new password now:",
    { link: `${settings.publicUrl}/reset-password`, label: "Set a new password" },
  );
