// The mailboxes of the sandbox: one for each account, with the login of its SMTP server. The mail
// server of the simulator puts its reports there, as that of a bounced recipient does (RFC 3464).
import { now } from "../../../shared/clock.ts";
import type { SandboxAccounts } from "./accounts.ts";
import { appendMessage, createFolder, type ImapMailbox, startImapServer } from "./imap-server.ts";
import { simulatedOutcome } from "./simulator.ts";
import { smtpCredentials } from "./smtp-server.ts";
import type { AcceptedMail, SandboxAccount } from "./types.ts";

export interface BounceMailboxes {
  /** `imap://host:port` */
  url: string;
  /** Reports mail to a bouncing address of the simulator to its return path. */
  report(draft: AcceptedMail, returnPath: string, account: SandboxAccount): void;
  close(): Promise<void>;
}

/** The settings of a bounce mailbox. The service connects to the stand-in, whatever the host. */
export function mailboxLogin(account: SandboxAccount): Record<string, string> {
  const { user, password } = smtpCredentials(account);
  return { host: "imap.pennymail.test", user: user!, password: password! };
}

export async function startBounceMailboxes(accounts: SandboxAccounts): Promise<BounceMailboxes> {
  const mailboxes = new Map<string, ImapMailbox>();
  const mailboxOf = (account: SandboxAccount): ImapMailbox => {
    const folders = () => new Map([["INBOX", createFolder()] as const]);
    const mailbox = mailboxes.get(account.id) ?? {
      password: mailboxLogin(account).password!,
      folders: folders(),
    };
    mailboxes.set(account.id, mailbox);
    return mailbox;
  };
  const server = await startImapServer({
    findMailbox(user) {
      const account = accounts.findById(user);
      return account && mailboxOf(account);
    },
  });
  return {
    url: server.url,
    report(draft, returnPath, account) {
      const status = statuses[simulatedOutcome(draft.to.email) ?? ""];
      if (!status || !returnPath) return;
      const folder = mailboxOf(account).folders.get("INBOX")!;
      appendMessage(folder, writeReport(draft, returnPath, status), now());
    },
    close: server.close,
  };
}

const statuses: Record<string, string | undefined> = {
  bounced: "5.1.1 The mailbox does not exist",
  softbounced: "5.2.2 The mailbox is full",
};

function writeReport(draft: AcceptedMail, returnPath: string, status: string): string {
  const { to, messageId } = draft;
  const [code] = status.split(" ");
  const date = now().toUTCString().replace("GMT", "+0000");
  return [
    "Return-Path: <>",
    "From: Mail Delivery System <mailer-daemon@simulator.pennymail.test>",
    `To: ${returnPath}`,
    "Subject: Undelivered Mail Returned to Sender",
    `Message-ID: <report.${messageId}>`,
    `Date: ${date}`,
    "Auto-Submitted: auto-replied",
    "MIME-Version: 1.0",
    'Content-Type: multipart/report; report-type=delivery-status; boundary="report"',
    "",
    "--report",
    "Content-Type: text/plain",
    "",
    `Your mail to ${to.email} was not delivered: ${status}`,
    "--report",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; simulator.pennymail.test",
    "",
    `Final-Recipient: rfc822; ${to.email}`,
    "Action: failed",
    `Status: ${code}`,
    `Diagnostic-Code: smtp; 550 ${status}`,
    "",
    "--report",
    "Content-Type: text/rfc822-headers",
    "",
    `Message-ID: <${messageId}>`,
    `To: ${to.email}`,
    "",
    "--report--",
    "",
  ].join("\r\n");
}
