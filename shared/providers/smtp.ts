// Any SMTP server with a login: a provider's relay, or the mail server of a company.
import * as z from "zod";
import * as smtpClient from "../adapters/smtp/smtp-client.ts";
import { now } from "../clock.ts";
import { config } from "../config.ts";
import { digits } from "../kernel/digits.ts";
import { domainOf, EmailAddress, toAsciiAddress } from "../kernel/email-fields.ts";
import { HostName } from "../kernel/host-name.ts";
import * as credentialFields from "./credential-fields.ts";
import { commonFlaw } from "./limits.ts";
import {
  addresseesOf,
  fillMergeText,
  type Mailing,
  type ProviderAdapter,
  type Recipient,
} from "./provider-adapter.ts";
import { mergeHeaders } from "./provider-http.ts";
import { mailIdOf } from "./smtp-mail-id.ts";
import { toCredentialCheck, toOutcome } from "./smtp-outcomes.ts";
import { traits } from "./traits.ts";

const count = (max: number) => digits(z.int().min(1).max(max)).optional();

const Credentials = z
  .object({
    host: HostName.describe("Host name of the SMTP server, such as smtp.example.com"),
    port: count(65_535).describe(
      "Port of the server. Default: 587 with starttls, 465 with tls, 25 with none. AWS blocks " +
        "port 25 of Lambda functions",
    ),
    tls: z
      .enum(["starttls", "tls", "none"])
      .optional()
      .describe(
        "starttls (the default): TLS after the greeting, and no mail without it; tls: from the " +
          "start; none: unencrypted, for a relay in your own network",
      ),
    user: credentialFields
      .lineField("")
      .optional()
      .describe("User of the login. Omit it if the server needs no login"),
    password: credentialFields
      .lineField("")
      .meta({ writeOnly: true })
      .optional()
      .describe("Password of the login"),
    returnPath: EmailAddress.optional().describe(
      "Address that bounces go to, with the mail's id inserted as +id before the @. Its server " +
        "must accept such addresses. Default: the address of the sender, without an id",
    ),
    poolSize: count(50).describe("Most connections at the same time. Default: 5"),
    mailsPerConnection: count(10_000).describe(
      "A connection is closed after this number of mails. Default: 100",
    ),
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), {
    path: ["password"],
    message: "must be given together with user",
  });
type Credentials = z.output<typeof Credentials>;

export const smtp: ProviderAdapter<typeof Credentials> = {
  key: "smtp",
  ...traits.smtp,
  credentials: Credentials,
  tracking: { opens: false, clicks: false },
  idempotencySeconds: 0,
  // A call hands over its mails one after another on each connection, and reports each. When a
  // worker dies, those of its calls are uncertain.
  batch: { max: 25, supports: () => true },
  async checkLogin(credentials) {
    const reply = await smtpClient.checkLogin(toServer(credentials));
    return reply ? toCredentialCheck(reply, [credentials.password ?? ""]) : { status: "accepted" };
  },
  async send({ mailing, credentials, idempotencyKey }) {
    const attachments = mailing.attachments.map(({ filename, contentId, content }) => ({
      filename,
      contentId,
      size: Buffer.byteLength(content, "base64"),
    }));
    const flaw = commonFlaw(smtp, { ...mailing, attachments });
    if (flaw) return mailing.recipients.map(() => ({ status: "refused", error: flaw.message }));
    const mails = mailing.recipients.map((recipient) =>
      toMail(mailing, recipient, { credentials, idempotencyKey }),
    );
    const server = toServer(credentials);
    const replies = await smtpClient.sendMails(server, mails, mailing.notAfter);
    const secrets = [credentials.password ?? ""];
    return replies.map((reply, i) => toOutcome(reply, { messageId: mails[i]!.messageId, secrets }));
  },
};

const defaultPorts = { starttls: 587, tls: 465, none: 25 };

/** PROVIDER_URL_SMTP replaces the server: `smtp://host:port`, or `smtps://host:port` with TLS. */
function toServer({
  host,
  tls = "starttls",
  port = defaultPorts[tls],
  user,
  password,
  poolSize = 5,
  mailsPerConnection = 100,
}: Credentials): smtpClient.SmtpServer {
  const common = {
    user,
    password,
    connections: poolSize,
    mailsPerConnection,
    clientName: new URL(config.publicUrl).hostname,
  };
  const own = config.providerUrl(smtp.key);
  if (!own) return { host, port, tls, ...common, isOwn: false };
  const url = new URL(own);
  const ownTls = url.protocol === "smtps:" ? "tls" : "none";
  const ownPort = Number(url.port) || defaultPorts[ownTls];
  return { host: url.hostname, port: ownPort, tls: ownTls, ...common, isOwn: true };
}

interface Call {
  credentials: Credentials;
  idempotencyKey: string;
}

function toMail(mailing: Mailing, recipient: Recipient, call: Call): smtpClient.SmtpMail {
  const { from, replyTo = [], subject, html, text } = mailing;
  const { to, cc, bcc } = addresseesOf(mailing, recipient);
  const id = mailId(mailing, recipient, call);
  return {
    sender: toSender(call.credentials.returnPath, id) ?? from.email,
    bcc: bcc.map(({ email }) => email),
    from,
    to,
    cc,
    replyTo: replyTo.map((email) => ({ email })),
    subject: fillMergeText(subject, recipient),
    html: html && fillMergeText(html, recipient),
    text: text && fillMergeText(text, recipient),
    headers: mergeHeaders(mailing, recipient),
    attachments: mailing.attachments,
    messageId: `${id}@${domainOf(from.email)}`,
    date: now(),
  };
}

const mailId = (
  { configId }: Mailing,
  { sendId, to }: Recipient,
  { credentials, idempotencyKey }: Call,
): string => {
  const mail = configId === undefined ? idempotencyKey : `${configId} ${sendId}`;
  return mailIdOf(mail, { sendId, to: to.email }, credentials);
};

/** The variable envelope return path. */
function toSender(returnPath: string | undefined, id: string): string | undefined {
  if (returnPath === undefined) return undefined;
  const address = toAsciiAddress(returnPath);
  const at = address.lastIndexOf("@");
  return `${address.slice(0, at)}+${id}${address.slice(at)}`;
}
