// The ten, in the order of the contract.
import { brevo } from "./brevo.ts";
import type { Inbound } from "./inbound.ts";
import { mailgun } from "./mailgun.ts";
import { mailjet } from "./mailjet.ts";
import { mandrill } from "./mandrill.ts";
import { postmark } from "./postmark.ts";
import { resend } from "./resend.ts";
import { sendgrid } from "./sendgrid.ts";
import { ses } from "./ses.ts";
import { smtp2go } from "./smtp2go.ts";
import { sparkpost } from "./sparkpost.ts";

const all = new Map<string, Inbound>(
  Object.entries({ sendgrid, ses, postmark, mailgun, sparkpost, brevo, mailjet, mandrill, resend, smtp2go }),
);

export const inboundKeys: string[] = [...all.keys()];

export const inbound = (key: string): Inbound | undefined => all.get(key);
