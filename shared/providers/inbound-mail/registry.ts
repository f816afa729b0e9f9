import { mailgun } from "./mailgun.ts";
import { mime } from "./mime.ts";
import { postmark } from "./postmark.ts";
import type { InboundMailProvider } from "./provider-keys.ts";
import type { InboundMailAdapter } from "./received-mail.ts";
import { sendgrid } from "./sendgrid.ts";

const adapters: Record<InboundMailProvider, InboundMailAdapter> = {
  postmark,
  sendgrid,
  mailgun,
  mime,
};

export const getInboundMailAdapter = (key: InboundMailProvider): InboundMailAdapter =>
  adapters[key];
