import type { WebhookProviderKey } from "../provider-keys.ts";
import { brevo } from "./brevo.ts";
import type { InboundAdapter } from "./inbound-adapter.ts";
import { mailgun } from "./mailgun.ts";
import { mailjet } from "./mailjet.ts";
import { mandrill } from "./mandrill.ts";
import { postmark } from "./postmark.ts";
import { resend } from "./resend.ts";
import { sendgrid } from "./sendgrid.ts";
import { ses } from "./ses.ts";
import { smtp2go } from "./smtp2go.ts";
import { sparkpost } from "./sparkpost.ts";

const adapters: Record<WebhookProviderKey, InboundAdapter> = {
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
};
const adapterByKey = new Map<string, InboundAdapter>(Object.entries(adapters));

export const getInboundAdapter = (key: string): InboundAdapter | undefined => adapterByKey.get(key);
