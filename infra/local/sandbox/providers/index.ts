// The ten, in the order of GET /providers.
import type { MailProvider } from "../contract.ts";
import type { Topics } from "../topics.ts";
import { brevo } from "./brevo.ts";
import { mailgun } from "./mailgun.ts";
import { mailjet } from "./mailjet.ts";
import { mandrill } from "./mandrill.ts";
import { postmark } from "./postmark.ts";
import { resend } from "./resend.ts";
import { sendgrid } from "./sendgrid.ts";
import { ses } from "./ses.ts";
import { smtp2go } from "./smtp2go.ts";
import { sparkpost } from "./sparkpost.ts";

export const providers = (topics: Topics): MailProvider[] => [
  sendgrid,
  ses(topics),
  postmark,
  mailgun,
  sparkpost,
  brevo,
  mailjet,
  mandrill,
  resend,
  smtp2go,
];
