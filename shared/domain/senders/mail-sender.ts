// From and Reply-To of marketing mail: what a campaign, a sequence or a holiday sets, what its site
// sets, and what its sending config sets.
import type { CallerScope } from "../../caller.ts";
import { invalid } from "../../errors.ts";
import {
  domainOf,
  EmailAddress,
  normalizeEmail,
  singleLineText,
} from "../../kernel/email-fields.ts";
import type { Mailbox } from "../../providers/provider-adapter.ts";
import { getByName } from "./domains/domains-by-name.ts";
import type { SendingConfig } from "./sending-config-schema.ts";
import * as sendingConfigs from "./sending-configs.ts";

/** Absent in records of earlier versions of the service: the same as null. */
export interface MailSender {
  fromEmail?: string | null | undefined;
  fromName?: string | null | undefined;
  replyTo?: string | null | undefined;
}

const inherited = "`null`: that of the site, else that of the sending config.";
export const replyToField = EmailAddress.nullable().describe(
  `Email address that replies go to. ${inherited}`,
);
export const mailSenderFields = {
  fromEmail: EmailAddress.nullable().describe(
    "Email address of the sender: an address with the domain of the sending config, if that is " +
      "verified, or with a domain that the organization has verified. " +
      "`null`: that of the sending config.",
  ),
  fromName: singleLineText(100)
    .nullable()
    .describe("Name of the sender. `null`: that of the sending config."),
  replyTo: replyToField,
};

/** Null for each field that is absent. */
export const toMailSender = ({ fromEmail, fromName, replyTo }: MailSender) => ({
  fromEmail: fromEmail ?? null,
  fromName: fromName ?? null,
  replyTo: replyTo ?? null,
});

/** Throws 400 if neither the mail nor its sending config has an address. */
export function fromOf({ fromEmail, fromName }: MailSender, config: SendingConfig): Mailbox {
  const email = fromEmail ?? sendingConfigs.senderOf(config).email;
  return { email, name: fromName ?? config.fromName ?? undefined };
}

/** Name and address in one line, or null without an address. */
export const labelOf = ({ fromEmail, fromName }: MailSender, config: SendingConfig) =>
  sendingConfigs.labelOf({
    fromEmail: fromEmail ?? config.fromEmail,
    fromName: fromName ?? config.fromName,
  });

/** The most specific address for replies: that of the mail, of its site, or of its config. */
export const replyToOf = (
  ...mostSpecificFirst: { replyTo?: string | null | undefined }[]
): string | undefined =>
  mostSpecificFirst.map(({ replyTo }) => replyTo).find((address) => typeof address === "string");

/**
 * Finds the sending config of mail with this sender. Throws 404 if it does not exist, and 400 if
 * there is no address to send from, or one that the config may not send from.
 */
export async function findConfigOfSender(
  who: CallerScope,
  configId: number,
  { fromEmail }: MailSender,
): Promise<SendingConfig> {
  if (!fromEmail) return sendingConfigs.findWithSender(who, configId);
  const config = await sendingConfigs.find(who, configId);
  await requireAllowedFrom(who, config, fromEmail);
  return config;
}

/** Throws 400 unless the config may send from the address, by the rule of POST /send. */
export async function requireAllowedFrom(
  { orgId }: CallerScope,
  { id, fromEmail: ownAddress, verified }: SendingConfig,
  fromEmail: string,
): Promise<void> {
  const domain = domainOf(fromEmail);
  if (ownAddress !== null) {
    if (normalizeEmail(ownAddress) === normalizeEmail(fromEmail)) return;
    if (verified && domainOf(ownAddress) === domain) return;
  }
  if ((await getByName(orgId, domain))?.verified) return;
  const message =
    `sending config ${id} may not send from ${fromEmail}: use an address of its domain once it ` +
    `is verified, or verify the domain ${domain}`;
  throw invalid(`fromEmail: ${message}`, { details: [{ path: "fromEmail", message }] });
}
