// All adapters in the order of `providerKeys`; the first provider is the default.
import { brevo } from "./brevo.ts";
import { mailgun } from "./mailgun.ts";
import { mailjet } from "./mailjet.ts";
import { mandrill } from "./mandrill.ts";
import { postmark } from "./postmark.ts";
import type { ProviderAdapter } from "./provider-adapter.ts";
import { resend } from "./resend.ts";
import { sendgrid } from "./sendgrid.ts";
import { ses } from "./ses.ts";
import { smtp2go } from "./smtp2go.ts";
import { sparkpost } from "./sparkpost.ts";

export const providers: ProviderAdapter[] = [
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
];

export const getProvider = (key: string): ProviderAdapter | undefined =>
  providers.find((candidate) => candidate.key === key);
