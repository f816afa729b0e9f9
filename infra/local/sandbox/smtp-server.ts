// The stand-in of an SMTP server: accepts mail with the login of a sandbox account, and keeps it in
// the inbox. Reports of bounces go to the mailbox of the account.
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import PostalMime, { type Email, type Mailbox as ParsedMailbox } from "postal-mime";
import { SMTPServer, type SMTPServerSession } from "smtp-server";
import { equalInConstantTime } from "../constant-time.ts";
import type { SandboxAccounts } from "./accounts.ts";
import { headerNames } from "./request-reader.ts";
import { createFlakyTracker, isVerifiedSender, simulatedOutcome } from "./simulator.ts";
import type { AcceptedMail, Mailbox, SandboxAccount } from "./types.ts";

/** The credentials of a sending config. The service connects to the stand-in, whatever the host. */
export const smtpCredentials = ({ id, deriveHex }: SandboxAccount): Record<string, string> => ({
  host: "smtp.pennymail.test",
  user: id,
  password: deriveHex("smtp password", 32),
});

interface SmtpContext {
  accounts: SandboxAccounts;
  accept(drafts: AcceptedMail[], account: SandboxAccount, returnPath: string): void;
}

export interface SandboxSmtpServer {
  /** `smtp://host:port` */
  url: string;
  close(): Promise<void>;
}

/** Listens on a free port of this machine. */
export async function startSmtpServer({
  accounts,
  accept,
}: SmtpContext): Promise<SandboxSmtpServer> {
  const flakyTracker = createFlakyTracker();
  const server = new SMTPServer({
    banner: "Pennymail sandbox",
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    size: 40_000_000,
    logger: false,
    onAuth({ username, password }, _, done) {
      const account = accounts.findById(username ?? "");
      if (account && equalInConstantTime(smtpCredentials(account).password!, password ?? ""))
        done(null, { user: account.id });
      else done(refusal(535, "5.7.8 Authentication credentials invalid"));
    },
    onMailFrom({ address }, _, done) {
      done(
        isVerifiedSender(address)
          ? null
          : refusal(550, "5.7.1 This sender address is not verified"),
      );
    },
    onRcptTo({ address }, _, done) {
      if (simulatedOutcome(address) === "rejected")
        return done(refusal(550, "5.1.1 The recipient was rejected"));
      const status = flakyTracker.nextRefusal([address]);
      if (status === 429) return done(refusal(450, "4.7.1 Rate limit exceeded, try again later"));
      done(status ? refusal(451, "4.3.0 Temporary failure, try again later") : null);
    },
    onData(stream, session, done) {
      const account = accounts.findById(String(session.user))!;
      const { mailFrom } = session.envelope;
      buffer(stream)
        .then(async (content) =>
          accept(
            toDrafts(await PostalMime.parse(content), session),
            account,
            mailFrom ? mailFrom.address : "",
          ),
        )
        .then(
          () => done(null, "2.0.0 Accepted"),
          () => done(refusal(554, "5.6.0 The message cannot be read")),
        );
    },
  });
  // Clients may hang up at any time.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.server.unref();
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        for (const { _socket } of server.connections) _socket.destroy();
        server.close(resolve);
      }),
  };
}

const refusal = (responseCode: number, text: string) =>
  Object.assign(new Error(text), { responseCode });

/** The headers that have fields of their own. */
const ownHeaders = headerNames(
  "from to cc subject reply-to message-id date mime-version content-type content-transfer-encoding",
);

/** One mail for each recipient of the envelope. */
function toDrafts(
  email: Email,
  { envelope: { mailFrom, rcptTo } }: SMTPServerSession,
): AcceptedMail[] {
  const shown = { to: toMailboxes(email.to), cc: toMailboxes(email.cc) };
  const sender = { email: mailFrom ? mailFrom.address : "" };
  const content = {
    subject: email.subject ?? "",
    html: email.html,
    text: email.text,
    attachments: email.attachments.map(({ filename, mimeType, content, contentId }) => ({
      filename: filename ?? "attachment",
      type: mimeType,
      content: Buffer.from(content as Uint8Array).toString("base64"),
      ...(contentId && { contentId: contentId.replace(/^<|>$/g, "") }),
    })),
  };
  const headers = Object.fromEntries(
    email.headers
      .filter(({ key }) => !ownHeaders.has(key))
      .map(({ originalKey, value }) => [originalKey, value]),
  );
  return rcptTo.map(({ address }) => ({
    messageId: email.messageId?.replace(/^<|>$/g, "") ?? "",
    from: toMailboxes(email.from && [email.from])[0] ?? sender,
    to: [...shown.to, ...shown.cc].find(({ email }) => email === address) ?? { email: address },
    shown,
    replyTo: toMailboxes(email.replyTo)
      .map(({ email }) => email)
      .join(", "),
    content,
    headers,
    tags: [],
    metadata: {},
    tracksOpens: false,
    tracksClicks: false,
    withoutEvents: true,
  }));
}

const toMailboxes = (addresses: Email["to"] = []): Mailbox[] =>
  addresses
    .filter((one): one is ParsedMailbox => one.address !== undefined)
    .map(({ address, name }) => (name ? { email: address, name } : { email: address }));
