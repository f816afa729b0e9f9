// The names and hints of the credentials of a provider, in the words of its own settings.
import { t } from "../language/translate.ts";

const labels: Record<string, string> = {
  accessKeyId: t("Access key id"),
  accountToken: t("Account token"),
  apiKey: t("API key"),
  configurationSet: t("Configuration set"),
  domain: t("Sending domain"),
  host: t("Server"),
  mailsPerConnection: t("Emails per connection"),
  messageStream: t("Message stream"),
  password: t("Password"),
  poolSize: t("Connections at the same time"),
  port: t("Port"),
  region: t("Region"),
  returnPath: t("Address for bounces"),
  secretAccessKey: t("Secret access key"),
  secretKey: t("Secret key"),
  sessionToken: t("Session token"),
  tls: t("Encryption"),
  user: t("User"),
};

const hints: Record<string, string> = {
  "brevo.apiKey": t(
    "A key of version 3, which begins with xkeysib-. If the account restricts IP addresses, " +
      "allow those of this service.",
  ),
  "mailgun.apiKey": t("The key of the account, or the sending key of the domain."),
  "mailgun.domain": t("As Mailgun knows it, such as mg.example.com."),
  "mailgun.region": t("Of the domain. Without it: us."),
  "mailjet.secretKey": t("It belongs to the API key."),
  "mailjet.region": t("Of the account. Without it: global."),
  "mandrill.apiKey": t("It begins with md-. A test key accepts emails and delivers none."),
  "postmark.apiKey": t("Postmark calls it the server API token. It is under Servers › API Tokens."),
  "postmark.accountToken": t(
    "Postmark calls it the account API token. Connecting adds your domain with it.",
  ),
  "postmark.messageStream": t("Without it: outbound, the stream for transactional emails."),
  "resend.apiKey": t(
    "With sending access. With full access, uncertain emails can be looked up. It begins with re_.",
  ),
  "sendgrid.apiKey": t("With the permission Mail Send. It begins with SG."),
  "sendgrid.region": t("Of the account. Without it: global."),
  "ses.accessKeyId": t("Of an IAM user who may ses:SendEmail and ses:GetAccount."),
  "ses.secretAccessKey": t("Of the same user."),
  "ses.sessionToken": t("Only with temporary keys."),
  "ses.region": t("Where the identity is verified, such as us-east-1."),
  "ses.configurationSet": t("The one whose SNS topic gets the events."),
  "smtp.host": t("Its name, such as smtp.example.com."),
  "smtp.port": t("Without it: 587 with STARTTLS, 465 with TLS, 25 with none."),
  "smtp.tls": t("Your provider's help names it. None is only for a relay in your own network."),
  "smtp.user": t("Leave it empty if the server needs no login."),
  "smtp.returnPath": t("Without it: the address of the sender."),
  "smtp.poolSize": t("Without it: 5."),
  "smtp.mailsPerConnection": t("Without it: 100."),
  "smtp2go.apiKey": t(
    "With the permissions /email/send and /email/batch. With /activity/search, uncertain emails " +
      "can be looked up. It begins with api-.",
  ),
  "sparkpost.apiKey": t("With the permission Transmissions: Read/Write."),
  "sparkpost.region": t("Of the account. Without it: us."),
};

const options: Record<string, Record<string, string>> = {
  "smtp.tls": { starttls: "STARTTLS", tls: "TLS", none: t("None") },
};

/** What the service takes for an empty field. */
const defaults: Record<string, string> = { "smtp.tls": "starttls" };

const rare = new Set(["mailsPerConnection", "poolSize", "returnPath", "sessionToken"]);

/** Few accounts need the field. */
export const isRarelyNeeded = ({ name }: { name: string }): boolean => rare.has(name);

interface CredentialTexts {
  label: string;
  hint: string | undefined;
  /** By the value of the API. */
  options: Record<string, string>;
  default: string | undefined;
}

/** The texts of a field of a provider. A provider that is new here shows those of the API. */
export const credentialTexts = (
  provider: string,
  { name, description }: { name: string; description: string },
): CredentialTexts => ({
  label: labels[name] ?? name,
  hint: labels[name] === undefined ? description : hints[`${provider}.${name}`],
  options: options[`${provider}.${name}`] ?? {},
  default: defaults[`${provider}.${name}`],
});
