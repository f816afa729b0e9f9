import { brevo } from "./brevo.ts";
import { mailgun } from "./mailgun.ts";
import { mailjet } from "./mailjet.ts";
import { mandrill } from "./mandrill.ts";
import { mime } from "./mime.ts";
import { postmark } from "./postmark.ts";
import type { InboundMailSource } from "./provider-keys.ts";
import type { InboundMailAdapter } from "./received-mail.ts";
import { resend } from "./resend.ts";
import { sendgrid } from "./sendgrid.ts";
import { ses } from "./ses.ts";
import { sparkpost } from "./sparkpost.ts";

const adapters: Record<InboundMailSource, InboundMailAdapter> = {
  sendgrid,
  ses,
  postmark,
  mailgun,
  sparkpost,
  brevo,
  mailjet,
  mandrill,
  resend,
  mime,
  imap: mime,
};

export const getInboundMailAdapter = (key: InboundMailSource): InboundMailAdapter => adapters[key];
