// All adapters in the order of `providerKeys`; the first provider is the default.
import { toAsciiAddress } from "../kernel/email-fields.ts";
import { brevo } from "./brevo.ts";
import { mailgun } from "./mailgun.ts";
import { mailjet } from "./mailjet.ts";
import { mandrill } from "./mandrill.ts";
import { postmark } from "./postmark.ts";
import type { Mailbox, Mailing, ProviderAdapter } from "./provider-adapter.ts";
import { resend } from "./resend.ts";
import { sendgrid } from "./sendgrid.ts";
import { ses } from "./ses.ts";
import { smtp } from "./smtp.ts";
import { smtp2go } from "./smtp2go.ts";
import { sparkpost } from "./sparkpost.ts";

const adapters: ProviderAdapter[] = [
  sendgrid,
  ses,
  postmark,
  mailgun,
  sparkpost,
  brevo,
  mailjet,
  mandrill,
  resend,
  smtp2go,
  smtp,
];

/** Providers get every address in ASCII. */
function withAsciiAddresses(adapter: ProviderAdapter): ProviderAdapter {
  const { lookUp } = adapter;
  return {
    ...adapter,
    send: (call) => adapter.send({ ...call, mailing: toAsciiMailing(call.mailing) }),
    ...(lookUp && {
      lookUp: {
        ...lookUp,
        find: (request) =>
          lookUp.find({
            ...request,
            mails: request.mails.map((mail) => ({ ...mail, to: toAsciiAddress(mail.to) })),
          }),
      },
    }),
  };
}

const toAsciiMailbox = (mailbox: Mailbox): Mailbox => ({
  ...mailbox,
  email: toAsciiAddress(mailbox.email),
});

function toAsciiMailing(mailing: Mailing): Mailing {
  const { from, replyTo, bcc, copies, recipients } = mailing;
  return {
    ...mailing,
    from: toAsciiMailbox(from),
    replyTo: replyTo?.map(toAsciiAddress),
    bcc: bcc && toAsciiAddress(bcc),
    copies: copies && {
      to: copies.to.map(toAsciiMailbox),
      cc: copies.cc.map(toAsciiMailbox),
      bcc: copies.bcc.map(toAsciiMailbox),
    },
    recipients: recipients.map((recipient) => ({
      ...recipient,
      to: toAsciiMailbox(recipient.to),
    })),
  };
}

export const providers: ProviderAdapter[] = adapters.map(withAsciiAddresses);

export const getProvider = (key: string): ProviderAdapter | undefined =>
  providers.find((candidate) => candidate.key === key);
